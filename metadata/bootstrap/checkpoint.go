package bootstrap

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrCheckpoint is wrapped by every error about the content of a checkpoint.
var ErrCheckpoint = errors.New("bootstrap: invalid checkpoint")

// Checkpoint is the content of 0-0.checkpoint or, without the control records of KRaft, of bootstrap.checkpoint.
type Checkpoint struct {
	LastContainedTimestampMs int64 // of the header; 0 in bootstrap.checkpoint
	HasKRaftVersion          bool
	KRaftVersion             int16
	Voters                   *record.VotersRecord // nil: none in the file
	Entries                  []Entry
	HasFooter                bool // read only; AppendTo always writes one
}

// Times are the append times of the batches of a checkpoint, wall clock.
type Times struct{ HeaderMs, DataMs, FooterMs int64 }

// maxBatchBytes is Kafka's limit for one batch of a checkpoint.
const maxBatchBytes = 8 << 20

// AppendTo writes the file: one control batch with header, kraft.version and voters; the data records; the footer.
// Offsets count the records of the file, the epoch is 0 (formats 6).
func (c *Checkpoint) AppendTo(dst []byte, times Times) []byte {
	var b record.Builder
	b.Reset(dst, record.BatchSpec{TimestampMs: times.HeaderMs, Control: true})
	header := record.SnapshotHeaderRecord{LastContainedLogTimestampMs: c.LastContainedTimestampMs}
	b.AddControl(record.SnapshotHeader, header.AppendTo(nil))
	if c.HasKRaftVersion {
		version := record.KRaftVersionRecord{KRaftVersion: c.KRaftVersion}
		b.AddControl(record.KRaftVersion, version.AppendTo(nil))
	}
	if c.Voters != nil {
		b.AddControl(record.KRaftVoters, c.Voters.AppendTo(nil))
	}
	dst = b.Finish()
	next := b.NextOffset()
	for i := 0; i < len(c.Entries); {
		b.Reset(dst, record.BatchSpec{BaseOffset: next, TimestampMs: times.DataMs})
		for ; i < len(c.Entries); i++ {
			frame := records.Append(nil, c.Entries[i].Record, c.Entries[i].Version)
			if b.Count() > 0 && b.Size()+record.RecordSize(b.Count(), nil, frame) > maxBatchBytes {
				break
			}
			b.Add(nil, frame)
		}
		dst, next = b.Finish(), b.NextOffset()
	}
	b.Reset(dst, record.BatchSpec{BaseOffset: next, TimestampMs: times.FooterMs, Control: true})
	footer := record.SnapshotFooterRecord{}
	b.AddControl(record.SnapshotFooter, footer.AppendTo(nil))
	return b.Finish()
}

// ParseCheckpoint reads a 0-0.checkpoint as raft's snapshot reader does: checksums are checked, the first record
// must be the header, a batch that is cut short ends the file.
func ParseCheckpoint(content []byte) (*Checkpoint, error) {
	c := &Checkpoint{}
	var it record.Iterator
	first := true
	for rest := content; ; {
		batch, next, err := record.NextBatch(rest)
		if err == nil && len(batch) > 0 {
			err = batch.Verify()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: at byte %d: %w", ErrCheckpoint, len(content)-len(rest), err)
		}
		if len(batch) == 0 {
			break
		}
		rest = next
		it.Reset(batch)
		var r record.Record
		for it.Next(&r) {
			if err := c.add(batch.IsControl(), &r, first); err != nil {
				return nil, fmt.Errorf("%w: record %d: %w", ErrCheckpoint, r.Offset, err)
			}
			first = false
		}
		if err := it.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
		}
	}
	if first {
		return nil, fmt.Errorf("%w: no snapshot header", ErrCheckpoint)
	}
	return c, nil
}

func (c *Checkpoint) add(control bool, r *record.Record, first bool) error {
	if !control {
		if first {
			return errors.New("a data record stands before the snapshot header")
		}
		decoded, version, err := records.Decode(r.Value)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, Entry{Record: decoded, Version: version})
		return nil
	}
	kind, err := record.ParseControlKey(r.Key)
	if err != nil {
		return err
	}
	if first != (kind == record.SnapshotHeader) {
		return fmt.Errorf("%s in the wrong place, the header must be the first record and only that", kind)
	}
	return c.addControl(kind, r.Value)
}

func (c *Checkpoint) addControl(kind record.ControlType, value []byte) error {
	switch kind {
	case record.SnapshotHeader:
		var header record.SnapshotHeaderRecord
		if err := header.Decode(value); err != nil {
			return err
		}
		c.LastContainedTimestampMs = header.LastContainedLogTimestampMs
	case record.SnapshotFooter:
		var footer record.SnapshotFooterRecord
		c.HasFooter = true
		return footer.Decode(value)
	case record.KRaftVersion:
		var version record.KRaftVersionRecord
		if err := version.Decode(value); err != nil {
			return err
		}
		c.HasKRaftVersion, c.KRaftVersion = true, version.KRaftVersion
	case record.KRaftVoters:
		c.Voters = &record.VotersRecord{}
		return c.Voters.Decode(value)
	default:
		return fmt.Errorf("%s does not belong into a checkpoint", kind)
	}
	return nil
}
