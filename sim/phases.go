package sim

import "github.com/kraftsim/kraftsim/sim/plan"

// Liveness tells the world how to judge the calm.
type Liveness struct {
	// SmallestTimeoutNs is the smallest timeout of the program: in the calm no latency or disk cost exceeds a tenth of it.
	SmallestTimeoutNs int64
	// BoundNs is how long after the start of the calm every obligation must be met. docs/liveness.md derives the formulas.
	BoundNs int64
	// Core picks the hosts to heal, and says whether they can make progress at all; when not, why is the proof. Nil heals
	// every host.
	Core func() (core []*Host, ok bool, why string)
	// Excuse tells, at the end of a calm that met not all of its obligations, why that is legitimate; "" when it is not. Nil
	// excuses nothing.
	Excuse func() string
}

// SetLiveness sets how the calm is judged. A scenario calls it in Build.
func (w *World) SetLiveness(l Liveness) { w.liveness = l }

// worldEvent handles the events that are not a process's own.
func (w *World) worldEvent(e *event) {
	switch e.kind {
	case eventBoot:
		h := w.hosts[e.host]
		if !h.frozen && (h.boot == 0 || !h.up) {
			w.bootHost(h, e.cause)
		}
	case eventUnpause:
		if h := w.hosts[e.host]; h.boot == e.boot && h.pauseStamp == e.stamp {
			w.unpause(h)
		}
	case eventAction:
		w.runAction(int(e.ref))
	case eventUndo:
		w.undoAction(int(e.ref))
	case eventCalm:
		w.startCalm()
	case eventBound:
		w.endStuck()
	case eventCall:
		c := w.calls[e.ref]
		w.calls[e.ref] = call{}
		w.idle = append(w.idle, e.ref)
		w.eventID++
		w.fold(uint64(w.now))
		c.f()
	}
}

// call is a workload's function waiting for its time.
type call struct{ f func() }

// At runs a function of a scenario (a workload, an operator) at a virtual time. It runs inside the world, between events.
// entity and key name the decision that orders it among events of the same instant.
func (w *World) At(atNs int64, entity, key uint64, f func()) {
	var i int32
	if k := len(w.idle); k > 0 {
		i, w.idle = w.idle[k-1], w.idle[:k-1]
		w.calls[i] = call{f}
	} else {
		i = int32(len(w.calls))
		w.calls = append(w.calls, call{f})
	}
	w.schedule(max(atNs, w.now), event{kind: eventCall, ref: i, cause: w.eventID}, entity, key)
}

// Request gives a message to a lane of a live process, as a client or an operator on the same host would. It reports
// whether there was a process to take it; a nil host (one that is not in the plan) has none.
func (w *World) Request(h *Host, lane LaneID, m Message) bool {
	if h == nil || !h.up || h.Booting() || int(lane) >= len(h.lanes) {
		return false
	}
	w.give(h, &Input{Kind: InLocal, Lane: lane, Msg: m, cause: w.eventID})
	return true
}

// startCalm ends the storm: no fault starts any more, what hurts is healed, and the clock of the obligations starts.
func (w *World) startCalm() {
	if w.calm {
		return
	}
	w.calm, w.lookAt = true, 0
	w.calmPolicy()
	w.fold(uint64(w.now) ^ 0xca1)
	for _, h := range w.hosts {
		h.frozen = false
	}
	ok, why := true, ""
	if w.liveness.Core != nil {
		var core []*Host
		core, ok, why = w.liveness.Core()
		for _, h := range w.hosts {
			h.frozen = true
		}
		for _, h := range core {
			h.frozen = false
		}
	}
	if w.opts.Trace != nil {
		w.traceWorld(nil, "calm", why)
	}
	if !ok {
		w.outcome, w.waitsFor, w.done = plan.LegitimatelyStuck, []string{why}, true
		return
	}
	limit := max(w.liveness.SmallestTimeoutNs/10, 20_000)
	frozen := make([]bool, len(w.hosts))
	for i, h := range w.hosts {
		frozen[i] = h.frozen
	}
	w.undoAll()
	w.net.Calm(w.now, limit/2, frozen)
	w.calmDisks(limit)
	for _, h := range w.hosts {
		if h.frozen {
			continue
		}
		w.unpause(h)
		w.hurry(h, limit/4)
		h.armed = false
		if !h.up {
			w.schedule(w.now, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 4)
		}
	}
	w.boundAt = w.now + w.liveness.BoundNs
	w.schedule(w.boundAt, event{kind: eventBound, cause: w.eventID}, 0, 0)
}

// hurry brings the operations that a handler has under way nearer, so that what the storm made slow (a stuck fsync) takes no
// longer than anything else in the calm.
func (w *World) hurry(h *Host, limitNs int64) {
	for i := range h.lanes {
		l := &h.lanes[i]
		last, old := w.now, w.now
		for k := l.next; k < len(l.journal); k++ {
			f := &l.journal[k]
			gap := min(f.at-old, limitNs)
			old, last = f.at, last+gap
			f.at, f.from = last, min(f.from, last)
		}
		if l.busyUntil > old {
			l.busyUntil = last + min(l.busyUntil-old, limitNs)
		} else {
			l.busyUntil = min(l.busyUntil, last)
		}
		if h.Booting() { // no lane takes an input before the end of Boot, or its error, which is lane 0's journal
			l.busyUntil = max(l.busyUntil, h.lanes[0].busyUntil)
		}
		if l.next < len(l.journal) {
			w.scheduleCommit(h, int32(i))
		}
		if l.queued() {
			l.resuming = false
			w.scheduleResume(h, int32(i))
		}
	}
}

// calmDisks takes all disk faults back and keeps each cost below a tenth of the smallest timeout.
func (w *World) calmDisks(limitNs int64) {
	m := w.diskModel
	m.ReadErrorPpm, m.WriteErrorPpm, m.SyncErrorPpm, m.SlowSyncPpm = 0, 0, 0, 0
	m.Write.BaseNs, m.Write.JitterNs = min(m.Write.BaseNs, limitNs/8), 0
	m.Sync.BaseNs, m.Sync.JitterNs = min(m.Sync.BaseNs, limitNs/4), 0
	m.Names.BaseNs, m.Names.JitterNs = min(m.Names.BaseNs, limitNs/8), 0
	for _, h := range w.hosts {
		if !h.frozen {
			h.volume.Heal(m)
		}
	}
}

// afterEvent runs what follows every event. In a storm that nobody watches step by step there is nothing until the next state digest.
func (w *World) afterEvent(h *Host) {
	if w.eventID >= w.lookAt {
		w.lookAround(h)
	}
}

// lookAround runs checkers that count steps, the state digest now and then, the end of the calm, and says when to look again.
func (w *World) lookAround(h *Host) {
	w.lookAt = min((w.eventID|(stateInterval-1))+1, w.mostEvents+1)
	if len(w.onStep) > 0 || w.opts.Digests != nil || w.calm {
		w.lookAt = 0
	}
	for _, c := range w.onStep {
		c.OnStep()
	}
	if w.eventID&(stateInterval-1) == 0 && h.process != nil {
		w.scratch = h.process.AppendState(w.scratch[:0], FullView)
		w.scratch = h.volume.AppendState(w.scratch)
		w.foldScratch()
	}
	if w.opts.Digests != nil {
		w.opts.Digests(w.eventID, w.hash)
	}
	if w.calm && w.eventID%4 == 0 && w.boundAt > 0 && w.allMet() {
		w.done = true
	}
	if w.eventID > w.mostEvents && !w.done {
		w.tooLong()
	}
}

func (w *World) allMet() bool {
	for _, d := range w.duties {
		if !d.Met() {
			return false
		}
	}
	return true
}

func (w *World) endStuck() {
	w.done = true
	if w.allMet() {
		return
	}
	w.outcome = plan.Stuck
	if w.liveness.Excuse != nil {
		if why := w.liveness.Excuse(); why != "" {
			w.outcome = plan.LegitimatelyStuck
			w.waitsFor = append(w.waitsFor, why)
		}
	}
	for _, d := range w.duties {
		if !d.Met() {
			w.waitsFor = append(w.waitsFor, d.Waiting())
		}
	}
}

// Disturbed reports whether a fault is active now: a process that ran once is down, or paused, or its disk is hurt, or a link is cut, clogged,
// narrow or filtered. It costs a look at every host and link.
func (w *World) Disturbed() bool {
	for _, h := range w.hosts {
		if !h.up && h.boot > 0 || h.pausedUntil != 0 || h.armed || len(h.diskFaults) > 0 || h.swapped || h.own != nil {
			return true
		}
	}
	return w.net.Disturbed()
}
