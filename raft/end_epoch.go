package raft

import "github.com/kraftsim/kraftsim/raft/quorum"

// handleEndQuorumEpochRequest shortens the wait for a leader that said it resigned (kraft-protocol 2.7): the first on its
// list starts an election in the poll that follows, the others wait their turn.
func (r *Replica) handleEndQuorumEpochRequest(conn int64, m *EndQuorumEpochRequest) error {
	top, partition := None, None
	switch {
	case !r.acceptsClusterID(m.ClusterID):
		top = InconsistentClusterID
	case m.WrongShape:
		top = InvalidRequest
	default:
		if partition = r.checkVoterOnly(m.LeaderID, m.LeaderEpoch); partition != None {
			break
		}
		endpoints := r.endpointsOr(m.LeaderEndpoints, m.LeaderID)
		leaderID := r.leaderToFollow(m.LeaderID, m.LeaderEpoch, endpoints)
		if err := r.maybeTransition(leaderID, m.LeaderEpoch, endpoints); err != nil {
			return err
		}
		if f, ok := r.role.(*follower); ok && f.leaderID == m.LeaderID {
			n := int32(len(m.PreferredCandidates))
			backoffMs := quorum.SuccessorBackoffMs(r.positionIn(m.PreferredCandidates), n, r.cfg.ElectionBackoffMaxMs)
			f.fetchDeadlineMs = r.nowMs + backoffMs
		}
	}
	response := r.pool.endResponses.next()
	*response = EndQuorumEpochResponse{
		Header:    Header{Correlation: m.Correlation, Response: true},
		ErrorCode: top, LeaderID: -1, LeaderEpoch: -1, Endpoint: NodeEndpoint{NodeID: -1},
	}
	if top == None {
		response.PartitionError = partition
		response.LeaderID, response.LeaderEpoch = r.base().leaderID, r.base().epoch
		response.Endpoint = r.leaderEndpoint()
	}
	r.deps.Transport.Send(conn, response)
	return nil
}

// positionIn returns this replica's place in the list, or the list's length when it is not on it.
func (r *Replica) positionIn(candidates []ReplicaKey) int32 {
	for i := range candidates {
		if candidates[i].Matches(r.localKey()) {
			return int32(i)
		}
	}
	return int32(len(candidates))
}

// sendEndQuorumEpoch tells every voter that has not answered yet and may be told, and returns when to try again.
func (r *Replica) sendEndQuorumEpoch(s *resigned) (int64, error) {
	nextMs := never
	for _, id := range s.unacknowledged {
		v := r.control.voters().Find(id)
		if v == nil {
			continue
		}
		p, err := r.voterPeer(v)
		if err != nil {
			return 0, err
		}
		if r.isReady(p) {
			m := r.pool.endRequests.next()
			*m = EndQuorumEpochRequest{
				ClusterID:           r.clusterID(),
				LeaderID:            r.cfg.NodeID,
				LeaderEpoch:         s.epoch,
				PreferredCandidates: s.preferred,
			}
			r.send(p, m, &m.Header)
		}
		nextMs = min(nextMs, p.deadlineMs)
	}
	return nextMs, nil
}

// handleEndQuorumEpochResponse notes that a voter knows of the resignation.
func (r *Replica) handleEndQuorumEpochResponse(p *peer, m *EndQuorumEpochResponse) (success bool, err error) {
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
	if s, ok := r.role.(*resigned); ok {
		s.acknowledge(p.id)
	}
	return true, nil
}
