package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/quorum"
)

// epochRule says which epoch a transition may lead to.
type epochRule uint8

const (
	notAllowed epochRule = iota
	sameEpoch
	higherEpoch
	sameOrHigherEpoch
	nextEpoch
)

// transitions is the table of kraft-protocol 1.4: from, to, epoch. What it does not have is fatal. Guards that are not
// about the epoch are in checkTransition. No function but enter replaces the role in force.
var transitions = [numRoles][numRoles]epochRule{
	Unattached: {
		Unattached: sameOrHigherEpoch, Prospective: sameEpoch, Follower: sameOrHigherEpoch,
	},
	Prospective: {
		Unattached: sameOrHigherEpoch, Prospective: sameEpoch, Candidate: nextEpoch, Follower: sameOrHigherEpoch,
	},
	Candidate: {
		Unattached: higherEpoch, Prospective: sameEpoch, Follower: sameOrHigherEpoch, Leader: sameEpoch,
	},
	Follower: {
		Unattached: higherEpoch, Prospective: sameEpoch, Follower: sameOrHigherEpoch,
	},
	Leader: {
		Unattached: higherEpoch, Follower: higherEpoch, Resigned: sameEpoch,
	},
	Resigned: {
		Unattached: higherEpoch, Prospective: sameEpoch, Follower: higherEpoch,
	},
}

// checkTransition applies the table and the guards that hold for all transitions.
func (r *Replica) checkTransition(next role) error {
	from, to := r.role.kind(), next.kind()
	old, b := r.base(), next.common()
	var allowed bool
	switch transitions[from][to] {
	case notAllowed:
	case sameEpoch:
		allowed = b.epoch == old.epoch
	case higherEpoch:
		allowed = b.epoch > old.epoch
	case sameOrHigherEpoch:
		allowed = b.epoch >= old.epoch
	case nextEpoch:
		allowed = b.epoch == old.epoch+1
	}
	if !allowed {
		return r.illegal(next, "not in the table")
	}
	if b.epoch == old.epoch {
		if old.leaderID >= 0 && b.leaderID != old.leaderID {
			return r.illegal(next, "the epoch has another leader")
		}
		if old.hasVoted() && b.voted != old.voted && to != Leader {
			return r.illegal(next, "the vote of an epoch is given once")
		}
		if from == to && b.hasVoted() == old.hasVoted() && len(b.leaderEndpoints) <= len(old.leaderEndpoints) {
			return r.illegal(next, "nothing is new")
		}
	}
	switch to {
	case Prospective, Candidate:
		if !r.isVoter() {
			return r.illegal(next, "not a voter")
		}
	case Leader:
		if !r.isVoter() || r.role.(*candidate).tally.result() != quorum.Won {
			return r.illegal(next, "no majority granted")
		}
	case Follower:
		if b.leaderID == r.cfg.NodeID || len(b.leaderEndpoints) == 0 {
			return r.illegal(next, "a follower needs another replica with endpoints")
		}
	}
	return nil
}

// illegal is the error for a transition that a guard forbids.
func (r *Replica) illegal(next role, why string) error {
	return fmt.Errorf("%w: %v of epoch %d to %v of epoch %d: %s", ErrIllegalTransition,
		r.role.kind(), r.base().epoch, next.kind(), next.common().epoch, why)
}

// enter is the only way from one role to another. A durable transition writes quorum-state first and replaces the role
// only when that is durable (1.3); an error is fatal, because the file may then say either.
func (r *Replica) enter(next role, durable bool) error {
	if err := r.checkTransition(next); err != nil {
		return err
	}
	if durable {
		if err := r.persist(next.common()); err != nil {
			return err
		}
	}
	old, oldEpoch, oldLeader := r.role.kind(), r.base().epoch, r.base().leaderID
	r.measureElection(next)
	switch old := r.role.(type) {
	case *leader:
		old.close(r)
	case *follower:
		if err := old.abandonDownload(); err != nil {
			return err
		}
	}
	r.take(next)
	if epoch := r.base().epoch; epoch != oldEpoch {
		r.emit(EpochAdopted, 0, int64(oldEpoch), &NoReplica, false)
	}
	if old != next.kind() || oldEpoch != r.base().epoch || oldLeader != r.base().leaderID {
		r.emit(RoleChanged, 0, 0, &NoReplica, false)
	}
	return nil
}

// persist writes what b says to quorum-state: temporary file, fsync, rename, directory fsync. The file's version
// follows the kraft.version known now, committed or not.
func (r *Replica) persist(b *base) error {
	record := b.record()
	version := r.control.kraftVersion()
	if version == 0 {
		record.Voters = r.control.voterIDs()
	}
	if err := r.store.Write(record, min(version, 1)); err != nil {
		return fmt.Errorf("raft: writing quorum-state: %w", err)
	}
	return nil
}

// NoReplica is the key that names nobody.
var NoReplica = ReplicaKey{ID: -1}
