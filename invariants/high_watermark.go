package invariants

import "github.com/kraftsim/kraftsim/sim"

var hwMonotonicDoc = sim.InvariantDoc{
	Name:   "hw-monotonic",
	Source: "KIP-595; kraft-protocol S7, S8",
	Doc: "A high watermark never goes back within one leader state or one follower process life; the first one of a new leader " +
		"exceeds all that leaders of lower epochs had exposed; a follower's is at most what some leader of its epoch or a lower one " +
		"reached.",
}

var ownEpochCommitDoc = sim.InvariantDoc{
	Name:   "own-epoch-commit",
	Source: "Raft section 5.4.2; KAFKA-12619; kraft-protocol S9",
	Doc:    "A leader exposes a high watermark only above the offset of its own epoch's first batch.",
}

// watermarkEvent follows the event of a replica that raised its high watermark. The event is no exposure: it says when to look
// at the disks, and bounds what a deposed leader may take along as a follower.
func (c *core) watermarkEvent(r *replica, epoch int32, hw int64, isLeader bool) {
	c.watermarkLearned(r, hw)
	if !isLeader {
		c.followerWatermark(r, epoch, hw)
		return
	}
	l := c.claim(r, epoch, "event")
	if l == nil {
		return
	}
	c.rules.hwMonotonic.eval()
	if hw < l.raised {
		c.rules.hwMonotonic.fail("leader-went-back", r.id+" as leader of epoch "+number(int64(epoch))+" went from "+
			number(l.raised)+" back to "+number(hw))
	}
	c.raise(r, l, hw)
}

// watermarkTold checks what a leader tells in an answer to a Fetch against what it told before, to anybody: an answer is made when it
// is sent, also that to a Fetch which has waited, and says what is so by then. One that does not know is no step back.
func (c *core) watermarkTold(r *replica, epoch int32, hw int64) {
	l := c.leadershipAt(epoch)
	if l == nil || l.host != r.host || l.incarnation != r.incarnation {
		return // its first word, or claim says what is wrong
	}
	c.rules.hwMonotonic.eval()
	if hw < l.told {
		c.rules.hwMonotonic.fail("answer-went-back", r.id+" as leader of epoch "+number(int64(epoch))+" answers a Fetch with high watermark "+
			number(hw)+", after it had told "+number(l.told))
	}
	l.told = max(l.told, hw)
}

// raise notes a raise and checks it for durability, once.
func (c *core) raise(r *replica, l *leadership, hw int64) {
	if hw > l.raised {
		c.hwDurable(r, l, hw)
		l.before, l.raised = l.raised, hw
		c.exposed.claimed = max(c.exposed.claimed, hw)
	}
}

// firstWatermark checks the first exposure of a leader.
func (c *core) firstWatermark(r *replica, l *leadership, hw int64) {
	rule := &c.rules.hwMonotonic
	rule.eval()
	if most := c.exposedBelow(l.epoch); hw <= most {
		rule.fail("new-leader-lower", r.id+" as leader of epoch "+number(int64(l.epoch))+" first exposed "+number(hw)+
			", but leaders of lower epochs had exposed "+number(most))
	}
}

// followerWatermark checks a high watermark that a replica shows while it is not leader: in its Fetch requests and events.
func (c *core) followerWatermark(r *replica, epoch int32, hw int64) {
	rule := &c.rules.hwMonotonic
	rule.eval()
	if hw < r.watermark {
		rule.fail("follower-went-back", r.id+" went from high watermark "+number(r.watermark)+" back to "+number(hw)+
			" in one process life")
	}
	if hw > r.watermark {
		if most := c.claimedMax(epoch); hw > most {
			rule.fail("follower-ahead", r.id+" in epoch "+number(int64(epoch))+" has high watermark "+number(hw)+
				", but no leader of that epoch or a lower one went beyond "+number(most))
		}
	}
	r.watermark = hw
}

// ownEpochCommit checks an exposure against the start of the epoch.
func (c *core) ownEpochCommit(r *replica, l *leadership, hw int64) {
	rule := &c.rules.ownEpochCommit
	rule.eval()
	if start := c.start(r, l); start < 0 || hw <= start {
		if start < 0 && !r.leads(l.epoch) {
			return // deposed, and its log was cut since: nothing to compare with
		}
		rule.fail("before-epoch-start", r.id+" exposed "+number(hw)+" as leader of epoch "+number(int64(l.epoch))+
			", whose first batch is at "+number(start))
	}
}
