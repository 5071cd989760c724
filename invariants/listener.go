package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/digest"
)

var stateMachineSafetyDoc = sim.InvariantDoc{
	Name:   "state-machine-safety",
	Source: "Raft figure 3; kraft-protocol S11",
	Doc:    "No two listeners are ever given different batches for one offset, and none is given a batch that is not committed.",
}

var listenerOrderDoc = sim.InvariantDoc{
	Name:   "listener-order",
	Source: "KAFKA-15345, KAFKA-17333, KAFKA-16535; kraft-protocol S21, 3.10",
	Doc: "A listener is given contiguous offsets in order, from a snapshot on where one comes in between, the bootstrap checkpoint " +
		"once and first, and is told that the local replica leads only when it really leads and everything up to the epoch's first " +
		"batch was delivered.",
}

// listener is one registered listener in one process life.
type listener struct {
	name      string
	next      int64 // next offset to be delivered, -1: nothing yet
	epoch     int32 // latest that it was told
	position  int32 // index in the exposed log behind the last delivery
	bootstrap bool
}

// listenerOf returns the state of a listener, adding it when it is new.
func (r *replica) listenerOf(name string) *listener {
	for i := range r.listeners {
		if r.listeners[i].name == name {
			return &r.listeners[i]
		}
	}
	r.listeners = append(r.listeners, listener{name: name, next: -1})
	return &r.listeners[len(r.listeners)-1]
}

// delivered follows one committed batch into a listener.
func (c *core) delivered(r *replica, name string, bytes record.Batch) {
	x := r.listenerOf(name)
	base, end := bytes.BaseOffset(), bytes.NextOffset()
	rule := &c.rules.listenerOrder
	rule.eval()
	if x.next >= 0 && base != x.next || x.next < 0 && base > r.log.start {
		rule.fail("not-contiguous", r.id+" gave listener "+name+" the batch at "+number(base)+", next was "+number(x.next))
	}
	x.next = end
	c.exposedByDelivery(r, end)
	c.deliveredSafely(r, x, bytes, end)
}

// exposedByDelivery makes the exposure that a delivery on a leader is. What a leader delivers may have been committed before
// it led; and a leader that was deposed meanwhile delivers what it had committed.
func (c *core) exposedByDelivery(r *replica, end int64) {
	if end <= c.exposed.end || r.lastLed < 0 {
		return
	}
	l := c.leadershipAt(r.lastLed)
	if l == nil || l.host != r.host || end <= l.exposed {
		return
	}
	switch {
	case end <= l.raised: // a delivery shows less than the high watermark that allowed it
		c.ownEpochCommit(r, l, l.raised)
	case r.leads(l.epoch) && end > r.entryMark:
		c.ownEpochCommit(r, l, end)
	default:
		return
	}
	c.exposeUpTo(r, l, end)
}

// deliveredSafely compares the batch with the committed log.
func (c *core) deliveredSafely(r *replica, x *listener, bytes record.Batch, end int64) {
	rule := &c.rules.stateMachineSafety
	rule.eval()
	i := x.position
	if int(i) >= len(c.exposed.entries) || c.exposed.entries[i].end != end {
		i = c.exposed.index(end)
	}
	if i < 0 {
		rule.fail("not-committed", r.id+" gave listener "+x.name+" records up to "+number(end)+", exposed are "+
			number(c.exposed.end))
		return
	}
	x.position = i + 1
	if b := c.ledger.at(c.exposed.entries[i].id); b.hash != digest.Bytes(0, bytes) {
		rule.fail("other-batch", r.id+" gave listener "+x.name+" a batch at "+number(bytes.BaseOffset())+" of epoch "+
			number(int64(bytes.LeaderEpoch()))+" that differs from the committed one of epoch "+number(int64(b.epoch)))
	}
}

// snapshotDelivered follows a snapshot into a listener, which may jump forward by it and never back.
func (c *core) snapshotDelivered(r *replica, name string, offset int64) {
	x := r.listenerOf(name)
	rule := &c.rules.listenerOrder
	rule.eval()
	if x.next > offset {
		rule.fail("snapshot-back", r.id+" gave listener "+name+" the snapshot "+number(offset)+" behind offset "+number(x.next))
	}
	x.next = offset
	safe := &c.rules.stateMachineSafety
	safe.eval()
	if i := c.exposed.index(offset); i >= 0 {
		x.position = i + 1
		return
	}
	for i := range r.snapshots.files {
		if r.snapshots.files[i].offset == offset {
			return // from before the run, or snapshot-fit has said so
		}
	}
	safe.fail("not-committed", r.id+" gave listener "+name+" the snapshot "+number(offset)+", exposed are "+number(c.exposed.end))
}

// bootstrapDelivered follows the 0-0 checkpoint into a listener.
func (c *core) bootstrapDelivered(r *replica, name string) {
	x := r.listenerOf(name)
	rule := &c.rules.listenerOrder
	rule.eval()
	if x.bootstrap {
		rule.fail("bootstrap-again", r.id+" gave listener "+name+" the bootstrap checkpoint again")
	} else if x.next > 0 {
		rule.fail("bootstrap-late", r.id+" gave listener "+name+" the bootstrap checkpoint behind offset "+number(x.next))
	}
	x.bootstrap = true
}

// leaderDelivered follows the announcement of a leader to a listener.
func (c *core) leaderDelivered(r *replica, name string, leaderID, epoch int32) {
	x := r.listenerOf(name)
	rule := &c.rules.listenerOrder
	rule.eval()
	if epoch < x.epoch {
		rule.fail("epoch-went-back", r.id+" told listener "+name+" of epoch "+number(int64(epoch))+" after epoch "+
			number(int64(x.epoch)))
	}
	x.epoch = max(x.epoch, epoch)
	if leaderID < 0 || leaderID != r.nodeID {
		return
	}
	l := c.leadershipAt(epoch)
	if l == nil || l.host != r.host || l.boot != r.boot {
		rule.fail("not-leading", r.id+" told listener "+name+" that it leads epoch "+number(int64(epoch))+
			", which it does not in this process life")
		return
	}
	if start := c.start(r, l); start >= 0 && x.next <= start || start < 0 && r.leads(epoch) {
		rule.fail("leads-too-early", r.id+" told listener "+name+" that it leads epoch "+number(int64(epoch))+" at offset "+
			number(x.next)+", before the epoch's first batch at "+number(start)+" was delivered")
	}
}
