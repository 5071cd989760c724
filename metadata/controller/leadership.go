package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
)

// HandleLeaderChange takes what raft says about the leader. For the local node raft calls it only after everything up
// to and including the epoch's LeaderChange was delivered (3.2, KAFKA-15345).
func (c *Controller) HandleLeaderChange(nowNs int64, l raft.LeaderAndEpoch) error {
	local := l.LeaderID == c.cfg.NodeID
	switch {
	case local && !c.Active():
		return c.claim(nowNs, l.Epoch)
	case local:
		c.claimedEpoch = l.Epoch
	case c.Active():
		return c.renounce()
	}
	return nil
}

// claim makes this node the active controller and writes the activation records before anything that waits in the
// lane's queue: the original prepends that step to its queue, here it is the same call.
func (c *Controller) claim(nowNs int64, epoch int32) error {
	c.claimedEpoch = epoch
	c.nextWrite = c.deps.Raft.LogEndOffset()
	c.observe(Event{Kind: ControllerClaimed, Offset: c.nextWrite, Other: c.stable, Digest: c.StableDigest()})

	p, err := c.planActivation(epoch)
	if err != nil {
		return err
	}
	first := c.nextWrite
	c.outcome = outcome{records: p.records, atomic: p.atomic}
	if err := c.write(&deferredOp{kind: activation}); err != nil || !c.Active() {
		return err
	}
	e := Event{
		Kind: ActivationCompleted, Count: int32(len(p.records)), Offset: -1, Other: -1, Level: p.bootstrapLevel,
		FormattedAtBoot: c.bootWithID, VersionKnown: p.versionKnown, Text: p.clusterID, ClusterIDs: p.clusterIDs,
	}
	if len(p.records) > 0 {
		e.Offset, e.Other = first, c.nextWrite-1
	}
	c.observe(e)
	c.scheduleElections(nowNs)
	c.scheduleNoOp(nowNs)
	c.brokers.activate(nowNs, c.cfg.BrokerSessionTimeoutNs, c.timeline.image)
	return nil
}

// renounce gives the leadership up: raft is told, waiting operations are refused, memory goes back to the last stable
// offset and then over what is committed beyond it, which raft will not deliver again.
func (c *Controller) renounce() error {
	epoch := c.claimedEpoch
	// A replica that has resigned by itself meanwhile, and says so, is where it should be (3.8).
	if err := c.deps.Raft.Resign(epoch); err != nil && !errors.Is(err, raft.ErrNotLeader) {
		return fmt.Errorf("controller: cannot renounce epoch %d: %w", epoch, err)
	}
	c.claimedEpoch, c.nextWrite, c.noOpDeadlineNs = inactive, -1, noDeadline
	c.brokers.reset()
	c.scheduleElections(0)
	for {
		op, ok := c.deferred.pop(1<<63 - 1)
		if !ok {
			break
		}
		c.refuse(op.id, op.kind, NotController, "this node is not the active controller any more")
	}
	undone := c.timeline.undo(c.stable)
	c.observe(Event{Kind: Renounced, Epoch: epoch, Offset: c.stable, Digest: c.timeline.image.Digest()})
	c.timeline.redo(undone, c.committed)
	return nil
}

// DeadlineNs returns when Poll wants to be called, -1 for not at all.
func (c *Controller) DeadlineNs() int64 {
	return earlier(earlier(c.noOpDeadlineNs, c.brokers.checkNs), c.elections.deadlineNs())
}

// earlier is the earlier one of two deadlines, either of which may be none.
func earlier(a, b int64) int64 {
	if a == noDeadline || b != noDeadline && b < a {
		return b
	}
	return a
}

// Poll does what is due of the periodic tasks (7.1). Calls before the deadline do nothing.
func (c *Controller) Poll(nowNs int64) error {
	if err := c.fenceStale(nowNs); err != nil {
		return err
	}
	if err := c.pollElections(nowNs); err != nil {
		return err
	}
	return c.writeNoOp(nowNs)
}

// writeNoOp writes the NoOpRecord of every idle interval, idle or not.
func (c *Controller) writeNoOp(nowNs int64) error {
	if c.noOpDeadlineNs == noDeadline || nowNs < c.noOpDeadlineNs {
		return nil
	}
	c.scheduleNoOp(nowNs)
	if !features.SupportsNoOp(c.timeline.image.MetadataVersion()) {
		return nil
	}
	c.outcome.reset()
	c.outcome.records = append(c.outcome.records, &c.noOp)
	if err := c.write(&deferredOp{kind: noOp}); err != nil || !c.Active() {
		return err
	}
	c.observe(Event{Kind: NoOpWritten, Offset: c.nextWrite - 1})
	return nil
}

func (c *Controller) scheduleNoOp(nowNs int64) {
	if c.noOpDeadlineNs = noDeadline; c.Active() && c.cfg.MaxIdleIntervalNs > 0 {
		c.noOpDeadlineNs = nowNs + c.cfg.MaxIdleIntervalNs
	}
}
