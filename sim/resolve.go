package sim

import "slices"

// nameFault is what a resolver does wrong with the names of one host, as some hosts see it.
type nameFault struct {
	action int
	host   int32
	seen   []*Host // nil: all
	to     int32   // host that the names lead to, -1: none
	late   bool
	lateNs int64
	conns  []Conn // to the wrong host
}

func actNames(w *World, a *Act) string {
	h := a.Host("host")
	if h == nil {
		return ""
	}
	f := nameFault{action: a.Index, host: h.index, to: -1, lateNs: a.DurationNs("add", 1_000_000_000)}
	if _, ok := a.Params["seen"]; ok {
		f.seen = a.Hosts("seen")
	}
	switch a.Word("how", "") {
	case "never":
	case "late":
		f.late = true
	case "other":
		to := a.Host("to")
		if to == nil {
			return ""
		}
		if f.to = to.index; to == h {
			return "to names the host itself"
		}
	default:
		a.fail("how", "not one of never, other, late")
	}
	if a.Error == nil {
		w.nameFaults = append(w.nameFaults, f)
	}
	return ""
}

// undoNames ends the fault. Connections to the wrong host break: whoever had the address gives it up.
func undoNames(w *World, a *Act) {
	i := slices.IndexFunc(w.nameFaults, func(f nameFault) bool { return f.action == a.Index })
	if i < 0 {
		return
	}
	f := w.nameFaults[i]
	w.nameFaults = slices.Delete(w.nameFaults, i, i+1)
	for _, c := range f.conns {
		w.net.Break(w.now, c, w.eventID)
	}
}

// dialWrong opens a connection by what a faulty resolver says. It reports false when the resolver is not at fault.
func (e *Env) dialWrong(c Conn, to, port int32) bool {
	w := e.w
	for i := range w.nameFaults {
		f := &w.nameFaults[i]
		if f.host != to || f.seen != nil && !slices.Contains(f.seen, e.h) || !f.late && f.to == e.h.index {
			continue // nobody is led to itself
		}
		*w.Stat("names-wrong")++
		if f.late {
			late := e.add(effectLateDial)
			late.num, late.host, late.port = c, to, port
			return true
		}
		if f.to >= 0 {
			f.conns = append(f.conns, c)
		}
		if e.immediate() {
			w.net.Open(w.now, c, f.to, port, e.event)
		} else {
			dial := e.add(effectDial)
			dial.num, dial.host, dial.port = c, f.to, port
		}
		return true
	}
	return false
}

// lateness is how long the resolver takes for the names of a host; nothing when the fault is over by now.
func (w *World) lateness(h *Host, to int32) int64 {
	for i := range w.nameFaults {
		if f := &w.nameFaults[i]; f.late && f.host == to && (f.seen == nil || slices.Contains(f.seen, h)) {
			return f.lateNs
		}
	}
	return 0
}

// dialLate opens a connection when the resolver has answered, unless whoever dialled is gone by then, or has given it up.
func (w *World) dialLate(h *Host, f *effect) {
	boot, lane, conn, to, port, cause := h.boot, f.lane, f.num, f.host, f.port, f.cause
	delay := w.lateness(h, to)
	w.At(w.now+delay, h.hash, uint64(conn), func() {
		if !h.up || h.boot != boot {
			return
		}
		if _, ok := w.net.SideOf(conn, h.index, boot, lane); ok {
			w.net.Open(w.now, conn, to, port, cause)
		}
	})
}
