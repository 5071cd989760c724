package raftlog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
)

func TestOpenSyncsWhatAKillLeft(t *testing.T) {
	files := newFiles()
	fill(t, open(t, files, raftlog.Config{}), 1, 1)
	files.Kill()
	l := open(t, files, raftlog.Config{})
	require.EqualValues(t, 4, l.FlushedOffset())
	files.Crash()
	require.EqualValues(t, 4, open(t, files, raftlog.Config{}).EndOffset())
}

func TestRecovery(t *testing.T) {
	size := int64(len(batch(0, 1, 2)))
	name := func(base int64) string { return fmt.Sprintf("%s/%020d.log", dir, base) }
	damage := func(files *memfiles.Files, base int64, change func(b []byte) []byte) {
		files.WriteFile(name(base), change(files.ReadFile(name(base))))
	}
	for _, c := range []struct {
		name   string
		cfg    raftlog.Config
		change func(files *memfiles.Files)
		want   raftlog.Recovery
	}{
		{"nothing wrong", raftlog.Config{}, func(*memfiles.Files) {},
			raftlog.Recovery{Segments: 1, Batches: 3, BadSegment: -1, BadPosition: -1, EndBefore: -1, EndAfter: 6}},
		{"torn tail", raftlog.Config{}, func(f *memfiles.Files) {
			damage(f, 0, func(b []byte) []byte { return b[:len(b)-3] })
		}, raftlog.Recovery{Segments: 1, Batches: 2, BytesCut: size - 3, BadPosition: 2 * size, EndBefore: -1, EndAfter: 4}},
		{"torn header", raftlog.Config{}, func(f *memfiles.Files) {
			damage(f, 0, func(b []byte) []byte { return append(b, 1, 2, 3) })
		}, raftlog.Recovery{Segments: 1, Batches: 3, BytesCut: 3, BadPosition: 3 * size, EndBefore: -1, EndAfter: 6}},
		{"zeroes behind the end", raftlog.Config{}, func(f *memfiles.Files) {
			damage(f, 0, func(b []byte) []byte { return append(b, make([]byte, 100)...) })
		}, raftlog.Recovery{Segments: 1, Batches: 3, BytesCut: 100, BadPosition: 3 * size, EndBefore: -1, EndAfter: 6}},
		{"damage in the middle", raftlog.Config{}, func(f *memfiles.Files) {
			damage(f, 0, func(b []byte) []byte { b[size+70] ^= 1; return b })
		}, raftlog.Recovery{Segments: 1, Batches: 1, BytesCut: 2 * size, BadPosition: size, EndBefore: 6, EndAfter: 2}},
		{"damage in the first of three segments", raftlog.Config{SegmentBytes: 1}, func(f *memfiles.Files) {
			damage(f, 0, func(b []byte) []byte { b[70] ^= 1; return b })
		}, raftlog.Recovery{Segments: 1, BytesCut: 3 * size, EndBefore: 6, EndAfter: 0}},
		{"damage in the second of three segments", raftlog.Config{SegmentBytes: 1}, func(f *memfiles.Files) {
			damage(f, 2, func(b []byte) []byte { b[70] ^= 1; return b })
		}, raftlog.Recovery{Segments: 2, Batches: 1, BytesCut: 2 * size, BadSegment: 2, EndBefore: 6, EndAfter: 2}},
		{"empty last segment", raftlog.Config{}, func(f *memfiles.Files) {
			f.WriteFile(name(6), nil)
		}, raftlog.Recovery{Segments: 2, Batches: 3, BadSegment: -1, BadPosition: -1, EndBefore: -1, EndAfter: 6}},
		{"files that are none of its business", raftlog.Config{}, func(f *memfiles.Files) {
			for _, n := range []string{"00000000000000000000.index", "00000000000000000000.timeindex", "00000000000000000000.snapshot",
				"quorum-state", "quorum-state.tmp", "leader-epoch-checkpoint.tmp", "00000000000000000000.txnindex"} {
				f.WriteFile(dir+"/"+n, []byte("anything"))
			}
		}, raftlog.Recovery{Segments: 1, Batches: 3, BadSegment: -1, BadPosition: -1, EndBefore: -1, EndAfter: 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles()
			l := open(t, files, c.cfg)
			fill(t, l, 1, 1, 1)
			require.NoError(t, l.Close())
			c.change(files)
			l = open(t, files, c.cfg)
			got := l.Recovered()
			require.Equal(t, c.want.BytesCut > 0, got.Reason != "", got.Reason)
			got.Reason = ""
			require.Equal(t, c.want, got)
			require.Equal(t, c.want.EndAfter, l.EndOffset())
			fill(t, l, 2)
			require.NoError(t, l.Close())
			l = open(t, files, c.cfg)
			require.Equal(t, c.want.EndAfter+2, l.EndOffset())
			require.Zero(t, l.Recovered().BytesCut, "the second start finds nothing to cut")
		})
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	files := newFiles()
	fill(t, open(t, files, raftlog.Config{}), 1)
	gone := []string{"00000000000000000009.log.deleted", "00000000000000000009.log.cleaned", "00000000000000000009.index.swap",
		"00000000000000000000-0000000000.checkpoint.deleted", "00000000000000000009-0000000001-12345.checkpoint.part"}
	for _, n := range gone {
		files.WriteFile(dir+"/"+n, []byte("x"))
	}
	l := open(t, files, raftlog.Config{})
	require.EqualValues(t, 2, l.EndOffset())
	names, err := files.List(dir)
	require.NoError(t, err)
	for _, n := range gone {
		require.NotContains(t, names, n)
	}
}

func TestRefusedDirectories(t *testing.T) {
	for name, change := range map[string]func(f *memfiles.Files){
		"strange segment name":       func(f *memfiles.Files) { f.WriteFile(dir+"/1.log", nil) },
		"segment name with letters":  func(f *memfiles.Files) { f.WriteFile(dir+"/0000000000000000000x.log", nil) },
		"bootstrap.checkpoint":       func(f *memfiles.Files) { f.WriteFile(dir+"/bootstrap.checkpoint", nil) },
		"snapshot name with a tail":  func(f *memfiles.Files) { f.WriteFile(dir+"/00000000000000000000-0000000000-x.checkpoint", nil) },
		"snapshot name with letters": func(f *memfiles.Files) { f.WriteFile(dir+"/0000000000000000000x-0000000000.checkpoint.part", nil) },
		"other topic": func(f *memfiles.Files) {
			f.WriteFile(dir+"/partition.metadata", []byte("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg"))
		},
		"empty partition.metadata": func(f *memfiles.Files) { f.WriteFile(dir+"/partition.metadata", nil) },
		"version 1 partition.metadata": func(f *memfiles.Files) {
			f.WriteFile(dir+"/partition.metadata", []byte("version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"))
		},
		"epoch checkpoint version": func(f *memfiles.Files) { f.WriteFile(dir+"/leader-epoch-checkpoint", []byte("1\n0\n")) },
		"epoch checkpoint count":   func(f *memfiles.Files) { f.WriteFile(dir+"/leader-epoch-checkpoint", []byte("0\n2\n1 0\n")) },
		"epoch checkpoint line":    func(f *memfiles.Files) { f.WriteFile(dir+"/leader-epoch-checkpoint", []byte("0\n1\n1 0 0\n")) },
		"start without a snapshot": func(f *memfiles.Files) { f.WriteFile(dir+"/00000000000000000007.log", nil) },
		"offset out of the segment": func(f *memfiles.Files) {
			f.WriteFile(dir+"/00000000000000000000.log", batch(1<<40, 1, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := newFiles()
			change(files)
			_, err := raftlog.Open(files, dir, raftlog.Config{})
			require.ErrorIs(t, err, raftlog.ErrDirectory)
		})
	}
}
