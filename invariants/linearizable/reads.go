package linearizable

import (
	"cmp"
	"fmt"
	"slices"
)

// reads wants each read to show a committed value, of a state not before what the same process has shown: by the offset of an operation
// that it acknowledged, or by an earlier read.
func (h *History) reads() string {
	if h.Committed == nil {
		return ""
	}
	var answered []*Operation
	for i := range h.Operations {
		if o := &h.Operations[i]; o.acknowledged() {
			answered = append(answered, o)
		}
	}
	slices.SortStableFunc(answered, func(a, b *Operation) int { return cmp.Compare(a.ReturnNs, b.ReturnNs) })
	shown := map[string][]*Operation{} // by process, those that show a state
	for _, o := range answered {
		if o.Kind == Read {
			if why := h.read(o, shown[o.Server]); why != "" {
				return why
			}
		}
		shown[o.Server] = append(shown[o.Server], o)
	}
	return ""
}

func (h *History) read(o *Operation, before []*Operation) string {
	at, next := h.span(o.Key, o.Value)
	if next == 0 {
		return fmt.Sprintf("operation %d read %q of %s, which nobody committed", o.ID, o.Value, o.Key)
	}
	for _, b := range before {
		if b.ReturnNs >= o.CallNs {
			continue // they overlap
		}
		least := b.Offset
		if b.Kind == Read {
			least, _ = h.span(b.Key, b.Value)
		}
		if least >= next {
			return fmt.Sprintf("operation %d read %q of %s, in force from offset %d to %d, after %s had shown a state at offset %d in operation %d", o.ID,
				o.Value, o.Key, at, next, o.Server, least, b.ID)
		}
	}
	return ""
}

// span is where a value came into force and where the next one did; next is 0 for a value that was never committed, Open for the last.
func (h *History) span(key, value string) (from, next int64) {
	from, found := int64(-1), value == ""
	for i := range h.Committed {
		w := &h.Committed[i]
		switch {
		case w.Key != key:
		case found:
			return from, w.Offset
		case w.Value == value:
			from, found = w.Offset, true
		}
	}
	if !found {
		return -1, 0
	}
	return from, Open
}
