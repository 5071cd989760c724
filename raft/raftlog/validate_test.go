package raftlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

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
