package vdisk

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// mirror is a checker: it knows of the volume only what the observer tells.
type mirror struct {
	files map[string][]byte
}

func (m *mirror) observe(op *Op) {
	switch op.Kind {
	case OpCreate:
		m.files[op.Path] = nil
	case OpWrite:
		m.files[op.Path] = put(slices.Clone(m.files[op.Path]), op.Data, op.Offset)
	case OpTruncate:
		m.files[op.Path] = resize(slices.Clone(m.files[op.Path]), op.Size)
	case OpRename:
		m.files[op.To] = m.files[op.Path]
		delete(m.files, op.Path)
	case OpRemove, OpVanish:
		delete(m.files, op.Path)
	case OpReset:
		m.files[op.Path] = slices.Clone(op.Data)
	}
}

// machine drives a volume by two lanes with files of their own, as a world does.
type machine struct {
	v       *Volume
	lanes   [2]*lane
	handles [2]*Handle
	mirror  mirror
	fill    byte
}

func newMachine(v *Volume, seed uint64) *machine {
	m := &machine{v: v, mirror: mirror{files: map[string][]byte{}}}
	v.Reset(Model{Profile: Profile(seed % 2), KeepDirty: seed%3 == 0, SyncErrorPpm: 20_000, WriteErrorPpm: 20_000, Write: Cost{JitterNs: 10}})
	if seed%5 == 0 {
		v.SetAstray(func(Astray) bool { return true })
		v.SetStray(1, Stray{Kind: LostSector, Count: 2})
		v.SetStray(2, Stray{Kind: MisdirectedSector, Path: "/0", Count: 2})
	}
	for i := range m.lanes {
		m.lanes[i] = newLane(seed + uint64(i))
		for _, name := range []string{"a", "b"} {
			path := fmt.Sprintf("/%d/%s", i, name)
			v.Load(path, []byte(path))
			m.mirror.files[path] = []byte(path)
		}
	}
	v.SetObserver(m.mirror.observe)
	m.boot()
	return m
}

func (m *machine) boot() {
	for i := range m.lanes {
		m.lanes[i].issued = m.lanes[i].issued[:0]
		m.handles[i] = m.v.Handle(m.lanes[i])
	}
}

// step interprets one drawn number as an operation, a completion or a crash.
func (m *machine) step(draw func(n int) int) {
	i := draw(2)
	l, h := m.lanes[i], m.handles[i]
	path := fmt.Sprintf("/%d/%c", i, 'a'+rune(draw(3)))
	m.fill++
	switch draw(12) {
	case 0, 1, 2, 3:
		if len(l.issued) > 0 {
			m.v.Commit(l.issued[0])
			l.issued = l.issued[1:]
		}
	case 4:
		if draw(6) == 0 {
			m.crash(CrashKind(draw(2)), draw)
		}
	case 5:
		_ = h.Rename(path, fmt.Sprintf("/%d/%c", i, 'a'+rune(draw(3))))
	case 6:
		if draw(3) == 0 {
			_ = h.Remove(path)
		}
	case 7:
		_ = h.SyncDir(fmt.Sprintf("/%d", i))
	default:
		fd, err := h.Open(path, true)
		if err != nil {
			return
		}
		switch draw(6) {
		case 0:
			_ = h.Truncate(fd, int64(draw(1500)))
		case 1, 2:
			_ = h.Sync(fd)
		case 3:
			_ = h.WriteAt(fd, bytes.Repeat([]byte{m.fill}, draw(1200)), int64(draw(1500)))
		default:
			size, _ := h.Size(fd)
			_ = h.WriteAt(fd, bytes.Repeat([]byte{m.fill}, 1+draw(700)), size)
		}
		_ = h.Close(fd)
	}
}

func (m *machine) crash(kind CrashKind, draw func(n int) int) {
	var inProgress []OpID
	for _, l := range m.lanes {
		if len(l.issued) > 0 && draw(2) == 0 {
			inProgress = append(inProgress, l.issued[0])
		}
	}
	m.v.Crash(kind, inProgress, m.lanes[0])
	m.boot()
}

func (m *machine) files() map[string][]byte {
	out := map[string][]byte{}
	m.v.Walk(func(path string, data []byte) { out[path] = slices.Clone(data) })
	return out
}

// check compares the committed view with the mirror and recounts references and space.
func (m *machine) check(t require.TestingT) {
	got := m.files()
	require.Len(t, got, len(m.mirror.files))
	for path, data := range m.mirror.files {
		require.True(t, bytes.Equal(data, got[path]), path)
	}
	v := m.v
	refs := make([]int32, len(v.inodes))
	for _, slot := range v.names {
		refs[slot]++
	}
	for _, slot := range v.durable {
		refs[slot]++
	}
	for _, c := range v.journal {
		refs[c.slot]++
		if c.replaced >= 0 {
			refs[c.replaced]++
		}
	}
	for id := v.head; id <= v.tail; id++ {
		if op := v.at(id); !op.done {
			refs[op.slot]++
			if op.replaced >= 0 {
				refs[op.replaced]++
			}
		}
	}
	var used int64
	for slot, n := range v.inodes {
		require.Equal(t, refs[slot], n.refs, n.path)
		used += int64(len(n.cache))
		if n.refs == 0 {
			require.Contains(t, v.free, int32(slot))
		}
		if n.shared {
			require.LessOrEqual(t, n.durableLen, int64(len(n.cache)))
		}
	}
	require.Equal(t, used, v.used)
}

func TestObserversSeeWhatTheVolumeHolds(t *testing.T) {
	v := NewVolume("v", Model{})
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(v, rapid.Uint64().Draw(rt, "seed"))
		src := newLane(rapid.Uint64().Draw(rt, "steps")) // one number stands for a whole history, its length for the shrinker
		n := 0
		draw := func(k int) int { n++; return int(src.Choose(siteJitter, 0, uint64(n), int64(k))) }
		for i := range rapid.IntRange(1, 60).Draw(rt, "length") {
			m.step(draw)
			if i%8 == 0 {
				m.check(rt)
			}
		}
		m.check(rt)
	})
}

func history(v *Volume, seed uint64) []byte {
	m := newMachine(v, seed)
	n := 0
	for range 300 {
		m.step(func(k int) int { n++; return int(m.lanes[1].Choose(siteJitter, 7, uint64(n), int64(k))) })
	}
	return v.AppendState(nil)
}

func TestSameDecisionsSameStateAndResetLeavesNoTrace(t *testing.T) {
	used := NewVolume("v", Model{})
	distinct := map[string]bool{}
	for seed := range uint64(50) {
		want := history(NewVolume("v", Model{}), seed)
		history(used, seed+1000)
		used.SetFull(3)
		used.SetErrors("/0", Errors{Write: true})
		used.SetSlow(Slow{SyncPercent: 900})
		used.ArmCrash(used.OpsSinceBoot() + 5)
		require.Equal(t, want, history(used, seed))
		distinct[string(want)] = true
	}
	require.Len(t, distinct, 50)
}

// What an fsync and a SyncDir covered is there after every power loss.
func TestPowerLossKeepsWhatWasSynced(t *testing.T) {
	v := NewVolume("v", Model{})
	rapid.Check(t, func(rt *rapid.T) {
		v.Reset(Model{})
		v.Load("/d/x", nil)
		l := newLane(rapid.Uint64().Draw(rt, "seed"))
		l.commit = true
		h := v.Handle(l)
		fd, err := h.Open("/d/log", true)
		require.NoError(rt, err)
		var acknowledged, written []byte
		named := false
		for i := range rapid.IntRange(1, 30).Draw(rt, "length") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				require.NoError(rt, h.Sync(fd))
				acknowledged = slices.Clone(written)
			case 1:
				require.NoError(rt, h.SyncDir("/d"))
				named = true
			default:
				p := bytes.Repeat([]byte{byte(i)}, rapid.IntRange(1, 900).Draw(rt, "bytes"))
				require.NoError(rt, h.WriteAt(fd, p, int64(len(written))))
				written = append(written, p...)
			}
		}
		v.Crash(PowerLoss, nil, l)
		got, ok := v.File("/d/log")
		require.True(rt, ok || !named)
		if ok {
			require.True(rt, bytes.HasPrefix(got, acknowledged))
			require.True(rt, bytes.HasPrefix(written, got), "an append-only file is never anything but a prefix")
			again, _ := v.DurableFile("/d/log")
			require.Equal(rt, got, again)
		}
	})
}

func TestFilesAnswerAsAFileSystemDoes(t *testing.T) {
	v := NewVolume("v", Model{})
	h := v.Handle(Immediate{})
	_, err := h.Open("/d/x", true)
	require.ErrorIs(t, err, fs.ErrNotExist, "no directory")
	require.NoError(t, h.MkdirAll("/d/e"))
	require.NoError(t, h.MkdirAll("/d/e"))
	_, err = h.Open("/d/x", false)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = h.Open("/d/e", true)
	require.Error(t, err, "a directory")
	fd := open(t, h, "/d/x")
	require.ErrorIs(t, h.MkdirAll("/d/x/y"), fs.ErrExist)
	require.NoError(t, h.WriteAt(fd, []byte("hello"), 2))

	p := make([]byte, 4)
	n, err := h.ReadAt(fd, p, 0)
	require.NoError(t, err)
	require.Equal(t, "\x00\x00he", string(p[:n]))
	n, err = h.ReadAt(fd, p, 5)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "lo", string(p[:n]))
	n, err = h.ReadAt(fd, p, 7)
	require.ErrorIs(t, err, io.EOF)
	require.Zero(t, n)
	n, err = h.ReadAt(fd, p, 3)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	_, err = h.ReadAt(fd, p, -1)
	require.ErrorIs(t, err, fs.ErrInvalid)

	open(t, h, "/d/e/inner")
	open(t, h, "/d/a")
	names, err := h.List("/d")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "e", "x"}, names)
	names, err = h.List("/")
	require.NoError(t, err)
	require.Equal(t, []string{"d"}, names)
	_, err = h.List("/missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Error(t, h.Remove("/d/e"), "not empty")
	require.NoError(t, h.Remove("/d/e/inner"))
	require.NoError(t, h.Remove("/d/e"))
	require.ErrorIs(t, h.Remove("/d/e"), fs.ErrNotExist)
	require.ErrorIs(t, h.SyncDir("/d/e"), fs.ErrNotExist)

	require.ErrorIs(t, h.Rename("/d/missing", "/d/x"), fs.ErrNotExist)
	require.ErrorIs(t, h.Rename("/d/x", "/missing/x"), fs.ErrNotExist)
	require.ErrorIs(t, h.Rename("/d", "/e"), fs.ErrInvalid)
	require.NoError(t, h.Rename("/d/x", "/d/x"))
	require.NoError(t, h.Rename("/d/x", "/d/a"))
	require.NoError(t, h.WriteAt(fd, []byte("!"), 7), "the descriptor follows the file")
	require.Equal(t, "\x00\x00hello!", content(t, v, "/d/a"))
	require.NoError(t, h.Remove("/d/a"))
	size, err := h.Size(fd)
	require.NoError(t, err, "the file lives as long as its descriptor")
	require.Equal(t, int64(8), size)
	require.NoError(t, h.Close(fd))
	require.ErrorIs(t, h.Close(fd), fs.ErrClosed)
	require.ErrorIs(t, h.WriteAt(fd, p, 0), fs.ErrClosed)
	require.ErrorIs(t, h.Sync(99), fs.ErrClosed)
	for _, path := range []string{"", "d", "/d/", "//d", "/d/../e", "/d/."} {
		_, err = h.Open(path, true)
		require.ErrorIs(t, err, fs.ErrInvalid, path)
	}
	h.Drop()
	h.Drop()
	_, err = h.List("/d")
	require.ErrorIs(t, err, fs.ErrClosed)
}

func TestTwoLanesInOneFileIsAProgrammerError(t *testing.T) {
	v := NewVolume("v", Model{})
	v.Load("/x", nil)
	a, b := v.Handle(newLane(1)), v.Handle(newLane(2))
	require.NoError(t, a.WriteAt(open(t, a, "/x"), []byte("a"), 0))
	require.Panics(t, func() { _ = b.WriteAt(open(t, b, "/x"), []byte("b"), 0) })
}
