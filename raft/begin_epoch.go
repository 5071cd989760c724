package raft

// handleBeginQuorumEpochRequest learns the leader (kraft-protocol 2.6). The transition comes before the check of the
// voter key: a request meant for another directory still tells the truth about the leader.
func (r *Replica) handleBeginQuorumEpochRequest(conn int64, m *BeginQuorumEpochRequest) error {
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
		if err := r.maybeTransition(m.LeaderID, m.LeaderEpoch, endpoints); err != nil {
			return err
		}
		if !r.isMeant(m.VoterID, m.VoterDirectoryID) {
			partition = InvalidVoterKey
		}
	}
	response := r.pool.beginResponses.next()
	*response = BeginQuorumEpochResponse{
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

// beginQuorumEpoch tells the voters that have not fetched lately who leads, twice per fetch timeout and for as long as
// the leader leads (KAFKA-16536): a follower keeps no endpoints over a restart. Returns when to come back.
func (r *Replica) beginQuorumEpoch(l *leader) (int64, error) {
	if r.nowMs < l.beginEpochDeadlineMs {
		return l.beginEpochDeadlineMs, nil
	}
	period := max(r.cfg.FetchTimeoutMs/2, 1)
	for i := range l.voters {
		v := &l.voters[i]
		if v.key.ID == r.cfg.NodeID || v.lastFetchMs != unknown && r.nowMs-v.lastFetchMs < period {
			continue
		}
		entry := r.control.voters().Find(v.key.ID)
		if entry == nil {
			continue
		}
		p, err := r.voterPeer(entry)
		if err != nil {
			return 0, err
		}
		if !r.isReady(p) {
			continue
		}
		m := r.pool.beginRequests.next()
		*m = BeginQuorumEpochRequest{
			ClusterID:        r.clusterID(),
			VoterID:          entry.ID,
			VoterDirectoryID: entry.DirectoryID,
			LeaderID:         r.cfg.NodeID,
			LeaderEpoch:      l.epoch,
			LeaderEndpoints:  r.cfg.Listeners,
		}
		r.send(p, m, &m.Header)
	}
	l.beginEpochDeadlineMs = r.nowMs + period
	return l.beginEpochDeadlineMs, nil
}

// handleBeginQuorumEpochResponse notes that a voter knows its leader. An answer of a node that left the voter set is
// ignored (the original stops).
func (r *Replica) handleBeginQuorumEpochResponse(p *peer, m *BeginQuorumEpochResponse) (success bool, err error) {
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
	if l, ok := r.role.(*leader); ok {
		for i := range l.voters {
			if l.voters[i].key.ID == p.id {
				l.voters[i].acknowledged = true
			}
		}
	}
	return true, nil
}
