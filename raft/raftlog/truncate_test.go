package raftlog_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

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

// TestTruncateAtASegment: the segment that begins where the log is cut stays, empty; the checkpoint of the epochs goes back with the bytes.
func TestTruncateAtASegment(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1})
	fill(t, l, 1, 1, 2, 3)
	require.Equal(t, "0\n3\n1 0\n2 4\n3 6\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
	cut, err := l.TruncateToEndOffset(raftlog.OffsetAndEpoch{Offset: 4, Epoch: 1}, 4)
	require.NoError(t, err)
	require.EqualValues(t, 4, cut)
	require.Equal(t, []string{"00000000000000000000.log", "00000000000000000002.log", "00000000000000000004.log"}, segments(t, files))
	require.Empty(t, files.ReadFile(dir+"/00000000000000000004.log"))
	require.Equal(t, "0\n1\n1 0\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
}

// TestEmptyLogGivesWayDurably: a log without epochs that gives way to a snapshot has its new segment after a power loss as well.
func TestEmptyLogGivesWayDurably(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	download := func(id raftlog.OffsetAndEpoch, _ int64, suffix uint64) (*raftlog.SnapshotWriter, error) {
		return l.DownloadSnapshot(id, suffix)
	}
	require.NoError(t, writeSnapshot(l, id(5, 1), download))
	require.NoError(t, l.RegisterSnapshot(id(5, 1)))
	truncated, err := l.TruncateToLatestSnapshot()
	require.NoError(t, err)
	require.True(t, truncated)
	files.Crash()
	require.Equal(t, []string{"00000000000000000005.log"}, segments(t, files))
}
