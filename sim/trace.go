package sim

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// text is what a message or an observation says of itself. Without a String method it is what there is: kind and key, and a
// digest of the canonical bytes, so that two traces that differ in a message differ in a line.
func text(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	name := ""
	if m, ok := v.(Message); ok {
		name = messageName(m) + ", "
	}
	if o, ok := v.(Observation); ok {
		bytes := o.AppendTo(nil)
		return fmt.Sprintf("%s%d bytes %016x", name, len(bytes), digest.Bytes(0, bytes))
	}
	return name
}

// messageName is what a message says of itself, or its kind and key.
func messageName(m Message) string {
	if s, ok := m.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("kind %d key %d", m.Kind(), m.Key())
}

func (w *World) line(h *Host, lane, what, text string, cause int64) TraceLine {
	t := TraceLine{ID: w.eventID, Cause: cause, AtUs: w.now / 1000, Lane: lane, What: what, Text: text, Digest: w.hash, Of: h}
	if h != nil {
		t.Host, t.Boot = h.spec.ID, h.boot
	}
	return t
}

func (w *World) traceInput(h *Host, l *lane, in *Input) {
	s := in.Kind.String()
	if in.From != "" {
		s += " from " + in.From
	}
	if in.Refused {
		s += " refused"
	}
	if in.Msg != nil {
		s += ": " + text(unsealed(in.Msg))
	}
	t := w.line(h, l.name, "input", s, in.cause)
	t.Input, t.Peer, t.Number = in.Kind, in.From, in.number
	if in.Msg != nil {
		t.Message = unsealed(in.Msg)
	}
	w.opts.Trace(t)
}

// number returns the next message number when somebody listens: what is not traced needs none.
func (w *World) number() int32 {
	if w.opts.Trace == nil {
		return 0
	}
	w.messages++
	return w.messages
}

func (w *World) traceSend(h *Host, lane int32, to *Host, m Message, cause int64, number int32) {
	peer := "?"
	if to != nil {
		peer = to.spec.ID
	}
	t := w.line(h, h.lanes[lane].name, "send", "to "+peer+": "+text(m), cause)
	t.Number, t.Message = number, m
	if to != nil {
		t.Peer = peer
	}
	w.opts.Trace(t)
}

func (w *World) tracePost(h *Host, from, to int32, m Message, cause int64, number int32) {
	m = unsealed(m)
	t := w.line(h, h.lanes[from].name, "post", "to "+h.lanes[to].name+": "+text(m), cause)
	t.Number, t.Message = number, m
	w.opts.Trace(t)
}

func (w *World) traceObservation(h *Host, lane int32, o Observation, cause int64) {
	t := w.line(h, h.lanes[lane].name, "protocol", text(o), cause)
	t.Seen = o
	w.opts.Trace(t)
}

func (w *World) traceDisk(h *Host, op *vdisk.Op) {
	s := op.Kind.String() + " " + op.Path
	switch op.Kind {
	case vdisk.OpWrite:
		s += fmt.Sprintf(" at %d, %d bytes", op.Offset, len(op.Data))
	case vdisk.OpRename:
		s += " to " + op.To
	case vdisk.OpTruncate, vdisk.OpSync, vdisk.OpReset:
		s += fmt.Sprintf(", %d bytes", op.Size)
	}
	t := w.line(h, "", "disk", s, w.diskCause)
	t.Disk = op
	w.opts.Trace(t)
}

// traceWorld tells of what the world itself does, because of the event that it handles.
func (w *World) traceWorld(h *Host, what, text string) { w.opts.Trace(w.line(h, "", what, text, -1)) }

// traceAction tells what became of an action of the plan.
func (w *World) traceAction(a *Act, what, text string) {
	t := w.line(nil, "", what, text, -1)
	t.Action = a.ID
	w.opts.Trace(t)
}

func (w *World) traceBroken(b *plan.Broken, what, text string) {
	t := w.line(nil, "", what, text, -1)
	t.Broken = b
	w.opts.Trace(t)
}

// traceBoot names what started the process: a plan, a crash with a time to come back, an operator.
func (w *World) traceBoot(h *Host, cause int64) { w.opts.Trace(w.line(h, "", "boot", "", cause)) }

func (w *World) traceDown(h *Host, kind DownKind, err error, inside bool) {
	s := kind.String()
	if inside {
		s += ", inside a handler"
	}
	if err != nil {
		s += ": " + err.Error()
	}
	t := w.line(h, "", "down", s, w.eventID)
	t.Down = kind
	w.opts.Trace(t)
}
