package raft

import "github.com/kraftsim/kraftsim/raft/record"

// unattached knows no leader that it could fetch from. A voter waits for its election timer; everybody looks for the
// leader at the bootstrap servers meanwhile (KAFKA-17030: a voter that only waited would never learn that it was
// removed).
type unattached struct {
	base
	electionDeadlineMs int64 // never for an observer
	discoverMs         int64 // not before
}

// kind implements role.
func (*unattached) kind() Role { return Unattached }

// poll implements role.
func (u *unattached) poll(r *Replica) (int64, error) {
	if !r.isVoter() {
		return r.discover(u), nil
	}
	if r.shuttingDown {
		return r.shutdownDeadlineMs, nil
	}
	if r.nowMs >= u.electionDeadlineMs {
		r.emit(ElectionTimeout, 0, 0, &NoReplica, false)
		return r.nowMs, r.becomeProspective()
	}
	return min(u.electionDeadlineMs, r.discover(u)), nil
}

// discover asks a bootstrap server for the leader, not more often than DiscoveryIntervalMs, and returns when to look
// again.
func (r *Replica) discover(u *unattached) int64 {
	if r.nowMs < u.discoverMs {
		return u.discoverMs
	}
	p, againMs := r.readyBootstrap()
	if p == nil {
		return againMs
	}
	u.discoverMs = r.nowMs + r.cfg.DiscoveryIntervalMs
	r.sendFetch(p)
	return p.deadlineMs
}

// appendTo implements role.
func (u *unattached) appendTo(buf []byte, protocolView bool) []byte {
	if protocolView {
		return buf
	}
	return record.AppendInt64(record.AppendInt64(buf, u.electionDeadlineMs), u.discoverMs)
}
