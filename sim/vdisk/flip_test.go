package vdisk

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// flipOne loads a file of zeros, opens it and flips a bit of its first byte.
func flipOne(t *testing.T, cached bool) (v *Volume, h *Handle, fd int32, l *lane) {
	t.Helper()
	v = NewVolume("v", Model{})
	v.Load("/f", make([]byte, 700))
	l = committing(1)
	h = v.Handle(l)
	fd = open(t, h, "/f")
	at, ok := v.Flip(l, Spot{Path: "/f", Length: 1}, 1, cached)
	require.True(t, ok)
	require.Equal(t, Flipped{Path: "/f"}, at)
	return v, h, fd, l
}

func onPlatter(t *testing.T, v *Volume) []byte {
	t.Helper()
	data, ok := v.DurableFile("/f")
	require.True(t, ok)
	return data
}

func TestFlipIsRead(t *testing.T) {
	v, _, _, _ := flipOne(t, false)
	require.NotZero(t, content(t, v, "/f")[0])
	require.NotZero(t, onPlatter(t, v)[0])
}

// A page in the cache hides the flip; syncing other bytes does not heal it, writing the byte anew does.
func TestFlipUnderACachedPage(t *testing.T) {
	v, h, fd, l := flipOne(t, true)
	require.Zero(t, content(t, v, "/f")[0])
	require.NotZero(t, onPlatter(t, v)[0])
	require.NoError(t, h.WriteAt(fd, []byte("x"), 700))
	require.NoError(t, h.Sync(fd))
	require.Zero(t, content(t, v, "/f")[0])
	require.NotZero(t, onPlatter(t, v)[0], "the page of the byte is clean: nobody writes it")
	v.Crash(Kill, nil, l)
	require.Zero(t, content(t, v, "/f")[0], "a kill leaves the cache")
	v.Crash(PowerLoss, nil, l)
	require.NotZero(t, content(t, v, "/f")[0])
	require.Equal(t, byte('x'), content(t, v, "/f")[700])

	v, h, fd, l = flipOne(t, true)
	require.NoError(t, h.WriteAt(fd, []byte{0}, 0))
	require.NoError(t, h.Sync(fd))
	v.Crash(PowerLoss, nil, l)
	require.True(t, bytes.Equal(make([]byte, 700), []byte(content(t, v, "/f"))))
}

// Bytes that are not durable yet do not flip.
func TestFlipOfNothing(t *testing.T) {
	v := NewVolume("v", Model{})
	l := committing(1)
	h := v.Handle(l)
	fd, err := h.Open("/f", true)
	require.NoError(t, err)
	require.NoError(t, h.WriteAt(fd, []byte("x"), 0))
	_, ok := v.Flip(l, Spot{}, 1, false)
	require.False(t, ok)
	require.NoError(t, h.Sync(fd))
	require.NoError(t, h.SyncDir("/"))
	_, ok = v.Flip(l, Spot{Suffix: ".log"}, 1, false)
	require.False(t, ok)
	_, ok = v.Flip(l, Spot{Suffix: "f"}, 1, false)
	require.True(t, ok)
}

func TestStuckUnderAPrefix(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/a/f", []byte("x"))
	v.Load("/b/f", []byte("x"))
	l := committing(1)
	h := v.Handle(l)
	a, b := open(t, h, "/a/f"), open(t, h, "/b/f")
	v.SetStuck("/a", Reads|Syncs, func() int64 { return 77 })
	require.NoError(t, h.Sync(a))
	require.NoError(t, h.Sync(b))
	require.NoError(t, h.SyncDir("/a"))
	require.NoError(t, h.WriteAt(a, []byte("y"), 0))
	require.Equal(t, int64(2), v.Stalls())
	v.SetStuck("/a", 0, nil)
	require.NoError(t, h.Sync(a))
	require.Equal(t, int64(2), v.Stalls())
	v.SetStuck("/a", Reads, func() int64 { return 77 })
	v.Heal(Model{})
	_, err := h.ReadAt(a, make([]byte, 1), 0)
	require.NoError(t, err)
	require.Equal(t, int64(2), v.Stalls())
}
