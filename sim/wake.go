package sim

// setDeadline moves a lane's deadline. One wake-up is pending per lane at most: a deadline that moves away leaves it where
// it is (it comes, finds the deadline later, and is scheduled again without being an event), one that comes nearer makes
// the old wake-up stale.
func (w *World) setDeadline(h *Host, lane int32, monotonicNs int64) {
	l := &h.lanes[lane]
	if monotonicNs < 0 || monotonicNs > foreverNs {
		l.deadline = -1
		return
	}
	l.deadline = h.clock.trueNs(monotonicNs)
	if l.deadline < w.now {
		l.deadline = w.now
	}
	if l.wakeAt >= 0 && l.wakeAt <= l.deadline {
		return
	}
	w.scheduleWake(h, lane)
}

func (w *World) scheduleWake(h *Host, lane int32) {
	l := &h.lanes[lane]
	at := l.deadline
	if w.wakeJitterNs > 0 && !w.calm {
		late := w.source.Choose(siteWake, h.hash, l.hash, 0, w.wakeJitterNs/1000+1) * 1000
		at += late
		w.stats.lateWakes += min(late, 1)
	}
	l.wakeAt = at
	l.stamp++
	w.ofLane(at, eventWake, h, lane, l.stamp, l.hash)
}

func (w *World) wake(h *Host, lane, boot int32, stamp uint32, cause int64) {
	if !h.up || h.boot != boot {
		return
	}
	l := &h.lanes[lane]
	if l.stamp != stamp {
		return
	}
	l.wakeAt = -1
	if l.deadline < 0 {
		return
	}
	if l.deadline > w.now {
		w.scheduleWake(h, lane)
		return
	}
	l.deadline = -1
	if l.wakeQueued {
		return
	}
	if !w.ready(h, lane) {
		if h.up && h.boot == boot {
			l.wakeQueued = true
			w.enqueue(h, lane, &Input{Kind: InWake, Lane: LaneID(lane), cause: cause})
		}
		return
	}
	w.input.own(InWake, lane, nil, 0, cause, 0)
	w.handle(h, lane)
}
