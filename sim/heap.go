package sim

import "math/bits"

// Scheduler decides which pending event is next. Timed is the default: virtual time, then the drawn priority, then order
// of scheduling. A scheduler sees no more than these items, so another policy (lane priorities, exhaustive search) can
// serve the same World; an item that comes out of its time is handled at the time that the World has reached.
type Scheduler interface {
	Reset()
	Push(it Item)
	// Pop removes the next item. ok is false when nothing is pending.
	Pop() (it Item, ok bool)
	Len() int
}

// Item is a pending event as a scheduler sees it.
type Item struct {
	At int64 // virtual time in nanoseconds, not negative
	// Tie settles ties of time: the drawn priority in the high half (a decision named after the event), and in the low half
	// the order of scheduling, which settles ties of priority.
	Tie   uint64
	Event int32 // index into the world's pool of events
	Lane  int32 // which queue of a laneQueue; Timed does not look at it
}

// less is 1 when a comes before b, else 0. It has no branch: the order of pending events is random to the processor.
func less(a, b *Item) int {
	_, borrow := bits.Sub64(a.Tie, b.Tie, 0)
	_, borrow = bits.Sub64(uint64(a.At), uint64(b.At), borrow)
	return int(borrow)
}

// Timed is a heap with four children a node: half the depth of a binary one, and the children share a cache line or two.
type Timed struct {
	items []Item
}

// Reset empties the heap, keeping its memory.
func (h *Timed) Reset() { h.items = h.items[:0] }

// Len returns the number of pending items.
func (h *Timed) Len() int { return len(h.items) }

// Push adds an item in O(log n).
func (h *Timed) Push(it Item) {
	h.items = append(h.items, it)
	items := h.items
	i := len(items) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if less(&it, &items[parent]) == 0 {
			break
		}
		items[i] = items[parent]
		i = parent
	}
	items[i] = it
}

// First returns the first item. ok is false when nothing is pending.
func (h *Timed) First() (it *Item, ok bool) {
	if len(h.items) == 0 {
		return nil, false
	}
	return &h.items[0], true
}

// Pop removes the first item in O(log n).
func (h *Timed) Pop() (Item, bool) {
	n := len(h.items) - 1
	if n < 0 {
		return Item{}, false
	}
	top, last := h.items[0], h.items[n]
	items := h.items[:n]
	h.items = items
	if n == 0 {
		return top, true
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		best := child
		if child+4 <= n { // a tournament of four
			c := items[child : child+4 : child+4]
			a, b := less(&c[1], &c[0]), 2+less(&c[3], &c[2])
			best += a ^ (a^b)&-less(&c[b&3], &c[a&3])
		} else {
			for k := child + 1; k < n; k++ {
				if less(&items[k], &items[best]) == 1 {
					best = k
				}
			}
		}
		if less(&items[best], &last) == 0 {
			break
		}
		items[i] = items[best]
		i = best
	}
	items[i] = last
	return top, true
}
