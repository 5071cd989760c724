package controller

import (
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// registrationChangeSince is the metadata.version from which changes of a registration have a record of their own; before there are
// FenceBrokerRecord and UnfenceBrokerRecord. inControlledShutdownSince is when that record learned to say so.
const (
	registrationChangeSince   int16 = 6
	inControlledShutdownSince int16 = 7
)

// fenceRecords takes a broker out of ISRs and leaderships, then fences it.
func (c *Controller) fenceRecords(b *image.Broker) {
	c.movePartitions(b.ID, becomesFenced)
	if c.timeline.image.MetadataVersion() < registrationChangeSince {
		c.outcome.records = append(c.outcome.records, &records.FenceBrokerRecord{Id: b.ID, Epoch: b.Epoch})
		return
	}
	c.outcome.records = append(c.outcome.records, &records.BrokerRegistrationChangeRecord{
		BrokerId: b.ID, BrokerEpoch: b.Epoch, Fenced: 1,
	})
}

// unfenceRecords lets a broker in, then gives it the partitions that nobody leads, but those that lie in a directory of which the same heartbeat
// says that it is offline: the registration still has it. The original looks at the registration alone, and the broker leads from there.
func (c *Controller) unfenceRecords(b *image.Broker, offline []record.UUID) {
	if c.timeline.image.MetadataVersion() < registrationChangeSince {
		c.outcome.records = append(c.outcome.records, &records.UnfenceBrokerRecord{Id: b.ID, Epoch: b.Epoch})
	} else {
		c.outcome.records = append(c.outcome.records, &records.BrokerRegistrationChangeRecord{
			BrokerId: b.ID, BrokerEpoch: b.Epoch, Fenced: -1,
		})
	}
	c.outcome.records = appendUnfenced(c.outcome.records, c.timeline.image, &c.cfg.Defaults, b.ID, offline)
}

// shutdownRecords says that a broker is about to go, once, then moves its leaderships.
func (c *Controller) shutdownRecords(b *image.Broker) {
	if c.timeline.image.MetadataVersion() >= inControlledShutdownSince && !b.InControlledShutdown {
		c.outcome.records = append(c.outcome.records, &records.BrokerRegistrationChangeRecord{
			BrokerId: b.ID, BrokerEpoch: b.Epoch, InControlledShutdown: 1,
		})
	}
	c.movePartitions(b.ID, becomesShuttingDown)
}

// fenceStale is the periodic check (7.1): it fences the broker that has been silent for the longest time, if that is longer
// than a session, and looks again at once when it found one.
func (c *Controller) fenceStale(nowNs int64) error {
	if c.brokers.checkNs == noDeadline || nowNs < c.brokers.checkNs {
		return nil
	}
	x, found := c.brokers.sessions.takeExpired(nowNs)
	if !found {
		c.brokers.scheduleCheck(nowNs)
		return nil
	}
	c.brokers.checkNs = nowNs + 1
	b := c.timeline.image.Broker(x.broker)
	if b == nil || b.Epoch != x.epoch || b.Fenced {
		return nil
	}
	c.outcome.reset()
	c.outcome.atomic = false
	c.fenceRecords(b)
	if err := c.write(&deferredOp{kind: fenceStale}); err != nil || !c.Active() {
		return err
	}
	c.observe(Event{Kind: BrokerSessionExpired, Offset: c.nextWrite - 1, Other: x.epoch, Count: x.broker})
	return nil
}
