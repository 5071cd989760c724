package sim

import (
	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// step handles the next pending event. It returns false when nothing is pending.
func (w *World) step() bool {
	it, ok := w.next()
	if !ok {
		return false
	}
	if it.At > w.now { // a policy may take an event out of its time: the clock of the world never goes back
		w.now = it.At
		w.source.Advance(it.At)
	}
	e := &w.events[it.Event] // its slot is free as soon as it has been read
	w.free = append(w.free, it.Event)
	w.running = nil
	switch e.kind {
	case eventPacket:
		w.arrive(e.ref)
	case eventInput:
		w.posted(e)
	case eventWake:
		w.wake(w.hosts[e.host], e.lane, e.boot, e.stamp, e.cause)
	case eventCommit:
		if h, lane := w.hosts[e.host], e.lane; h.boot == e.boot && w.commitDue(h, lane) {
			w.leave(h, lane)
		}
	case eventResume:
		w.resume(w.hosts[e.host], e.lane, e.boot)
	default:
		own := *e
		w.worldEvent(&own)
	}
	if w.ahead != nil {
		w.goAhead()
	}
	return true
}

// leave notes that an event leaves a lane with effects that nothing is queued for. Of one that leaves several, which only the world's
// own can, all but the last are queued at once.
func (w *World) leave(h *Host, lane int32) {
	if w.ahead != nil {
		w.leftBefore()
	}
	w.ahead, w.aheadLane = h, lane
}

// leftBefore queues what the event left at another lane.
func (w *World) leftBefore() {
	if l := &w.ahead.lanes[w.aheadLane]; l.next < len(l.journal) {
		w.scheduleCommit(w.ahead, w.aheadLane)
	}
}

// goAhead commits the next effects of the lane that the event left with some, as long as nothing else is pending before them: they
// would come out of the queue next. Then it queues the rest.
func (w *World) goAhead() {
	h, lane := w.ahead, w.aheadLane
	w.ahead = nil
	l := &h.lanes[lane]
	if l.next >= len(l.journal) {
		return // the process ended
	}
	for w.policy == nil && !w.done && h.pausedUntil == 0 {
		at := l.journal[l.next].at
		if first, ok := w.timed.First(); ok && first.At <= at {
			break
		}
		if at > w.now {
			w.now = at
			w.source.Advance(at)
		}
		w.running = nil
		if !w.commitDue(h, lane) {
			return
		}
	}
	w.scheduleCommit(h, lane)
}

func (w *World) arrive(packet int32) {
	var d vnet.Delivery
	if w.net.Arrive(w.now, packet, &d); d.Kind == vnet.Nothing {
		return
	}
	h := w.hosts[d.To]
	if !h.up || h.boot != d.Boot || int(d.Lane) >= len(h.lanes) {
		return
	}
	if w.ready(h, d.Lane) {
		w.input.arrived(&d, w.hosts[d.From].spec.ID)
		w.handle(h, d.Lane)
	} else if h.up && h.boot == d.Boot {
		in := Input{}
		in.arrived(&d, w.hosts[d.From].spec.ID)
		w.enqueue(h, d.Lane, &in)
	}
}

// arrived makes an input of a delivery, whatever it was before.
func (in *Input) arrived(d *vnet.Delivery, from string) {
	switch d.Kind {
	case vnet.Data:
		in.Kind, in.Msg = InMessage, d.Payload.(Message)
	case vnet.Opened:
		in.Kind, in.Msg = InConnected, nil
	case vnet.Closed:
		in.Kind, in.Msg = InDisconnected, nil
	}
	in.Lane, in.Refused, in.Conn, in.From = LaneID(d.Lane), d.Refused, d.Conn, from
	in.spurious, in.poster, in.sender, in.cause, in.number = false, 0, d.From, d.Cause, d.Number
}

// posted gives a lane what was posted to it.
func (w *World) posted(e *event) {
	h, lane, boot := w.hosts[e.host], e.lane, e.boot
	m, poster, cause, number := e.msg, e.ref, e.cause, int32(e.stamp)
	e.msg = nil
	if !h.up || h.boot != boot {
		return
	}
	if w.ready(h, lane) {
		w.input.own(InPost, lane, m, poster, cause, number)
		w.handle(h, lane)
	} else if h.up && h.boot == boot {
		in := Input{}
		in.own(InPost, lane, m, poster, cause, number)
		w.enqueue(h, lane, &in)
	}
}

// own makes an input of what came from the host itself, whatever it was before.
func (in *Input) own(kind InputKind, lane int32, m Message, poster int32, cause int64, number int32) {
	in.Kind, in.Lane, in.Refused, in.Conn, in.From, in.Msg = kind, LaneID(lane), false, 0, "", m
	in.spurious, in.poster, in.sender, in.cause, in.number = false, poster, 0, cause, number
}

// give hands an input to its lane: at once when the lane is free, else it waits in the lane's queue.
func (w *World) give(h *Host, in *Input) {
	lane, boot := int32(in.Lane), h.boot
	if w.ready(h, lane) {
		w.input.set(in)
		w.handle(h, lane)
	} else if h.up && h.boot == boot {
		w.enqueue(h, lane, in)
	}
}

// set copies an input field by field: one that was just made that way is not read as a whole until its stores are through.
func (in *Input) set(from *Input) {
	in.Kind, in.Lane, in.Refused, in.Conn, in.From, in.Msg = from.Kind, from.Lane, from.Refused, from.Conn, from.From, from.Msg
	in.spurious, in.poster, in.sender, in.cause, in.number = from.spurious, from.poster, from.sender, from.cause, from.number
}

// ready reports whether a lane takes an input now. A handler that ends at this very instant has its last effects committed
// first, which may end the process.
func (w *World) ready(h *Host, lane int32) bool {
	l := &h.lanes[lane]
	if l.busyUntil > w.now || l.queued() || h.pausedUntil != 0 {
		return false
	}
	if l.next == len(l.journal) {
		return true
	}
	boot := h.boot
	if w.commitDue(h, lane) {
		w.scheduleCommit(h, lane)
	}
	return h.up && h.boot == boot && l.next == len(l.journal)
}

func (w *World) enqueue(h *Host, lane int32, in *Input) {
	l := &h.lanes[lane]
	var i int32
	if k := len(w.spare); k > 0 {
		i = w.spare[k-1]
		w.spare = w.spare[:k-1]
		w.waiting[i] = *in
	} else {
		i = int32(len(w.waiting))
		w.waiting = append(w.waiting, *in)
	}
	l.queue = append(l.queue, i)
	w.scheduleResume(h, lane)
}

func (w *World) scheduleResume(h *Host, lane int32) {
	l := &h.lanes[lane]
	if l.resuming || h.pausedUntil != 0 {
		return
	}
	l.resuming = true
	w.ofLane(max(l.busyUntil, w.now), eventResume, h, lane, 0, l.hash)
}

// resume lets a lane that was busy take its next input.
func (w *World) resume(h *Host, lane, boot int32) {
	if !h.up || h.boot != boot {
		return
	}
	l := &h.lanes[lane]
	l.resuming = false
	if h.pausedUntil != 0 || !l.queued() {
		return
	}
	if w.commitDue(h, lane) {
		w.scheduleCommit(h, lane)
	}
	if !h.up || h.boot != boot {
		return
	}
	if l.busyUntil > w.now {
		w.scheduleResume(h, lane)
		return
	}
	i := l.pop()
	w.input = w.waiting[i]
	w.waiting[i].Msg = nil
	w.spare = append(w.spare, i)
	if w.input.Kind == InWake && !w.input.spurious {
		l.wakeQueued = false
	}
	w.handle(h, lane)
	if h.up && h.boot == boot && l.queued() {
		w.scheduleResume(h, lane)
	}
}

// handle runs one handler: w.input on a free lane of a live process. This is an event.
func (w *World) handle(h *Host, lane int32) {
	in := &w.input
	l := &h.lanes[lane]
	w.eventID++
	w.stats.inputs++
	w.foldInput(h, l, in)
	if in.Kind == InWake || in.Kind == InPost && in.poster == lane {
		if !in.spurious && w.spinning(h, l) {
			return
		}
	} else {
		l.spinRun = 0
	}
	if w.opts.Trace != nil {
		w.traceInput(h, l, in)
	}
	if in.Kind == InMessage {
		for _, c := range w.onTake {
			c.OnTake(h, w.hosts[in.sender], unsealed(in.Msg))
		}
	}
	e := &h.env
	e.lane, e.cursor, e.event = lane, w.now, w.eventID
	l.spurious = in.spurious
	w.running = h
	var err error
	switch {
	case in.Kind == inStop:
		h.process.Stop(e)
	case w.poison.on:
		err = w.poisoned(h, in)
	default:
		err = h.process.Input(e, in)
	}
	w.finish(h, lane, err)
	w.afterEvent(h)
}

// poisoned runs a handler in the debug mode: on a message that was sealed when it was sent, and an Input that is rubbish
// afterwards.
func (w *World) poisoned(h *Host, in *Input) error {
	s, isSealed := in.Msg.(*sealed)
	if isSealed {
		s.verify()
		in.Msg = s.Message
	}
	err := h.process.Input(&h.env, in)
	w.input = Input{Kind: 0xff, Lane: -1, Conn: -1, From: "poisoned: an Input is valid during the call only"}
	if isSealed {
		s.verify()
	}
	w.poison.check()
	return err
}

// finish ends a handler: its lane is busy until its last effect, and the journal commits as its times come.
func (w *World) finish(h *Host, lane int32, err error) {
	e, l := &h.env, &h.lanes[lane]
	if err != nil {
		h.fatal = err
		e.add(effectFatal)
	}
	l.busyUntil = max(e.cursor, w.now+inputCostNs)
	if l.next < len(l.journal) {
		w.leave(h, lane)
	}
	// A wake-up for nothing is not followed by another one, whatever the rate.
	if (w.spuriousPpm > 0 || w.overridden) && !w.calm && !l.spurious && w.source.Chance(siteSpurious, h.hash, l.hash, 0, w.spuriousPpm) {
		w.stats.spurious++
		w.enqueue(h, lane, &Input{Kind: InWake, Lane: LaneID(lane), spurious: true, cause: w.eventID})
	}
}

func (w *World) scheduleCommit(h *Host, lane int32) {
	l := &h.lanes[lane]
	w.ofLane(l.journal[l.next].at, eventCommit, h, lane, 0, l.hash)
}

// commitDue commits the effects of a lane whose time has come. It reports whether it did and others follow, for which nothing is
// queued yet.
func (w *World) commitDue(h *Host, lane int32) (more bool) {
	boot := h.boot
	l := &h.lanes[lane]
	committed := false
	for {
		next := l.next
		if uint(next) >= uint(len(l.journal)) {
			break
		}
		f := &l.journal[next]
		if f.at > w.now {
			break
		}
		if h.pausedUntil != 0 {
			return false
		}
		kind := f.kind
		l.next++
		w.commit(h, f)
		committed = true
		if h.boot != boot || !h.up && kind != effectBooted {
			return false // the process ended: its journal is gone
		}
	}
	if l.next == len(l.journal) {
		l.journal, l.next = l.journal[:0], 0
		return false
	}
	return committed
}

// spinning counts wake-ups and own posts without other input between them, and ends the run when they do not.
func (w *World) spinning(h *Host, l *lane) bool {
	if w.now-l.spinLast >= spinGapNs {
		l.spinRun = 0
	}
	l.spinLast = w.now
	l.spinRun++
	if l.spinRun <= spinLimit {
		return false
	}
	w.spin(h, l)
	return true
}

func (w *World) foldInput(h *Host, l *lane, in *Input) {
	v := l.id ^ uint64(in.Kind)<<56 ^ uint64(uint32(h.boot))<<40 ^ uint64(in.Conn)<<8
	if in.Refused {
		v ^= 1
	}
	w.hash = digest.Word(digest.Word(w.hash, v), uint64(w.now)^uint64(in.cause)<<44)
	if in.Msg != nil {
		w.scratch = in.Msg.AppendTo(w.scratch[:0])
		w.foldScratch()
	}
}
