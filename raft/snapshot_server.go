package raft

import (
	"errors"
	"math"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// handleFetchSnapshotRequest sends a piece of a snapshot, or says why not; the checks come in the order of kraft-protocol
// 2.9.
func (r *Replica) handleFetchSnapshotRequest(conn int64, m *FetchSnapshotRequest) error {
	response := r.pool.snapshotResponses.next()
	r.answerFetchSnapshot(m, response)
	r.deps.Transport.Send(conn, response)
	return nil
}

func (r *Replica) answerFetchSnapshot(m *FetchSnapshotRequest, response *FetchSnapshotResponse) {
	*response = FetchSnapshotResponse{
		Header: Header{Correlation: m.Correlation, Response: true}, Endpoint: NodeEndpoint{NodeID: -1},
	}
	switch {
	case !r.acceptsClusterID(m.ClusterID):
		response.ErrorCode = InconsistentClusterID
		return
	case m.WrongShape && len(m.Other) != 1:
		response.ErrorCode = InvalidRequest
		return
	case m.WrongShape:
		response.WrongShape, response.Other, response.PartitionError = true, m.Other, UnknownTopicOrPartition
		return
	}
	response.LeaderID, response.LeaderEpoch = r.base().leaderID, r.base().epoch
	response.Endpoint = r.leaderEndpoint()
	response.PartitionError = r.sliceSnapshot(m, response)
}

// sliceSnapshot fills in the bytes. The bootstrap checkpoint is never served: it is the formatter's, not the log's. A
// position that Kafka cannot slice at, and a request in the leader's own name, at which it stops, are answered here with an
// error.
func (r *Replica) sliceSnapshot(m *FetchSnapshotRequest, response *FetchSnapshotResponse) ErrorCode {
	if code := r.checkLeader(m.CurrentLeaderEpoch); code != None {
		return code
	}
	if m.SnapshotID == (OffsetAndEpoch{}) {
		return SnapshotNotFound
	}
	bytes, size, err := r.log.ReadSnapshotAt(m.SnapshotID, m.Position, m.MaxBytes)
	switch {
	case errors.Is(err, raftlog.ErrSnapshotNotFound):
		return SnapshotNotFound
	case err != nil: // as in Fetch, a read error while serving is the follower's trouble
		return UnknownServerError
	case m.Position < 0 || m.Position >= size:
		return PositionOutOfRange
	case m.Position > math.MaxInt32 || m.MaxBytes < 0 || m.ReplicaID >= 0 && m.ReplicaID == r.cfg.NodeID:
		return UnknownServerError
	}
	key := ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID}
	r.hear(r.role.(*leader), key)
	response.SnapshotID = m.SnapshotID // of no other answer: an error leaves id, size and position at 0
	response.Size, response.Position, response.Bytes = size, m.Position, bytes
	return None
}
