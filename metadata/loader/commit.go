package loader

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

// HandleCommit takes committed batches, in order and without gaps, control batches included. The error is fatal.
func (l *Loader) HandleCommit(_ int64, batches []raft.Batch) error {
	if l.failed {
		return nil
	}
	for at := range batches {
		if err := l.loadBatch(&batches[at]); err != nil {
			return l.loadFailure(err)
		}
	}
	if l.transactionStart != noTransaction || l.read.Offset == l.LastAppliedOffset() {
		return nil
	}
	return l.flush(l.read, true)
}

func (l *Loader) loadBatch(b *raft.Batch) error {
	if !b.Control {
		for l.reader.Reset(b.Bytes); l.reader.Next(); {
			if err := l.loadRecord(l.reader.Offset, l.reader.Record, b); err != nil {
				return err
			}
		}
		if err := l.reader.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrLoad, err)
		}
	}
	l.read = image.Provenance{Offset: b.LastOffset, Epoch: b.Epoch}
	l.manifest.AppendTimestampMs = b.AppendTimestampMs
	l.manifest.Batches++
	l.manifest.Bytes += int64(len(b.Bytes))
	return nil
}

// loadRecord adds one record to the delta, or does what a transaction marker says (7.2, point 5).
func (l *Loader) loadRecord(offset int64, r records.Record, b *raft.Batch) error {
	open := l.transactionStart != noTransaction
	switch r.(type) {
	case *records.BeginTransactionRecord:
		if open {
			return fmt.Errorf("%w: offset %d begins a transaction inside the one from %d", ErrLoad, offset, l.transactionStart)
		}
		if err := l.flushBefore(offset, b); err != nil {
			return err
		}
		l.transactionStart = offset
	case *records.EndTransactionRecord:
		if !open {
			return fmt.Errorf("%w: offset %d ends a transaction, none is open", ErrLoad, offset)
		}
		l.transactionStart = noTransaction
	case *records.AbortTransactionRecord:
		if !open {
			return fmt.Errorf("%w: offset %d aborts a transaction, none is open", ErrLoad, offset)
		}
		l.observe(Event{
			Kind: TransactionAborted, Offset: offset, Other: l.transactionStart, Count: int32(l.delta.Records()),
			Epoch: b.Epoch,
		})
		l.delta.Reset(l.image) // Begin flushed what came before it, so this is the transaction and nothing else
		l.transactionStart = noTransaction
	default:
		if err := l.checkRecord(r); err != nil {
			return fmt.Errorf("%w: offset %d: %w", ErrLoad, offset, err)
		}
		if err := l.delta.Replay(r); err != nil {
			return fmt.Errorf("%w: offset %d: %w", ErrLoad, offset, err)
		}
	}
	return nil
}

// flushBefore publishes everything before the Begin at offset.
func (l *Loader) flushBefore(offset int64, b *raft.Batch) error {
	if offset-1 == l.LastAppliedOffset() {
		return nil
	}
	if offset == b.BaseOffset {
		return l.flush(image.Provenance{Offset: offset - 1, Epoch: l.read.Epoch}, true)
	}
	return l.flush(image.Provenance{Offset: offset - 1, Epoch: b.Epoch}, false)
}

// flush makes the delta part of the image and publishes it.
func (l *Loader) flush(to image.Provenance, aligned bool) error {
	if id := l.delta.Image().ClusterID(); id != "" && l.deps.Guard != nil && l.delta.ClusterIDChanged() {
		if err := l.deps.Guard.CheckClusterID(id); err != nil {
			return fmt.Errorf("%w: %w", ErrFatal, err)
		}
	}
	from := l.LastAppliedOffset()
	count := int32(l.delta.Records())
	l.image = l.delta.Apply(to)
	l.seenRecord = l.seenRecord || count > 0
	l.observe(Event{Kind: ImageAdvanced, Offset: to.Offset, Epoch: to.Epoch, Other: from, Count: count, Flag: aligned})
	var err error
	if !l.catchingUp() {
		err = l.publish(from, to, aligned)
	}
	l.delta.Reset(l.image)
	l.manifest.Batches, l.manifest.Bytes = 0, 0
	return err
}

func (l *Loader) publish(from int64, at image.Provenance, aligned bool) error {
	m := &l.manifest
	m.Provenance, m.BatchAligned, m.Leader = at, aligned, l.leader
	for _, p := range l.publishers {
		if err := l.publisherError(p, p.OnMetadataUpdate(&l.delta, l.image, m)); err != nil {
			return err
		}
	}
	l.observe(Event{Kind: ImagePublished, Offset: at.Offset, Epoch: at.Epoch, Other: from, Flag: aligned})
	return nil
}

// loadFailure stops a controller. A broker keeps its image and reads no further (7.2, point 7): what follows a record
// that could not be applied would make an image that nobody else has.
func (l *Loader) loadFailure(err error) error {
	if l.cfg.StopOnLoadFailure || errors.Is(err, ErrFatal) {
		return err
	}
	l.failed = true
	l.delta.Reset(l.image)
	l.observe(Event{Kind: LoadFailed, Offset: l.LastAppliedOffset(), Err: err})
	return nil
}
