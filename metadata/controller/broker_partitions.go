package controller

import (
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// standingChange says what happens to a broker that may be in the ISR of partitions.
type standingChange = Transition

const (
	becomesFenced       = BrokerFenced       // it leaves ISRs and leaderships
	becomesUnfenced     = BrokerUnfenced     // it may lead what nobody leads
	becomesShuttingDown = BrokerShutsDown    // as fenced, and no more than that as yet
	becomesUnregistered = BrokerUnregistered // it leaves ISRs and ELRs
	restartsUncleanly   = BrokerLostDisk     // the same: what it had acknowledged may be gone with its disk (KIP-966)
)

// movePartitions adds the records by which partitions follow a change of a broker's standing. The replication side decides which
// (7.8): this is the one place where it is asked.
func (c *Controller) movePartitions(broker int32, change standingChange) {
	c.outcome.records = AppendTransition(c.outcome.records, c.timeline.image, &c.cfg.Defaults, broker, change)
}

// partitionsOffDirectories adds the records by which a broker's replicas on offline directories stop to lead (KIP-858).
func (c *Controller) partitionsOffDirectories(b *image.Broker, offline []record.UUID) {
	c.outcome.records = appendOffline(c.outcome.records, c.timeline.image, &c.cfg.Defaults, b.ID, offline)
}

// leads tells whether a broker leads some partition.
func (c *Controller) leads(broker int32) bool {
	for _, p := range c.timeline.image.PartitionsIn(broker) {
		if p.Leader == broker {
			return true
		}
	}
	return false
}
