package raft

import (
	"math"

	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// Role is what a replica is in its quorum (kraft-protocol 1.1). The zero Role is no role.
type Role uint8

// The roles. Observers only ever are Unattached or Follower.
const (
	_           Role = iota
	Unattached       // knows no leader that it could reach
	Prospective      // asks whether an election could be won, without raising its epoch (KIP-996)
	Candidate        // asks for votes in a new epoch
	Follower         // fetches from a leader
	Leader           // writes
	Resigned         // was leader of the epoch and gave it up; still the epoch's leader on disk
	numRoles
)

// String returns the role in lower case.
func (r Role) String() string {
	switch r {
	case Unattached:
		return "unattached"
	case Prospective:
		return "prospective"
	case Candidate:
		return "candidate"
	case Follower:
		return "follower"
	case Leader:
		return "leader"
	case Resigned:
		return "resigned"
	}
	return "none"
}

// never is the deadline of a timer that does not run.
const never int64 = math.MaxInt64

// unknown is a high watermark or end offset that is not known.
const unknown int64 = -1

// role is one of *unattached, *prospective, *candidate, *follower, *leader and *resigned. A role object is made by a
// transition (transition.go) and lives until the next one; nothing of it survives but what the transition takes along.
type role interface {
	kind() Role
	common() *base
	// poll does what is due in this role (1.9) and returns when it wants to be polled again, at the latest: wall
	// milliseconds, or never. A time that has come already means that the role changed.
	poll(r *Replica) (nextMs int64, err error)
	// appendTo appends canonical bytes of what the role has besides its base; without times in the protocol view.
	appendTo(buf []byte, protocolView bool) []byte
}

// base is what every role has.
type base struct {
	epoch           int32
	leaderID        int32             // -1: none known; a leader's and a resigned leader's own
	leaderEndpoints []voters.Endpoint // empty: it is known by name only, and cannot be reached
	voted           ReplicaKey        // ID -1: no vote given in this epoch
	highWatermark   int64             // -1: unknown
}

// common implements role for every type that embeds base.
func (b *base) common() *base { return b }

// hasVoted reports whether a standard vote was given in this epoch.
func (b *base) hasVoted() bool { return b.voted.ID >= 0 }

// hasReachableLeader reports whether the leader of the epoch is known together with its endpoints. An Unattached that
// keeps a mere id counts as knowing none: the original counts it as known and stops fatally when that leader answers
// its discovery Fetch (trap of kraft-protocol 2.4).
func (b *base) hasReachableLeader() bool { return b.leaderID >= 0 && len(b.leaderEndpoints) > 0 }

// record is what the quorum-state file says while this base is in force.
func (b *base) record() quorumstate.State {
	return quorumstate.State{
		LeaderID: b.leaderID, LeaderEpoch: b.epoch, VotedID: b.voted.ID, VotedDirectoryID: b.voted.DirectoryID,
	}
}

// take puts a role in force. What every event asks for is kept beside it: three calls of an interface fewer each.
func (r *Replica) take(next role) { r.role, r.inForce, r.is = next, next.common(), next.kind() }

// base returns the common part of the role in force.
func (r *Replica) base() *base { return r.inForce }

// localKey is this replica's identity.
func (r *Replica) localKey() ReplicaKey {
	return r.self
}

// isVoter reports whether this replica is in the latest voter set of its log, committed or not (kraft-protocol 0).
func (r *Replica) isVoter() bool {
	return r.cfg.NodeID >= 0 && r.control.voters().Contains(r.localKey())
}

// isOnlyVoter reports whether this replica is a voter and no other is.
func (r *Replica) isOnlyVoter() bool {
	return r.cfg.NodeID >= 0 && r.control.voters().IsOnly(r.localKey())
}

// newElectionDeadlineMs draws when an election timer that starts now runs out: E plus a random part below E, keyed by
// the epoch and the role that starts it. E of 0 runs out at once.
func (r *Replica) newElectionDeadlineMs(epoch int32, entering Role) int64 {
	e := r.cfg.ElectionTimeoutMs
	if e == 0 {
		return r.nowMs
	}
	key := uint64(uint32(epoch))<<8 | uint64(entering)
	return r.nowMs + e + r.deps.Chooser.Choose(SiteElectionTimeout, key, e)
}
