package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// handleVoteRequest answers a vote or pre-vote, in the order of kraft-protocol 2.5. A higher epoch is adopted durably
// before the voter key is looked at, by a pre-vote too, and even if the vote is refused then.
func (r *Replica) handleVoteRequest(conn int64, m *VoteRequest) error {
	if m.PreVote && !r.cfg.hasPreVote() {
		r.answerVote(conn, m, UnsupportedVersion, None, false)
		return nil
	}
	if !r.acceptsClusterID(m.ClusterID) {
		r.answerVote(conn, m, InconsistentClusterID, None, false)
		return nil
	}
	r.noteOffer(m.ClusterID, ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID})
	if m.WrongShape {
		r.answerVote(conn, m, InvalidRequest, None, false)
		return nil
	}
	// A candidate's log ends before its epoch; a prospective has not raised its epoch and may have records of it.
	illegalEpoch := m.LastOffsetEpoch > m.ReplicaEpoch || !m.PreVote && m.LastOffsetEpoch == m.ReplicaEpoch
	if m.LastOffset < 0 || m.LastOffsetEpoch < 0 || illegalEpoch {
		r.answerVote(conn, m, None, InvalidRequest, false)
		return nil
	}
	if code := r.checkVoterOnly(m.ReplicaID, m.ReplicaEpoch); code != None {
		r.answerVote(conn, m, None, code, false)
		return nil
	}
	if m.ReplicaEpoch > r.base().epoch {
		if err := r.becomeUnattached(m.ReplicaEpoch); err != nil {
			return err
		}
	}
	if !r.isMeant(m.VoterID, m.VoterDirectoryID) {
		r.answerVote(conn, m, None, InvalidVoterKey, false)
		return nil
	}
	candidate := ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID}
	grant := r.grants(m)
	switch {
	case !grant:
		r.emit(VoteRefused, 0, 0, &candidate, m.PreVote)
	case m.PreVote:
		r.emit(PreVoteGranted, 0, 0, &candidate, false)
	default:
		if err := r.recordGrant(candidate); err != nil {
			return err
		}
	}
	r.answerVote(conn, m, None, None, grant)
	return nil
}

// answerVote sends the response with the epoch and leader of this moment.
func (r *Replica) answerVote(conn int64, m *VoteRequest, top, partition ErrorCode, grant bool) {
	response := r.pool.voteResponses.next()
	*response = VoteResponse{
		Header:      Header{Correlation: m.Correlation, Response: true},
		ErrorCode:   top,
		LeaderID:    -1,
		LeaderEpoch: -1,
		Endpoint:    NodeEndpoint{NodeID: -1},
	}
	if top == None {
		response.PartitionError = partition
		response.LeaderID, response.LeaderEpoch = r.base().leaderID, r.base().epoch
		response.Endpoint = r.leaderEndpoint()
		response.VoteGranted = grant
	}
	r.deps.Transport.Send(conn, response)
}

// sendVotes asks every voter of the election that has not answered and may be asked, and returns when to try again.
func (r *Replica) sendVotes(t *tally, preVote bool) (int64, error) {
	nextMs := never
	for i, id := range t.ids {
		if t.answers[i] != unrecorded {
			continue
		}
		v := r.control.voters().Find(id)
		if v == nil {
			return 0, fmt.Errorf("%w: %d is no voter any more", ErrUnknownEndpoint, id)
		}
		p, err := r.voterPeer(v)
		if err != nil {
			return 0, err
		}
		if r.isReady(p) {
			m := r.pool.voteRequests.next()
			*m = VoteRequest{
				ClusterID:          r.clusterID(),
				VoterID:            v.ID,
				VoterDirectoryID:   v.DirectoryID,
				ReplicaEpoch:       r.base().epoch,
				ReplicaID:          r.cfg.NodeID,
				ReplicaDirectoryID: r.cfg.DirectoryID,
				LastOffsetEpoch:    r.log.LastEpoch(),
				LastOffset:         r.log.EndOffset(),
				PreVote:            preVote,
			}
			r.send(p, m, &m.Header)
		}
		nextMs = min(nextMs, p.deadlineMs)
	}
	return nextMs, nil
}

// voterPeer returns the peer of a voter, at its endpoint for the raft listener; a voter without one is fatal (2.15).
func (r *Replica) voterPeer(v *voters.Voter) (*peer, error) {
	endpoint, found := v.Endpoint(r.cfg.ListenerName)
	if !found {
		return nil, fmt.Errorf("%w: voter %d has no listener %q", ErrUnknownEndpoint, v.ID, r.cfg.ListenerName)
	}
	return r.channel.peerTo(v.ID, endpoint), nil
}

// handleVoteResponse counts an answer to a vote or pre-vote of the role in force: answers to an earlier one are not
// expected any more. A peer too old for pre-votes says UNSUPPORTED_VERSION, and a prospective then asks for real.
func (r *Replica) handleVoteResponse(p *peer, m *VoteResponse) (success bool, err error) {
	if success, done, err := r.checkTopLevel(p, m.ErrorCode, m.WrongShape, true); done || err != nil {
		return success, err
	}
	success, done, err := r.checkPartition(p, m.PartitionError, m.LeaderID, m.LeaderEpoch, &m.Endpoint)
	if done || err != nil {
		return success, err
	}
	if m.PartitionError != None {
		return r.unexpected(p, m.PartitionError), nil
	}
	switch role := r.role.(type) {
	case *prospective:
		if err := role.tally.record(p.id, m.VoteGranted); err != nil {
			return false, err
		}
		switch role.tally.result() {
		case quorum.Won:
			return true, r.becomeCandidate()
		case quorum.Lost:
			r.emit(ElectionLost, 0, 0, &NoReplica, true)
			return true, r.preVoteFailed(role)
		}
	case *candidate:
		before := role.tally.result()
		if err := role.tally.record(p.id, m.VoteGranted); err != nil {
			return false, err
		}
		switch role.tally.result() {
		case quorum.Won:
			return true, r.becomeLeader(role)
		case quorum.Lost:
			if before != quorum.Lost {
				r.emit(ElectionLost, 0, 0, &NoReplica, false)
			}
		}
	}
	return true, nil
}
