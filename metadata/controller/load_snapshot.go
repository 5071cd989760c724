package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrLoadSnapshot says that a snapshot came to an active controller, or cannot be read. Fatal (7.1).
var ErrLoadSnapshot = errors.New("controller: cannot load the snapshot")

// HandleLoadSnapshot makes a standby start over with a snapshot. The active controller has everything in memory that a
// snapshot could tell: one that comes to it is fatal. The last committed and the last stable offset are the snapshot's last
// one; the original sets both one higher, to its id, which nothing can tell apart until a record stands there.
func (c *Controller) HandleLoadSnapshot(_ int64, id raft.OffsetAndEpoch, content []byte) error {
	if c.Active() {
		return fmt.Errorf("%w: the controller is active in epoch %d", ErrLoadSnapshot, c.claimedEpoch)
	}
	last := id.Offset - 1
	if last < c.committed { // a state from the past (KB-40)
		return fmt.Errorf("%w: it ends with offset %d, and offset %d is committed", ErrLoadSnapshot, last, c.committed)
	}
	if _, err := raft.CheckSnapshot(content); err != nil {
		return fmt.Errorf("%w: %w", ErrLoadSnapshot, err)
	}
	c.timeline = newTimeline()
	count := int32(0)
	for rest := content; len(rest) > 0; {
		var batch record.Batch
		var err error
		if batch, rest, err = record.NextBatch(rest); err != nil {
			return fmt.Errorf("%w: %w", ErrLoadSnapshot, err)
		}
		if batch.IsControl() {
			continue
		}
		for c.reader.Reset(batch); c.reader.Next(); count++ {
			if err := c.replay(last, c.reader.Record, c.timeline.replayStable); err != nil {
				return fmt.Errorf("%w: %w", ErrLoadSnapshot, err)
			}
		}
		if err := c.reader.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrLoadSnapshot, err)
		}
	}
	c.timeline.catchUp()
	c.timeline.settle(last)
	c.committed, c.committedEpoch, c.stable = last, id.Epoch, last
	c.observe(Event{Kind: SnapshotLoaded, Epoch: id.Epoch, Offset: last, Count: count, Digest: c.timeline.stable.image.Digest()})
	return nil
}
