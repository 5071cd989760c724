package sim

// Scheduler decides which pending event is next. Timed is the default: virtual time, then the drawn priority, then order
// of scheduling. A scheduler sees no more than these items, so another policy (lane priorities, exhaustive search) can
// serve the same World.
type Scheduler interface {
	Reset()
	Push(it Item)
	// Pop removes the next item. ok is false when nothing is pending.
	Pop() (it Item, ok bool)
	Len() int
}

// Item is a pending event as a scheduler sees it.
type Item struct {
	At       int64  // virtual time in nanoseconds
	Priority uint32 // a decision named after the event; ties of time are settled by it
	Sequence uint32 // order of scheduling; settles ties of priority
	Event    int32  // index into the world's pool of events
}

func (a *Item) before(b *Item) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	return a.Sequence < b.Sequence
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
	i := len(h.items) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !it.before(&h.items[parent]) {
			break
		}
		h.items[i] = h.items[parent]
		i = parent
	}
	h.items[i] = it
}

// Pop removes the first item in O(log n).
func (h *Timed) Pop() (Item, bool) {
	if len(h.items) == 0 {
		return Item{}, false
	}
	top := h.items[0]
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	if n := len(h.items); n > 0 {
		i := 0
		for {
			child := 4*i + 1
			if child >= n {
				break
			}
			best := child
			for k := child + 1; k < min(child+4, n); k++ {
				if h.items[k].before(&h.items[best]) {
					best = k
				}
			}
			if !h.items[best].before(&last) {
				break
			}
			h.items[i] = h.items[best]
			i = best
		}
		h.items[i] = last
	}
	return top, true
}
