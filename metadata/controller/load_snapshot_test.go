package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// snapshotOf is the content of a snapshot of the node's stable image.
func snapshotOf(t require.TestingT, n *node) []byte {
	list, err := n.ctl.Image().AppendFrames(nil)
	require.NoError(t, err)
	var b record.Builder
	b.Reset(nil, record.BatchSpec{Control: true})
	b.AddControl(record.SnapshotHeader, (&record.SnapshotHeaderRecord{}).AppendTo(nil))
	content, next := b.Finish(), int64(1)
	for _, r := range list {
		content = record.AppendBatch(content, record.BatchSpec{BaseOffset: next}, r)
		next++
	}
	b.Reset(content, record.BatchSpec{BaseOffset: next, Control: true})
	b.AddControl(record.SnapshotFooter, (&record.SnapshotFooterRecord{}).AppendTo(nil))
	return b.Finish()
}

// 7.1: a standby starts over with a snapshot and is then where everybody is; it follows the log, and leads, from there.
func TestStandbyLoadsSnapshot(t *testing.T) {
	g, n := active(t, config(t, Draft))
	require.NoError(t, n.ctl.Submit(0, &Op{ID: 1, Kind: AppendConfig, Name: "k", Value: "v"}))
	g.commit(-1)
	content := snapshotOf(t, n)
	id := raft.OffsetAndEpoch{Offset: g.end(), Epoch: 1}

	late := g.nodes[2]
	late.boot()
	require.NoError(t, late.ctl.HandleLoadSnapshot(0, id, content))
	require.Equal(t, id.Offset-1, late.ctl.LastCommittedOffset(), "the id is exclusive")
	require.Equal(t, id.Offset-1, late.ctl.LastStableOffset())
	require.Equal(t, n.ctl.StableDigest(), late.ctl.StableDigest())
	e := late.event(SnapshotLoaded)
	require.Equal(t, id.Offset-1, e.Offset)
	require.Equal(t, n.ctl.StableDigest(), e.Digest)
	require.Equal(t, "v", submit(t, late, Op{ID: 2, Kind: ReadConfig, Name: "k"}).Value)

	// Once more, over what it has: nothing of before stays.
	require.NoError(t, late.ctl.HandleLoadSnapshot(0, raft.OffsetAndEpoch{Offset: id.Offset + 5, Epoch: 2}, content))
	require.Equal(t, n.ctl.StableDigest(), late.ctl.StableDigest())
	require.EqualValues(t, 2, late.ctl.epoch())
}

// What cannot be a snapshot of this controller is fatal.
func TestSnapshotsThatAreFatal(t *testing.T) {
	g, n := active(t, config(t, Draft))
	content := snapshotOf(t, n)
	standby := g.nodes[1]
	id := raft.OffsetAndEpoch{Offset: g.end(), Epoch: 1}
	require.ErrorIs(t, n.ctl.HandleLoadSnapshot(0, id, content), ErrLoadSnapshot, "active")
	require.ErrorIs(t, standby.ctl.HandleLoadSnapshot(0, raft.OffsetAndEpoch{Offset: 1, Epoch: 1}, content), ErrLoadSnapshot, "from the past")
	require.ErrorIs(t, standby.ctl.HandleLoadSnapshot(0, id, content[:len(content)-75]), ErrLoadSnapshot, "no footer")
	flipped := append([]byte(nil), content...)
	flipped[100] ^= 1
	require.ErrorIs(t, standby.ctl.HandleLoadSnapshot(0, id, flipped), ErrLoadSnapshot)
	require.NoError(t, standby.ctl.HandleLoadSnapshot(0, id, content))
}
