package invariants

import "github.com/kraftsim/kraftsim/sim"

var hwDurableDoc = sim.InvariantDoc{
	Name:   "hw-durable",
	Source: "KAFKA-10533; kraft-protocol 3.6; known-bugs S5",
	Doc: "When a leader raises its high watermark to h, a majority of the newest voter set in its log held [0, h) durably when they " +
		"sent the Fetch that acknowledges it, the leader itself at the raise; a sole voter before its raft lane takes its next input.",
}

// hwDurable counts the members of the voter set that hold the leader's records below hw on the platter. Checked at the raise
// only: a lost volume does not un-commit.
func (c *core) hwDurable(r *replica, l *leadership, hw int64) {
	rule := &c.rules.hwDurable
	rule.eval()
	if hw <= r.log.start {
		return
	}
	id := r.log.batchEndingAt(hw)
	if id == noBatch {
		if r.leads(l.epoch) {
			rule.fail("beyond-log", r.id+" raised its high watermark to "+number(hw)+", which is no batch boundary of its log; it ends at "+
				number(r.log.end))
		}
		return
	}
	set := c.votersOf(r)
	if set.size() == 1 && set.holds(r) {
		c.soleVoter(r, l)
		return
	}
	holders := int32(0)
	for i := range set.keys {
		if c.holdsDurably(r, &set.keys[i], l.epoch, id, hw) {
			holders++
		}
	}
	if holders < set.majority() {
		if c.fsyncFailed(set) {
			c.loss = afterFailedFsync
		}
		rule.fail("too-few-durable", r.id+" raised its high watermark to "+number(hw)+" in epoch "+number(int64(l.epoch))+
			", but only "+number(int64(holders))+" of "+number(int64(set.size()))+" voters held that durably when they acknowledged it")
	}
}

// holdsDurably reports whether a voter held the batch that ends at hw durably: the leader r now, others when they sent one of
// their Fetch requests, whatever became of their disks since.
func (c *core) holdsDurably(r *replica, voter *voterKey, epoch int32, id batchID, hw int64) bool {
	if voter.matches(&voterKey{r.nodeID, r.directoryID}) {
		return r.durableEnd() >= hw
	}
	for _, v := range c.replicas {
		if v != r && v.nodeID == voter.id && c.acknowledges(v, voter, epoch, id, hw) {
			return true
		}
	}
	return false
}

// afterFailedFsync is the evidence of a declared loss: after a failed fsync the kernel takes the pages for clean. The process
// stops, its next life finds the bytes in the page cache and syncs them in vain, and acknowledges what a power loss takes.
const afterFailedFsync = "after-failed-fsync"

// fsyncForgotten begins what a failed fsync excuses: the lives after the one that it has to end. A process that goes on has acknowledged what it
// knew not to be durable, which is no loss that is declared.
func (r *replica) fsyncForgotten() {
	r.fsyncFailed, r.fsyncFailing = r.fsyncFailed || r.fsyncFailing, false
}

// fsyncFailed reports whether an fsync of the log failed on a member of the set, in a process life that is over.
func (c *core) fsyncFailed(set *voterSet) bool {
	for i := range set.keys {
		if v := c.byVoter(&set.keys[i]); v != nil && v.fsyncFailed {
			return true
		}
	}
	return false
}

// soleVoter checks the raise before this one: what a sole voter commits it may flush until its raft lane takes the next
// input, and this raise is of a later input. Power loss in that window is the declared loss "sole-voter-unflushed".
func (c *core) soleVoter(r *replica, l *leadership) {
	if l.raised > 0 && r.durableEnd() < l.raised && r.leads(l.epoch) {
		if r.fsyncFailed {
			c.loss = afterFailedFsync
		}
		c.rules.hwDurable.fail("sole-voter-never-flushed", r.id+" is the only voter and goes on from high watermark "+number(l.raised)+
			" with a log that is durable up to "+number(r.durableEnd())+" only")
	}
}

// acknowledges reports whether one of the voter's latest Fetch requests of the epoch covers the batch that ends at hw.
func (c *core) acknowledges(v *replica, voter *voterKey, epoch int32, id batchID, hw int64) bool {
	for i := range v.acks {
		if c.covers(&v.acks[i], voter, epoch, id, hw) {
			return true
		}
	}
	for i := len(v.oldAcks) - 1; i >= 0; i-- {
		a := &v.oldAcks[i]
		if c.covers(a, voter, epoch, id, hw) {
			return true
		}
		if a.epoch < epoch && a.dir == voter.dir { // a disk that came later began with epoch 0 again
			break
		}
	}
	return false
}

// covers reports whether an acknowledgement is the voter's and covers the batch.
func (c *core) covers(a *acknowledgement, voter *voterKey, epoch int32, id batchID, hw int64) bool {
	return a.epoch == epoch && a.end >= hw && a.batch != noBatch && (a.dir == voter.dir || voter.dir.IsZero()) &&
		c.ledger.ancestor(a.batch, hw) == id
}

// acknowledge notes what a Fetch acknowledges as it is sent. A Fetch at the same point as the one before takes its place.
func (c *core) acknowledge(r *replica, epoch int32, offset int64) {
	end := min(offset, r.durableEnd())
	a := acknowledgement{epoch: epoch, end: end, batch: r.log.batchEndingAt(end), dir: r.directoryID}
	last := &r.acks[(r.nextAck+3)%4]
	if *last == a {
		return
	}
	if last.epoch != epoch || last.dir != a.dir { // a deposed leader may get the last Fetch of its epoch at any time
		r.oldAcks = append(r.oldAcks, *last)
	}
	r.acks[r.nextAck] = a
	r.nextAck = (r.nextAck + 1) % 4
}
