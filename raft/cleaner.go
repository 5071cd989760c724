package raft

// maintain applies the retention limits when their period is over, removes files whose deletion is due, and returns when it
// has to be called next: never while there is nothing that could go (4.6).
func (r *Replica) maintain() (int64, error) {
	if r.cleanMs == 0 {
		r.cleanMs = r.nowMs + r.cfg.CleanIntervalMs
	}
	if r.nowMs >= r.cleanMs {
		r.cleanMs = r.nowMs + r.cfg.CleanIntervalMs
		before := r.log.StartOffset()
		changed, err := r.log.Clean(r.nowMs, r.logHighWatermark)
		if err != nil {
			return 0, err
		}
		if changed {
			r.emit(LogPrefixDeleted, r.log.StartOffset(), before, &NoReplica, false)
		}
	}
	if err := r.log.RemoveDeleted(r.nowMs); err != nil {
		return 0, err
	}
	next := never
	if r.log.Snapshots() >= 2 {
		next = r.cleanMs
	}
	if dueMs, ok := r.log.DeletionMs(); ok {
		next = min(next, dueMs)
	}
	return next, nil
}
