package raftlog

import "fmt"

// TruncateToEndOffset cuts the log where it may agree with a leader that answered with the diverging point o
// (kraft-protocol 3.4), and returns the offset it was cut to; EndOffset when there was nothing to cut. Cutting below
// highWatermark (-1: unknown) or below the log start is ErrBelowHighWatermark, and nothing is done. It is durable
// when it returns.
func (l *Log) TruncateToEndOffset(o OffsetAndEpoch, highWatermark int64) (cut int64, err error) {
	cut = min(o.Offset, l.end)
	if o.Epoch != 0 {
		local := l.EndOffsetForEpoch(o.Epoch)
		if local.Epoch == o.Epoch {
			cut = min(local.Offset, o.Offset)
		} else {
			cut = local.Offset
		}
	}
	if guard := max(highWatermark, l.start); cut < guard {
		return l.end, fmt.Errorf("%w: to offset %d, high watermark or log start is %d",
			ErrBelowHighWatermark, cut, guard)
	}
	if cut >= l.end {
		return l.end, nil
	}
	if err := l.truncate(cut); err != nil {
		return l.end, fmt.Errorf("raftlog: truncate to %d: %w", cut, err)
	}
	return cut, nil
}

// truncate drops every batch that reaches offset or lies behind one that does. An offset inside of a batch drops the
// whole batch and is the log end all the same, as in Kafka. What is left is flushed before anything else is written:
// else a power loss could bring back the old tail behind or among new bytes, under an epoch checkpoint that is ahead
// of it. Kafka does not flush here and trusts its file system to keep the order.
func (l *Log) truncate(offset int64) error {
	l.flushed = min(l.flushed, offset) // first: an error below leaves less than was flushed
	i := l.find(offset)
	keep := len(l.segments) - 1
	for keep > 0 && l.segments[keep].base > offset {
		keep--
	}
	if i < int32(len(l.index)) {
		keep = min(keep, int(l.index[i].segment-l.segments[0].number))
	}
	if err := l.dropSegments(keep + 1); err != nil {
		return err
	}
	s := l.active()
	size := s.size
	if i < int32(len(l.index)) && l.index[i].segment == s.number {
		size = l.index[i].position
	}
	if size < s.size {
		if err := l.files.Truncate(s.fd, size); err != nil {
			return err
		}
		s.size, s.dirty = size, true
	}
	l.index = l.index[:i]
	l.end = offset
	if err := l.Flush(); err != nil {
		return err
	}
	if l.epochs.truncateFromEnd(offset) {
		return l.writeEpochs()
	}
	return nil
}

// truncateFully empties the log in favour of a snapshot that is ahead of it: start, end and the name of the only
// segment become the snapshot's offset, so that the start survives a restart (kraft-protocol 4.5, formats.md 9.3 rule
// 3). A crash in between leaves a prefix of the old log, which the next start truncates again: the snapshot is still
// ahead of it, and the epoch checkpoint, whatever it says then, is made anew from the batches.
func (l *Log) truncateFully(id OffsetAndEpoch) error {
	if err := l.dropSegments(0); err != nil {
		return err
	}
	l.index = l.index[:0]
	if err := l.openSegment(id.Offset, true); err != nil {
		return err
	}
	l.start, l.end, l.flushed = id.Offset, id.Offset, id.Offset
	if l.epochs.clear() {
		return l.writeEpochs() // which makes the new segment's name durable as well
	}
	return l.syncDir()
}
