package raft

import (
	"github.com/kraftsim/kraftsim/raft/voters"
)

// handleAddRaftVoterRequest takes a replica into the voter set (kraft-protocol 2.11): it is asked for its versions first,
// has to have caught up as an observer, and is in force from the moment the new set is in the log.
func (r *Replica) handleAddRaftVoterRequest(conn int64, m *AddRaftVoterRequest) error {
	code, why := r.checkAddVoter(m)
	if code == None {
		if code, why = r.startAddVoter(conn, m); code == None {
			return nil
		}
	}
	r.answerAddVoter(conn, m.Correlation, code, why)
	return nil
}

// checkAddVoter applies rows 1 to 9.
func (r *Replica) checkAddVoter(m *AddRaftVoterRequest) (ErrorCode, string) {
	if limit := r.cfg.maxVersion(apiAddRaftVoter); limit < 0 || limit < 1 && !m.AckWhenCommitted {
		return UnsupportedVersion, "this node does not know the request"
	}
	if !r.acceptsClusterID(m.ClusterID) {
		return InconsistentClusterID, "the cluster id is another one"
	}
	if code := r.checkLeader(r.base().epoch); code != None {
		return code, "this node is not the active leader"
	}
	key := ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}
	if key.ID < 0 || !key.HasDirectoryID() {
		return InvalidRequest, "a voter has an id and a directory id"
	}
	if _, found := endpointFor(m.Listeners, r.cfg.ListenerName); !found {
		return InvalidRequest, "the endpoints lack the leader's listener " + r.cfg.ListenerName
	}
	if code, why := r.checkChange(r.role.(*leader)); code != None {
		return code, why
	}
	if r.control.voters().Find(key.ID) != nil {
		return DuplicateVoter, "the id is a voter already"
	}
	return None, ""
}

// startAddVoter is rows 10 and 11.
func (r *Replica) startAddVoter(conn int64, m *AddRaftVoterRequest) (ErrorCode, string) {
	endpoint, _ := endpointFor(m.Listeners, r.cfg.ListenerName)
	probe := r.sendProbe(m.VoterID, endpoint)
	if probe == 0 {
		return RequestTimedOut, "the new voter cannot be asked for its versions now"
	}
	r.startChange(r.role.(*leader), voterChange{
		kind: addVoter, conn: conn, correlation: m.Correlation, ackWhenCommitted: m.AckWhenCommitted,
		voter: voters.Voter{
			ReplicaKey: ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}, Endpoints: m.Listeners,
		},
		probe: probe, offset: -1,
	})
	return None, ""
}

// finishAddVoter goes on when the new voter has told its kraft.versions (rows 13 to 16); found is false when it did not.
func (r *Replica) finishAddVoter(l *leader, minVersion, maxVersion int16, found bool) {
	c := &l.change
	c.voter.MinKRaftVersion, c.voter.MaxKRaftVersion = minVersion, maxVersion
	if !found || !c.voter.SupportsKRaftVersion(r.control.kraftVersion()) {
		r.endChange(l, InvalidRequest, "the new voter does not support the finalized kraft.version")
		return
	}
	if !l.isCaughtUp(c.voter.ReplicaKey, r.nowMs) {
		r.endChange(l, RequestTimedOut, "the new voter has not caught up yet")
		return
	}
	set, ok := r.control.voters().Add(c.voter)
	if !ok { // nothing else may have changed the set meanwhile
		r.endChange(l, DuplicateVoter, "the id is a voter already")
		return
	}
	c.offset = r.appendVoters(l, set)
	if !c.ackWhenCommitted { // the replica that joins by itself has to fetch before this can be committed (KIP-1186)
		r.acknowledgeChange(l)
	}
}

// caughtUpWindowMs is how recent the last fetch of a replica must be that is to become a voter; fixed in Kafka.
const caughtUpWindowMs = 3_600_000

// isCaughtUp reports whether the observer with exactly that key has once had the whole log and still fetches.
func (l *leader) isCaughtUp(key ReplicaKey, nowMs int64) bool {
	for i := range l.observers {
		o := &l.observers[i]
		if o.key == key {
			return o.lastCaughtUpMs > 0 && o.lastFetchMs > 0 && o.lastFetchMs > nowMs-caughtUpWindowMs
		}
	}
	return false
}

// answerAddVoter sends the response; text is left out of a success.
func (r *Replica) answerAddVoter(conn int64, correlation int32, code ErrorCode, why string) {
	r.deps.Transport.Send(conn, &AddRaftVoterResponse{
		Header:    Header{Correlation: correlation, Response: true},
		ErrorCode: code, ErrorMessage: errorMessage(code, why),
	})
}
