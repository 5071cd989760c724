package sim

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/digest"
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

func (w *World) line(h *Host, lane, what, text string, cause int64) {
	t := TraceLine{ID: w.eventID, Cause: cause, AtUs: w.now / 1000, Lane: lane, What: what, Text: text, Digest: w.hash}
	if h != nil {
		t.Host, t.Boot = h.spec.ID, h.boot
	}
	w.opts.Trace(t)
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
	w.line(h, l.name, "input", s, in.cause)
}

func (w *World) traceSend(h *Host, lane int32, to *Host, m Message, cause int64) {
	peer := "?"
	if to != nil {
		peer = to.spec.ID
	}
	w.line(h, h.lanes[lane].name, "send", "to "+peer+": "+text(m), cause)
}

func (w *World) traceObservation(h *Host, lane int32, o Observation, cause int64) {
	w.line(h, h.lanes[lane].name, "protocol", text(o), cause)
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
	w.line(h, "", "disk", s, w.diskCause)
}

func (w *World) traceWorld(h *Host, what, text string) { w.line(h, "", what, text, -1) }

func (w *World) traceDown(h *Host, kind DownKind, err error, inside bool) {
	s := kind.String()
	if inside {
		s += ", inside a handler"
	}
	if err != nil {
		s += ": " + err.Error()
	}
	w.line(h, "", "down", s, w.eventID)
}
