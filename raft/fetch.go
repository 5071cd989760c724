package raft

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// sendFetch asks p for records from this replica's log end on, and thereby acknowledges everything below: whatever is
// below must be durable by now (3.6).
func (r *Replica) sendFetch(p *peer) {
	b := r.base()
	m := r.pool.fetchRequests.next()
	*m = FetchRequest{
		ClusterID:          r.clusterID(),
		ReplicaID:          r.cfg.NodeID,
		ReplicaEpoch:       -1,
		ReplicaDirectoryID: r.cfg.DirectoryID,
		MaxWaitMs:          r.cfg.FetchMaxWaitMs,
		MaxBytes:           r.cfg.FetchMaxBytes,
		CurrentLeaderEpoch: b.epoch,
		FetchOffset:        r.log.EndOffset(),
		LastFetchedEpoch:   r.log.LastEpoch(),
		HighWatermark:      r.toldHighWatermark(),
	}
	r.send(p, m, &m.Header)
}

// handleFetchRequest answers a Fetch, at once or later (2.8).
func (r *Replica) handleFetchRequest(conn int64, m *FetchRequest) error {
	response := r.pool.fetchResponses.next()
	if code := r.checkFetchEnvelope(m); code != None {
		r.clearFetchResponse(m, response, None)
		response.ErrorCode, response.LogStartOffset = code, -1
		response.LeaderID, response.LeaderEpoch, response.Endpoint = -1, -1, NodeEndpoint{NodeID: -1}
		r.deps.Transport.Send(conn, response)
		return nil
	}
	if m.MaxWaitMs < 0 || m.FetchOffset < 0 || m.LastFetchedEpoch < 0 || m.LastFetchedEpoch > m.CurrentLeaderEpoch {
		r.clearFetchResponse(m, response, InvalidRequest)
		r.deps.Transport.Send(conn, response)
		return nil
	}
	if err := r.evaluateFetch(m, response); err != nil {
		return err
	}
	if r.answersAtOnce(m, response) {
		r.deps.Transport.Send(conn, response)
		return nil
	}
	r.park(conn, m, response)
	return nil
}

// checkFetchEnvelope applies the checks whose failure is a top level error.
func (r *Replica) checkFetchEnvelope(m *FetchRequest) ErrorCode {
	if !r.acceptsClusterID(m.ClusterID) {
		return InconsistentClusterID
	}
	r.noteOffer(m.ClusterID, ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID})
	if m.WrongShape {
		return InvalidRequest
	}
	return None
}

// answersAtOnce reports whether the response has something to say: an error, records, a diverging point, a snapshot, or
// a high watermark that the follower does not know yet (KIP-1166). Divergence must not wait (KAFKA-15100).
func (r *Replica) answersAtOnce(m *FetchRequest, response *FetchResponse) bool {
	return response.PartitionError != None || len(response.Records) > 0 || m.MaxWaitMs == 0 ||
		response.DivergingEpoch != noOffset || response.SnapshotID != noOffset ||
		m.HighWatermark < response.HighWatermark && r.cfg.maxVersion(apiFetch) >= firstFetchWithHighWatermark
}

// clearFetchResponse fills response with an error, or the success that has nothing in it yet.
func (r *Replica) clearFetchResponse(m *FetchRequest, response *FetchResponse, code ErrorCode) {
	*response = FetchResponse{
		Header:         Header{Correlation: m.Correlation, Response: true},
		PartitionError: code,
		HighWatermark:  -1,
		LogStartOffset: r.log.StartOffset(),
		DivergingEpoch: noOffset,
		SnapshotID:     noOffset,
		LeaderID:       r.base().leaderID,
		LeaderEpoch:    r.base().epoch,
		Endpoint:       r.leaderEndpoint(),
	}
}

// evaluateFetch is steps 4 to 7 of 2.8: leader-only checks, validation against the log, read, and then, only for a
// fetch that the log bears out (KAFKA-13141), the follower's progress. The high watermark in the response is the one
// after that.
func (r *Replica) evaluateFetch(m *FetchRequest, response *FetchResponse) error {
	if code := r.checkLeader(m.CurrentLeaderEpoch); code != None {
		r.clearFetchResponse(m, response, code)
		return nil
	}
	r.clearFetchResponse(m, response, None)
	l := r.role.(*leader)
	key := ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID}
	if snapshot, found := r.log.LatestSnapshot(); found && m.FetchOffset == 0 && snapshot != (OffsetAndEpoch{}) {
		response.SnapshotID = snapshot
		r.emit(SnapshotOffered, snapshot.Offset, int64(snapshot.Epoch), &key, true)
		response.HighWatermark = l.highWatermark
		return nil
	}
	validity, at := r.log.Validate(m.FetchOffset, m.LastFetchedEpoch)
	switch validity {
	case raftlog.Diverging:
		response.DivergingEpoch = at
		r.emit(DivergenceAnswered, at.Offset, int64(at.Epoch), &key, false)
	case raftlog.Snapshot:
		response.SnapshotID = at
		r.emit(SnapshotOffered, at.Offset, int64(at.Epoch), &key, true)
	default:
		records, err := r.log.Read(m.FetchOffset, m.MaxBytes)
		// A read error while serving is the fetcher's trouble, not fatal here (3.6). Progress in the leader's own name is none.
		if err != nil || m.ReplicaID == r.cfg.NodeID {
			r.clearFetchResponse(m, response, UnknownServerError)
			return nil
		}
		response.Records = records
		if m.ReplicaID >= 0 {
			if err := r.recordFetch(l, key, m.FetchOffset); err != nil {
				return err
			}
		}
	}
	response.HighWatermark = l.highWatermark
	return nil
}

// handleFetchResponse applies the answer of the leader. Only the answer that is expected, of this epoch and leader,
// comes here (KB-43), and the log itself takes nothing but what continues it.
func (r *Replica) handleFetchResponse(p *peer, m *FetchResponse) (success bool, err error) {
	if success, done, err := r.checkTopLevel(p, m.ErrorCode, m.WrongShape, false); done || err != nil {
		return success, err
	}
	success, done, err := r.checkPartition(p, m.PartitionError, m.LeaderID, m.LeaderEpoch, &m.Endpoint)
	if done || err != nil {
		return success, err
	}
	if m.PartitionError != None {
		return r.unexpected(p, m.PartitionError), nil
	}
	f, ok := r.role.(*follower)
	if !ok {
		return false, fmt.Errorf("%w: a Fetch answer without error as %v of epoch %d",
			ErrInconsistentLeader, r.role.kind(), r.base().epoch)
	}
	switch {
	case m.DivergingEpoch.Epoch >= 0:
		err = r.truncateTo(f, m.DivergingEpoch)
	case m.SnapshotID.Epoch >= 0 || m.SnapshotID.Offset >= 0:
		if m.SnapshotID.Epoch < 0 || m.SnapshotID.Offset < 0 { // half an id is backed off from
			return false, nil
		}
		err = r.startDownload(f, p, m.SnapshotID)
	default:
		err = r.appendFetched(f, m)
	}
	if err != nil {
		return false, err
	}
	f.heardFromLeader(r)
	return true, nil
}

// truncateTo cuts the log to where it may still agree with the leader's (3.4). Several rounds may be needed. Cutting
// below the high watermark would lose committed records: fatal (KAFKA-12460). A replica that led meanwhile, and so does not know
// one in its role, still has the log's to go by.
func (r *Replica) truncateTo(f *follower, diverging OffsetAndEpoch) error {
	r.emit(DivergenceReceived, diverging.Offset, int64(diverging.Epoch), &NoReplica, false)
	if diverging.Offset < f.highWatermark {
		return fmt.Errorf("%w: leader %d of epoch %d asks for %d, the high watermark is %d",
			ErrTruncationBelowHighWatermark, f.leaderID, f.epoch, diverging.Offset, f.highWatermark)
	}
	guard := f.highWatermark
	if guard == unknown {
		guard = r.logHighWatermark
	}
	cut, err := r.log.TruncateToEndOffset(diverging, guard)
	if err != nil {
		if errors.Is(err, raftlog.ErrBelowHighWatermark) {
			return fmt.Errorf("%w: %w", ErrTruncationBelowHighWatermark, err)
		}
		return err
	}
	r.emit(LogTruncated, cut, f.highWatermark, &NoReplica, false)
	votersBefore, versionBefore := r.control.votersOffset(), r.control.kraftVersion()
	r.control.truncate(cut)
	r.emitControlChanges(votersBefore, versionBefore)
	return nil
}

// appendFetched appends the records, makes them durable, reads their control records and only then learns the high
// watermark; the next Fetch, which acknowledges them, comes after all that (3.6, KAFKA-10533).
func (r *Replica) appendFetched(f *follower, m *FetchResponse) error {
	if len(m.Records) > 0 {
		before := r.log.EndOffset()
		if _, err := r.log.AppendFollower(m.Records, f.epoch); err != nil {
			return err
		}
		if r.log.EndOffset() != before {
			r.emit(LogAppended, r.log.EndOffset(), before, &NoReplica, false)
			r.measureFetched(r.log.EndOffset() - before)
		}
		if r.cfg.CanBecomeVoter || r.isVoter() {
			if err := r.flush(); err != nil {
				return err
			}
		}
		if err := r.readControlRecords(m.Records); err != nil {
			return err
		}
	}
	return r.followHighWatermark(f, m.HighWatermark)
}

// followHighWatermark learns the leader's high watermark as far as the own log reaches (3.7). Unknown never replaces a
// known value; a lower one is fatal.
func (r *Replica) followHighWatermark(f *follower, leaders int64) error {
	if leaders < 0 {
		return nil
	}
	next := min(leaders, r.log.EndOffset())
	before := f.highWatermark
	if next < before {
		return fmt.Errorf("%w: leader %d of epoch %d sends %d after %d", ErrHighWatermark, f.leaderID, f.epoch, next, before)
	}
	if next == before {
		return nil
	}
	f.highWatermark = next
	r.emit(HighWatermarkAdvanced, next, before, &NoReplica, before == unknown)
	return r.updateListeners()
}
