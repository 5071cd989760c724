package scenarios

// The order in which the components of a node start is the plan's (params start_order). Usually everybody who listens to raft is
// registered before raft opens. Raft-first is the other way round: raft votes, follows and leads for a while before its listeners
// come, one after the other, and have to be told what happened without them (KB-10).

// register makes a listener known to raft, now or later.
func (n *node) register(l *listener) {
	if n.c.raftFirst {
		n.late, n.bootedNs = append(n.late, l), n.env.MonotonicNs()
		return
	}
	l.id = n.replica.Register(l)
}

// registerLate makes the listeners known whose time has come, on the loader's lane, and returns when the next one comes; -1: none.
func (n *node) registerLate(nowNs int64) (nextNs int64) {
	for len(n.late) > 0 {
		if at := n.bootedNs + n.c.lateNs(2-int64(len(n.late))); nowNs < at {
			return at
		}
		l := n.late[0]
		n.late = n.late[1:]
		l.id = n.replica.Register(l)
	}
	return -1
}

// lateNs is how long after the start the i-th of a node's two listeners comes: when the quorum has long settled.
func (s *settings) lateNs(i int64) int64 {
	if !s.raftFirst {
		return 0
	}
	return (3 + i) * s.timeouts.election * million
}
