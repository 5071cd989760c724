package raft

import (
	"github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/raft/record"
)

// candidate asks for votes in an epoch of its own making, with its own vote on disk. Having lost it stops asking and
// waits for the rest of its random election timer: the randomness of that rest is what keeps two losers from meeting
// again at once (KB-13).
type candidate struct {
	base
	electionDeadlineMs int64
	tally              tally
}

// kind implements role.
func (*candidate) kind() Role { return Candidate }

// poll implements role.
func (c *candidate) poll(r *Replica) (int64, error) {
	deadlineMs := c.electionDeadlineMs
	if r.shuttingDown {
		deadlineMs = r.shutdownDeadlineMs
	} else if r.nowMs >= c.electionDeadlineMs {
		r.emit(ElectionTimeout, 0, 0, &NoReplica, false)
		return r.nowMs, r.becomeProspective()
	}
	if c.tally.result() == quorum.Lost {
		return deadlineMs, nil
	}
	next, err := r.sendVotes(&c.tally, false)
	return min(next, deadlineMs), err
}

// appendTo implements role.
func (c *candidate) appendTo(buf []byte, protocolView bool) []byte {
	buf = c.tally.appendTo(buf)
	if protocolView {
		return buf
	}
	return record.AppendInt64(buf, c.electionDeadlineMs)
}
