package raft

import (
	"github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// The functions of this file build the role objects of kraft-protocol 1.4 and run the effects of 1.5, in that order.

// becomeUnattached adopts a higher epoch whose leader is not known.
func (r *Replica) becomeUnattached(epoch int32) error {
	next := &unattached{base: base{epoch: epoch, leaderID: -1, voted: NoReplica, highWatermark: r.base().highWatermark}}
	next.electionDeadlineMs = r.unattachedDeadlineMs(epoch)
	return r.enterUnattached(next)
}

// becomeUnattachedAgain goes back from Prospective to Unattached in the same epoch and keeps its vote and leader.
func (r *Replica) becomeUnattachedAgain() error {
	next := &unattached{base: *r.base()}
	next.electionDeadlineMs = r.unattachedDeadlineMs(next.epoch)
	return r.enterUnattached(next)
}

// enterUnattached enters next and runs the effects of 1.5.
func (r *Replica) enterUnattached(next *unattached) error {
	if err := r.enter(next, true); err != nil {
		return err
	}
	r.announceLeader()
	r.resetPeers()
	return nil
}

// unattachedDeadlineMs is the election deadline of an Unattached entered now. A timer that was running goes on, so
// that a voter which sees one higher epoch after the other still runs for election some day; a former follower, leader
// or losing prospective draws anew; observers never run. A voter whose old timer never ran, because it was no voter
// when that timer was made, draws anew as well.
func (r *Replica) unattachedDeadlineMs(epoch int32) int64 {
	if !r.isVoter() {
		return never
	}
	inherited := never
	switch old := r.role.(type) {
	case *unattached:
		inherited = old.electionDeadlineMs
	case *candidate:
		inherited = old.electionDeadlineMs
	case *resigned:
		inherited = old.electionDeadlineMs
	case *prospective:
		if old.tally.result() != quorum.Lost {
			inherited = old.electionDeadlineMs
		}
	}
	if inherited != never {
		return inherited
	}
	return r.newElectionDeadlineMs(epoch, Unattached)
}

// recordVote makes a standard vote for candidate durable, in the role in force: Unattached or Prospective. The election
// timer starts anew, expectations stay (1.4, 1.8).
func (r *Replica) recordVote(candidate ReplicaKey) error {
	b := *r.base()
	b.voted = candidate
	var next role
	if r.role.kind() == Prospective {
		t, err := newTally(r.control.voters(), r.cfg.NodeID, false)
		if err != nil {
			return err
		}
		next = &prospective{base: b, tally: t, electionDeadlineMs: r.newElectionDeadlineMs(b.epoch, Prospective)}
	} else {
		u := &unattached{base: b, electionDeadlineMs: never}
		if r.isVoter() {
			u.electionDeadlineMs = r.newElectionDeadlineMs(b.epoch, Unattached)
		}
		next = u
	}
	if err := r.enter(next, true); err != nil {
		return err
	}
	r.emit(VotePersisted, 0, 0, &candidate, false)
	return nil
}

// becomeProspective starts a pre-vote in the epoch in force. Nothing is written, nobody is told.
func (r *Replica) becomeProspective() error {
	next := &prospective{base: *r.base()}
	t, err := newTally(r.control.voters(), r.cfg.NodeID, false)
	if err != nil {
		return err
	}
	next.tally = t
	next.electionDeadlineMs = r.newElectionDeadlineMs(next.epoch, Prospective)
	if err := r.enter(next, false); err != nil {
		return err
	}
	if !r.cfg.hasPreVote() { // software from before KIP-996: Prospective is passed through, not lived in
		return r.becomeCandidate()
	}
	r.emit(PreVoteStarted, 0, 0, &NoReplica, false)
	if next.tally.result() == quorum.Won {
		return r.becomeCandidate()
	}
	r.resetPeers()
	return nil
}

// becomeCandidate raises the epoch and votes for itself, durably.
func (r *Replica) becomeCandidate() error {
	next := &candidate{base: base{
		epoch: r.base().epoch + 1, leaderID: -1, voted: r.localKey(), highWatermark: r.base().highWatermark,
	}}
	t, err := newTally(r.control.voters(), r.cfg.NodeID, true)
	if err != nil {
		return err
	}
	next.tally = t
	next.electionDeadlineMs = r.newElectionDeadlineMs(next.epoch, Candidate)
	if err := r.enter(next, true); err != nil {
		return err
	}
	return r.enteredCandidate(next)
}

// enteredCandidate runs the effects of 1.5; a restart with a stored candidacy comes here directly.
func (r *Replica) enteredCandidate(c *candidate) error {
	r.emit(VotePersisted, 0, 0, &r.self, false)
	r.emit(ElectionStarted, 0, 0, &NoReplica, false)
	r.announceLeader()
	if c.tally.result() == quorum.Won {
		return r.becomeLeader(c)
	}
	r.resetPeers()
	return nil
}

// becomeFollower follows a leader whose endpoints are known.
func (r *Replica) becomeFollower(epoch, leaderID int32, endpoints []voters.Endpoint) error {
	next := &follower{base: base{
		epoch: epoch, leaderID: leaderID, leaderEndpoints: endpoints, voted: NoReplica,
		highWatermark: r.base().highWatermark,
	}}
	if epoch == r.base().epoch {
		next.voted = r.base().voted
	}
	next.fetchDeadlineMs = r.nowMs + r.cfg.FetchTimeoutMs
	next.restartUpdatePeriod(r)
	if err := r.enter(next, true); err != nil {
		return err
	}
	r.announceLeader()
	r.resetPeers()
	r.failParked()
	return nil
}

// becomeLeader takes over the epoch that was won. Nothing is written to the log here but the epoch cache: the
// start-of-epoch batch waits in the accumulator for the poll that follows (3.2).
func (r *Replica) becomeLeader(c *candidate) error {
	grantingIDs := c.tally.grantingIDs()
	next := newLeader(r, c.epoch)
	if err := r.enter(next, true); err != nil {
		return err
	}
	if err := r.log.AssignEpoch(next.epoch); err != nil {
		return err
	}
	if err := r.appendStartOfEpoch(next, grantingIDs); err != nil {
		return err
	}
	r.resetPeers()
	return nil
}

// becomeResigned gives up the leadership, in memory only: on disk the epoch keeps its leader.
func (r *Replica) becomeResigned(preferred []ReplicaKey) error {
	r.failParked()
	next := &resigned{
		base: base{
			epoch: r.base().epoch, leaderID: r.cfg.NodeID, leaderEndpoints: r.cfg.Listeners,
			voted: NoReplica, highWatermark: unknown,
		},
		preferred:          preferred,
		unacknowledged:     r.otherVoterIDs(),
		electionDeadlineMs: r.newElectionDeadlineMs(r.base().epoch, Resigned),
	}
	if err := r.enter(next, false); err != nil {
		return err
	}
	r.resetPeers()
	return nil
}

// otherVoterIDs returns the ids of the latest voter set without this replica's, ascending.
func (r *Replica) otherVoterIDs() []int32 {
	set := r.control.voters()
	ids := make([]int32, 0, set.Len())
	for i := int32(0); i < set.Len(); i++ {
		if id := set.At(i).ID; id != r.cfg.NodeID {
			ids = append(ids, id)
		}
	}
	return ids
}
