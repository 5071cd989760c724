package invariants

// What every log of the run has deleted nobody can ask for again: retention bounds the memory of the checkers as it bounds
// the disks. Forgetting happens in large pieces, so that it costs O(1) per batch.

// forgetAtOnce is how many batches are forgotten at least.
const forgetAtOnce = 1 << 12

// forget drops what lies below all logs, when that is half of the ledger at least.
func (c *core) forget() {
	l := &c.ledger
	n := len(l.batches)
	if n < 2*forgetAtOnce {
		return
	}
	start := c.lowestStart()
	if l.batches[n/2].end >= start {
		return
	}
	for n = 0; n < len(l.batches) && l.batches[n].end < start; n++ {
	}
	l.drop(n)
	x := &c.exposed
	n = 0
	for n < len(x.entries) && x.entries[n].end < start {
		n++
	}
	x.entries = append(x.entries[:0], x.entries[n:]...)
	x.from = max(x.from, start)
	c.images.drop(start)
}

// lowestStart is where the log begins that begins first, or what a listener is given next, if that is less. A host that was
// not started yet may have anything on its disk; an empty log asks for nothing that the others don't have.
func (c *core) lowestStart() int64 {
	lowest := max(c.exposed.end, 0)
	for _, r := range c.replicas {
		if r.boot == 0 {
			return 0
		}
		if r.log.end > 0 {
			lowest = min(lowest, r.log.start)
		}
		for i := range r.listeners {
			if next := r.listeners[i].next; next >= 0 {
				lowest = min(lowest, next)
			}
		}
		if r.loader.lastOffset >= 0 {
			lowest = min(lowest, r.loader.lastOffset)
		}
	}
	return lowest
}

// size counts the batches that were ever interned.
func (l *ledger) size() int { return int(l.first) + len(l.batches) }

// forgotten reports whether a batch is no longer known. The log of a host that lost power may begin before its deletion
// again: its old batches are new ones then, and it meets the others where those begin.
func (l *ledger) forgotten(id batchID) bool { return id != noBatch && id < l.first }

// drop forgets the n oldest batches and makes the table of offsets anew.
func (l *ledger) drop(n int) {
	edits := int32(len(l.edits))
	if n < len(l.batches) {
		edits = l.batches[n].editStart - l.firstEdit
	}
	l.edits = append(l.edits[:0], l.edits[edits:]...)
	l.firstEdit += edits
	l.batches = append(l.batches[:0], l.batches[n:]...)
	l.first += batchID(n)
	l.heads, l.origin = l.heads[:0], -1
	lowest := int64(-1)
	for i := range l.batches {
		if b := l.batches[i].base; lowest < 0 || b < lowest {
			lowest = b
		}
		l.batches[i].next = noBatch
	}
	if lowest < 0 {
		return
	}
	l.origin = max(lowest-1024, 0)
	for i := range l.batches {
		l.link(l.first+batchID(i), l.batches[i].base)
	}
}

// drop forgets the images below an offset.
func (t *imageTable) drop(offset int64) {
	if n := offset - t.origin; t.origin >= 0 && n > 0 && n <= int64(len(t.rows)) {
		t.rows = append(t.rows[:0], t.rows[n:]...)
		t.origin = offset
	}
}
