package vdisk

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, h *Handle, path string) int32 {
	t.Helper()
	fd, err := h.Open(path, true)
	require.NoError(t, err)
	return fd
}

func durable(t *testing.T, v *Volume, path string) string {
	t.Helper()
	b, ok := v.DurableFile(path)
	require.True(t, ok, path)
	return string(b)
}

func content(t *testing.T, v *Volume, path string) string {
	t.Helper()
	b, ok := v.File(path)
	require.True(t, ok, path)
	return string(b)
}

// An fsync is committed while a later overwrite is already in the page cache: it must not vouch for that one.
func TestSyncDoesNotVouchForLaterOverwrites(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	l := newLane(1)
	h := v.Handle(l)
	fd := open(t, h, "/x")
	require.NoError(t, h.WriteAt(fd, []byte("old"), 0))
	require.NoError(t, h.Sync(fd))
	require.NoError(t, h.WriteAt(fd, []byte("new!"), 0))
	v.Commit(1)
	v.Commit(2)
	require.Equal(t, "old", durable(t, v, "/x"))
	require.Equal(t, "old", content(t, v, "/x"))
	v.Commit(3)
	require.Equal(t, "old", durable(t, v, "/x"))
	require.Equal(t, "new!", content(t, v, "/x"))
}

// KB-17: the file is whole and nobody can find it, unless the directory was synced.
func TestNameIsLostWithoutSyncDir(t *testing.T) {
	found := func(syncDir bool, seed uint64) bool {
		v := NewVolume("v", Model{})
		v.Load("/d/other", nil)
		l := newLane(seed)
		l.commit = true
		h := v.Handle(l)
		fd := open(t, h, "/d/log")
		require.NoError(t, h.WriteAt(fd, []byte("acknowledged"), 0))
		require.NoError(t, h.Sync(fd))
		if syncDir {
			require.NoError(t, h.SyncDir("/d"))
		}
		v.Crash(PowerLoss, nil, l)
		b, ok := v.File("/d/log")
		require.True(t, !ok || string(b) == "acknowledged", "what was synced is there or unreachable, never changed")
		return ok
	}
	lost := 0
	for seed := range uint64(64) {
		require.True(t, found(true, seed))
		if !found(false, seed) {
			lost++
		}
	}
	require.Greater(t, lost, 10)
	require.Less(t, lost, 54)
}

// Write a temporary file, rename it over the real one: without the fsync in between, the name can lead to nothing.
func TestRenameWithoutSyncCanLeaveAnEmptyFile(t *testing.T) {
	for _, synced := range []bool{false, true} {
		seen := map[string]int{}
		for seed := range uint64(200) {
			v := NewVolume("v", Model{})
			v.Load("/quorum-state", []byte("old"))
			l := newLane(seed)
			l.commit = true
			h := v.Handle(l)
			fd := open(t, h, "/quorum-state.tmp")
			require.NoError(t, h.WriteAt(fd, []byte("new"), 0))
			if synced {
				require.NoError(t, h.Sync(fd))
			}
			require.NoError(t, h.Rename("/quorum-state.tmp", "/quorum-state"))
			v.Crash(PowerLoss, nil, l)
			seen[content(t, v, "/quorum-state")]++
		}
		require.Positive(t, seen["old"])
		require.Positive(t, seen["new"])
		if synced {
			require.Len(t, seen, 2, "atomic: %v", seen)
		} else {
			require.Positive(t, seen[""], "%v", seen)
			require.Len(t, seen, 3)
		}
	}
}

// Torn sectors: unsynced overwrites survive as any subset of sectors, an unsynced extension as a prefix of sectors.
func TestTornSectors(t *testing.T) {
	overwritten, extended := map[string]bool{}, map[int]bool{}
	for seed := range uint64(400) {
		v := NewVolume("v", Model{})
		v.Load("/x", expand("aaaaaa"))
		v.Load("/y", []byte("head"))
		l := newLane(seed)
		l.commit = true
		h := v.Handle(l)
		require.NoError(t, h.WriteAt(open(t, h, "/x"), expand("bbbbbb"), 0))
		require.NoError(t, h.WriteAt(open(t, h, "/y"), expand("cccccc"), 4))
		v.Crash(PowerLoss, nil, l)
		x, y := content(t, v, "/x"), content(t, v, "/y")
		overwritten[string([]byte{x[0], x[512], x[1024]})] = true
		extended[len(y)] = true
		require.Equal(t, "head"+string(expand("cccccc"))[:len(y)-4], y)
	}
	require.Len(t, overwritten, 8)
	require.Equal(t, map[int]bool{4: true, 512: true, 1024: true, 1536: true, 1540: true}, extended)
}

// A kill keeps exactly what was committed, and of the write at the cut a prefix of its sectors.
func TestKillKeepsWhatWasCommitted(t *testing.T) {
	prefixes := map[int]bool{}
	for seed := range uint64(100) {
		v := NewVolume("v", Model{})
		v.Load("/x", []byte("1"))
		l := newLane(seed)
		h := v.Handle(l)
		fd := open(t, h, "/x")
		require.NoError(t, h.WriteAt(fd, []byte("2"), 1))
		require.NoError(t, h.WriteAt(fd, expand("3333"), 2)) // at the cut
		require.NoError(t, h.WriteAt(fd, []byte("4"), 0))
		require.NoError(t, h.Rename("/x", "/y"))
		require.NoError(t, h.Truncate(fd, 0))
		require.NoError(t, h.Remove("/y"))
		v.Commit(l.issued[0])
		require.Equal(t, "12", content(t, v, "/x"))
		v.Crash(Kill, l.issued[1:2], l)
		got := content(t, v, "/x")
		require.Equal(t, "12"+string(expand("3333"))[:len(got)-2], got)
		prefixes[len(got)] = true
		require.ErrorIs(t, h.Sync(fd), fs.ErrClosed)
		_, err := h.Open("/x", false)
		require.ErrorIs(t, err, fs.ErrClosed)
	}
	require.Equal(t, map[int]bool{2: true, 512: true, 1024: true, 1026: true}, prefixes)
}

// A crash at each operation leaves the committed prefix; in progress it may also have happened.
func TestOperationAtTheCutHappenedOrNot(t *testing.T) {
	for _, kind := range []CrashKind{Kill, PowerLoss} {
		gone, there := 0, 0
		for seed := range uint64(64) {
			v := NewVolume("v", Model{})
			v.Load("/x", nil)
			l := newLane(seed)
			h := v.Handle(l)
			require.NoError(t, h.Rename("/x", "/y"))
			v.Crash(kind, l.issued, l)
			_, x := v.File("/x")
			_, y := v.File("/y")
			require.NotEqual(t, x, y)
			if y {
				there++
			} else {
				gone++
			}
		}
		require.Greater(t, gone, 10)
		require.Greater(t, there, 10)
	}
}
