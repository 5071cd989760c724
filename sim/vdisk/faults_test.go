package vdisk

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func committing(seed uint64) *lane {
	l := newLane(seed)
	l.commit = true
	return l
}

func TestErrorRates(t *testing.T) {
	for _, c := range []struct {
		name  string
		model Model
		do    func(h *Handle, fd int32) error
	}{
		{"read", Model{ReadErrorPpm: 300_000}, func(h *Handle, fd int32) error { _, err := h.ReadAt(fd, make([]byte, 1), 0); return err }},
		{"list", Model{ReadErrorPpm: 300_000}, func(h *Handle, fd int32) error { _, err := h.List("/"); return err }},
		{"write", Model{WriteErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.WriteAt(fd, []byte("y"), 0) }},
		{"truncate", Model{WriteErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.Truncate(fd, 1) }},
		{"create", Model{WriteErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.MkdirAll("/new") }},
		{"rename", Model{WriteErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.Rename("/x", "/y") }},
		{"remove", Model{WriteErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.Remove("/x") }},
		{"sync", Model{SyncErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.Sync(fd) }},
		{"sync-dir", Model{SyncErrorPpm: 300_000}, func(h *Handle, fd int32) error { return h.SyncDir("/") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			failed := func(m Model) (n int) {
				for seed := range uint64(200) {
					v := NewVolume("v", m)
					v.Load("/x", []byte("x"))
					h := v.Handle(committing(seed))
					fd := open(t, h, "/x")
					if err := c.do(h, fd); err != nil {
						require.ErrorIs(t, err, ErrIO)
						require.ErrorIs(t, err, syscall.EIO)
						require.Equal(t, "x", content(t, v, "/x"), "an operation that failed changed nothing")
						n++
					}
				}
				return n
			}
			require.InDelta(t, 60, failed(c.model), 30)
			require.Zero(t, failed(Model{}))
		})
	}
}

func TestForcedErrorsUnderAPrefix(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/data/dir0/x", []byte("x"))
	v.Load("/data/dir01/x", []byte("x"))
	h := v.Handle(committing(1))
	bad, good := open(t, h, "/data/dir0/x"), open(t, h, "/data/dir01/x")
	check := func(fd int32, read, write, sync bool) {
		t.Helper()
		_, err := h.ReadAt(fd, make([]byte, 1), 0)
		require.Equal(t, read, errors.Is(err, ErrIO))
		require.Equal(t, write, errors.Is(h.WriteAt(fd, []byte("x"), 0), ErrIO))
		require.Equal(t, sync, errors.Is(h.Sync(fd), ErrIO))
	}
	v.SetErrors("/data/dir0", Errors{Read: true})
	check(bad, true, false, false)
	v.SetErrors("/data/dir0", Errors{Write: true, Sync: true}) // in place of the first
	check(bad, false, true, true)
	check(good, false, false, false)
	v.SetErrors("/data/dir0", Errors{SyncPpm: 1_000_000})
	check(bad, false, false, true)
	v.SetErrors("/data/dir0", Errors{})
	check(bad, false, false, false)
	v.SetErrors("", Errors{Sync: true})
	check(good, false, false, true)
	v.Heal(Model{})
	check(good, false, false, false)
}

// After a failed fsync the next one succeeds and vouches for nothing that the failed one covered.
func TestDataUnderAFailedSyncIsNeverDurable(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	h := v.Handle(Immediate{})
	fd := open(t, h, "/x")
	require.NoError(t, h.WriteAt(fd, expand("aa"), 0))
	require.NoError(t, h.Sync(fd))
	require.NoError(t, h.WriteAt(fd, expand("bb"), 2*unit))
	v.SetErrors("", Errors{Sync: true})
	require.ErrorIs(t, h.Sync(fd), ErrIO)
	v.SetErrors("", Errors{})
	require.NoError(t, h.Sync(fd))
	require.Equal(t, string(expand("aabb")), content(t, v, "/x"), "the page cache still shows them")
	require.Equal(t, string(expand("aa")), durable(t, v, "/x"))
	v.Crash(Kill, nil, Immediate{})
	require.Equal(t, string(expand("aabb")), content(t, v, "/x"), "also to the next process")

	h = v.Handle(Immediate{})
	fd = open(t, h, "/x")
	require.NoError(t, h.WriteAt(fd, expand("c"), 4*unit))
	require.NoError(t, h.Sync(fd))
	v.Crash(PowerLoss, nil, Immediate{})
	require.Equal(t, string(append(append(expand("aa"), make([]byte, 2*unit)...), expand("c")...)), content(t, v, "/x"))
}

func TestRewritingTheSectorSavesIt(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	h := v.Handle(Immediate{})
	fd := open(t, h, "/x")
	require.NoError(t, h.WriteAt(fd, []byte("first half, "), 0))
	v.SetErrors("", Errors{Sync: true})
	require.Error(t, h.Sync(fd))
	v.SetErrors("", Errors{})
	require.NoError(t, h.WriteAt(fd, []byte("second half"), 12))
	require.NoError(t, h.Sync(fd))
	require.Equal(t, "first half, second half", durable(t, v, "/x"), "the sector is dirty as a whole")
}

func TestFullDisk(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", []byte("1234567890"))
	v.Load("/y", []byte("12345"))
	h := v.Handle(Immediate{})
	fd := open(t, h, "/x")
	v.SetFull(4)
	require.NoError(t, h.WriteAt(fd, []byte("abc"), 0), "overwriting takes no space")
	require.NoError(t, h.WriteAt(fd, []byte("AB"), 10))
	err := h.WriteAt(fd, []byte("CDEF"), 12)
	require.ErrorIs(t, err, ErrNoSpace)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, "abc4567890ABCD", content(t, v, "/x"), "what fits is written")
	require.ErrorIs(t, h.WriteAt(fd, []byte("E"), 14), ErrNoSpace)
	require.ErrorIs(t, h.WriteAt(fd, []byte("E"), 20), ErrNoSpace)
	require.Equal(t, "abc4567890ABCD", content(t, v, "/x"))

	require.NoError(t, h.Remove("/y"))
	require.ErrorIs(t, h.WriteAt(fd, []byte("E"), 14), ErrNoSpace, "the platter still has a name for it")
	require.NoError(t, h.SyncDir("/"))
	require.NoError(t, h.WriteAt(fd, []byte("EFGHI"), 14), "removing gives space back")
	require.ErrorIs(t, h.WriteAt(fd, []byte("J"), 19), ErrNoSpace)
	require.NoError(t, h.Truncate(fd, 18))
	require.NoError(t, h.WriteAt(fd, []byte("J"), 18))
	v.SetFull(-1)
	require.NoError(t, h.WriteAt(fd, make([]byte, 10_000), 19))
}

func TestCosts(t *testing.T) {
	m := Model{
		Read: Cost{BaseNs: 10, PerKiBNs: 1024}, Write: Cost{BaseNs: 20, PerKiBNs: 512},
		Sync: Cost{BaseNs: 1000}, Names: Cost{BaseNs: 5},
	}
	v := NewVolume("v", m)
	l := committing(1)
	h := v.Handle(l)
	run := func() []int64 {
		l.costs = nil
		fd := open(t, h, "/x")
		require.NoError(t, h.WriteAt(fd, make([]byte, 100), 0))
		_, _ = h.ReadAt(fd, make([]byte, 10), 0)
		require.NoError(t, h.Sync(fd))
		require.NoError(t, h.SyncDir("/"))
		require.NoError(t, h.Truncate(fd, 0))
		require.NoError(t, h.Remove("/x"))
		return l.costs
	}
	require.Equal(t, []int64{5, 70, 20, 1000, 1000, 5, 5}, run())
	v.SetSlow(Slow{SyncPercent: 1000, ReadPercent: 200, WritePercent: 300, NamesPercent: 400})
	require.Equal(t, []int64{20, 210, 40, 10_000, 10_000, 20, 20}, run())
	v.SetSlow(Slow{})
	require.Equal(t, []int64{5, 70, 20, 1000, 1000, 5, 5}, run())
}

func TestJitterAndSlowSyncs(t *testing.T) {
	v := NewVolume("v", Model{Sync: Cost{BaseNs: 100, JitterNs: 9}, SlowSyncPpm: 200_000, SlowSyncNs: 10_000})
	v.Load("/x", nil)
	l := committing(1)
	h := v.Handle(l)
	fd := open(t, h, "/x")
	slow, jitter := 0, map[int64]bool{}
	for range 500 {
		require.NoError(t, h.Sync(fd))
	}
	for _, ns := range l.costs {
		if ns >= 10_000 {
			slow++
			ns -= 10_000
		}
		jitter[ns] = true
		require.True(t, ns >= 100 && ns <= 109)
	}
	require.InDelta(t, 100, slow, 40)
	require.Len(t, jitter, 10)
}

func TestArmedCrashPointsAtTheOperation(t *testing.T) {
	v := NewVolume("v", Model{})
	for k := int64(1); k <= 5; k++ {
		v.Reset(Model{})
		v.Load("/x", nil)
		l := newLane(1)
		h := v.Handle(l)
		require.True(t, v.ArmCrash(k))
		fd := open(t, h, "/x")
		for i := range int64(4) {
			require.NoError(t, h.WriteAt(fd, []byte("a"), i))
			_, _ = h.ReadAt(fd, make([]byte, 1), 0) // reads do not count
		}
		if k == 5 {
			require.Equal(t, NoOp, l.armed)
			require.False(t, v.ArmCrash(4), "passed")
			continue
		}
		require.Equal(t, l.issued[k-1], l.armed)
		v.Crash(Kill, nil, l)
		require.Equal(t, int64(0), v.OpsSinceBoot())
		require.False(t, v.ArmedAt(l.armed))
	}
}
