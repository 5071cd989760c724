package raft

import "fmt"

// startDownload begins to download the snapshot that the leader named in a Fetch answer (2.8). It is not compared with the
// local log: the leader knows better. One that is stored already ends an earlier download and begins none.
func (r *Replica) startDownload(f *follower, p *peer, id OffsetAndEpoch) error {
	if err := f.abandonDownload(); err != nil {
		return err
	}
	r.emit(SnapshotOffered, id.Offset, int64(id.Epoch), &ReplicaKey{ID: p.id}, false)
	w, err := r.log.DownloadSnapshot(id, r.snapshotSuffix(id))
	if err != nil {
		return err
	}
	f.download = w
	return nil
}

// abandonDownload drops an unfinished download: nothing of it is of use to the next one, nor to the next leader (KB-41).
func (f *follower) abandonDownload() error {
	if f.download == nil {
		return nil
	}
	w := f.download
	f.download = nil
	return w.Abandon()
}

// sendFetchSnapshot asks the leader for the next piece of the snapshot under way.
func (r *Replica) sendFetchSnapshot(f *follower, p *peer) {
	m := r.pool.snapshotRequests.next()
	*m = FetchSnapshotRequest{
		ClusterID:          r.clusterID(),
		ReplicaID:          r.cfg.NodeID,
		ReplicaDirectoryID: r.cfg.DirectoryID,
		MaxBytes:           r.cfg.FetchSnapshotMaxBytes,
		CurrentLeaderEpoch: f.epoch,
		SnapshotID:         f.download.ID(),
		Position:           f.download.Size(),
	}
	r.send(p, m, &m.Header)
}

// handleFetchSnapshotResponse takes in a piece (2.9). A leader that does not have the snapshot any more is asked for
// another one by the next Fetch.
func (r *Replica) handleFetchSnapshotResponse(p *peer, m *FetchSnapshotResponse) (success bool, err error) {
	if success, done, err := r.checkTopLevel(p, m.ErrorCode, m.WrongShape, false); done || err != nil {
		return success, err
	}
	success, done, err := r.checkPartition(p, m.PartitionError, m.LeaderID, m.LeaderEpoch, &m.Endpoint)
	if done || err != nil {
		return success, err
	}
	f, ok := r.role.(*follower)
	if !ok {
		return false, fmt.Errorf("%w: a FetchSnapshot answer as %v of epoch %d",
			ErrInconsistentLeader, r.role.kind(), r.base().epoch)
	}
	switch {
	case m.PartitionError == SnapshotNotFound || m.SnapshotID.Offset < 0 || m.SnapshotID.Epoch < 0:
		err = f.abandonDownload()
	case m.PartitionError != None:
		return r.unexpected(p, m.PartitionError), nil
	default:
		err = r.appendPiece(f, m)
	}
	if err != nil {
		return false, err
	}
	f.heardFromLeader(r)
	return true, nil
}

// appendPiece adds the bytes, and installs the snapshot when they are all there.
func (r *Replica) appendPiece(f *follower, m *FetchSnapshotResponse) error {
	if f.download == nil || f.download.ID() != m.SnapshotID || f.download.Size() != m.Position {
		return fmt.Errorf("%w: a piece of %d-%d at %d", ErrSnapshotDownload, m.SnapshotID.Offset, m.SnapshotID.Epoch, m.Position)
	}
	if err := f.download.Append(m.Bytes); err != nil {
		return err
	}
	if f.download.Size() != m.Size {
		return nil
	}
	w := f.download
	f.download = nil
	if err := w.Freeze(); err != nil {
		return err
	}
	return r.installSnapshot(f, w.ID())
}

// installSnapshot puts a downloaded snapshot in the place of the log (4.5): the log gives way to it, its control records
// count from now on, and everything it covers is committed. Kafka does not look at the checksums before this point, and
// neither does this: damage stops the replica here.
func (r *Replica) installSnapshot(f *follower, id OffsetAndEpoch) error {
	if err := r.registerSnapshot(id); err != nil {
		return err
	}
	before := r.log.EndOffset()
	truncated, err := r.log.TruncateToLatestSnapshot()
	if err != nil {
		return err
	}
	if !truncated {
		return fmt.Errorf("%w: %d-%d is not ahead of the log, which ends at %d in epoch %d",
			ErrSnapshotDownload, id.Offset, id.Epoch, before, r.log.LastEpoch())
	}
	r.emit(LogReplaced, id.Offset, before, &NoReplica, false)
	if err := r.reloadControlState(); err != nil {
		return err
	}
	return r.followHighWatermark(f, id.Offset)
}
