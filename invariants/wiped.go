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
	r.fsyncFailing, r.fsyncFailed, r.unflushed = false, false, window{}
	*c.times.wiped++
	for _, o := range c.replicas { // whoever still counts it by its id alone may count it twice
		if v := c.votersOf(o).find(r.nodeID); v != nil && v.dir.IsZero() && c.votersOf(o).has(&voterKey{id: o.nodeID}) {
			c.loss = staticVoterWiped
		}
	}
}

// begunAnew begins a new incarnation of a replica that removed its own log, and now its election state, before raft ran: a broker that
// never voted and never led, which the run allows to do so. It reports whether that is what happens.
func (c *core) begunAnew(r *replica) bool {
	if !c.cfg.BeginsAnew || r.server || len(r.log.entries) > 0 || len(r.votes) > 0 || r.lastLed >= 0 {
		return false
	}
	r.requestEpoch, r.quorum = 0, noQuorumFile
	r.incarnation++
	return true
}
