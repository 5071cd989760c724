package raftlog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
)

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
