package invariants

import "github.com/kraftsim/kraftsim/sim"

var acknowledgedSurvivesDoc = sim.InvariantDoc{
	Name:   "acknowledged-survives",
	Source: "kraft-protocol S11; known-bugs S10",
	Doc:    "An append that was reported committed is exposed by then, and is in the log of every later leader.",
}

// ackedAppends remembers the last append that was reported committed; the ones before it are its prefix.
type ackedAppends struct {
	batch batchID
	end   int64 // of the batch
	epoch int32
}

func (a *ackedAppends) reset() { *a = ackedAppends{batch: noBatch, end: -1} }

// appendAcknowledged follows the answer to an operation whose records end with offset last.
func (c *core) appendAcknowledged(r *replica, last int64) {
	rule := &c.rules.acknowledgedSurvives
	rule.eval()
	if last < c.exposed.from {
		return // forgotten: it was committed
	}
	i := c.exposed.containing(last)
	if i < 0 {
		rule.fail("not-committed", r.id+" reports the append that ends at "+number(last)+" as committed, exposed are records up to "+
			number(c.exposed.end))
		return
	}
	if e := c.exposed.entries[i]; e.end > c.acked.end {
		c.acked = ackedAppends{batch: e.id, end: e.end, epoch: c.ledger.at(e.id).epoch}
	}
}

// acknowledgedAtEntry checks a new leader.
func (c *core) acknowledgedAtEntry(r *replica, l *leadership) {
	a := &c.acked
	if a.batch == noBatch || l.epoch <= a.epoch || a.end <= r.log.start {
		return
	}
	c.rules.acknowledgedSurvives.eval()
	if r.log.batchEndingAt(a.end) != a.batch {
		c.rules.acknowledgedSurvives.fail("lost", r.id+" became leader of epoch "+number(int64(l.epoch))+
			" without the acknowledged records up to "+number(a.end))
	}
}
