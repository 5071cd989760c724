package raftlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

const dir = "/data/dir0/__cluster_metadata-0"

// newFiles returns a file system on which a log directory was formatted.
func newFiles() *memfiles.Files {
	files := memfiles.New()
	files.WriteFile("/data/dir0/meta.properties", nil)
	return files
}

func open(t testing.TB, files *memfiles.Files, cfg raftlog.Config) *raftlog.Log {
	t.Helper()
	l, err := raftlog.Open(files, dir, cfg)
	require.NoError(t, err)
	return l
}

// batch makes a batch of n records that say where they are.
func batch(base int64, epoch int32, n int) []byte {
	values := make([][]byte, n)
	for i := range values {
		values[i] = fmt.Appendf(nil, "record %d of epoch %d", base+int64(i), epoch)
	}
	return record.AppendBatch(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: epoch, TimestampMs: 1000 + base}, values...)
}

// fill appends one batch per epoch given, of two records each.
func fill(t testing.TB, l *raftlog.Log, epochs ...int32) {
	t.Helper()
	for _, e := range epochs {
		require.NoError(t, l.AppendLeader(batch(l.EndOffset(), e, 2)))
	}
}

func segments(t testing.TB, files *memfiles.Files) (names []string) {
	all, err := files.List(dir)
	require.NoError(t, err)
	for _, n := range all {
		if len(n) == 24 && n[20:] == ".log" {
			names = append(names, n)
		}
	}
	return names
}

func TestNewLog(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	require.Zero(t, l.StartOffset())
	require.Zero(t, l.EndOffset())
	require.Zero(t, l.FlushedOffset())
	require.Zero(t, l.LastEpoch())
	_, ok := l.LatestSnapshot()
	require.False(t, ok)
	require.Equal(t, raftlog.Recovery{BadSegment: -1, BadPosition: -1, EndBefore: -1, Segments: 1}, l.Recovered())
	require.Equal(t, "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ", string(files.ReadFile(dir+"/partition.metadata")))
	b, err := l.Read(0, 100)
	require.NoError(t, err)
	require.Nil(t, b)
	files.Crash()
	require.Equal(t, []string{"00000000000000000000.log"}, segments(t, files), "the first segment is durable once open")
}

func TestAppendFlushCrash(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	fill(t, l, 1, 1)
	require.NoError(t, l.Flush())
	require.EqualValues(t, 4, l.FlushedOffset())
	fill(t, l, 2)
	require.EqualValues(t, 6, l.EndOffset())
	require.EqualValues(t, 2, l.LastEpoch())
	require.EqualValues(t, 4, l.FlushedOffset())
	files.Crash()
	l = open(t, files, raftlog.Config{})
	require.EqualValues(t, 4, l.EndOffset())
	require.EqualValues(t, 1, l.LastEpoch(), "epoch 2 was durable before its bytes and goes with them")
	require.Equal(t, "0\n1\n1 0\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
}

func TestFlushSyncsOnlyWhatIsDirty(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1})
	fill(t, l, 1, 1, 1)
	before := files.Syncs
	require.NoError(t, l.Flush())
	require.EqualValues(t, 1, files.Syncs-before, "older segments were synced when the log rolled")
	require.NoError(t, l.Flush())
	require.EqualValues(t, 1, files.Syncs-before)
}

func TestOpenSyncsWhatAKillLeft(t *testing.T) {
	files := newFiles()
	fill(t, open(t, files, raftlog.Config{}), 1, 1)
	files.Kill()
	l := open(t, files, raftlog.Config{})
	require.EqualValues(t, 4, l.FlushedOffset())
	files.Crash()
	require.EqualValues(t, 4, open(t, files, raftlog.Config{}).EndOffset())
}

func TestRolling(t *testing.T) {
	one := int64(len(batch(0, 1, 2)))
	for _, c := range []struct {
		name string
		cfg  raftlog.Config
		want []string
	}{
		{"by bytes, one batch each", raftlog.Config{SegmentBytes: 1}, []string{"00000000000000000000.log", "00000000000000000002.log",
			"00000000000000000004.log", "00000000000000000006.log"}},
		{"by bytes, two batches fit exactly", raftlog.Config{SegmentBytes: 2 * one}, []string{"00000000000000000000.log", "00000000000000000004.log"}},
		{"by bytes, a byte short", raftlog.Config{SegmentBytes: 3*one - 1}, []string{"00000000000000000000.log", "00000000000000000004.log"}},
		{"by age", raftlog.Config{SegmentMs: 3}, []string{"00000000000000000000.log", "00000000000000000004.log"}},
		{"never", raftlog.Config{}, []string{"00000000000000000000.log"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles()
			l := open(t, files, c.cfg)
			var all []byte
			for base := int64(0); base < 8; base += 2 {
				all = append(all, batch(base, 1, 2)...)
			}
			before := files.Writes
			n, err := l.AppendFollower(all, 1)
			require.NoError(t, err)
			require.EqualValues(t, 4, n)
			require.EqualValues(t, len(c.want), files.Writes-before-1, "one write per segment, one of the epoch checkpoint")
			require.Equal(t, c.want, segments(t, files))
			require.NoError(t, l.Close())
			require.Equal(t, all, readAll(t, open(t, files, c.cfg), 1))
		})
	}
}

// readAll reads the whole log in steps of at most maxBytes.
func readAll(t testing.TB, l *raftlog.Log, maxBytes int32) (all []byte) {
	for from := l.StartOffset(); from < l.EndOffset(); {
		b, err := l.Read(from, maxBytes)
		require.NoError(t, err)
		require.NotEmpty(t, b)
		all = append(all, b...)
		for len(b) > 0 {
			var v record.Batch
			v, b, err = record.NextBatch(b)
			require.NoError(t, err)
			from = v.NextOffset()
		}
	}
	return all
}

func TestRead(t *testing.T) {
	files := newFiles()
	allocs := 0
	cfg := raftlog.Config{Alloc: func(n int) []byte { allocs++; return make([]byte, n) }}
	l := open(t, files, cfg)
	fill(t, l, 1, 1, 2)
	first, second, third := batch(0, 1, 2), batch(2, 1, 2), batch(4, 2, 2)
	size := int32(len(first))
	for _, c := range []struct {
		name     string
		from, to int64
		max      int32
		want     [][]byte
	}{
		{"all", 0, 6, 1000, [][]byte{first, second, third}},
		{"at least one batch", 0, 6, 1, [][]byte{first}},
		{"as many as fit", 0, 6, 2*size + 1, [][]byte{first, second}},
		{"from inside a batch", 3, 6, 1000, [][]byte{second, third}},
		{"at the end", 6, 6, 1000, nil},
		{"up to inside a batch", 0, 5, 1000, [][]byte{first, second}},
		{"up to inside the first", 0, 1, 1000, nil},
		{"up to its own offset", 2, 2, 1000, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := l.ReadUpTo(c.from, c.to, c.max)
			require.NoError(t, err)
			require.Equal(t, bytes.Join(c.want, nil), append([]byte{}, b...))
		})
	}
	require.NotZero(t, allocs)
	for _, from := range []int64{-1, 7} {
		_, err := l.Read(from, 1)
		require.ErrorIs(t, err, raftlog.ErrOffsetOutOfRange)
	}
}

func TestAppendLeaderRefuses(t *testing.T) {
	l := open(t, newFiles(), raftlog.Config{})
	fill(t, l, 5)
	for name, b := range map[string][]byte{
		"gap":       batch(3, 5, 1),
		"overlap":   batch(1, 5, 1),
		"old epoch": batch(2, 4, 1),
		"cut short": batch(2, 5, 1)[:80],
		"bad magic": func() []byte { b := batch(2, 5, 1); b[16] = 1; return b }(),
		"second":    append(batch(2, 5, 1), batch(4, 5, 1)...),
	} {
		require.ErrorIs(t, l.AppendLeader(b), raftlog.ErrInvalidAppend, name)
		require.EqualValues(t, 2, l.EndOffset())
	}
	fill(t, l, 5)
	require.Equal(t, append(batch(0, 5, 2), batch(2, 5, 2)...), readAll(t, l, 1000))
}

func TestAppendFollowerTakesThePrefix(t *testing.T) {
	good, next := batch(2, 3, 1), batch(3, 3, 1)
	flipped := append([]byte(nil), next...)
	flipped[70] ^= 1
	for _, c := range []struct {
		name string
		tail []byte
		want int32
	}{
		{"all good", next, 2},
		{"above the leader's epoch", batch(3, 5, 1), 1},
		{"of the leader's epoch", batch(3, 4, 1), 2},
		{"below the epoch before", batch(3, 2, 1), 1},
		{"gap", batch(4, 3, 1), 1},
		{"overlap", good, 1},
		{"checksum", flipped, 1},
		{"cut short", next[:len(next)-1], 1},
		{"garbage", []byte("garbage that is no batch at all"), 1},
		{"nothing", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, newFiles(), raftlog.Config{})
			fill(t, l, 3)
			n, err := l.AppendFollower(append(append([]byte(nil), good...), c.tail...), 4)
			require.NoError(t, err)
			require.Equal(t, c.want, n)
			require.EqualValues(t, 2+c.want, l.EndOffset())
			n, err = l.AppendFollower(c.tail[:min(len(c.tail), 20)], 4)
			require.NoError(t, err)
			require.Zero(t, n)
		})
	}
}

func TestTruncate(t *testing.T) {
	id := func(offset int64, epoch int32) raftlog.OffsetAndEpoch {
		return raftlog.OffsetAndEpoch{Offset: offset, Epoch: epoch}
	}
	// epochs: 1 at 0, 2 at 4, 5 at 6; the log ends at 10
	for _, c := range []struct {
		name string
		o    raftlog.OffsetAndEpoch
		hw   int64
		want int64
		err  error
	}{
		{"epoch 0 cuts to the offset", id(4, 0), -1, 4, nil},
		{"epoch 0 beyond the end", id(99, 0), -1, 10, nil},
		{"same epoch, leader's end is lower", id(8, 5), -1, 8, nil},
		{"same epoch, local end is lower", id(7, 2), -1, 6, nil},
		{"unknown epoch cuts to the end of the one below", id(9, 4), -1, 6, nil},
		{"epoch above all", id(8, 9), -1, 10, nil},
		{"at the high watermark", id(4, 1), 4, 4, nil},
		{"below the high watermark", id(4, 1), 5, 10, raftlog.ErrBelowHighWatermark},
		{"everything", id(0, 1), -1, 0, nil},
	} {
		for _, segmentBytes := range []int64{1, 400, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", c.name, segmentBytes), func(t *testing.T) {
				files := newFiles()
				cfg := raftlog.Config{SegmentBytes: segmentBytes}
				l := open(t, files, cfg)
				fill(t, l, 1, 1, 2, 5, 5)
				before := readAll(t, l, 1000)
				require.NoError(t, l.Flush())
				cut, err := l.TruncateToEndOffset(c.o, c.hw)
				require.ErrorIs(t, err, c.err)
				require.Equal(t, c.want, cut)
				require.Equal(t, c.want, l.EndOffset())
				require.Equal(t, c.want, l.FlushedOffset())
				got := readAll(t, l, 1)
				require.True(t, bytes.HasPrefix(before, got))
				fill(t, l, 7)
				require.NoError(t, l.Flush())
				files.Crash()
				l = open(t, files, cfg)
				require.Equal(t, append(got, batch(cut, 7, 2)...), readAll(t, l, 1000))
				require.EqualValues(t, 7, l.LastEpoch())
			})
		}
	}
}

func TestEndOffsetForEpochAndValidate(t *testing.T) {
	l := open(t, newFiles(), raftlog.Config{})
	require.Equal(t, raftlog.OffsetAndEpoch{}, l.EndOffsetForEpoch(3), "empty")
	v, _ := l.Validate(0, 0)
	require.Equal(t, raftlog.Valid, v)
	fill(t, l, 2, 2, 4)
	require.NoError(t, l.AssignEpoch(7))
	require.NoError(t, l.AssignEpoch(7))
	require.EqualValues(t, 7, l.LastEpoch())
	for _, c := range []struct {
		epoch int32
		want  raftlog.OffsetAndEpoch
	}{
		{0, raftlog.OffsetAndEpoch{Offset: 0, Epoch: 0}}, // below the first: its start
		{1, raftlog.OffsetAndEpoch{Offset: 0, Epoch: 1}},
		{2, raftlog.OffsetAndEpoch{Offset: 4, Epoch: 2}},
		{3, raftlog.OffsetAndEpoch{Offset: 4, Epoch: 2}},
		{4, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 4}},
		{6, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 4}},
		{7, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 7}},
		{8, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 7}}, // above the latest: log end, last epoch
		{-1, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 7}},
	} {
		require.Equal(t, c.want, l.EndOffsetForEpoch(c.epoch), "epoch %d", c.epoch)
	}
	for _, c := range []struct {
		offset int64
		epoch  int32
		want   raftlog.Validity
		end    raftlog.OffsetAndEpoch
	}{
		{0, 99, raftlog.Valid, raftlog.OffsetAndEpoch{}},
		{4, 2, raftlog.Valid, raftlog.OffsetAndEpoch{}},
		{3, 2, raftlog.Valid, raftlog.OffsetAndEpoch{}},
		{5, 2, raftlog.Diverging, raftlog.OffsetAndEpoch{Offset: 4, Epoch: 2}},
		{5, 3, raftlog.Diverging, raftlog.OffsetAndEpoch{Offset: 4, Epoch: 2}},
		{6, 7, raftlog.Valid, raftlog.OffsetAndEpoch{}},
		{6, 8, raftlog.Diverging, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 7}},
		{7, 7, raftlog.Diverging, raftlog.OffsetAndEpoch{Offset: 6, Epoch: 7}},
	} {
		v, end := l.Validate(c.offset, c.epoch)
		require.Equal(t, c.want, v, "%d, %d", c.offset, c.epoch)
		require.Equal(t, c.end, end, "%d, %d", c.offset, c.epoch)
	}
}

func TestAssignedEpochIsDroppedAtRestart(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	fill(t, l, 1)
	require.NoError(t, l.AssignEpoch(3))
	require.Equal(t, "0\n2\n1 0\n3 2\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
	require.NoError(t, l.Close())
	l = open(t, files, raftlog.Config{})
	require.EqualValues(t, 1, l.LastEpoch())
	fill(t, l, 4)
	require.EqualValues(t, 4, l.LastEpoch())
	require.Equal(t, "0\n2\n1 0\n4 2\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
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

func TestSnapshots(t *testing.T) {
	id := func(offset int64, epoch int32) raftlog.OffsetAndEpoch {
		return raftlog.OffsetAndEpoch{Offset: offset, Epoch: epoch}
	}
	put := func(files *memfiles.Files, ids ...raftlog.OffsetAndEpoch) {
		for _, i := range ids {
			files.WriteFile(dir+"/"+raftlog.SnapshotName(i), fmt.Appendf(nil, "snapshot %d", i.Offset))
		}
	}
	require.Equal(t, "00000000000000000000-0000000000.checkpoint", raftlog.SnapshotName(id(0, 0)))

	t.Run("bootstrap checkpoint beside an empty log", func(t *testing.T) {
		files := newFiles()
		put(files, id(0, 0))
		for range 2 {
			l := open(t, files, raftlog.Config{})
			latest, ok := l.LatestSnapshot()
			require.True(t, ok)
			require.Equal(t, id(0, 0), latest)
			b, err := l.ReadSnapshot(latest)
			require.NoError(t, err)
			require.Equal(t, "snapshot 0", string(b))
			require.Zero(t, l.LastEpoch())
			require.False(t, l.Recovered().TruncatedToSnapshot)
			_, err = l.ReadSnapshot(id(1, 0))
			require.ErrorIs(t, err, raftlog.ErrSnapshotNotFound)
		}
	})
	t.Run("ahead of the log by epoch", func(t *testing.T) {
		files := newFiles()
		l := open(t, files, raftlog.Config{SegmentBytes: 1})
		fill(t, l, 1, 1, 2)
		require.NoError(t, l.Close())
		put(files, id(2, 1), id(4, 3))
		for i := range 3 {
			l = open(t, files, raftlog.Config{})
			require.Equal(t, i == 0, l.Recovered().TruncatedToSnapshot)
			require.EqualValues(t, 4, l.StartOffset())
			require.EqualValues(t, 4, l.EndOffset())
			require.EqualValues(t, 3, l.LastEpoch())
			earliest, _ := l.EarliestSnapshot()
			require.Equal(t, id(4, 3), earliest, "older snapshots are gone")
			require.Equal(t, []string{"00000000000000000004.log"}, segments(t, files))
			v, o := l.Validate(0, 1)
			require.Equal(t, raftlog.Snapshot, v)
			require.Equal(t, id(4, 3), o)
			v, _ = l.Validate(4, 3)
			require.Equal(t, raftlog.Valid, v)
			_, err := l.TruncateToEndOffset(id(2, 0), -1)
			require.ErrorIs(t, err, raftlog.ErrBelowHighWatermark)
		}
		fill(t, l, 4)
		require.EqualValues(t, 6, l.EndOffset())
		require.Equal(t, id(4, 3), l.EndOffsetForEpoch(3))
		v, o := l.Validate(4, 2)
		require.Equal(t, raftlog.Snapshot, v)
		require.Equal(t, id(4, 3), o)
	})
	t.Run("ahead of the log by offset", func(t *testing.T) {
		files := newFiles()
		l := open(t, files, raftlog.Config{})
		fill(t, l, 1)
		require.NoError(t, l.Close())
		put(files, id(9, 1))
		l = open(t, files, raftlog.Config{})
		require.EqualValues(t, 9, l.StartOffset())
	})
	t.Run("behind the log", func(t *testing.T) {
		files := newFiles()
		l := open(t, files, raftlog.Config{})
		fill(t, l, 1, 2)
		require.NoError(t, l.Close())
		put(files, id(2, 1), id(4, 2))
		l = open(t, files, raftlog.Config{})
		require.EqualValues(t, 4, l.EndOffset())
		require.False(t, l.Recovered().TruncatedToSnapshot)
		earliest, _ := l.EarliestSnapshot()
		latest, _ := l.LatestSnapshot()
		require.Equal(t, []raftlog.OffsetAndEpoch{id(2, 1), id(4, 2)}, []raftlog.OffsetAndEpoch{earliest, latest})
	})
	t.Run("below the log start", func(t *testing.T) {
		files := newFiles()
		files.WriteFile(dir+"/00000000000000000008.log", batch(8, 3, 1))
		put(files, id(8, 2), id(5, 2))
		l := open(t, files, raftlog.Config{})
		earliest, _ := l.EarliestSnapshot()
		require.Equal(t, id(8, 2), earliest)
		require.Nil(t, files.ReadFile(dir+"/"+raftlog.SnapshotName(id(5, 2))))
	})
}

// TestCrashAnywhere stops a life of the log at every single operation on its files, by power loss and by kill: the next start must
// succeed, find all that was reported flushed, and nothing that was not written.
func TestCrashAnywhere(t *testing.T) {
	stop := errors.New("stop")
	life := func(files *memfiles.Files, flushed *int64) error {
		l, err := raftlog.Open(files, dir, raftlog.Config{SegmentBytes: 300})
		if err != nil {
			return err
		}
		step := func(err error) error {
			*flushed = l.FlushedOffset()
			return err
		}
		for _, epochs := range [][]int32{{1, 1, 1}, {2, 2}, {4, 4, 4}} {
			for _, e := range epochs {
				if err := step(l.AppendLeader(batch(l.EndOffset(), e, 2))); err != nil {
					return err
				}
			}
			if err := step(l.Flush()); err != nil {
				return err
			}
		}
		*flushed = 6 // from the call on, the truncation may have happened
		if _, err := l.TruncateToEndOffset(raftlog.OffsetAndEpoch{Offset: 6, Epoch: 3}, 6); step(err) != nil {
			return err
		}
		if err := step(l.AppendLeader(batch(l.EndOffset(), 6, 2))); err != nil {
			return err
		}
		return step(l.Close())
	}
	for _, power := range []bool{true, false} {
		for k := 1; ; k++ {
			files := newFiles()
			n := 0
			files.Hook = func(string, string) error {
				if n++; n >= k {
					return stop
				}
				return nil
			}
			flushed := int64(0)
			err := life(files, &flushed)
			files.Hook = nil
			if err == nil {
				require.Greater(t, k, 60)
				break
			}
			require.ErrorIs(t, err, stop)
			if power {
				files.Crash()
			} else {
				files.Kill()
			}
			l := open(t, files, raftlog.Config{SegmentBytes: 300})
			require.GreaterOrEqual(t, l.EndOffset(), flushed, "operation %d", k)
			next := int64(0)
			for rest := readAll(t, l, 1); len(rest) > 0; {
				var b record.Batch
				b, rest, err = record.NextBatch(rest)
				require.NoError(t, err)
				require.NoError(t, b.Verify())
				require.Equal(t, next, b.BaseOffset())
				require.True(t, slices.Equal(b, batch(next, b.LeaderEpoch(), 2)))
				next = b.NextOffset()
			}
			require.Equal(t, l.EndOffset(), next)
		}
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 4096)
	l := open(t, newFiles(), raftlog.Config{Alloc: func(n int) []byte { return buf[:n] }})
	fill(t, l, 1, 1, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = l.Read(2, 1000)
		_, _ = l.Validate(4, 1)
	}))
}
