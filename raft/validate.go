package raft

import "github.com/kraftsim/kraftsim/raft/record"

// The checks of kraft-protocol 2.3 that several requests share.

// acceptsClusterID is the first check of every request. Null is accepted always, and anything as long as this replica
// does not know its own id (KIP-1262), unless it is configured to refuse until then; the empty string is an id like any other.
func (r *Replica) acceptsClusterID(id ClusterID) bool {
	return !id.Known || r.cfg.ClusterID == "" && !r.cfg.RefuseWhileUnknown || id.ID == r.cfg.ClusterID
}

// noteOffer remembers the cluster id of a voter's request, as long as this replica has none (T23: what a leader may adopt).
func (r *Replica) noteOffer(id ClusterID, from ReplicaKey) {
	if r.cfg.ClusterID == "" && id.Known && id.ID != "" && r.offered == "" && r.Voters().Contains(from) {
		r.offered = id.ID
	}
}

// OfferedClusterID returns the first cluster id that a request of another voter carried while this replica knew none, "" for
// none. It is nothing that raft itself goes by.
func (r *Replica) OfferedClusterID() string { return r.offered }

// clusterID is what this replica's requests carry.
func (r *Replica) clusterID() ClusterID {
	return ClusterID{ID: r.cfg.ClusterID, Known: r.cfg.ClusterID != ""}
}

// checkVoterOnly applies to Vote, BeginQuorumEpoch and EndQuorumEpoch: the epoch first, then the sender's id.
func (r *Replica) checkVoterOnly(id, epoch int32) ErrorCode {
	if epoch < r.base().epoch {
		return FencedLeaderEpoch
	}
	if id < 0 {
		return InvalidRequest
	}
	return None
}

// checkLeader applies to what only a leader answers. A higher epoch in the request is not adopted.
func (r *Replica) checkLeader(epoch int32) ErrorCode {
	switch {
	case epoch < r.base().epoch:
		return FencedLeaderEpoch
	case epoch > r.base().epoch:
		return UnknownLeaderEpoch
	case r.is != Leader:
		return NotLeaderOrFollower
	case r.shuttingDown:
		return BrokerNotAvailable
	}
	return None
}

// isMeant reports whether a request that names its receiver means this replica: an id of -1 and a zero directory id
// leave it open. A request for a directory that this disk does not have is for a replica that is gone (KIP-853).
func (r *Replica) isMeant(id int32, directoryID record.UUID) bool {
	if id < 0 {
		return true
	}
	return id == r.cfg.NodeID && (directoryID.IsZero() || directoryID == r.cfg.DirectoryID)
}

// leaderEndpoint is the endpoint that responses carry: where the known leader listens for raft, if that is known.
func (r *Replica) leaderEndpoint() NodeEndpoint {
	b := r.base()
	if b.leaderID >= 0 {
		if e, found := endpointFor(b.leaderEndpoints, r.cfg.ListenerName); found {
			return NodeEndpoint{NodeID: b.leaderID, Host: e.Host, Port: e.Port}
		}
	}
	return NodeEndpoint{NodeID: -1}
}
