package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

// outcome is what an operation decided on, before anything is written. Memory is not touched until then (7.1).
type outcome struct {
	code    ErrorCode
	message string
	records []records.Record
	atomic  bool // one batch or none
	broker  BrokerReply
	answer  any // to the client, once the records are stable
}

func (o *outcome) reset() { *o = outcome{records: o.records[:0], atomic: true} }

func (o *outcome) fail(code ErrorCode, message string) {
	o.records = o.records[:0]
	o.code, o.message = code, message
}

// write appends the outcome's records and parks op until they are stable. Without records op waits for what is pending,
// or is answered at once. An append that raft refuses costs the leadership; the returned error is fatal.
func (c *Controller) write(op *deferredOp) error {
	rs := c.outcome.records
	op.wrote = -1
	if len(rs) == 0 {
		if pending, ok := c.deferred.highest(); ok {
			op.offset = pending
			c.deferred.add(*op)
			return nil
		}
		c.finish(op)
		return nil
	}
	perBatch := int(c.cfg.MaxRecordsPerBatch)
	if c.outcome.atomic {
		perBatch = len(rs)
		if perBatch > int(c.cfg.MaxAtomicRecords) {
			return c.fault(op, fmt.Errorf("controller: atomic result of %d records, the limit is %d", perBatch,
				c.cfg.MaxAtomicRecords))
		}
	}
	for len(rs) > 0 { // an exact multiple leaves no empty append behind (7.1, trap)
		n := min(perBatch, len(rs))
		if err := c.appendBatch(rs[:n]); err != nil {
			if fatal(err) {
				return err
			}
			return c.fault(op, err)
		}
		rs = rs[n:]
	}
	op.wrote = c.nextWrite - 1
	op.offset = op.wrote
	c.deferred.add(*op)
	return nil
}

// appendBatch is the order of 7.1: prepareAppend, replay at the assigned offsets, schedulePreparedAppend.
func (c *Controller) appendBatch(rs []records.Record) error {
	c.frame(rs)
	last, err := c.deps.Raft.PrepareAppend(c.claimedEpoch, c.frames)
	if err != nil {
		return err
	}
	base := last - int64(len(rs)) + 1
	for i, r := range rs {
		if err := c.replay(base+int64(i), r, c.timeline.replay); err != nil {
			return err
		}
	}
	c.deps.Raft.SchedulePreparedAppend()
	c.nextWrite = last + 1
	return nil
}

// frame encodes rs into c.frames, with the versions that the metadata.version before them has. The bytes belong to raft
// from then on, so they are cut from chunks that are never written again.
func (c *Controller) frame(rs []records.Record) {
	c.frames = c.frames[:0]
	level := c.timeline.image.MetadataVersion()
	for _, r := range rs {
		if cap(c.chunk)-len(c.chunk) < frameRoom {
			c.chunk = make([]byte, 0, min(max(firstChunk, 2*cap(c.chunk)), chunkBytes))
		}
		start := len(c.chunk)
		c.chunk = records.Append(c.chunk, r, recordVersion(r, level))
		c.frames = append(c.frames, c.chunk[start:len(c.chunk):len(c.chunk)])
	}
}

const (
	firstChunk = 1 << 10 // each is twice as large as the one before
	chunkBytes = 16 << 10
	frameRoom  = 256 // a longer frame costs a copy of its chunk
)

// fatal tells which failures of an append stop the process: a replay that failed (7.1) and an accumulator that raft
// does not drain (kraft-protocol 3.9).
func fatal(err error) bool {
	return errors.Is(err, ErrReplay) || errors.Is(err, raft.ErrTooManyBatches)
}

// fault answers op after a failed append and gives the leadership up, since some batches of the operation may be in the
// log and in memory already. Only ErrNotLeader is an expected one.
func (c *Controller) fault(op *deferredOp, cause error) error {
	code, message := UnknownServerError, cause.Error()
	if errors.Is(cause, raft.ErrNotLeader) {
		code, message = NotController, "this node is not the active controller"
	}
	err := c.renounce()
	c.refuse(op.id, op.kind, code, message)
	return err
}

// finish answers an operation that succeeded.
func (c *Controller) finish(op *deferredOp) {
	if op.kind == activation && op.wrote >= 0 {
		c.observe(Event{Kind: ActivationStable, Offset: op.wrote})
	}
	c.result = Result{Offset: op.wrote, LeaderID: -1, Broker: op.broker, Answer: op.answer}
	c.respond(op.id, op.kind)
}

func (c *Controller) refuse(id int64, kind OpKind, code ErrorCode, message string) {
	c.result = Result{Code: code, Message: message, Offset: -1, LeaderID: -1}
	if code == NotController {
		c.result.LeaderID = c.deps.Raft.LeaderAndEpoch().LeaderID
	}
	c.respond(id, kind)
}

// respond sends c.result to the client; the controller's own operations have none.
func (c *Controller) respond(id int64, kind OpKind) {
	if kind == activation || kind == noOp || kind == fenceStale || kind.periodic() {
		return
	}
	c.observe(Event{Kind: OpDone, OpID: id, OpKind: kind, Code: c.result.Code, Offset: c.result.Offset})
	c.deps.Responder.Done(id, &c.result)
}
