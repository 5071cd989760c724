package invariants

import "github.com/kraftsim/kraftsim/sim"

var leaderCompletenessDoc = sim.InvariantDoc{
	Name:   "leader-completeness",
	Source: "Raft figure 3; kraft-protocol S6",
	Doc: "What a leader exposed as committed is in the log of every leader of a higher epoch, with the same epoch and bytes, " +
		"whichever of the two came first.",
}

// completeAtEntry checks a new leader against what leaders of lower epochs have exposed.
func (c *core) completeAtEntry(r *replica, l *leadership) {
	rule := &c.rules.leaderCompleteness
	rule.eval()
	c.acknowledgedAtEntry(r, l)
	most := c.exposedBelow(l.epoch)
	if most < 0 || most <= r.log.start {
		return
	}
	i := c.exposed.index(most)
	if i < 0 || r.log.batchEndingAt(most) == c.exposed.entries[i].id {
		return
	}
	rule.fail("lost-at-election", r.id+" became leader of epoch "+number(int64(l.epoch))+" without the committed records up to "+
		number(most)+"; its log ends at "+number(r.log.end))
}

// completeAtExposure checks the leaders of higher epochs that are known already: a deposed leader may still count fetches
// that were under way.
func (c *core) completeAtExposure(r *replica, l *leadership, id batchID, hw int64) {
	for i := len(c.leaders) - 1; i >= 0 && c.leaders[i].epoch > l.epoch; i-- {
		c.rules.leaderCompleteness.eval()
		later := &c.leaders[i]
		if later.head != noBatch && c.ledger.ancestor(later.head, hw) == id {
			continue
		}
		c.rules.leaderCompleteness.fail("exposed-after-election", r.id+" exposed "+number(hw)+" in epoch "+
			number(int64(l.epoch))+", but "+c.replicas[later.host].id+" had become leader of epoch "+
			number(int64(later.epoch))+" without these records")
		return
	}
}

// exposedTwice reports two leaders that exposed different records.
func (c *core) exposedTwice(r *replica, hw int64) {
	c.rules.leaderCompleteness.fail("other-records-exposed", r.id+" exposed records up to "+number(hw)+
		" that differ from those exposed before")
}
