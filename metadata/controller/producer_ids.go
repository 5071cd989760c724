package controller

import (
	"math"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// producerIDBlock is how many producer ids a broker gets at a time (KIP-730).
const producerIDBlock int64 = 1000

// AllocateProducerIDsRequest asks for a block of producer ids for a broker. It is answered with ProducerIDBlock.
type AllocateProducerIDsRequest struct {
	BrokerID    int32
	BrokerEpoch int64
}

// ProducerIDBlock is a range of ids that nobody else ever gets.
type ProducerIDBlock struct {
	First int64
	Count int32
}

// Kind implements Request.
func (*AllocateProducerIDsRequest) Kind() OpKind { return AllocateProducerIDs }

func (q *AllocateProducerIDsRequest) decide(c *Controller, _ int64) error {
	img := c.timeline.image
	if b := img.Broker(q.BrokerID); b == nil || b.Epoch != q.BrokerEpoch {
		c.outcome.fail(StaleBrokerEpoch, "the epoch of the broker is not that of its registration")
		return nil
	}
	first := max(0, img.NextProducerID())
	if first > math.MaxInt64-producerIDBlock {
		c.outcome.fail(UnknownServerError, "all producer ids are handed out")
		return nil
	}
	r := &records.ProducerIdsRecord{BrokerId: q.BrokerID, BrokerEpoch: q.BrokerEpoch, NextProducerId: first + producerIDBlock}
	c.conclude([]records.Record{r}, ProducerIDBlock{First: first, Count: int32(producerIDBlock)}, false)
	return nil
}
