package raft

// joinsByItself reports whether this observer asks to become a voter (controller.quorum.auto.join.enable, KIP-853 and
// KIP-1186, kraft-protocol 5.8). A controller that an operator removed does so too, a known limitation (KAFKA-19850).
func (r *Replica) joinsByItself() bool {
	return r.cfg.AutoJoin && r.cfg.CanBecomeVoter && r.cfg.NodeID >= 0 && r.control.kraftVersion() >= 1 &&
		r.cfg.maxVersion(apiAddRaftVoter) >= 0
}

// sendJoin asks the leader to replace or to add this replica: an entry with its id and another directory id is a disk
// that is gone, and goes first. The period starts over only if the request was sent. Returns when to look again.
func (r *Replica) sendJoin(f *follower) (int64, error) {
	p, err := r.leaderPeer(f)
	if err != nil {
		return 0, err
	}
	if !r.isReady(p) {
		return p.deadlineMs, nil
	}
	f.restartUpdatePeriod(r)
	if old := r.control.voters().Find(r.cfg.NodeID); old != nil {
		m := &RemoveRaftVoterRequest{ClusterID: r.clusterID(), VoterID: old.ID, VoterDirectoryID: old.DirectoryID}
		r.send(p, m, &m.Header)
		return p.deadlineMs, nil
	}
	m := &AddRaftVoterRequest{
		ClusterID:        r.clusterID(),
		TimeoutMs:        int32(min(r.cfg.RequestTimeoutMs, 1<<31-1)),
		VoterID:          r.cfg.NodeID,
		VoterDirectoryID: r.cfg.DirectoryID,
		Listeners:        r.cfg.Listeners,
		// The record needs this replica's next fetch to be committed, and it fetches only after the answer.
		AckWhenCommitted: false,
	}
	r.send(p, m, &m.Header)
	return p.deadlineMs, nil
}

// handleAddRaftVoterResponse ends the request of an observer that joins by itself.
func (r *Replica) handleAddRaftVoterResponse(p *peer, m *AddRaftVoterResponse) (success bool, err error) {
	return r.joinAnswered(p, m.ErrorCode, DuplicateVoter), nil
}

// handleRemoveRaftVoterResponse ends the request of an observer whose former disk is still a voter.
func (r *Replica) handleRemoveRaftVoterResponse(p *peer, m *RemoveRaftVoterResponse) (success bool, err error) {
	return r.joinAnswered(p, m.ErrorCode, VoterNotFound), nil
}

// joinAnswered waits a whole period after an answer that says that the change is made, under way or not needed, and backs
// off after any other. The common treatment of 2.4 does not apply: these answers name no leader.
func (r *Replica) joinAnswered(p *peer, code, notNeeded ErrorCode) (success bool) {
	if code != None && code != RequestTimedOut && code != notNeeded {
		return r.unexpected(p, code)
	}
	if f, ok := r.role.(*follower); ok {
		f.restartUpdatePeriod(r)
	}
	return true
}
