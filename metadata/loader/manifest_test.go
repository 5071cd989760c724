package loader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft"
)

// manifests is a publisher that keeps what it was told of where the images come from.
type manifests struct{ got []Manifest }

func (*manifests) Name() string                           { return "manifests" }
func (*manifests) OnControllerChange(raft.LeaderAndEpoch) {}
func (m *manifests) OnMetadataUpdate(_ *image.Delta, _ *image.Image, of *Manifest) error {
	m.got = append(m.got, *of)
	return nil
}

func (m *manifests) last() *Manifest { return &m.got[len(m.got)-1] }

// TestManifests: a manifest has the append time of the last batch that is in the image, and the batches and bytes since the manifest before:
// all of them, those of a transaction that was aborted too, each once. Snapshots follow from the sum, and are dated with the time
// (metadata-bootstrap 7.2, points 3, 5 and 6, and 7.3).
func TestManifests(t *testing.T) {
	l, _, lg, _, _ := caughtUp(t)
	m := &manifests{}
	require.NoError(t, l.Install(0, m))
	require.NoError(t, l.Poll(0))
	require.Equal(t, FullState, m.last().Kind)
	require.EqualValues(t, 1001, m.last().AppendTimestampMs, "of a batch before it was there")
	commit := func(batches ...raft.Batch) (bytes int64) {
		for i := range batches {
			bytes += int64(len(batches[i].Bytes))
		}
		require.NoError(t, l.HandleCommit(0, batches))
		return bytes
	}
	says := func(timestampMs int64, batches int32, bytes int64) {
		t.Helper()
		require.Equal(t, LogDelta, m.last().Kind)
		require.Equal(t, timestampMs, m.last().AppendTimestampMs)
		require.Equal(t, batches, m.last().Batches)
		require.Equal(t, bytes, m.last().Bytes)
	}
	bytes := commit(lg.batch(setting("a", "1")), lg.batch(setting("b", "2"), setting("c", "3")))
	says(1003, 2, bytes)
	control := lg.control()
	control.AppendTimestampMs = 1005
	bytes = commit(control)
	says(1005, 1, bytes)

	count := len(m.got)
	bytes = commit(lg.batch(begin(), setting("a", "4")))
	bytes += commit(lg.batch(setting("b", "5")))
	require.Len(t, m.got, count, "the transaction is open")
	bytes += commit(lg.batch(abort()))
	says(1009, 3, bytes)
	bytes = commit(lg.batch(setting("a", "6")))
	says(1010, 1, bytes)

	content := snapshot(4711, level("metadata.version", 34))
	require.NoError(t, l.HandleLoadSnapshot(0, at(50, 2), content))
	require.Equal(t, Snapshot, m.last().Kind)
	require.EqualValues(t, 4711, m.last().AppendTimestampMs, "as its header says")
	require.EqualValues(t, len(content), m.last().Bytes)
	late := &SnapshotGenerator{cfg: SnapshotConfig{MaxBytes: 1}, lane: &lane{}}
	require.NoError(t, l.Install(0, late))
	require.NoError(t, l.Poll(0))
	lg.next, lg.epoch = 50, 2
	bytes = commit(lg.batch(setting("a", "7")))
	says(1050, 1, bytes)
	require.EqualValues(t, 1050, late.lane.(*lane).jobs[0].TimestampMs)
}

// TestFullStateOfASnapshot: a publisher that comes when all there is is a snapshot is told the time in its header.
func TestFullStateOfASnapshot(t *testing.T) {
	l, _, _, _, _ := caughtUp(t)
	require.NoError(t, l.HandleLoadSnapshot(0, at(50, 2), snapshot(4711, level("metadata.version", 34))))
	m := &manifests{}
	require.NoError(t, l.Install(0, m))
	require.NoError(t, l.Poll(0))
	require.Equal(t, FullState, m.last().Kind)
	require.EqualValues(t, 4711, m.last().AppendTimestampMs)
}
