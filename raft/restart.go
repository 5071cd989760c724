package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// Open recovers the log, reads its control records and the quorum-state, and enters the role that these call for,
// durably (kraft-protocol 1.6). Nothing is sent: the first Poll, due at once, does.
func (r *Replica) Open(nowMs int64) error {
	r.tick(nowMs)
	if err := r.cfg.validate(); err != nil {
		return err
	}
	log, err := raftlog.Open(r.deps.Files, r.deps.Dir, r.cfg.Log)
	if err != nil {
		return err
	}
	r.log = log
	r.store = quorumstate.NewStore(r.deps.Files, r.deps.Dir)
	r.emit(LogRecovered, log.EndOffset(), log.Recovered().BytesCut, &NoReplica, false)
	if err := r.loadControlState(); err != nil {
		return err
	}
	if err := r.openBootstrap(); err != nil {
		return err
	}
	if err := r.restore(); err != nil {
		return err
	}
	r.deadlineMs = r.nowMs
	return nil
}

// restore enters the initial role. Being leader is not among the outcomes: a former leader of an epoch never writes in
// it again (KAFKA-10527).
func (r *Replica) restore() error {
	stored, found, err := r.store.Read()
	if err != nil {
		return err
	}
	if !found {
		stored = quorumstate.State{LeaderID: -1, VotedID: -1}
	}
	initial, err := r.initialRole(&stored)
	if err != nil {
		return err
	}
	if err := r.persist(initial.common()); err != nil {
		return err
	}
	r.take(initial)
	r.emit(RoleChanged, 0, 0, &NoReplica, false)
	r.emitControlChanges(NoVotersInLog, 0)
	if c, ok := initial.(*candidate); ok {
		return r.enteredCandidate(c)
	}
	if r.isOnlyVoter() {
		return r.becomeProspective()
	}
	return nil
}

// initialRole is the table of kraft-protocol 1.6, in its order, with one exception. A follower that had voted for itself
// in its leader's epoch keeps that vote (AUG26) and by row 4 restarts as candidate of that epoch. Once its log has a
// record of the epoch, its Vote request breaks the rule that a candidate's log ends before its epoch (2.5): every voter
// that does not happen to know the leader answers INVALID_REQUEST, which is fatal to the candidate, at each restart. A
// log with a record of the epoch also proves that the election is over, so the candidacy ends there: rows 5 to 7 apply,
// and the vote stays.
func (r *Replica) initialRole(stored *quorumstate.State) (role, error) {
	b := base{
		epoch: stored.LeaderEpoch, leaderID: stored.LeaderID, highWatermark: unknown,
		voted: ReplicaKey{ID: stored.VotedID, DirectoryID: stored.VotedDirectoryID},
	}
	if !b.hasVoted() {
		b.voted = NoReplica
	}
	if b.hasVoted() && r.cfg.NodeID < 0 {
		return nil, fmt.Errorf("%w: it holds a vote, and this node has no id", ErrQuorumState)
	}
	if logEpoch := r.log.LastEpoch(); b.epoch < logEpoch { // the file is behind the log: the log wins
		b.epoch, b.leaderID, b.voted = logEpoch, -1, NoReplica
		return &unattached{base: b, electionDeadlineMs: r.initialDeadlineMs(b.epoch)}, nil
	}
	if b.leaderID >= 0 && b.leaderID == r.cfg.NodeID {
		b.leaderEndpoints, b.voted = r.cfg.Listeners, NoReplica
		return &resigned{
			base: b, unacknowledged: r.otherVoterIDs(), electionDeadlineMs: r.newElectionDeadlineMs(b.epoch, Resigned),
		}, nil
	}
	// A candidacy of a node whose log has no place for it any more, because a removal came with records of earlier epochs,
	// counts as a vote only: Kafka refuses to start there, and would do so for ever.
	if b.hasVoted() && b.voted.Matches(r.localKey()) && r.log.LastEpoch() < b.epoch && r.isVoter() {
		return r.storedCandidate(b)
	}
	if b.leaderID >= 0 {
		if v := r.control.voters().Find(b.leaderID); v != nil && len(v.Endpoints) > 0 {
			b.leaderEndpoints = v.Endpoints
			f := &follower{base: b, fetchDeadlineMs: r.nowMs + r.cfg.FetchTimeoutMs}
			f.restartUpdatePeriod(r)
			return f, nil
		}
	}
	return &unattached{base: b, electionDeadlineMs: r.initialDeadlineMs(b.epoch)}, nil
}

// storedCandidate resumes a candidacy in the epoch of the file. If it had been won, the file would name this replica
// as leader. The leader that the file may name besides (row 4 before row 5) is found again by the first answer.
func (r *Replica) storedCandidate(b base) (role, error) {
	b.leaderID = -1
	b.voted = r.localKey()
	t, err := newTally(r.control.voters(), r.cfg.NodeID, true)
	if err != nil {
		return nil, err
	}
	return &candidate{base: b, tally: t, electionDeadlineMs: r.newElectionDeadlineMs(b.epoch, Candidate)}, nil
}

// initialDeadlineMs is the election deadline of an Unattached at start.
func (r *Replica) initialDeadlineMs(epoch int32) int64 {
	if !r.isVoter() {
		return never
	}
	return r.newElectionDeadlineMs(epoch, Unattached)
}
