package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// votersAt is a voter set and the offset of its record; -1 is the bootstrap snapshot.
type votersAt struct {
	offset int64
	set    *voters.Set
}

// versionAt is a kraft.version and the offset of its record.
type versionAt struct {
	offset  int64
	version int16
}

// controlState follows the control records of snapshot and log up to the log end, committed or not, on leaders and
// followers alike (kraft-protocol 5.1): a voter set is in force from the moment it is written. Both histories are
// ascending by offset and can be cut at their end when the log is; a frozen snapshot drops what it covers from their
// beginning (forgetBelow).
type controlState struct {
	static     *voters.Set // nil: none configured
	sets       []votersAt
	versions   []versionAt
	nextOffset int64 // everything below was read

	iterator record.Iterator
	ids      []int32
}

// voters returns the set in force.
func (c *controlState) voters() *voters.Set {
	if n := len(c.sets); n > 0 {
		return c.sets[n-1].set
	}
	return c.static
}

// votersOffset returns the offset of the set in force: -1 the bootstrap snapshot, NoVotersInLog the static voters.
func (c *controlState) votersOffset() int64 {
	if n := len(c.sets); n > 0 {
		return c.sets[n-1].offset
	}
	return NoVotersInLog
}

// kraftVersion returns the kraft.version in force.
func (c *controlState) kraftVersion() int16 {
	if n := len(c.versions); n > 0 {
		return c.versions[n-1].version
	}
	return 0
}

// voterIDs returns the ids in force, ascending, in a slice that the next call reuses.
func (c *controlState) voterIDs() []int32 {
	set := c.voters()
	c.ids = c.ids[:0]
	for i := int32(0); i < set.Len(); i++ {
		c.ids = append(c.ids, set.At(i).ID)
	}
	return c.ids
}

// readSnapshot takes in the control records of a snapshot, which count at its offset - 1.
func (c *controlState) readSnapshot(id OffsetAndEpoch, content []byte) error {
	for len(content) > 0 {
		batch, rest, err := record.NextBatch(content)
		if err != nil {
			return fmt.Errorf("raft: snapshot %d-%d: %w", id.Offset, id.Epoch, err)
		}
		if len(batch) == 0 {
			break
		}
		if err := batch.Verify(); err != nil {
			return fmt.Errorf("raft: snapshot %d-%d: %w", id.Offset, id.Epoch, err)
		}
		if batch.IsControl() {
			if err := c.readControlBatch(batch, id.Offset-1, true); err != nil {
				return fmt.Errorf("raft: snapshot %d-%d: %w", id.Offset, id.Epoch, err)
			}
		}
		content = rest
	}
	c.nextOffset = id.Offset
	return nil
}

// readBatches takes in the control records of batches that were just appended; what was read before is skipped, and
// reading stops at logEndOffset, before any batch that the log did not take.
func (c *controlState) readBatches(batches []byte, logEndOffset int64) error {
	for len(batches) > 0 && c.nextOffset < logEndOffset {
		batch, rest, err := record.NextBatch(batches)
		if err != nil {
			return fmt.Errorf("raft: reading control records: %w", err)
		}
		if len(batch) == 0 {
			return nil
		}
		if batch.BaseOffset() >= c.nextOffset {
			if batch.IsControl() {
				if err := c.readControlBatch(batch, batch.BaseOffset(), false); err != nil {
					return err
				}
			}
			c.nextOffset = batch.NextOffset()
		}
		batches = rest
	}
	return nil
}

// readControlBatch takes in the records of one control batch. In a snapshot all count at one offset.
func (c *controlState) readControlBatch(batch record.Batch, offset int64, inSnapshot bool) error {
	var rec record.Record
	c.iterator.Reset(batch)
	for c.iterator.Next(&rec) {
		at := offset
		if !inSnapshot {
			at = rec.Offset
		}
		kind, err := record.ParseControlKey(rec.Key)
		if err != nil {
			return err
		}
		switch kind {
		case record.KRaftVersion:
			var r record.KRaftVersionRecord
			if err := r.Decode(rec.Value); err != nil {
				return fmt.Errorf("raft: kraft.version record at %d: %w", at, err)
			}
			c.versions = append(c.versions, versionAt{offset: at, version: r.KRaftVersion})
		case record.KRaftVoters:
			var r record.VotersRecord
			if err := r.Decode(rec.Value); err != nil {
				return fmt.Errorf("raft: voters record at %d: %w", at, err)
			}
			set, err := voters.FromRecord(&r)
			if err != nil {
				return fmt.Errorf("raft: voters record at %d: %w", at, err)
			}
			c.sets = append(c.sets, votersAt{offset: at, set: set})
		}
	}
	return c.iterator.Err()
}

// truncate forgets everything at or above offset, because the log was cut there.
func (c *controlState) truncate(offset int64) {
	for n := len(c.sets); n > 0 && c.sets[n-1].offset >= offset; n-- {
		c.sets = c.sets[:n-1]
	}
	for n := len(c.versions); n > 0 && c.versions[n-1].offset >= offset; n-- {
		c.versions = c.versions[:n-1]
	}
	c.nextOffset = min(c.nextOffset, offset)
}

// appendTo appends canonical bytes of the history: what is in force now the caller has, what would come into force after a
// truncation is told by the offsets.
func (c *controlState) appendTo(buf []byte) []byte {
	for i := range c.sets {
		buf = record.AppendInt64(buf, c.sets[i].offset)
	}
	for i := range c.versions {
		buf = record.AppendInt16(record.AppendInt64(buf, c.versions[i].offset), c.versions[i].version)
	}
	return record.AppendInt64(buf, c.nextOffset)
}

// loadControlState reads the latest snapshot and the log to its end.
func (r *Replica) loadControlState() error {
	c := &r.control
	c.static = r.cfg.StaticVoters
	c.nextOffset = r.log.StartOffset()
	if id, found := r.log.LatestSnapshot(); found {
		content, err := r.readSnapshot(id)
		if err != nil {
			return err
		}
		if err := c.readSnapshot(id, content); err != nil {
			return err
		}
	}
	for end := r.log.EndOffset(); c.nextOffset < end; {
		before := c.nextOffset
		batches, err := r.log.Read(before, r.cfg.FetchMaxBytes)
		if err != nil {
			return err
		}
		if err := c.readBatches(batches, end); err != nil {
			return err
		}
		if c.nextOffset == before {
			return fmt.Errorf("raft: %w: no batch can be read at offset %d below the log end %d", raftlog.ErrDirectory, before, end)
		}
	}
	return nil
}

// readControlRecords takes in what was just appended and tells the observer what came into force.
func (r *Replica) readControlRecords(batches []byte) error {
	votersBefore, versionBefore := r.control.votersOffset(), r.control.kraftVersion()
	if err := r.control.readBatches(batches, r.log.EndOffset()); err != nil {
		return err
	}
	r.emitControlChanges(votersBefore, versionBefore)
	return nil
}

// emitControlChanges reports voters and kraft.version if they are not what they were.
func (r *Replica) emitControlChanges(votersBefore int64, versionBefore int16) {
	if offset := r.control.votersOffset(); offset != votersBefore {
		r.emit(VotersChanged, offset, votersBefore, &NoReplica, false)
	}
	if version := r.control.kraftVersion(); version != versionBefore {
		r.emit(KRaftVersionChanged, int64(version), int64(versionBefore), &NoReplica, false)
	}
}
