package raft

import "github.com/kraftsim/kraftsim/raft/record"

// prospective asks the other voters whether it could win an election, without raising its epoch, so that a voter cut
// off from a working quorum disturbs nobody when it comes back (KIP-996).
type prospective struct {
	base
	electionDeadlineMs int64
	tally              tally
}

// kind implements role.
func (*prospective) kind() Role { return Prospective }

// poll implements role.
func (p *prospective) poll(r *Replica) (int64, error) {
	if r.shuttingDown {
		next, err := r.sendVotes(&p.tally, true)
		return min(next, r.shutdownDeadlineMs), err
	}
	if r.nowMs >= p.electionDeadlineMs {
		r.emit(ElectionTimeout, 0, 0, &NoReplica, false)
		return r.nowMs, r.preVoteFailed(p)
	}
	next, err := r.sendVotes(&p.tally, true)
	return min(next, p.electionDeadlineMs), err
}

// preVoteFailed leaves a pre-vote that was lost or timed out: back to the leader if it could be reached, otherwise to
// waiting, in the same epoch either way (1.8).
func (r *Replica) preVoteFailed(p *prospective) error {
	if p.hasReachableLeader() {
		return r.becomeFollower(p.epoch, p.leaderID, p.leaderEndpoints)
	}
	return r.becomeUnattachedAgain()
}

// appendTo implements role.
func (p *prospective) appendTo(buf []byte, protocolView bool) []byte {
	buf = p.tally.appendTo(buf)
	if protocolView {
		return buf
	}
	return record.AppendInt64(buf, p.electionDeadlineMs)
}
