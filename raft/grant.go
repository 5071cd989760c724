package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/quorum"
)

// grants decides on a vote request whose epoch is the replica's own by now (the table of kraft-protocol 1.7). It changes
// nothing. Neither the candidate nor the voter need be in the local voter set, which may lag behind.
func (r *Replica) grants(m *VoteRequest) bool {
	upToDate := quorum.UpToDate(m.LastOffsetEpoch, m.LastOffset, r.log.LastEpoch(), r.log.EndOffset())
	if m.PreVote {
		return r.grantsPreVote(upToDate)
	}
	switch r.role.kind() {
	case Unattached, Prospective:
		b := r.base()
		if b.hasVoted() { // again for the same candidate, without looking at the log; never for another
			return b.voted.Matches(ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID})
		}
		return b.leaderID < 0 && upToDate
	}
	return false // a follower has a leader, a candidate voted for itself, a leader and a resigned one won the epoch
}

// grantsPreVote decides on a pre-vote. Whoever has heard from the leader of the epoch, or is it, refuses; that is what
// stops a voter that was cut off from disturbing a working quorum.
func (r *Replica) grantsPreVote(upToDate bool) bool {
	switch role := r.role.(type) {
	case *leader:
		return false
	case *follower:
		return !role.hasFetched && upToDate
	}
	return upToDate
}

// recordGrant makes a granted standard vote durable unless it is a repetition. It is the last step before the answer.
func (r *Replica) recordGrant(candidate ReplicaKey) error {
	if r.base().hasVoted() {
		r.emit(VoteGranted, 0, 0, &candidate, true)
		return nil
	}
	if candidate.ID == r.cfg.NodeID || r.cfg.NodeID < 0 {
		return fmt.Errorf("%w: replica %d cannot vote for %d through a request", ErrIllegalTransition, r.cfg.NodeID, candidate.ID)
	}
	if err := r.recordVote(candidate); err != nil {
		return err
	}
	r.emit(VoteGranted, 0, 0, &candidate, false)
	return nil
}
