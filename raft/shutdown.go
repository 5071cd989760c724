package raft

// Shutdown begins a graceful shutdown that may take timeoutMs. The caller polls until Done; the replica must be open.
func (r *Replica) Shutdown(nowMs int64, timeoutMs int64) {
	r.tick(nowMs)
	if !r.shuttingDown {
		r.shuttingDown = true
		r.shutdownDeadlineMs = r.nowMs + timeoutMs
		r.deadlineMs = r.nowMs
	}
}

// Done reports whether the graceful shutdown is finished, in time or not. A finished replica ignores every input.
func (r *Replica) Done() bool { return r.done }

// ShutdownTimedOut reports whether a finished shutdown ended because its time was over and no successor was seen.
func (r *Replica) ShutdownTimedOut() bool { return r.shutdownTimedOut }

// finishShutdown ends the shutdown when its time is over, and at once for whoever nobody depends on, or who knows another
// leader, as follower or by what an unattached or prospective replica remembers of it (1.10).
func (r *Replica) finishShutdown() bool {
	if !r.shuttingDown {
		return false
	}
	b := r.base()
	knowsRemoteLeader := b.leaderID >= 0 && b.leaderID != r.cfg.NodeID
	switch {
	case r.nowMs >= r.shutdownDeadlineMs:
		r.shutdownTimedOut = true
	case !r.isVoter() || r.isOnlyVoter() || knowsRemoteLeader:
	default:
		return false
	}
	r.done = true
	r.emit(ShutdownFinished, 0, 0, &NoReplica, r.shutdownTimedOut)
	return true
}
