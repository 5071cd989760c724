package vdisk

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// A lock belongs to one handle, is released by whatever ends it, and is no operation of the disk.
func TestLock(t *testing.T) {
	ends := map[string]func(v *Volume, h *Handle){
		"drop":  func(_ *Volume, h *Handle) { h.Drop() },
		"kill":  func(v *Volume, _ *Handle) { v.Crash(Kill, nil, Immediate{}) },
		"power": func(v *Volume, _ *Handle) { v.Crash(PowerLoss, nil, Immediate{}) },
		"reset": func(v *Volume, _ *Handle) { v.Reset(Model{}) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			v := NewVolume("n1:/", Model{})
			before := v.AppendState(nil)
			first, second := v.Handle(Immediate{}), v.Handle(Immediate{})
			lock := func(h *Handle, path string, want bool) {
				t.Helper()
				taken, err := h.Lock(path)
				require.NoError(t, err)
				require.Equal(t, want, taken)
			}
			lock(first, "/data/dir0/.lock", true)
			lock(first, "/data/dir0/.lock", true) // by itself
			lock(second, "/data/dir0/.lock", false)
			lock(second, "/data/dir1/.lock", true) // another one
			lock(first, "/data/dir1/.lock", false)
			require.Zero(t, v.OpsSinceBoot())
			require.Equal(t, before, v.AppendState(nil))
			end(v, first)
			_, err := first.Lock("/data/dir0/.lock")
			require.ErrorIs(t, err, fs.ErrClosed)
			third := v.Handle(Immediate{})
			lock(third, "/data/dir0/.lock", true)
			lock(third, "/data/dir1/.lock", name != "drop") // of the second, which dropping the first does not end
			_, err = third.Lock("data/.lock")
			require.ErrorIs(t, err, fs.ErrInvalid)
		})
	}
}
