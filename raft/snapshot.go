package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// SnapshotWriter writes a snapshot of the state machine: Append records, then Freeze or Abandon. It belongs to the lane that
// writes snapshots; a frozen one is handed to SnapshotFrozen on the raft lane.
type SnapshotWriter = raftlog.SnapshotRecords

// CreateSnapshot begins a snapshot with the effect of everything below id.Offset, whose last record was appended at
// lastContainedTimestampMs (kraft-protocol 4.2). It may be called from another lane. No writer and no error: there is nothing
// to do, because that snapshot is there, or a newer one, or the log begins behind it. raftlog.ErrSnapshotID: id is not committed, is
// no point of this log, or lies inside a batch; any other error is one of the disk.
//
// The header carries kraft.version and voters as of id.Offset-1. A snapshot older than the newest is refused, unlike in
// Kafka: what its header should say may be forgotten already (5.1).
func (r *Replica) CreateSnapshot(nowMs int64, id OffsetAndEpoch, lastContainedTimestampMs int64) (*SnapshotWriter, error) {
	if r.done {
		return nil, nil
	}
	raw, err := r.log.CreateSnapshot(id, r.logHighWatermark, r.snapshotSuffix(id))
	if err != nil || raw == nil {
		return nil, err
	}
	if latest, found := r.log.LatestSnapshot(); found && id.Offset < latest.Offset {
		return nil, raw.Abandon()
	}
	header := r.control.headerAt(id.Offset - 1)
	header.LastContainedTimestampMs = lastContainedTimestampMs
	return raftlog.NewSnapshotRecords(raw, &header, r.cfg.MaxSnapshotBatchBytes, nowMs)
}

// snapshotSuffix draws the random part in the name of a file that is being written.
func (r *Replica) snapshotSuffix(id OffsetAndEpoch) uint64 {
	return uint64(r.deps.Chooser.Choose(SiteSnapshotSuffix, epochKey(id.Epoch, id.Offset), 1<<31))
}

// SnapshotFrozen says, on the raft lane, that a snapshot of CreateSnapshot is durable under its final name. From now on it is
// served, and retention may delete what it covers. It is apart from Freeze so that nobody relies on a snapshot while its
// bytes are still on their way to the disk.
func (r *Replica) SnapshotFrozen(nowMs int64, id OffsetAndEpoch) error {
	if r.done {
		return nil
	}
	r.tick(nowMs)
	if err := r.registerSnapshot(id); err != nil {
		return err
	}
	return r.step()
}

// registerSnapshot takes in a frozen snapshot, local or downloaded, and forgets the history that it covers.
func (r *Replica) registerSnapshot(id OffsetAndEpoch) error {
	if err := r.log.RegisterSnapshot(id); err != nil {
		return err
	}
	r.control.forgetBelow(id.Offset)
	r.emit(SnapshotStored, id.Offset, int64(id.Epoch), &NoReplica, false)
	return nil
}

// LatestSnapshotID is the newest snapshot of this replica; the bootstrap checkpoint counts, with the zero id.
func (r *Replica) LatestSnapshotID() (id OffsetAndEpoch, found bool) { return r.log.LatestSnapshot() }

// LogStartOffset is the first offset of the log; what lies below is in a snapshot.
func (r *Replica) LogStartOffset() int64 { return r.log.StartOffset() }

// readSnapshot returns the content of a snapshot that the replica is going to build on. A bootstrap checkpoint is read as
// Kafka reads it; any other must be whole (4.3).
func (r *Replica) readSnapshot(id OffsetAndEpoch) ([]byte, error) {
	content, err := r.log.ReadSnapshot(id)
	if err != nil || id == (OffsetAndEpoch{}) {
		return content, err
	}
	if _, err := raftlog.CheckSnapshot(content); err != nil {
		return nil, fmt.Errorf("raft: snapshot %d-%d: %w", id.Offset, id.Epoch, err)
	}
	return content, nil
}

// CheckSnapshot verifies the content of a whole snapshot and returns its header; see raftlog.CheckSnapshot.
func CheckSnapshot(content []byte) (*raftlog.SnapshotHeader, error) {
	return raftlog.CheckSnapshot(content)
}
