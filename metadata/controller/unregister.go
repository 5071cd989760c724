package controller

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// decideUnregisterBroker removes a broker, fenced or not: out of ISRs and ELRs, then out of the registrations (7.5).
func (c *Controller) decideUnregisterBroker(id int32) {
	c.outcome.atomic = false
	b := c.timeline.image.Broker(id)
	if b == nil {
		c.outcome.fail(BrokerIDNotRegistered, fmt.Sprintf("broker %d is not registered", id))
		return
	}
	c.movePartitions(id, becomesUnregistered)
	c.outcome.records = append(c.outcome.records, &records.UnregisterBrokerRecord{BrokerId: id, BrokerEpoch: b.Epoch})
}

// decideUnregisterController removes the registration of a controller that has gone for good: without it nobody would get past its
// old ranges ever again (KAFKA-20395). One that is still a voter has not gone (KAFKA-20865).
func (c *Controller) decideUnregisterController(id int32) {
	switch img := c.timeline.image; {
	case c.deps.Raft.Voters().Find(id) != nil:
		c.outcome.fail(InvalidRequest, fmt.Sprintf("controller %d is a voter: remove it from the quorum first", id))
	case !features.SupportsControllerUnregistration(img.MetadataVersion()):
		c.outcome.fail(UnsupportedVersion, fmt.Sprintf("%s %d has no way to unregister controllers", features.MetadataVersion,
			img.MetadataVersion()))
	case img.Controller(id) == nil:
		c.outcome.fail(ControllerIDNotRegistered, fmt.Sprintf("controller %d is not registered", id))
	default:
		c.outcome.records = append(c.outcome.records, &records.UnregisterControllerRecord{ControllerId: id})
	}
}
