package raftlog_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

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
