package raftlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

func id(offset int64, epoch int32) raftlog.OffsetAndEpoch {
	return raftlog.OffsetAndEpoch{Offset: offset, Epoch: epoch}
}

// TestClean runs the limits of kraft-protocol 4.6 on a log of six batches of two records, one a segment, with snapshots at 2,
// 6 and 10 whose last records are of the times 2, 6 and 10.
func TestClean(t *testing.T) {
	for _, c := range []struct {
		name          string
		cfg           raftlog.Config
		highWatermark int64
		nowMs         int64
		start         int64
		snapshots     int32
	}{
		{"no limit", raftlog.Config{RetentionBytes: -1, RetentionMs: -1}, 12, 1000, 0, 3},
		{"within both", raftlog.Config{RetentionBytes: 1 << 20, RetentionMs: 998}, 12, 1000, 0, 3},
		{"size, down to the last", raftlog.Config{RetentionBytes: 1, RetentionMs: -1}, 12, 1000, 10, 1},
		{"size, until it fits", raftlog.Config{RetentionBytes: 1600, RetentionMs: -1}, 12, 1000, 6, 2},
		{"age of the oldest", raftlog.Config{RetentionBytes: -1, RetentionMs: 997}, 12, 1000, 6, 2},
		{"age of the second", raftlog.Config{RetentionBytes: -1, RetentionMs: 993}, 12, 1000, 10, 1},
		{"high watermark unknown", raftlog.Config{RetentionBytes: 1, RetentionMs: 1}, -1, 1000, 0, 3},
		{"high watermark below the second", raftlog.Config{RetentionBytes: 1, RetentionMs: 1}, 5, 1000, 0, 3},
		{"high watermark at the second", raftlog.Config{RetentionBytes: 1, RetentionMs: 1}, 6, 1000, 6, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles()
			c.cfg.SegmentBytes, c.cfg.DeleteDelayMs = 1, 10
			l := open(t, files, c.cfg)
			fill(t, l, 1, 1, 1, 1, 1, 1)
			for _, offset := range []int64{2, 6, 10} {
				require.NoError(t, writeSnapshot(l, id(offset, 1), l.CreateSnapshot))
			}
			changed, err := l.Clean(c.nowMs, c.highWatermark)
			require.NoError(t, err)
			require.Equal(t, c.start > 0, changed)
			require.Equal(t, c.start, l.StartOffset())
			require.Equal(t, c.snapshots, l.Snapshots())
			again, err := l.Clean(c.nowMs, c.highWatermark)
			require.NoError(t, err)
			require.False(t, again)
			require.EqualValues(t, (12-c.start)/2, len(segments(t, files)))
			require.EqualValues(t, 12, l.EndOffset())
			_, err = l.Read(c.start-1, 1)
			require.ErrorIs(t, err, raftlog.ErrOffsetOutOfRange)
			var want []byte
			for base := c.start; base < 12; base += 2 {
				want = append(want, batch(base, 1, 2)...)
			}
			require.Equal(t, string(want), string(readAll(t, l, 1)))

			due, waits := l.DeletionMs()
			require.Equal(t, changed, waits)
			if waits {
				require.Equal(t, c.nowMs+10, due)
				require.NoError(t, l.RemoveDeleted(due-1))
				require.Equal(t, due, func() int64 { ms, _ := l.DeletionMs(); return ms }())
				require.NoError(t, l.RemoveDeleted(due))
			}
			names, err := files.List(dir)
			require.NoError(t, err)
			for _, name := range names {
				require.NotContains(t, name, ".deleted")
			}
			reopened := open(t, files, c.cfg)
			require.Equal(t, c.start, reopened.StartOffset())
			require.Equal(t, c.snapshots, reopened.Snapshots())
		})
	}
}

// TestCleanKeepsTheEpoch: the epoch in force at the new start keeps an entry there (formats.md 9.1), and the log judges
// fetches as before.
func TestCleanKeepsTheEpoch(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1, RetentionBytes: 1})
	fill(t, l, 1, 2, 2, 5)
	require.NoError(t, writeSnapshot(l, id(2, 1), l.CreateSnapshot))
	require.NoError(t, writeSnapshot(l, id(4, 2), l.CreateSnapshot))
	changed, err := l.Clean(1, 8)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, "0\n2\n2 4\n5 6\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
	require.Equal(t, id(6, 2), l.EndOffsetForEpoch(4))
	require.Equal(t, id(4, 2), l.EndOffsetForEpoch(1), "before the first epoch: the snapshot")
	v, _ := l.Validate(4, 2)
	require.Equal(t, raftlog.Valid, v)
	v, at := l.Validate(4, 1)
	require.Equal(t, raftlog.Snapshot, v)
	require.Equal(t, id(4, 2), at)
}

// TestCreateSnapshotRefuses is kraft-protocol 4.2 row by row.
func TestCreateSnapshotRefuses(t *testing.T) {
	l := open(t, newFiles(), raftlog.Config{SegmentBytes: 1, RetentionBytes: 1})
	fill(t, l, 1, 1, 3, 3)
	require.NoError(t, writeSnapshot(l, id(2, 1), l.CreateSnapshot))
	require.NoError(t, writeSnapshot(l, id(4, 1), l.CreateSnapshot))
	_, err := l.Clean(1, 8)
	require.NoError(t, err)
	require.EqualValues(t, 4, l.StartOffset())
	for _, c := range []struct {
		name          string
		id            raftlog.OffsetAndEpoch
		highWatermark int64
		refused, made bool
	}{
		{"below the start", id(2, 1), 8, false, false},
		{"below the start and inside a batch", id(3, 1), 8, false, false},
		{"stored", id(4, 1), 8, false, false},
		{"above the high watermark", id(8, 3), 7, true, false},
		{"high watermark unknown", id(4, 1), -1, true, false},
		{"other epoch", id(6, 1), 8, true, false},
		{"epoch of nobody", id(6, 2), 8, true, false},
		{"newer epoch", id(6, 4), 8, true, false},
		{"beyond the end", id(9, 3), 9, true, false},
		{"inside a batch", id(7, 3), 8, true, false},
		{"at a boundary", id(6, 3), 8, false, true},
		{"at the end", id(8, 3), 8, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := l.CreateSnapshot(c.id, c.highWatermark, 1)
			if c.refused {
				require.ErrorIs(t, err, raftlog.ErrSnapshotID)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.made, w != nil)
			if w != nil {
				require.NoError(t, w.Abandon())
			}
		})
	}
}

// TestSnapshotWriter: pieces give the same file as a whole; what is closed takes nothing more.
func TestSnapshotWriter(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	w, err := l.DownloadSnapshot(id(3, 1), 5)
	require.NoError(t, err)
	require.Equal(t, id(3, 1), w.ID())
	for _, piece := range []string{"a", "", "bc", "d"} {
		require.NoError(t, w.Append([]byte(piece)))
	}
	require.EqualValues(t, 4, w.Size())
	require.False(t, l.HasSnapshot(id(3, 1)))
	require.NoError(t, w.Freeze())
	require.False(t, l.HasSnapshot(id(3, 1)), "not before it is registered")
	require.NoError(t, l.RegisterSnapshot(id(3, 1)))
	require.NoError(t, l.RegisterSnapshot(id(3, 1)))
	require.EqualValues(t, 1, l.Snapshots())
	require.Equal(t, "abcd", string(files.ReadFile(dir+"/"+raftlog.SnapshotName(id(3, 1)))))
	require.ErrorIs(t, w.Append([]byte("e")), raftlog.ErrSnapshotWriter)
	require.ErrorIs(t, w.Freeze(), raftlog.ErrSnapshotWriter)
	require.NoError(t, w.Abandon())
	stored, err := l.DownloadSnapshot(id(3, 1), 6)
	require.NoError(t, err)
	require.Nil(t, stored)
	_, err = l.SnapshotSize(id(3, 2))
	require.ErrorIs(t, err, raftlog.ErrSnapshotNotFound)
	files.Crash()
	require.Equal(t, "abcd", string(files.ReadFile(dir+"/"+raftlog.SnapshotName(id(3, 1)))), "frozen is durable")
}

// TestRegisterBelowStart: a snapshot that was overtaken while it was written is removed.
func TestRegisterBelowStart(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	fill(t, l, 1, 1)
	slow, err := l.CreateSnapshot(id(2, 1), 4, 1)
	require.NoError(t, err)
	w, err := l.DownloadSnapshot(id(20, 2), 2)
	require.NoError(t, err)
	require.NoError(t, w.Freeze())
	require.NoError(t, l.RegisterSnapshot(id(20, 2)))
	truncated, err := l.TruncateToLatestSnapshot()
	require.NoError(t, err)
	require.True(t, truncated)
	require.EqualValues(t, 2, l.LastEpoch())
	require.NoError(t, slow.Freeze())
	require.NoError(t, l.RegisterSnapshot(id(2, 1)))
	require.Nil(t, files.ReadFile(dir+"/"+raftlog.SnapshotName(id(2, 1))))
	earliest, _ := l.EarliestSnapshot()
	require.Equal(t, id(20, 2), earliest)
	truncated, err = l.TruncateToLatestSnapshot()
	require.NoError(t, err)
	require.False(t, truncated, "it stands on it already")
}

// TestTruncateToLatestSnapshot is kraft-protocol 4.5: ahead is a newer epoch, or the same and a higher offset.
func TestTruncateToLatestSnapshot(t *testing.T) {
	for _, c := range []struct {
		name string
		id   raftlog.OffsetAndEpoch
		want bool
	}{
		{"older epoch, beyond the end", id(9, 1), false},
		{"same epoch, at the end", id(4, 2), false},
		{"same epoch, beyond the end", id(5, 2), true},
		{"newer epoch, below the end", id(2, 3), true},
		{"newer epoch, beyond the end", id(9, 3), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles()
			l := open(t, files, raftlog.Config{SegmentBytes: 1})
			fill(t, l, 1, 2)
			w, err := l.DownloadSnapshot(c.id, 1)
			require.NoError(t, err)
			require.NoError(t, w.Freeze())
			require.NoError(t, l.RegisterSnapshot(c.id))
			truncated, err := l.TruncateToLatestSnapshot()
			require.NoError(t, err)
			require.Equal(t, c.want, truncated)
			if !truncated {
				require.EqualValues(t, 4, l.EndOffset())
				return
			}
			for range 2 {
				require.Equal(t, c.id.Offset, l.StartOffset())
				require.Equal(t, c.id.Offset, l.EndOffset())
				require.Equal(t, c.id.Offset, l.FlushedOffset())
				require.Equal(t, c.id.Epoch, l.LastEpoch())
				require.Len(t, segments(t, files), 1)
				files.Crash()
				l = open(t, files, raftlog.Config{SegmentBytes: 1})
			}
			require.NoError(t, l.AppendLeader(batch(c.id.Offset, c.id.Epoch+1, 2)))
		})
	}
}

// TestSnapshotRecordsRefuse: what the writer does not write.
func TestSnapshotRecordsRefuse(t *testing.T) {
	l := open(t, newFiles(), raftlog.Config{})
	w, err := l.DownloadSnapshot(id(3, 1), 1)
	require.NoError(t, err)
	_, err = raftlog.NewSnapshotRecords(w, &raftlog.SnapshotHeader{Voters: nil, KRaftVersion: 0}, 200, 1)
	require.NoError(t, err)
	w, err = l.DownloadSnapshot(id(4, 1), 1)
	require.NoError(t, err)
	s, err := raftlog.NewSnapshotRecords(w, &raftlog.SnapshotHeader{}, 200, 1)
	require.NoError(t, err)
	require.ErrorIs(t, s.Append(1, make([]byte, 300)), raftlog.ErrSnapshotContent)
	require.NoError(t, s.Append(1, make([]byte, 100)))
	require.NoError(t, s.Append(1, make([]byte, 100)), "in the next batch")
	require.NoError(t, s.Freeze(1))
	require.ErrorIs(t, s.Append(1, make([]byte, 1)), raftlog.ErrSnapshotWriter)
}

// TestCleanAtTheLimit: log and snapshots that are as large as the limit, to the byte, stay (kraft-protocol 4.6).
func TestCleanAtTheLimit(t *testing.T) {
	for _, spare := range []int64{0, -1} {
		files := newFiles()
		l := open(t, files, raftlog.Config{SegmentBytes: 1})
		fill(t, l, 1, 1, 1)
		size := 3 * int64(len(batch(0, 1, 2)))
		for _, at := range []int64{2, 4} {
			require.NoError(t, writeSnapshot(l, id(at, 1), l.CreateSnapshot))
			n, err := l.SnapshotSize(id(at, 1))
			require.NoError(t, err)
			size += n
		}
		require.NoError(t, l.Close())
		l = open(t, files, raftlog.Config{SegmentBytes: 1, RetentionBytes: size + spare, RetentionMs: -1})
		changed, err := l.Clean(1, 6)
		require.NoError(t, err)
		require.Equal(t, spare < 0, changed)
	}
}

// TestCleanAtAnEpoch: where the log is cut at the begin of an epoch, the epoch before is gone.
func TestCleanAtAnEpoch(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1, RetentionBytes: 1})
	fill(t, l, 1, 1, 2)
	require.NoError(t, writeSnapshot(l, id(2, 1), l.CreateSnapshot))
	require.NoError(t, writeSnapshot(l, id(4, 1), l.CreateSnapshot))
	changed, err := l.Clean(1, 6)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, "0\n1\n2 4\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
}
