package invariants

// exposedLog is the committed log: what leaders have exposed. "Exposed" is defined by what left a process: an answer to a
// Fetch that carries the high watermark of a leader, or a call of a listener on a leader.
type exposedLog struct {
	entries []exposedEntry
	end     int64 // exclusive; -1 before the first exposure
	highest int64 // highest exposure of any leader
	claimed int64 // highest high watermark that any leader claims, in events too
	from    int64 // what ends below is forgotten, see forget.go
}

// exposedEntry is one committed batch.
type exposedEntry struct {
	id    batchID
	epoch int32 // of the leader that exposed it first
	end   int64
	sum   uint64 // of the state behind it, see state.go
	known bool   // sum means something
}

func (x *exposedLog) reset() {
	*x = exposedLog{entries: x.entries[:0], end: -1, highest: -1, claimed: -1}
}

// index returns the index of the batch that ends at an offset, -1 when none does.
func (x *exposedLog) index(end int64) int32 {
	high := int32(len(x.entries)) - 1
	for n := 0; n < 8 && high >= 0; n++ {
		if e := x.entries[high].end; e <= end {
			if e == end {
				return high
			}
			return -1
		}
		high--
	}
	low := int32(0)
	for low <= high {
		mid := (low + high) / 2
		switch e := x.entries[mid].end; {
		case e == end:
			return mid
		case e < end:
			low = mid + 1
		default:
			high = mid - 1
		}
	}
	return -1
}

// containing returns the index of the batch that holds an offset, -1 when none does.
func (x *exposedLog) containing(offset int64) int32 {
	low, high := int32(0), int32(len(x.entries))
	for low < high {
		mid := (low + high) / 2
		if x.entries[mid].end > offset {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if int(low) == len(x.entries) {
		return -1
	}
	return low
}

// expose says that the leader of an epoch showed high watermark hw.
func (c *core) expose(r *replica, epoch int32, hw int64, evidence string) {
	l := c.claim(r, epoch, evidence)
	if l == nil || hw <= l.exposed {
		return
	}
	c.ownEpochCommit(r, l, hw)
	if hw > 0 {
		c.exposeUpTo(r, l, hw)
	}
}

// exposeUpTo says that the leader showed everything below hw as committed.
func (c *core) exposeUpTo(r *replica, l *leadership, hw int64) {
	if l.exposed < 0 {
		c.firstWatermark(r, l, hw)
	}
	c.raise(r, l, hw)
	l.exposed = hw
	c.exposed.highest = max(c.exposed.highest, hw)
	at := r.log.endingAt(hw)
	if at < 0 {
		return // a deposed leader's answer from before it cut its log
	}
	c.completeAtExposure(r, l, r.log.entries[at].id, hw)
	c.extend(r, l.epoch, at, hw)
}

// extend adds what is newly exposed to the committed log, unless the log of the leader contradicts it.
func (c *core) extend(r *replica, epoch, at int32, hw int64) {
	x := &c.exposed
	if hw <= x.end {
		if i := x.index(hw); i < 0 || x.entries[i].id != r.log.entries[at].id {
			c.exposedTwice(r, hw)
		}
		return
	}
	from, covered := int32(0), int64(-1)
	if max(x.end, 0) < r.log.start {
		covered = c.beginWithSnapshot(r)
	}
	if x.end > r.log.start {
		prev := r.log.endingAt(x.end)
		if prev < 0 || r.log.entries[prev].id != x.entries[len(x.entries)-1].id {
			c.exposedTwice(r, x.end)
			return
		}
		from = prev + 1
	}
	for i := from; i <= at; i++ {
		e := r.log.entries[i]
		if e.end <= covered { // the snapshot has it already
			x.entries = append(x.entries, exposedEntry{id: e.id, epoch: epoch, end: e.end})
			x.end = e.end
			continue
		}
		sum, known := c.state.advance(&c.ledger, e.id)
		x.entries = append(x.entries, exposedEntry{id: e.id, epoch: epoch, end: e.end, sum: sum, known: known})
		x.end = e.end
		c.stableAdvance(e.id)
	}
}

// beginWithSnapshot takes what the leader's log lacks from its oldest snapshot: what was committed before the run. A damaged one is
// passed over, since a node that has a newer one never reads it. It returns the offset that the snapshot reaches to, -1 for none.
func (c *core) beginWithSnapshot(r *replica) (covered int64) {
	for above := int64(-1); ; {
		var oldest *snapshotFile
		for i := range r.snapshots.files {
			if f := &r.snapshots.files[i]; f.offset > above && (oldest == nil || f.offset < oldest.offset) {
				oldest = f
			}
		}
		if oldest == nil {
			return -1
		}
		data, _ := r.disk.File(oldest.path)
		s := c.readSnapshot(oldest.epoch, data)
		if s.problem == "" {
			c.state.beginWith(oldest.offset, c.ledger.edits[s.edits:])
			c.stable.beginWith(&s.view)
		}
		c.ledger.edits = c.ledger.edits[:s.edits]
		if s.problem == "" {
			return oldest.offset
		}
		above = oldest.offset
	}
}

// claimedMax is the highest high watermark that a leader of the epoch or a lower one is known or claims to have reached.
func (c *core) claimedMax(epoch int32) int64 {
	most := int64(-1)
	for i := len(c.leaders) - 1; i >= 0; i-- {
		if c.leaders[i].epoch <= epoch {
			most = max(most, c.leaders[i].raised)
			if most >= c.exposed.claimed {
				break
			}
		}
	}
	return most
}

// exposedBelow is the highest exposure of leaders of lower epochs.
func (c *core) exposedBelow(epoch int32) int64 {
	most := int64(-1)
	for i := len(c.leaders) - 1; i >= 0; i-- {
		if c.leaders[i].epoch < epoch {
			most = max(most, c.leaders[i].exposed)
			if most >= c.exposed.highest {
				break
			}
		}
	}
	return most
}
