package sim

import "slices"

// laneQueue keeps pending events apart by what orders them among themselves: a lane of a process, a link between two hosts, and the
// world's own (actions, boots, the calm), which is queue 0. Inside a queue order of time holds always: messages of a connection stay in
// order, and so do the effects of a lane. Schedulers that are not Timed choose between the heads.
type laneQueue struct {
	lanes []Timed
	count int
	live  []int32 // queues that hold something, ascending
	open  []int32 // scratch of eligible
}

func (q *laneQueue) reset(lanes int) {
	for i := range q.lanes {
		q.lanes[i].Reset()
	}
	for len(q.lanes) < lanes {
		q.lanes = append(q.lanes, Timed{})
	}
	q.count, q.live = 0, q.live[:0]
}

func (q *laneQueue) push(it Item) {
	if q.lanes[it.Lane].Len() == 0 {
		at, _ := slices.BinarySearch(q.live, it.Lane)
		q.live = slices.Insert(q.live, at, it.Lane)
	}
	q.lanes[it.Lane].Push(it)
	q.count++
}

func (q *laneQueue) take(lane int32) Item {
	it, _ := q.lanes[lane].Pop()
	if q.count--; q.lanes[lane].Len() == 0 {
		if at, found := slices.BinarySearch(q.live, lane); found {
			q.live = slices.Delete(q.live, at, at+1)
		}
	}
	return it
}

// eligible lists the queues whose head may be next: those due within the window that begins with the earliest of all, and before the world's
// own next event, which nothing overtakes. That one is eligible too, last in the list, when it is within the window, except for the calm. The
// list is good until the next call.
func (q *laneQueue) eligible(windowNs int64, events []event) []int32 {
	q.open = q.open[:0]
	earliest := int32(-1)
	for _, i := range q.live {
		if earliest < 0 || less(&q.lanes[i].items[0], &q.lanes[earliest].items[0]) == 1 {
			earliest = i
		}
	}
	if earliest <= 0 {
		if earliest == 0 {
			q.open = append(q.open, 0)
		}
		return q.open
	}
	limit, ownToo := q.lanes[earliest].items[0].At+windowNs, false
	if own, ok := q.lanes[0].First(); ok && own.At <= limit {
		kind := events[own.Event].kind
		limit, ownToo = own.At, kind != eventCalm && kind != eventBound
	}
	q.open = append(q.open, earliest)
	for _, i := range q.live {
		if i != 0 && i != earliest && q.lanes[i].items[0].At <= limit {
			q.open = append(q.open, i)
		}
	}
	if ownToo {
		q.open = append(q.open, 0)
	}
	return q.open
}

// local finds among the eligible a lane whose next event concerns nobody but itself yet: the completion of what its handler has issued, or its
// turn to take what waits for it. Its order among the events of others changes nothing, so it is not a choice; -1 when there is none.
func (q *laneQueue) local(events *[]event) int32 {
	for _, lane := range q.open {
		switch (*events)[q.lanes[lane].items[0].Event].kind {
		case eventCommit, eventResume:
			return lane
		}
	}
	return -1
}
