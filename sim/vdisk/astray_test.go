package vdisk

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// strayed writes three sectors of x behind what is there, with an fsync, and returns what a power loss then shows.
func strayed(t *testing.T, s Stray) (after map[string]string, told []Astray, v *Volume) {
	t.Helper()
	v = NewVolume("v", Model{})
	v.Load("/d/x.log", expand("aa"))
	v.Load("/d/y.log", expand("bbbb"))
	v.Load("/d/z", expand("cc"))
	v.SetAstray(func(a Astray) bool { told = append(told, a); return true })
	v.SetStray(1, s)
	l := newLane(3)
	l.commit = true
	h := v.Handle(l)
	fd := open(t, h, "/d/x.log")
	require.NoError(t, h.WriteAt(fd, expand("123456"), 2*unit))
	require.NoError(t, h.Sync(fd))
	require.Equal(t, string(expand("aa123456")), content(t, v, "/d/x.log"), "the page cache has it")
	v.Crash(Kill, nil, Immediate{})
	require.Equal(t, string(expand("aa123456")), content(t, v, "/d/x.log"), "and keeps it when the process dies")
	v.Crash(PowerLoss, nil, Immediate{})
	after = map[string]string{}
	v.Walk(func(path string, data []byte) { after[path] = string(data) })
	return after, told, v
}

func TestLostSector(t *testing.T) {
	after, told, v := strayed(t, Stray{Path: "/d", Suffix: ".log", Kind: LostSector, Count: 1})
	require.Len(t, told, 1)
	want := expand("aa123456")
	clear(want[told[0].At.Offset:][:SectorSize])
	require.Equal(t, string(want), after["/d/x.log"])
	require.Equal(t, string(expand("bbbb")), after["/d/y.log"])
	require.Equal(t, Struck{SectorsLost: 1}, v.Struck())

	after, told, v = strayed(t, Stray{Path: "/d", Suffix: "z", Kind: LostSector, Count: 1})
	require.Empty(t, told)
	require.Equal(t, string(expand("aa123456")), after["/d/x.log"], "without the fault all of it is there")
	require.Zero(t, v.Struck())
}

func TestMisdirectedSector(t *testing.T) {
	after, told, v := strayed(t, Stray{Kind: MisdirectedSector, Suffix: ".log", Count: 1})
	require.Len(t, told, 1)
	want := map[string][]byte{"/d/x.log": expand("aa123456"), "/d/y.log": expand("bbbb"), "/d/z": expand("cc")}
	sector := bytes.Clone(want["/d/x.log"][told[0].At.Offset:][:SectorSize])
	clear(want["/d/x.log"][told[0].At.Offset:][:SectorSize])
	copy(want[told[0].Landing.Path][told[0].Landing.Offset:], sector)
	require.NotEqual(t, told[0].At, told[0].Landing)
	for path, data := range want {
		require.Equal(t, string(data), after[path], path)
	}
	require.Equal(t, Struck{SectorsMisdirected: 1}, v.Struck())
}

// Who keeps the account may say no, and a count is a count.
func TestStraysAreCountedAndMayBeRefused(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	l := newLane(1)
	l.commit = true
	h := v.Handle(l)
	fd := open(t, h, "/x")
	asked, allow := 0, false
	v.SetAstray(func(Astray) bool { asked++; return allow })
	v.SetStray(7, Stray{Kind: LostSector, Count: 2})
	for i := range int64(6) {
		allow = i > 1
		require.NoError(t, h.WriteAt(fd, expand("1"), i*SectorSize))
		require.NoError(t, h.Sync(fd))
	}
	require.Equal(t, 4, asked, "twice in vain, then two")
	require.Equal(t, int64(2), v.Struck().SectorsLost)
	v.SetStray(7, Stray{})
	require.Empty(t, v.strays)
}

// A later write to a lost sector brings the whole of it, and a crash that takes the fsync back takes the fault back.
func TestLostSectorsMend(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	l := newLane(1)
	l.commit = true
	h := v.Handle(l)
	fd := open(t, h, "/x")
	v.SetAstray(func(Astray) bool { return true })
	v.SetStray(1, Stray{Kind: LostSector, Count: 1})
	require.NoError(t, h.WriteAt(fd, []byte("first "), 0))
	require.NoError(t, h.Sync(fd))
	require.Equal(t, "\x00\x00\x00\x00\x00\x00", durable(t, v, "/x"))
	require.NoError(t, h.WriteAt(fd, []byte("second"), 6))
	require.NoError(t, h.Sync(fd))
	require.Equal(t, "first second", durable(t, v, "/x"))

	v.SetStray(1, Stray{Kind: LostSector, Count: 1})
	l.commit = false
	require.NoError(t, h.WriteAt(fd, []byte("!"), 12))
	require.NoError(t, h.Sync(fd))
	v.Crash(Kill, nil, Immediate{})
	require.Empty(t, v.inodes[v.names["/x"]].lost)
	require.Equal(t, "first second", durable(t, v, "/x"))
}

func TestReadOnly(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/d/x", []byte("x"))
	h := v.Handle(Immediate{})
	fd := open(t, h, "/d/x")
	require.NoError(t, h.WriteAt(fd, []byte("y"), 0))
	v.SetReadOnly(true)
	for name, err := range map[string]error{
		"write": h.WriteAt(fd, []byte("z"), 0), "sync": h.Sync(fd), "truncate": h.Truncate(fd, 0), "rename": h.Rename("/d/x", "/d/y"),
		"remove": h.Remove("/d/x"), "mkdir": h.MkdirAll("/e"),
	} {
		require.ErrorIs(t, err, ErrReadOnly, name)
		require.ErrorIs(t, err, syscall.EROFS, name)
	}
	require.Equal(t, int64(6), v.Struck().ReadOnly)
	p := make([]byte, 1)
	_, err := h.ReadAt(fd, p, 0)
	require.NoError(t, err)
	require.Equal(t, "y", string(p))
	require.Equal(t, "x", durable(t, v, "/d/x"))
	v.SetReadOnly(false)
	require.NoError(t, h.Sync(fd), "remounted: what was dirty still is")
	require.Equal(t, "y", durable(t, v, "/d/x"))
}

func TestCopyAndRestore(t *testing.T) {
	v := NewVolume("v", Model{})
	require.NoError(t, v.Handle(Immediate{}).MkdirAll("/d/e"))
	v.Load("/d/x", []byte("old"))
	i := v.Copy()
	h := v.Handle(Immediate{})
	fd := open(t, h, "/d/x")
	require.NoError(t, h.WriteAt(fd, []byte("new and longer"), 0))
	require.NoError(t, h.Sync(fd))
	v.Load("/d/z", []byte("z"))
	later := v.Copy()
	v.Crash(PowerLoss, nil, Immediate{})
	v.Restore(i)
	require.Equal(t, "old", content(t, v, "/d/x"))
	require.Equal(t, "old", durable(t, v, "/d/x"))
	_, found := v.File("/d/z")
	require.False(t, found)
	names, err := v.Handle(Immediate{}).List("/d")
	require.NoError(t, err)
	require.Equal(t, []string{"e", "x"}, names)
	require.Equal(t, int64(3), v.used)

	other := NewVolume("w", Model{})
	other.Restore(later)
	require.Equal(t, "new and longer", content(t, other, "/d/x"))
}

// After a failed fsync of the other kind of kernel a later one settles what both covered.
func TestDirtyPagesAreTriedAgain(t *testing.T) {
	for _, keep := range []bool{true, false} {
		v := NewVolume("v", Model{KeepDirty: keep})
		v.Load("/x", nil)
		h := v.Handle(Immediate{})
		fd := open(t, h, "/x")
		require.NoError(t, h.WriteAt(fd, []byte("x"), 0))
		v.SetErrors("", Errors{Sync: true})
		require.ErrorIs(t, h.Sync(fd), ErrIO)
		require.Equal(t, "", durable(t, v, "/x"))
		v.SetErrors("", Errors{})
		require.NoError(t, h.Sync(fd))
		require.Equal(t, map[bool]string{true: "x", false: ""}[keep], durable(t, v, "/x"))
		require.Equal(t, map[bool]int64{true: 1, false: 0}[keep], v.Struck().KeptDirty)
	}
}

// What Posix allows and Ordered does not: names that outrun earlier ones elsewhere, and zeros in the middle of a file.
func TestPosixIsNotOrdered(t *testing.T) {
	count := func(p Profile) (s Struck, holes int) {
		for seed := range uint64(200) {
			v := NewVolume("v", Model{Profile: p})
			v.Load("/a/f", nil)
			v.LoadDir("/b")
			l := newLane(seed)
			l.commit = true
			h := v.Handle(l)
			fd := open(t, h, "/a/f")
			require.NoError(t, h.WriteAt(fd, expand("123456"), 0))
			require.NoError(t, h.Rename("/a/f", "/a/g"))
			_, err := h.Open("/b/f", true)
			require.NoError(t, err)
			v.Crash(PowerLoss, nil, l)
			_, old := v.File("/a/f")
			data, renamed := v.File("/a/g")
			require.NotEqual(t, old, renamed, "a rename is whole")
			if i := bytes.IndexByte(data, 0); i >= 0 && bytes.Count(data[i:], []byte{0}) < len(data)-i {
				holes++
			}
			one := v.Struck()
			s.NamesOutOfOrder += one.NamesOutOfOrder
			s.Holes += one.Holes
		}
		return s, holes
	}
	s, holes := count(Posix)
	require.InDelta(t, 50, s.NamesOutOfOrder, 25)
	require.Greater(t, s.Holes, int64(100))
	require.Greater(t, holes, 5)
	s, holes = count(Ordered)
	require.Zero(t, s)
	require.Zero(t, holes)
}

// Under Posix SyncDir settles its own directory, and what its names stand on.
func TestPosixSyncDirSettlesItsDirectoryAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := NewVolume("v", Model{Profile: Posix})
		v.LoadDir("/a")
		l := newLane(rapid.Uint64().Draw(rt, "seed"))
		l.commit = true
		h := v.Handle(l)
		_, err := h.Open("/a/f", true)
		require.NoError(rt, err)
		require.NoError(rt, h.MkdirAll("/b/c"))
		_, err = h.Open("/b/c/g", true)
		require.NoError(rt, err)
		require.NoError(rt, h.SyncDir("/b/c"))
		require.Len(rt, v.journal, 1, "the file in /a stays pending")
		v.Crash(PowerLoss, nil, l)
		_, found := v.File("/b/c/g")
		require.True(rt, found)
	})
}

// A misdirected sector lands on the files that the fault names, and nowhere else; where there is none it comes to where it belongs.
func TestMisdirectedSectorLandsWhereItIsToldTo(t *testing.T) {
	after, told, _ := strayed(t, Stray{Kind: MisdirectedSector, Suffix: ".log", Onto: "z", Count: 1})
	require.Len(t, told, 1)
	require.Equal(t, "/d/x.log", told[0].At.Path)
	require.Equal(t, "/d/z", told[0].Landing.Path)
	want := expand("cc")
	copy(want[told[0].Landing.Offset:], expand("aa123456")[told[0].At.Offset:][:SectorSize])
	require.Equal(t, string(want), after["/d/z"])
	require.Equal(t, string(expand("bbbb")), after["/d/y.log"])

	after, told, v := strayed(t, Stray{Kind: MisdirectedSector, Suffix: ".log", Onto: "nobody", Count: 1})
	require.Empty(t, told)
	require.Equal(t, string(expand("aa123456")), after["/d/x.log"])
	require.Zero(t, v.Struck())
}
