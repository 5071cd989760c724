package invariants

import "github.com/kraftsim/kraftsim/sim"

var twoLeadersBoundedDoc = sim.InvariantDoc{
	Name:   "two-leaders-bounded",
	Source: "KAFKA-15489; kraft-protocol L6, 3.8",
	Doc: "A leader steps down within 1.5 times the fetch timeout after it lost its majority (3 times with more than three voters or after a " +
		"voter change), plus pauses and clock error.",
}

// strikes is how many signs of life of an overdue leader are too many. A lane that a slow disk or a pause held up handles one
// message more before it polls its timers; the second one shows that it polled them and leads on.
const strikes = 2

// lastCall is the last request of one host to another by which a voter shows its leader that it follows: a Fetch, a FetchSnapshot or an
// UpdateRaftVoter.
type lastCall struct {
	key  voterKey
	atNs int64
	made bool
}

// called notes such a request as it is taken in: a packet may be on its way for longer than any timeout, and counts when it arrives.
func (c *core) called(r, to *replica, key voterKey) {
	c.wire.between(r, to).call = lastCall{key, c.nowNs, true}
}

// fetchAccepted follows a leader that took in the fetch of a replica. Its word picks the moment; that there was a request, by
// exactly that replica and not long ago, is what messages say.
func (c *core) fetchAccepted(r *replica, key voterKey) {
	l := c.leadershipAt(r.roleEpoch)
	if l == nil || l.host != r.host || !r.leads(l.epoch) {
		return
	}
	v := c.votersOf(r).find(key.id)
	if v == nil || !v.dir.IsZero() && v.dir != key.dir {
		c.signOfLife(r, 1)
		return
	}
	atNs, found := int64(0), false
	for _, x := range c.replicas {
		if call := &c.wire.between(x, r).call; call.made && call.key == key {
			atNs, found = max(atNs, call.atNs), true
		}
	}
	if found {
		l.contacted(key.id, min(c.nowNs, atNs+c.cfg.FetchTimeoutNs+c.cfg.ClockErrorNs))
	}
}

// contacted notes when a voter showed that it follows.
func (l *leadership) contacted(node int32, atNs int64) {
	for i := range l.contacts {
		x := &l.contacts[i]
		if !x.used || x.node == node {
			*x = contact{node: node, atNs: atNs, used: true}
			return
		}
	}
	l.crowded = true
}

// signOfLife is the fetch of an observer that a leader took in, or its BeginQuorumEpoch: it still leads. Signs closer than
// apartNs come from one poll.
func (c *core) signOfLife(r *replica, apartNs int64) {
	if c.cfg.FetchTimeoutNs == 0 || r.role != leader {
		return
	}
	l := c.leadershipAt(r.roleEpoch)
	if l == nil || l.host != r.host || c.nowNs <= l.dueNs || l.crowded {
		return
	}
	rule := &c.rules.twoLeadersBounded
	rule.eval()
	set := c.votersOf(r)
	before := l.dueNs
	if l.dueNs = c.majorityAt(r, l, set) + c.leadBound(l, set.others(r)); l.dueNs > before {
		r.leadStrikes = 0 // a majority was there since the last sign
	}
	if c.nowNs <= l.dueNs {
		r.leadStrikes = 0
		return
	}
	if r.leadStrikes > 0 && c.nowNs-r.strikeAtNs < apartNs {
		return
	}
	r.leadStrikes++
	r.strikeAtNs = c.nowNs
	if r.leadStrikes >= strikes {
		rule.fail("leads-without-majority", r.id+" still leads epoch "+number(int64(l.epoch))+" "+
			number((c.nowNs-l.dueNs)/1_000_000)+" ms after the time by which a leader without a majority steps down")
	}
}

// others is how many voters besides a replica make a majority; all that it needs when it is none itself.
func (s *voterSet) others(r *replica) int32 {
	if s.holds(r) {
		return s.majority() - 1
	}
	return s.majority()
}

// leadBound is how long a leader may go on without its majority, which takes others. It collects them one by one from the last
// time that it had a majority on: the first right after that, the last just before the time is over. After a change that made
// the majority smaller one that was collected before may be the last.
func (c *core) leadBound(l *leadership, others int32) int64 {
	t := c.cfg.FetchTimeoutNs
	bound := t + t/2
	if others > 1 || l.changedNs > 0 {
		bound = 3 * t
	}
	return bound + bound/10 + c.cfg.ClockErrorNs
}

// majorityAt returns the last time at which the leader had a majority: the time of the contact that completes one, counted
// from the latest back, and at the earliest when the voters last changed. A single voter has one for ever.
func (c *core) majorityAt(r *replica, l *leadership, set *voterSet) int64 {
	need := set.others(r)
	if need <= 0 || set.size() == 1 {
		return c.nowNs
	}
	at := max(l.enteredNs, l.changedNs)
	for i := range l.contacts {
		x := &l.contacts[i]
		if x.atNs > at && l.contactsSince(set, x.atNs) >= need {
			at = x.atNs
		}
	}
	return at
}

// contactsSince counts the voters whose last contact was at a time or later.
func (l *leadership) contactsSince(set *voterSet, atNs int64) (n int32) {
	for i := range l.contacts {
		if x := &l.contacts[i]; x.used && x.atNs >= atNs && set.find(x.node) != nil {
			n++
		}
	}
	return n
}
