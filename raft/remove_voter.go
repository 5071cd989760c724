package raft

import "github.com/kraftsim/kraftsim/raft/voters"

// handleRemoveRaftVoterRequest takes a voter out of the voter set (kraft-protocol 2.12), the leader itself included: it
// leads on, without counting itself, until the removal is committed. The answer always waits for the commit.
func (r *Replica) handleRemoveRaftVoterRequest(conn int64, m *RemoveRaftVoterRequest) error {
	key := ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}
	set, code, why := r.checkRemoveVoter(key, m)
	if code != None {
		r.answerRemoveVoter(conn, m.Correlation, code, why)
		return nil
	}
	l := r.role.(*leader)
	r.startChange(l, voterChange{
		kind: removeVoter, conn: conn, correlation: m.Correlation, ackWhenCommitted: true,
		voter: voters.Voter{ReplicaKey: key}, offset: r.appendVoters(l, set),
	})
	return nil
}

// checkRemoveVoter applies the checks in their order and returns the set without the voter. The last voter stays.
func (r *Replica) checkRemoveVoter(key ReplicaKey, m *RemoveRaftVoterRequest) (*voters.Set, ErrorCode, string) {
	if r.cfg.maxVersion(apiRemoveRaftVoter) < 0 {
		return nil, UnsupportedVersion, "this node does not know the request"
	}
	if !r.acceptsClusterID(m.ClusterID) {
		return nil, InconsistentClusterID, "the cluster id is another one"
	}
	if code := r.checkLeader(r.base().epoch); code != None {
		return nil, code, "this node is not the active leader"
	}
	if key.ID < 0 || !key.HasDirectoryID() {
		return nil, InvalidRequest, "a voter has an id and a directory id"
	}
	if code, why := r.checkChange(r.role.(*leader)); code != None {
		return nil, code, why
	}
	set, ok := r.control.voters().Remove(key)
	if !ok {
		return nil, VoterNotFound, "no such voter, or it is the last one"
	}
	return set, None, ""
}

// answerRemoveVoter sends the response; text is left out of a success.
func (r *Replica) answerRemoveVoter(conn int64, correlation int32, code ErrorCode, why string) {
	r.deps.Transport.Send(conn, &RemoveRaftVoterResponse{
		Header:    Header{Correlation: correlation, Response: true},
		ErrorCode: code, ErrorMessage: errorMessage(code, why),
	})
}
