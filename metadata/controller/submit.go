package controller

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// Submit starts one operation. Its answer comes through the Responder, perhaps during this call. The error is fatal.
func (c *Controller) Submit(nowNs int64, op *Op) error {
	c.observe(Event{Kind: OpStarted, OpID: op.ID, OpKind: op.Kind})
	switch {
	case op.DeadlineNs != 0 && nowNs >= op.DeadlineNs:
		c.refuse(op.ID, op.Kind, RequestTimedOut, "the deadline passed while the operation was queued")
		return nil
	case op.Kind == ReadConfig:
		c.read(op)
		return nil
	case !c.Active():
		c.refuse(op.ID, op.Kind, NotController, "this node is not the active controller")
		return nil
	}
	c.outcome.reset()
	switch op.Kind {
	case AppendConfig:
		c.decideConfig(op)
	case UpdateFeatures:
		if err := c.decideFeatures(op); err != nil {
			return err
		}
	case RegisterBroker, Heartbeat, UnregisterBroker, RegisterController, UnregisterController:
		c.decideRegistration(nowNs, op)
	default:
		if op.Request == nil || op.Request.Kind() != op.Kind {
			panic(fmt.Sprintf("controller: no client operation %d", uint8(op.Kind)))
		}
		if err := op.Request.decide(c, nowNs); err != nil {
			return err
		}
	}
	if c.outcome.code != None {
		c.refuse(op.ID, op.Kind, c.outcome.code, c.outcome.message)
		return nil
	}
	count := int32(len(c.outcome.records))
	parked := deferredOp{id: op.ID, kind: op.Kind, broker: c.outcome.broker, answer: c.outcome.answer}
	if err := c.write(&parked); err != nil {
		return err
	}
	if op.Kind == Heartbeat && c.Active() {
		c.heartbeatWritten(op.Heartbeat)
	}
	if parked.wrote >= 0 {
		c.observe(Event{Kind: OpAppended, OpID: op.ID, OpKind: op.Kind, Count: count, Offset: parked.wrote})
	}
	return nil
}

func (c *Controller) read(op *Op) {
	key := image.ConfigKey{Type: brokerResource, Name: op.Name}
	c.result = Result{Offset: -1, LeaderID: -1}
	c.result.Value, c.result.Found = c.timeline.imageAt(c.stable).Config(key)
	c.respond(op.ID, op.Kind)
}

func (c *Controller) decideConfig(op *Op) {
	c.config = records.ConfigRecord{ResourceType: brokerResource, Name: op.Name, Value: &op.Value}
	if err := c.config.Check(0); err != nil {
		c.outcome.fail(InvalidConfig, err.Error())
		return
	}
	c.outcome.records = append(c.outcome.records, &c.config)
}
