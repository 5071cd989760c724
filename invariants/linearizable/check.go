package linearizable

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Check judges a history: real time against offsets over all keys, then each key for itself, then reads.
func Check(h *History, b Bounds) Result {
	keys, of := h.byKey()
	r := Result{Keys: int64(len(keys))}
	for _, k := range keys {
		r.Checked += int64(len(of[k]))
	}
	if r.fail("real-time", h.realTime()) || r.fail("read", h.reads()) {
		return r
	}
	tooWide := ""
	for _, k := range keys {
		list := of[k]
		if n, c := int32(len(list)), concurrency(list); n > b.OperationsPerKey || c > b.ConcurrencyPerKey {
			if tooWide == "" {
				tooWide = fmt.Sprintf("%s has %d operations, %d of them open at one time; %d and %d are checked", k, n, c, b.OperationsPerKey, b.ConcurrencyPerKey)
			}
			continue
		}
		if r.fail("order", h.order(k, list)) {
			return r
		}
	}
	if tooWide != "" {
		r.Verdict, r.Evidence, r.Detail = Unknown, "too-wide", tooWide
	}
	return r
}

func (r *Result) fail(evidence, detail string) bool {
	if detail != "" {
		r.Verdict, r.Evidence, r.Detail = Illegal, evidence, detail
	}
	return detail != ""
}

// realTime wants offsets to follow time: what was answered before something else was asked for has the lower offset.
func (h *History) realTime() string {
	var calls, returns []*Operation
	for i := range h.Operations {
		if o := &h.Operations[i]; o.Kind != Read && o.acknowledged() {
			calls, returns = append(calls, o), append(returns, o)
		}
	}
	slices.SortStableFunc(calls, func(a, b *Operation) int { return cmp.Compare(a.CallNs, b.CallNs) })
	slices.SortStableFunc(returns, func(a, b *Operation) int { return cmp.Compare(a.ReturnNs, b.ReturnNs) })
	highest, k := (*Operation)(nil), 0
	for _, o := range calls {
		for ; k < len(returns) && returns[k].ReturnNs < o.CallNs; k++ {
			if highest == nil || returns[k].Offset > highest.Offset {
				highest = returns[k]
			}
		}
		if highest != nil && highest.Offset >= o.Offset {
			return fmt.Sprintf("operation %d was asked for after operation %d was answered, and has offset %d, not above %d", o.ID, highest.ID,
				o.Offset, highest.Offset)
		}
	}
	return ""
}

// order looks for a linear order of the operations of one key. What it says names the first operation with which there is none.
func (h *History) order(key string, list []Operation) string {
	legal := func(n int, final bool) bool {
		return porcupine.CheckOperations(h.model(key), h.operations(key, list[:n], final))
	}
	if legal(len(list), true) {
		return ""
	}
	if legal(len(list), false) {
		return "the operations on " + key + " have an order, but it does not end in what the log holds: something that was acknowledged is lost"
	}
	n := 1
	for n < len(list) && legal(n, false) {
		n++
	}
	return fmt.Sprintf("the operations on %s have no order: operation %d contradicts those before it", key, list[n-1].ID)
}

// operations are those of a key as porcupine has them, with a look at the end of everything.
func (h *History) operations(key string, list []Operation, final bool) (ops []porcupine.Operation) {
	for i := range list {
		o := &list[i]
		ops = append(ops, porcupine.Operation{ClientId: int(o.Client), Input: o, Call: o.CallNs, Return: o.ReturnNs}) // what is open may come after the look at the end
	}
	for i := range h.Final {
		if final && h.Final[i].Key == key {
			ops = append(ops, porcupine.Operation{Input: &h.Final[i], Call: Open - 1, Return: Open})
		}
	}
	return ops
}

// place is the state of a key between two operations.
type place struct {
	value  string
	exists bool
	level  int32
	offset int64 // of the last operation whose offset is known
}

// model is a key of a controller.
func (h *History) model(key string) porcupine.Model {
	return porcupine.Model{
		Init:  func() any { return place{offset: -1, level: h.Initial[key]} },
		Equal: func(a, b any) bool { return a == b },
		Step: func(state, input, _ any) (bool, any) {
			s := state.(place)
			if f, ok := input.(*State); ok {
				return f.Value == s.value && f.Exists == s.exists && f.Level == s.level, s
			}
			return s.step(input.(*Operation))
		},
	}
}

// step takes an operation. One that nobody answered may have been refused, so where it is not legal nothing happens.
func (s place) step(o *Operation) (legal bool, next place) {
	next = s
	switch o.Kind {
	case Set:
		legal, next.value = true, o.Value
	case Create:
		legal, next.exists = !s.exists, true
	case Delete:
		legal, next.exists = s.exists, false
	case Raise:
		legal, next.level = o.Level >= s.level, o.Level
	case Lower:
		legal, next.level = o.Level <= s.level, o.Level
	}
	switch {
	case o.acknowledged():
		next.offset = o.Offset
		return legal && o.Offset > s.offset, next
	case !legal:
		return true, s
	}
	return true, next
}
