package raft

// handleDescribeQuorumRequest tells how far every replica is (kraft-protocol 2.10, KIP-836). Only the leader knows; there
// is no epoch to check.
func (r *Replica) handleDescribeQuorumRequest(conn int64, m *DescribeQuorumRequest) error {
	response := &DescribeQuorumResponse{}
	switch {
	case r.cfg.maxVersion(apiDescribeQuorum) < 0:
		*response = describeError(UnsupportedVersion)
	case m.WrongShape:
		*response = describeError(None)
		response.WrongShape, response.Other = true, m.Other
		response.PartitionError = UnknownTopicOrPartition
		response.PartitionMessage = errorMessage(UnknownTopicOrPartition, "raft has one partition")
	default:
		*response = r.DescribeQuorum()
	}
	response.Correlation, response.Response = m.Correlation, true
	r.deps.Transport.Send(conn, response)
	return nil
}

// describeError is the response without anything but a top level error. Its leader, epoch and high watermark are 0, the
// schema's defaults: an answer that is an error leaves them out.
func describeError(code ErrorCode) DescribeQuorumResponse {
	return DescribeQuorumResponse{ErrorCode: code}
}

// DescribeQuorum is the answer to a DescribeQuorumRequest at this moment: PartitionError is NotLeaderOrFollower unless
// this replica leads. Voters and observers are ascending by key. Observers that were silent for five minutes are left out
// and forgotten. A leader that is removing itself is among the observers.
func (r *Replica) DescribeQuorum() DescribeQuorumResponse {
	d := describeError(None)
	l, ok := r.role.(*leader)
	if !ok {
		d.PartitionError = NotLeaderOrFollower
		d.PartitionMessage = errorMessage(NotLeaderOrFollower, "this node is not the leader")
		return d
	}
	l.dropSilentObservers(r.nowMs)
	d.LeaderID, d.LeaderEpoch, d.HighWatermark = r.cfg.NodeID, l.epoch, l.highWatermark
	for i := range l.voters {
		d.Voters = append(d.Voters, r.described(&l.voters[i]))
	}
	own := l.voterProgress(r.localKey())
	if own == nil {
		self := newProgress(r.localKey())
		d.Observers = append(d.Observers, r.described(&self))
	}
	for i := range l.observers {
		d.Observers = insertDescribed(d.Observers, r.described(&l.observers[i]))
	}
	set := r.control.voters()
	for i := int32(0); i < set.Len(); i++ {
		d.Nodes = append(d.Nodes, DescribedNode{NodeID: set.At(i).ID, Listeners: set.At(i).Endpoints})
	}
	return d
}

// described is one entry. Of itself the leader says that it has everything now.
func (r *Replica) described(p *replicaProgress) DescribedReplica {
	if p.key.ID == r.cfg.NodeID {
		return DescribedReplica{
			ReplicaKey: p.key, LogEndOffset: r.log.EndOffset(), LastFetchTimeMs: r.nowMs, LastCaughtUpTimeMs: r.nowMs,
		}
	}
	return DescribedReplica{
		ReplicaKey: p.key, LogEndOffset: p.endOffset, LastFetchTimeMs: p.lastFetchMs, LastCaughtUpTimeMs: p.lastCaughtUpMs,
	}
}

// insertDescribed inserts d where its key belongs.
func insertDescribed(list []DescribedReplica, d DescribedReplica) []DescribedReplica {
	at := len(list)
	for at > 0 && list[at-1].Compare(d.ReplicaKey) > 0 {
		at--
	}
	list = append(list, d)
	copy(list[at+1:], list[at:])
	list[at] = d
	return list
}
