package invariants

import "github.com/kraftsim/kraftsim/sim"

// staticVoterWiped is the evidence of a declared loss: at kraft.version 0 a voter whose disk was emptied keeps its identity. It
// votes again in epochs in which it voted, and its acknowledgements count though what they acknowledged is gone.
const staticVoterWiped = "static-voter-wiped"

// OnWipe implements sim.WipeChecker.
func (s *Suite) OnWipe(h *sim.Host) {
	c, r := s.enter(h)
	c.wiped(r)
}

// wiped begins a new incarnation of a replica: what it promised died with its disk.
func (c *core) wiped(r *replica) {
	r.votes, r.requestEpoch, r.lastLed, r.candidacy = r.votes[:0], 0, -1, 0
	r.incarnation++
	r.fsyncFailed, r.unflushed = false, window{}
	*c.times.wiped++
	for _, o := range c.replicas { // whoever still counts it by its id alone may count it twice
		if v := c.votersOf(o).find(r.nodeID); v != nil && v.dir.IsZero() && c.votersOf(o).has(&voterKey{id: o.nodeID}) {
			c.loss = staticVoterWiped
		}
	}
}
