package loader

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// HandleLoadSnapshot takes a whole snapshot, which replaces everything handed over before, an open transaction included (7.2,
// point 6). The publishers are told the difference. The error is fatal.
func (l *Loader) HandleLoadSnapshot(_ int64, id raft.OffsetAndEpoch, content []byte) error {
	if l.failed {
		return nil
	}
	if err := l.loadSnapshot(id, content); err != nil {
		return l.loadFailure(err)
	}
	return nil
}

func (l *Loader) loadSnapshot(id raft.OffsetAndEpoch, content []byte) error {
	if id.Offset-1 < l.read.Offset { // a state from the past, as if it were news (KB-40)
		return fmt.Errorf("%w: the snapshot ends before offset %d, and offset %d was read", ErrLoad, id.Offset, l.read.Offset)
	}
	header, err := raft.CheckSnapshot(content)
	if err != nil {
		return fmt.Errorf("%w: snapshot %d-%d: %w", ErrLoad, id.Offset, id.Epoch, err)
	}
	l.delta.ResetToSnapshot(l.image)
	l.transactionStart = noTransaction
	for rest := content; len(rest) > 0; {
		var batch record.Batch
		if batch, rest, err = record.NextBatch(rest); err != nil {
			return fmt.Errorf("%w: snapshot %d-%d: %w", ErrLoad, id.Offset, id.Epoch, err)
		}
		if batch.IsControl() {
			continue
		}
		for l.reader.Reset(batch); l.reader.Next(); {
			if err := l.checkRecord(l.reader.Record); err != nil {
				return fmt.Errorf("%w: snapshot %d-%d: %w", ErrLoad, id.Offset, id.Epoch, err)
			}
			if err := l.delta.Replay(l.reader.Record); err != nil {
				return fmt.Errorf("%w: snapshot %d-%d: %w", ErrLoad, id.Offset, id.Epoch, err)
			}
		}
		if err := l.reader.Err(); err != nil {
			return fmt.Errorf("%w: snapshot %d-%d: %w", ErrLoad, id.Offset, id.Epoch, err)
		}
	}
	count := int32(l.delta.Records())
	l.read = image.Provenance{Offset: id.Offset - 1, Epoch: id.Epoch}
	l.manifest = Manifest{Kind: Snapshot, AppendTimestampMs: header.LastContainedTimestampMs, Bytes: int64(len(content))}
	l.observe(Event{Kind: SnapshotLoaded, Offset: l.read.Offset, Epoch: l.read.Epoch, Other: l.LastAppliedOffset(), Count: count})
	err = l.flush(l.read, true)
	l.manifest.Kind = LogDelta
	return err
}
