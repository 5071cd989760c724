package sim

// laneQueue keeps pending events apart by what orders them among themselves: a lane of a process, a link between two hosts, and the
// world's own (actions, boots, the calm), which is queue 0. Inside a queue order of time holds always: messages of a connection stay in
// order, and so do the effects of a lane. Schedulers that are not Timed choose between the heads.
type laneQueue struct {
	lanes []Timed
	count int
	open  []int32 // scratch of eligible
}

func (q *laneQueue) reset(lanes int) {
	for i := range q.lanes {
		q.lanes[i].Reset()
	}
	for len(q.lanes) < lanes {
		q.lanes = append(q.lanes, Timed{})
	}
	q.count = 0
}

func (q *laneQueue) push(it Item) {
	q.lanes[it.Lane].Push(it)
	q.count++
}

func (q *laneQueue) take(lane int32) Item {
	it, _ := q.lanes[lane].Pop()
	q.count--
	return it
}

// eligible lists the queues whose head may be next: those due within the window that begins with the earliest of all, and before the world's
// own next event, which nothing overtakes. That one is eligible too, last in the list, when it is within the window, except for the calm. The
// list is good until the next call.
func (q *laneQueue) eligible(windowNs int64, events []event) []int32 {
	q.open = q.open[:0]
	earliest := int32(-1)
	for i := range q.lanes {
		if it, ok := q.lanes[i].First(); ok && (earliest < 0 || less(it, &q.lanes[earliest].items[0]) == 1) {
			earliest = int32(i)
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
	for i := 1; i < len(q.lanes); i++ {
		if it, ok := q.lanes[i].First(); ok && it.At <= limit && int32(i) != earliest {
			q.open = append(q.open, int32(i))
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
