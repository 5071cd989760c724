package sim

import "github.com/kraftsim/kraftsim/sim/vdisk"

// effectKind says what an effect of a handler is.
type effectKind uint8

const (
	effectDisk effectKind = iota
	effectSend
	effectDatagram
	effectClose
	effectPost
	effectDeadline
	effectObserve
	effectListen
	effectExit  // graceful
	effectFatal // Input or Boot returned an error
	effectCut   // the armed disk operation begins here: the process dies inside it
	effectBooted
)

// effect is one entry of a lane's journal. It is committed at its time; a crash before that means that it never happened.
type effect struct {
	kind effectKind
	lane int32
	port int32
	host int32
	at   int64 // true time
	from int64 // effectDisk: when the operation began
	num  int64 // connection, operation, deadline
	msg  Message
	obs  Observation
	err  error
}

// add appends an effect at the handler's cursor. Effects before the first costly operation are committed at once: nothing
// can come between them and the handler's start.
func (e *Env) add(f effect) {
	f.at = e.cursor
	if f.at == e.w.now && f.kind < effectExit {
		e.w.commit(e.h, &f)
		return
	}
	l := &e.h.lanes[e.lane]
	l.journal = append(l.journal, f)
}

// commit makes an effect happen, now.
func (w *World) commit(h *Host, f *effect) {
	switch f.kind {
	case effectDisk:
		w.eventID++
		w.stats.disk++
		w.fold(uint64(f.num)<<8 ^ h.hash)
		w.fold(uint64(w.now))
		h.volume.Commit(vdisk.OpID(f.num))
		w.afterEvent(h)
	case effectSend:
		w.commitSend(h, f)
	case effectDatagram:
		w.tell(h, f.lane, f.host, f.msg)
		w.net.SendDatagram(w.now, h.index, f.host, f.port, f.msg, w.eventID)
	case effectClose:
		if side, ok := w.net.SideOf(f.num, h.index, h.boot, f.lane); ok {
			w.net.Close(w.now, f.num, side, w.eventID)
		}
	case effectPost:
		w.commitPost(h, f)
	case effectDeadline:
		w.setDeadline(h, f.lane, f.num)
	case effectObserve:
		w.commitObserve(h, f.lane, f.obs)
	case effectListen:
		w.net.Listen(h.index, f.port, f.lane)
	case effectExit:
		w.down(h, Exited, nil)
	case effectFatal:
		kind := FatalError
		if h.bootStarted >= 0 {
			kind = RefusedToStart
		}
		w.down(h, kind, f.err)
	case effectCut:
		w.cutNow(h)
	case effectBooted:
		w.booted(h)
	}
}

func (w *World) commitSend(h *Host, f *effect) {
	side, ok := w.net.SideOf(f.num, h.index, h.boot, f.lane)
	if !ok {
		return
	}
	w.tell(h, f.lane, w.net.Peer(f.num, side), f.msg)
	w.net.Send(w.now, f.num, side, f.msg, w.eventID)
}

// tell shows a message that leaves a host to the trace and to the checkers.
func (w *World) tell(h *Host, lane, to int32, m Message) {
	w.stats.sent++
	w.fold(uint64(m.Kind())<<32 ^ m.Key() ^ uint64(to)<<56)
	var peer *Host
	if to >= 0 {
		peer = w.hosts[to]
	}
	if w.opts.Trace != nil {
		w.traceSend(h, lane, peer, m)
	}
	for _, c := range w.onSend {
		c.OnSend(h, peer, m)
	}
}

func (w *World) commitPost(h *Host, f *effect) {
	delay := int64(postBaseNs)
	if w.postJitterNs > 0 && !w.calm {
		delay += w.source.Choose(sitePost, h.hash, uint64(f.msg.Kind()), f.msg.Key(), w.postJitterNs/1000+1) * 1000
	}
	key := f.msg.Key() ^ uint64(f.msg.Kind())<<32
	at := max(w.now+delay, h.lanes[f.port].postAt+1)
	h.lanes[f.port].postAt = at
	w.schedule(at, event{kind: eventInput, host: h.index, lane: f.port, boot: h.boot, ref: f.lane, msg: f.msg, cause: w.eventID},
		h.hash, key)
}

func (w *World) commitObserve(h *Host, lane int32, o Observation) {
	w.scratch = o.AppendTo(w.scratch[:0])
	w.behaviour.fold(w.scratch, h.hash)
	w.hash = foldBytes(w.hash, w.scratch)
	if w.opts.Trace != nil {
		w.traceObservation(h, lane, o)
	}
	for _, c := range w.onProtocol {
		c.OnProtocol(h, o)
	}
}
