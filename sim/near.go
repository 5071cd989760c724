package sim

// nearest is the queue of a world whose scheduler is time: what is due soonest lies in order in a short list, the rest in a heap. Nearly
// all events of a protocol are scheduled a little ahead of the present and taken soon, so that a push moves the few items that come before
// it, and a pop moves none; a heap moves items at both, as many as it is deep. Where thousands of events are pending the list is a small
// part, and what lies behind it is the heap's.
//
// The list is in descending order: its last item is the first to come, and none of it comes after any item of the heap.
type nearest struct {
	near []Item
	far  Timed
}

// mostNear is the length of the list at which the later half of it goes to the heap, and as many come back, once the list is empty, as
// half of it are.
const mostNear = 64

// Reset empties the queue, keeping its memory.
func (q *nearest) Reset() {
	q.near = q.near[:0]
	q.far.Reset()
}

// Len returns the number of pending items.
func (q *nearest) Len() int { return len(q.near) + q.far.Len() }

// Push adds an item.
func (q *nearest) Push(it *Item) {
	n := len(q.near)
	if n == mostNear {
		n = q.spill()
	}
	if q.far.Len() > 0 && (n == 0 || less(&q.near[0], it) == 1) {
		q.far.Push(*it)
		return
	}
	if n < cap(q.near) {
		q.near = q.near[:n+1]
	} else {
		q.near = append(q.near, Item{})
	}
	near := q.near
	i := len(near) - 1
	for i > 0 && (near[i-1].At < it.At || near[i-1].At == it.At && near[i-1].Tie < it.Tie) {
		near[i] = near[i-1]
		i--
	}
	near[i] = *it
}

// spill gives the later half of the list to the heap and returns how many items stay.
func (q *nearest) spill() int {
	for i := range q.near[:mostNear/2] {
		q.far.Push(q.near[i])
	}
	q.near = q.near[:copy(q.near, q.near[mostNear/2:])]
	return len(q.near)
}

// First returns the first item. ok is false when nothing is pending.
func (q *nearest) First() (it *Item, ok bool) {
	if n := len(q.near); n > 0 {
		return &q.near[n-1], true
	}
	return q.far.First()
}

// Pop removes the first item.
func (q *nearest) Pop() (it Item, ok bool) {
	n := len(q.near)
	if n == 0 {
		if n = q.fill(); n == 0 {
			return Item{}, false
		}
	}
	it = q.near[n-1]
	q.near = q.near[:n-1]
	return it, true
}

// fill takes items from the heap into the empty list and returns how many.
func (q *nearest) fill() int {
	n := min(q.far.Len(), mostNear/2)
	for len(q.near) < n {
		q.near = append(q.near, Item{})
	}
	for i := n - 1; i >= 0; i-- {
		q.near[i], _ = q.far.Pop()
	}
	return n
}
