package sim

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// effectKind says what an effect of a handler is.
type effectKind uint8

const (
	effectDisk effectKind = iota
	effectDial
	effectSend
	effectDatagram
	effectClose
	effectPost
	effectDeadline
	effectObserve
	effectListen
	effectExit  // graceful
	effectFatal // Input or Boot returned an error
	effectCut   // the armed disk operation is in progress: the process dies inside it
	effectBooted
	effectLateDial // the resolver takes a while
)

// effect is one entry of a lane's journal. It is committed at its time; a crash before that means that it never happened.
type effect struct {
	kind  effectKind
	lane  int32
	port  int32 // also the lane that a post goes to
	host  int32
	at    int64 // true time
	from  int64 // effectDisk: when the operation began
	num   int64 // connection, operation, deadline
	cause int64 // id of the event whose handler did it
	msg   Message
	obs   Observation
}

// immediate reports whether an effect of the running handler is committed as it is made: before the first costly operation
// nothing can come between it and the handler's start.
func (e *Env) immediate() bool { return e.cursor == e.w.now }

// add appends an effect to the journal, at the handler's cursor, for the caller to say what it is about. A field that its kind has
// no use for may be left over from an earlier effect.
func (e *Env) add(kind effectKind) *effect {
	l := &e.h.lanes[e.lane]
	n := len(l.journal)
	if n < cap(l.journal) {
		l.journal = l.journal[:n+1]
	} else {
		l.journal = append(l.journal, effect{})
	}
	f := &l.journal[n]
	f.kind, f.at, f.lane, f.cause = kind, e.cursor, e.lane, e.event
	return f
}

// commit makes an effect happen, now.
func (w *World) commit(h *Host, f *effect) {
	switch f.kind {
	case effectDisk:
		w.eventID++
		w.stats.disk++
		w.fold(uint64(f.num)<<8 ^ h.hash)
		w.fold(uint64(w.now))
		w.diskCause = f.cause
		h.volume.Commit(vdisk.OpID(f.num))
		w.afterEvent(h)
	case effectDial:
		w.net.Open(w.now, f.num, f.host, f.port, f.cause)
	case effectLateDial:
		w.dialLate(h, f)
	case effectSend:
		w.commitSend(h, f.lane, f.num, f.msg, f.cause)
	case effectDatagram:
		w.commitDatagram(h, f.lane, f.host, f.port, f.msg, f.cause)
	case effectClose:
		w.commitClose(h, f.lane, f.num, f.cause)
	case effectPost:
		w.commitPost(h, f.lane, f.port, f.msg, f.cause)
	case effectDeadline:
		w.setDeadline(h, f.lane, f.num)
	case effectObserve:
		w.commitObserve(h, f.lane, f.obs, f.cause)
	case effectListen:
		w.net.Listen(h.index, f.port, f.host)
	case effectExit:
		w.down(h, Exited, nil)
	case effectFatal:
		kind := FatalError
		if h.bootStarted >= 0 {
			kind = RefusedToStart
		}
		w.down(h, kind, h.fatal)
	case effectCut:
		w.cutNow(h)
	case effectBooted:
		h.bootStarted = -1
	default:
		panic(fmt.Sprintf("sim: effect of kind %d", f.kind))
	}
}

func (w *World) commitSend(h *Host, lane int32, conn int64, m Message, cause int64) {
	side, ok := w.net.SideOf(conn, h.index, h.boot, lane)
	if !ok {
		return
	}
	w.net.Number = w.tell(h, lane, w.net.Peer(conn, side), m, cause)
	w.net.Send(w.now, conn, side, m, cause)
}

func (w *World) commitDatagram(h *Host, lane, to, port int32, m Message, cause int64) {
	w.net.Number = w.tell(h, lane, to, m, cause)
	w.net.SendDatagram(w.now, h.index, to, port, m, cause)
}

func (w *World) commitClose(h *Host, lane int32, conn, cause int64) {
	if side, ok := w.net.SideOf(conn, h.index, h.boot, lane); ok {
		w.net.Close(w.now, conn, side, cause)
	}
}

// tell shows a message that leaves a host to the trace and to the checkers, and returns its number.
func (w *World) tell(h *Host, lane, to int32, m Message, cause int64) (number int32) {
	w.stats.sent++
	w.fold(uint64(m.Kind())<<32 ^ m.Key() ^ uint64(to)<<56)
	if w.opts.Trace == nil && len(w.onSend) == 0 {
		return 0
	}
	m = unsealed(m)
	var peer *Host
	if to >= 0 {
		peer = w.hosts[to]
	}
	if w.opts.Trace != nil {
		number = w.number()
		w.traceSend(h, lane, peer, m, cause, number)
	}
	for _, c := range w.onSend {
		c.OnSend(h, peer, m)
	}
	return number
}

func (w *World) commitPost(h *Host, from, to int32, m Message, cause int64) {
	delay, kind, key := int64(postBaseNs), uint64(m.Kind()), m.Key()
	if w.postJitterNs > 0 && !w.calm {
		late := w.source.Choose(sitePost, h.hash, kind, key, w.postJitterNs/1000+1) * 1000
		delay += late
		w.stats.latePosts += min(late, 1)
	}
	l := &h.lanes[to]
	at := max(w.now+delay, l.postAt+1)
	l.postAt = at
	number := w.number()
	if w.opts.Trace != nil {
		w.tracePost(h, from, to, m, cause, number)
	}
	i := w.slot()
	e := &w.events[i]
	e.kind, e.lane, e.host, e.boot, e.ref, e.stamp, e.cause, e.msg = eventInput, to, h.index, h.boot, from, uint32(number), cause, m
	w.enter(at, i, h.hash, key^kind<<32)
}

func (w *World) commitObserve(h *Host, lane int32, o Observation, cause int64) {
	w.scratch = o.AppendTo(w.scratch[:0])
	w.foldObservation(h)
	if w.opts.Trace != nil {
		w.traceObservation(h, lane, o, cause)
	}
	for _, c := range w.onProtocol {
		c.OnProtocol(h, o)
	}
	w.cover(h)
}
