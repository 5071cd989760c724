package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/voters"
)

// checkTopLevel applies the first half of kraft-protocol 2.4. done means that the answer needs nothing more, and
// success whether its peer is ready again or backs off.
func (r *Replica) checkTopLevel(p *peer, code ErrorCode, wrongShape, isVote bool) (success, done bool, err error) {
	switch {
	case code == None && wrongShape:
		return r.unexpected(p, InvalidRequest), true, nil
	case code == None:
		return true, false, nil
	case code == BrokerNotAvailable:
		return false, true, nil
	case code == ClusterAuthorizationFailed:
		return false, true, fmt.Errorf("%w: by peer %d", ErrClusterAuthorization, p.id)
	case code == UnsupportedVersion && isVote && r.role.kind() == Prospective:
		return true, true, r.becomeCandidate()
	}
	return r.unexpected(p, code), true, nil
}

// unexpected reports an error that can only be waited out. It returns false: not a success.
func (r *Replica) unexpected(p *peer, code ErrorCode) bool {
	r.emit(UnexpectedAnswer, int64(code), 0, &ReplicaKey{ID: p.id}, false)
	return false
}

// checkPartition applies the table of kraft-protocol 2.4 to an answer. done means that nothing specific to the RPC
// remains to be done.
func (r *Replica) checkPartition(
	p *peer, code ErrorCode, leaderID, epoch int32, endpoint *NodeEndpoint,
) (success, done bool, err error) {
	b := r.base()
	if epoch < b.epoch || code == UnknownLeaderEpoch { // row 1: from the past, or the peer is behind
		return true, true, nil
	}
	endpoints := r.endpointsOr(r.responseEndpoints(leaderID, endpoint), leaderID)
	leaderID = r.leaderToFollow(leaderID, epoch, endpoints)
	if epoch > b.epoch || code == FencedLeaderEpoch || code == NotLeaderOrFollower { // row 2
		return true, true, r.maybeTransition(leaderID, epoch, endpoints)
	}
	if leaderID >= 0 && !r.knowsLeader() { // row 3: this very answer tells who leads
		if err := r.follow(epoch, leaderID, endpoints); err != nil {
			return false, true, err
		}
		return true, code != None, nil
	}
	switch code {
	case BrokerNotAvailable: // row 4
		return false, true, nil
	case InvalidVoterKey: // row 5
		r.unexpected(p, code)
		return true, true, nil
	case InvalidRequest: // row 6
		return false, true, fmt.Errorf("%w: peer %d", ErrInvalidRequest, p.id)
	}
	return true, false, nil // row 7
}

// knowsLeader reports whether the epoch's leader is known well enough to need no transition: with endpoints, or it is
// this replica (also when resigned, whose endpoints are its own).
func (r *Replica) knowsLeader() bool {
	b := r.base()
	return b.hasReachableLeader() || b.leaderID >= 0 && b.leaderID == r.cfg.NodeID
}

// maybeTransition adopts what a message shows about leader and epoch, if it is news. A message that contradicts what
// the epoch is known to be is fatal: two leaders, or a peer that takes this replica for a leader that it is not.
func (r *Replica) maybeTransition(leaderID, epoch int32, endpoints []voters.Endpoint) error {
	b := r.base()
	if leaderID >= 0 && leaderID == r.cfg.NodeID {
		if r.role.kind() != Leader {
			return fmt.Errorf("%w: named as leader of epoch %d while %v of epoch %d",
				ErrInconsistentLeader, epoch, r.role.kind(), b.epoch)
		}
	} else if epoch == b.epoch && leaderID >= 0 && b.leaderID >= 0 && leaderID != b.leaderID {
		return fmt.Errorf("%w: %d and %d in epoch %d", ErrInconsistentLeader, b.leaderID, leaderID, epoch)
	}
	switch {
	case epoch > b.epoch && leaderID >= 0:
		return r.follow(epoch, leaderID, endpoints)
	case epoch > b.epoch:
		return r.becomeUnattached(epoch)
	case epoch == b.epoch && leaderID >= 0 && leaderID != r.cfg.NodeID &&
		(b.leaderID < 0 || len(endpoints) > len(b.leaderEndpoints)):
		return r.follow(epoch, leaderID, endpoints)
	}
	return nil
}

// follow becomes a follower; without endpoints that is impossible and fatal.
func (r *Replica) follow(epoch, leaderID int32, endpoints []voters.Endpoint) error {
	if len(endpoints) == 0 {
		return fmt.Errorf("%w: leader %d of epoch %d", ErrUnknownEndpoint, leaderID, epoch)
	}
	return r.becomeFollower(epoch, leaderID, endpoints)
}

// responseEndpoints turns the endpoint in a response into a list, empty when it names none or another node.
func (r *Replica) responseEndpoints(leaderID int32, e *NodeEndpoint) []voters.Endpoint {
	if leaderID < 0 || e.NodeID != leaderID {
		return nil
	}
	if b := r.base(); b.leaderID == leaderID && len(b.leaderEndpoints) > 0 {
		known := &b.leaderEndpoints[0]
		if known.Name == r.cfg.ListenerName && known.Host == e.Host && known.Port == e.Port {
			return b.leaderEndpoints[:1] // the usual case costs no allocation
		}
	}
	return []voters.Endpoint{{Name: r.cfg.ListenerName, Host: e.Host, Port: e.Port}}
}

// leaderToFollow returns leaderID, or -1 if a message that is news names the leader without an address and the voter set
// here does not have it either, because it lags behind: a follower needs an address, so the leader counts as unknown and is
// looked for. Peers that know it by name only after a restart, and EndQuorumEpoch, whose senders leave the endpoints out,
// do that while the voter set changes. The original stops there.
func (r *Replica) leaderToFollow(leaderID, epoch int32, endpoints []voters.Endpoint) int32 {
	b := r.base()
	contradicts := epoch == b.epoch && b.leaderID >= 0 && b.leaderID != leaderID
	if len(endpoints) == 0 && leaderID != r.cfg.NodeID && !contradicts {
		return -1
	}
	return leaderID
}

// endpointsOr returns the endpoints of a message, or those of the latest voter set when it has none.
func (r *Replica) endpointsOr(endpoints []voters.Endpoint, leaderID int32) []voters.Endpoint {
	if len(endpoints) > 0 || leaderID < 0 {
		return endpoints
	}
	if v := r.control.voters().Find(leaderID); v != nil {
		return v.Endpoints
	}
	return nil
}
