package startup

import (
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/stretchr/testify/require"
)

// A directory that another process has locked refuses the start before anything is written, and the error names it. A controller locks
// its metadata directory, a broker each of its own that is not failed (formats 9).
func TestLockedDirectories(t *testing.T) {
	for _, c := range []struct {
		name       string
		policy     SelfFormat
		on         props
		controller bool
		edit       func(m *filestest.Memory)
		refused    string // directory that the error names, "" for a start
		locks      []string
	}{
		{name: "controller", on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, controller: true, locks: []string{"/a/.lock"}},
		{name: "broker", on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, locks: []string{"/a/.lock", "/b/.lock"}},
		{name: "a failed directory is not locked", on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, locks: []string{"/a/.lock"},
			edit: func(m *filestest.Memory) { m.Put("/b/meta.properties", "version=x\n") }},
		{name: "held", on: props{dirA: v1(idX, 0), dirB: v1(idX, 0)}, controller: true, refused: dirA,
			edit: func(m *filestest.Memory) { m.Held["/a/.lock"] = true }},
		{name: "the other one is held, of a broker", on: props{dirA: v1(idX, 0), dirB: v1(idX, 0)}, refused: dirB, locks: []string{"/a/.lock"},
			edit: func(m *filestest.Memory) { m.Held["/b/.lock"] = true }},
		{name: "the other one is held, of a controller", on: props{dirA: v1(idX, 1), dirB: v1(idX, 2)}, controller: true, locks: []string{"/a/.lock"},
			edit: func(m *filestest.Memory) { m.Held["/b/.lock"] = true }},
		{name: "held, and the node would format itself", policy: Always, refused: dirA, edit: func(m *filestest.Memory) { m.Held["/a/.lock"] = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cfg := disk(t, c.on), config(t, c.policy)
			m.Held = map[string]bool{}
			cfg.Controller = c.controller
			if c.edit != nil {
				c.edit(m)
			}
			before := m.Names()
			_, err := Run(m, cfg)
			require.Equal(t, c.locks, m.Locks)
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrLocked)
			require.ErrorContains(t, err, ": "+c.refused)
			require.Equal(t, before, m.Names())
			require.Empty(t, m.Journal)
		})
	}
}

// A lock that cannot be tried fails its directory, as any other error does: the metadata directory refuses the start.
func TestLockFails(t *testing.T) {
	m, cfg := disk(t, props{dirA: v1(idX, 1), dirB: v1(idX, 2)}), config(t, Never)
	cfg.Controller = false
	m.Refuse["/b/.lock"] = syscall.EIO
	n, err := Run(m, cfg)
	require.NoError(t, err)
	require.Equal(t, []string{"/a loaded", "/b failed"}, dirs(n))
	m.Refuse["/a/.lock"] = syscall.EIO
	_, err = Run(m, cfg)
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, ErrLocked)
}
