package invariants

// soleVoterUnflushed is the evidence of the declared loss: a sole voter commits what it appends before it flushes it, and a
// power loss in that window takes acknowledged records (kraft-protocol 3.6). The window ends when its raft lane takes the
// next input, so only the records of the last raise can be lost; anything more keeps its own evidence.
const soleVoterUnflushed = "sole-voter-unflushed"

// window is what a sole voter that went down had committed and not flushed: the records from one offset to another.
type window struct{ from, to int64 }

// openWindow notes the window of a sole voter that goes down.
func (c *core) openWindow(r *replica) {
	l := c.leadershipAt(r.roleEpoch)
	if l == nil || l.host != r.host || !r.leads(l.epoch) || c.votersOf(r).size() != 1 || r.durableEnd() >= l.raised {
		return
	}
	r.unflushed = window{from: max(l.before, 0), to: l.raised}
}

// closeWindow looks at what the sole voter kept, now that its volume was read again. A kill keeps the bytes in the page
// cache: the window stays open until they are durable.
func (c *core) closeWindow(r *replica) {
	x := r.unflushed
	if x.to == 0 {
		return
	}
	if r.log.end >= x.to {
		if r.durableEnd() >= x.to {
			r.unflushed = window{}
		}
		return
	}
	r.unflushed = window{}
	if r.log.end < x.from || c.exposed.end <= r.log.end {
		return
	}
	c.loseWindow(r)
}

// loseWindow reports the declared loss.
func (c *core) loseWindow(r *replica) {
	acked := c.acked.end > r.log.end
	c.loss = soleVoterUnflushed
	detail := r.id + " was the only voter and lost the committed records from " + number(r.log.end) + " to " +
		number(c.exposed.end) + ", which it had not flushed"
	c.rules.leaderCompleteness.fail(soleVoterUnflushed, detail)
	if acked {
		c.rules.acknowledgedSurvives.fail(soleVoterUnflushed, detail)
	}
	c.forgetAbove(r.log.end)
}

// forgetAbove takes everything above an offset out of what is exposed, so that the run can go on behind the declared loss.
func (c *core) forgetAbove(end int64) {
	x := &c.exposed
	n := len(x.entries)
	for n > 0 && x.entries[n-1].end > end {
		n--
	}
	x.entries = x.entries[:n]
	x.end = min(x.end, end)
	x.highest, x.claimed = min(x.highest, end), min(x.claimed, end)
	for i := range c.leaders {
		l := &c.leaders[i]
		l.exposed, l.raised, l.before = min(l.exposed, end), min(l.raised, end), min(l.before, end)
	}
	c.acked.reset()
	c.stable.reset()
	c.state.reset()
	if x.from > 0 { // the beginning is forgotten: go on from what the last batch left says
		c.state.known, c.state.from = false, -1
		if n > 0 {
			c.stable.beginWith(&c.ledger.at(x.entries[n-1].id).after)
			c.stable.end = x.end
		}
	} else {
		for i := range x.entries {
			e := &x.entries[i]
			e.sum, e.known = c.state.advance(&c.ledger, e.id)
			e.known = e.known && c.ledger.at(e.id).rooted
			c.stableAdvance(e.id)
		}
	}
	for i := range c.images.rows {
		if c.images.origin+int64(i) >= end {
			c.images.rows[i] = imageRow{}
		}
	}
}
