package raft

import "github.com/kraftsim/kraftsim/raft/voters"

// handleUpdateRaftVoterRequest takes a voter's word on where it listens and which kraft.versions it knows (kraft-protocol
// 2.13), after an answer from the new endpoint has shown that it works: endpoints that nobody can reach would become law
// otherwise (KAFKA-20661).
func (r *Replica) handleUpdateRaftVoterRequest(conn int64, m *UpdateRaftVoterRequest) error {
	if code := r.startUpdateVoter(conn, m); code != None {
		r.answerUpdateVoter(conn, m.Correlation, code)
	}
	return nil
}

// startUpdateVoter applies rows 1 to 6 and sends the question of row 7. A request that names the leader's own id is
// refused with the malformed ones: the original accepts it and stops later.
func (r *Replica) startUpdateVoter(conn int64, m *UpdateRaftVoterRequest) ErrorCode {
	if r.cfg.maxVersion(apiUpdateRaftVoter) < 0 {
		return UnsupportedVersion
	}
	if !r.acceptsClusterID(m.ClusterID) {
		return InconsistentClusterID
	}
	if code := r.checkLeader(m.CurrentLeaderEpoch); code != None {
		return code
	}
	key := ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}
	if key.ID < 0 || !key.HasDirectoryID() || key.ID == r.cfg.NodeID {
		return InvalidRequest
	}
	if m.MinKRaftVersion < 0 || m.MaxKRaftVersion < m.MinKRaftVersion {
		return InvalidRequest
	}
	l := r.role.(*leader)
	if r.isChangePending(l) || l.highWatermark == unknown {
		return RequestTimedOut
	}
	endpoint, found := endpointFor(m.Listeners, r.cfg.ListenerName)
	if !found {
		return InvalidRequest
	}
	probe := r.sendProbe(key.ID, endpoint)
	if probe == 0 {
		return RequestTimedOut
	}
	r.startChange(l, voterChange{
		kind: updateVoter, conn: conn, correlation: m.Correlation,
		voter: voters.Voter{
			ReplicaKey: key, Endpoints: m.Listeners,
			MinKRaftVersion: m.MinKRaftVersion, MaxKRaftVersion: m.MaxKRaftVersion,
		},
		probe: probe, offset: -1,
	})
	return None
}

// finishUpdateVoter goes on when the voter has answered from its new endpoint (rows 7 to 12).
func (r *Replica) finishUpdateVoter(l *leader, minVersion, maxVersion int16, found bool) {
	voter := l.change.voter
	if !found || minVersion != voter.MinKRaftVersion || maxVersion != voter.MaxKRaftVersion {
		r.endChange(l, InvalidRequest, "")
		return
	}
	if !voter.SupportsKRaftVersion(r.control.kraftVersion()) {
		r.endChange(l, InvalidRequest, "")
		return
	}
	if r.control.kraftVersion() < 1 {
		r.updateVoterInMemory(l, voter)
		return
	}
	if !r.votersCommitted(l) {
		r.endChange(l, RequestTimedOut, "")
		return
	}
	set, ok := r.control.voters().Update(voter)
	if !ok {
		r.endChange(l, VoterNotFound, "")
		return
	}
	r.hear(l, voter.ReplicaKey)
	l.change.offset = r.appendVoters(l, set)
	r.acknowledgeChange(l) // a voter that waited for the commit would not fetch, and the commit may need its fetch (KAFKA-16534)
}

// updateVoterInMemory is row 12: at kraft.version 0 the log has no voter sets, and the leader keeps what an upgrade will
// write (5.7).
func (r *Replica) updateVoterInMemory(l *leader, voter voters.Voter) {
	if l.upgrade.voters == nil { // an upgrade has just been scheduled
		r.endChange(l, RequestTimedOut, "")
		return
	}
	set, ok := l.upgrade.voters.UpdateIgnoringDirectoryID(voter)
	if !ok {
		r.endChange(l, VoterNotFound, "")
		return
	}
	l.upgrade.voters = set
	r.hear(l, voter.ReplicaKey)
	r.endChange(l, None, "")
}

// answerUpdateVoter sends the response, which names the leader on every path.
func (r *Replica) answerUpdateVoter(conn int64, correlation int32, code ErrorCode) {
	r.deps.Transport.Send(conn, &UpdateRaftVoterResponse{
		Header:    Header{Correlation: correlation, Response: true},
		ErrorCode: code, LeaderID: r.base().leaderID, LeaderEpoch: r.base().epoch, Endpoint: r.leaderEndpoint(),
	})
}

// updatePeriodMs is how long a follower waits before it looks whether its entry in the voter set is right, or, as an
// observer that joins by itself, before it asks to join: long enough for a few fetches to happen first (1.2).
func updatePeriodMs(fetchTimeoutMs int64) int64 { return max(2*fetchTimeoutMs, 1) }

// wantsUpdate reports whether the follower, a voter, has something to tell its leader (5.6): at kraft.version 1 that its
// entry is wrong; at kraft.version 0, where the log has no entries, what it is, once to each leader.
func (f *follower) wantsUpdate(r *Replica) bool {
	if r.cfg.maxVersion(apiUpdateRaftVoter) < 0 {
		return false
	}
	if r.control.kraftVersion() < 1 {
		return !f.hasUpdatedLeader
	}
	self := r.localVoter()
	return r.control.voters().NeedsUpdate(&self)
}

// sendUpdateVoter sends the request if the leader's connection is free; the period starts over only then. It returns when
// to look again.
func (r *Replica) sendUpdateVoter(f *follower) (int64, error) {
	p, err := r.leaderPeer(f)
	if err != nil {
		return 0, err
	}
	if !r.isReady(p) {
		return p.deadlineMs, nil
	}
	m := &UpdateRaftVoterRequest{
		ClusterID:          r.clusterID(),
		CurrentLeaderEpoch: f.epoch,
		VoterID:            r.cfg.NodeID,
		VoterDirectoryID:   r.cfg.DirectoryID,
		Listeners:          r.cfg.Listeners,
		MinKRaftVersion:    r.cfg.MinKRaftVersion,
		MaxKRaftVersion:    r.cfg.MaxKRaftVersion,
	}
	f.restartUpdatePeriod(r)
	r.send(p, m, &m.Header)
	if p.state == peerReady { // it failed at once, which for this request does not mean a pause
		return r.nowMs, nil
	}
	return p.deadlineMs, nil
}

// restartUpdatePeriod starts the update period over.
func (f *follower) restartUpdatePeriod(r *Replica) {
	f.updateDeadlineMs = r.nowMs + updatePeriodMs(r.cfg.FetchTimeoutMs)
}

// skipUpdatePeriods lets periods pass in which there was nothing to send. It needs no wake-up of its own.
func (f *follower) skipUpdatePeriods(r *Replica) {
	if r.nowMs >= f.updateDeadlineMs {
		periodMs := updatePeriodMs(r.cfg.FetchTimeoutMs)
		f.updateDeadlineMs += ((r.nowMs-f.updateDeadlineMs)/periodMs + 1) * periodMs
	}
}

// handleUpdateRaftVoterResponse applies the table of 2.4 to the one error code that there is. A leader that does not
// know the request at kraft.version 0 counts as told.
func (r *Replica) handleUpdateRaftVoterResponse(p *peer, m *UpdateRaftVoterResponse) (success bool, err error) {
	success, done, err := r.checkPartition(p, m.ErrorCode, m.LeaderID, m.LeaderEpoch, &m.Endpoint)
	if done || err != nil {
		return success, err
	}
	f, ok := r.role.(*follower)
	if !ok || m.ErrorCode != None && m.ErrorCode != UnsupportedVersion {
		return r.unexpected(p, m.ErrorCode), nil
	}
	f.hasUpdatedLeader = true
	f.heardFromLeader(r)
	return true, nil
}
