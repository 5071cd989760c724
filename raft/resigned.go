package raft

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft/record"
)

// resigned gave up the leadership of its epoch but is still the epoch's leader for everyone else and on disk. It tells
// the voters, so that they need not wait for their fetch timers, and leaves only for a higher epoch: a peer that still
// names it as leader of the old one would contradict it otherwise. A former leader that restarts begins here and never
// writes in its epoch again (KAFKA-10527).
type resigned struct {
	base
	electionDeadlineMs int64
	preferred          []ReplicaKey // successors, best first
	unacknowledged     []int32      // voters that have not answered EndQuorumEpoch, ascending
}

// kind implements role.
func (*resigned) kind() Role { return Resigned }

// poll implements role.
func (s *resigned) poll(r *Replica) (int64, error) {
	next, err := r.sendEndQuorumEpoch(s)
	if err != nil {
		return 0, err
	}
	if r.shuttingDown {
		return min(next, r.shutdownDeadlineMs), nil
	}
	if r.nowMs >= s.electionDeadlineMs {
		r.emit(ElectionTimeout, 0, 0, &NoReplica, false)
		return r.nowMs, r.becomeUnattached(s.epoch + 1)
	}
	return min(next, s.electionDeadlineMs), nil
}

// acknowledge notes that a voter answered; unknown ones are ignored.
func (s *resigned) acknowledge(id int32) {
	if at := slices.Index(s.unacknowledged, id); at >= 0 {
		s.unacknowledged = slices.Delete(s.unacknowledged, at, at+1)
	}
}

// appendTo implements role.
func (s *resigned) appendTo(buf []byte, protocolView bool) []byte {
	for _, k := range s.preferred {
		buf = appendKey(buf, k)
	}
	for _, id := range s.unacknowledged {
		buf = record.AppendInt32(buf, id)
	}
	if protocolView {
		return buf
	}
	return record.AppendInt64(buf, s.electionDeadlineMs)
}
