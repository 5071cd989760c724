package invariants

import "slices"

// ghost keeps what a replica acknowledged when its disk goes, under the identity that goes with it: a leader still counts it, and is
// right to. What was committed with it was durable then; that it is gone is the business of the fault budget.
func (c *core) ghost(r *replica) {
	if !r.directoryID.IsZero() {
		c.ghosts = append(c.ghosts, &replica{nodeID: r.nodeID, directoryID: r.directoryID, acks: r.acks, oldAcks: slices.Clone(r.oldAcks)})
	}
}

// ghostAcknowledges reports whether a voter whose disk has gone since had acknowledged the batch that ends at hw.
func (c *core) ghostAcknowledges(k *voterKey, epoch int32, id batchID, hw int64) bool {
	for _, g := range c.ghosts {
		if g.nodeID == k.id && g.directoryID == k.dir && c.acknowledges(g, epoch, id, hw) {
			return true
		}
	}
	return false
}
