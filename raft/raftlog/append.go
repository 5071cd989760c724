package raftlog

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// AppendLeader appends complete batches, one or several, whose first base offset is EndOffset and whose epochs do not
// go back. Anything else is ErrInvalidAppend. Not durable before Flush. The log keeps batch: it must not change any
// more.
func (l *Log) AppendLeader(batch []byte) error {
	first := len(l.index)
	next, epoch := l.end, l.lastBatchEpoch()
	for rest := batch; len(rest) > 0; {
		b, tail, err := record.NextBatch(rest)
		if err == nil && len(b) == 0 {
			err = record.ErrTruncated
		}
		if err == nil && !fits(b, next, epoch) {
			err = fmt.Errorf("base offset %d, last offset delta %d, epoch %d",
				b.BaseOffset(), b.LastOffsetDelta(), b.LeaderEpoch())
		}
		if err != nil {
			l.index = l.index[:first]
			return fmt.Errorf("%w: behind offset %d in epoch %d: %w", ErrInvalidAppend, next, epoch, err)
		}
		l.push(b)
		next, epoch, rest = b.NextOffset(), b.LeaderEpoch(), tail
	}
	return l.write(batch, int32(first), next)
}

// AppendFollower appends the longest valid prefix of fetched records and returns how many batches that were
// (kraft-protocol 3.6). The prefix ends before a batch of an epoch above the given one, one that does not follow on
// the log in offset and epoch, and one that is corrupt or cut short; none of these is an error. Not durable before
// Flush. The log keeps records.
func (l *Log) AppendFollower(records []byte, epoch int32) (batches int32, err error) {
	first := len(l.index)
	next, last := l.end, l.lastBatchEpoch()
	size := 0
	for rest := records; ; {
		b, tail, err := record.NextBatch(rest)
		if err != nil || len(b) == 0 || b.LeaderEpoch() > epoch || !fits(b, next, last) || b.Verify() != nil {
			break
		}
		l.push(b)
		size += len(b)
		batches++
		next, last, rest = b.NextOffset(), b.LeaderEpoch(), tail
	}
	if batches == 0 {
		return 0, nil
	}
	return batches, l.write(records[:size:size], int32(first), next)
}

// fits tells whether b can stand at offset next, behind a batch of this epoch.
func fits(b record.Batch, next int64, epoch int32) bool {
	return b.BaseOffset() == next && b.LastOffsetDelta() >= 0 && b.NextOffset() > next && b.LeaderEpoch() >= epoch
}

// lastBatchEpoch is the epoch of the last batch; below all epochs when there is none.
func (l *Log) lastBatchEpoch() int32 {
	if n := len(l.index); n > 0 {
		return l.index[n-1].epoch
	}
	return -1
}

// write gives the entries from first on their places and writes their bytes, with one call per run that lands in one
// segment. As in Kafka a new epoch is in the checkpoint before its first bytes are in the log.
func (l *Log) write(bytes []byte, first int32, end int64) error {
	for i := first; i < int32(len(l.index)); i++ {
		if err := l.assignEpoch(l.index[i].epoch, l.index[i].base); err != nil {
			return err
		}
	}
	for i := first; i < int32(len(l.index)); {
		if l.mustRoll(l.active(), l.active().size, &l.index[i]) {
			l.end = l.index[i].base // what roll flushes
			if err := l.roll(l.index[i].base); err != nil {
				return err
			}
		}
		s := l.active()
		if s.size == 0 {
			s.firstTimestampMs = l.index[i].timestampMs
		}
		position := s.size
		for ; i < int32(len(l.index)) && !l.mustRoll(s, s.size, &l.index[i]); i++ {
			l.index[i].position, l.index[i].segment = s.size, s.number
			s.size += int64(l.index[i].size)
		}
		s.dirty = true
		n := s.size - position
		if err := l.files.WriteAt(s.fd, bytes[:n:n], position); err != nil {
			return fmt.Errorf("raftlog: write segment %d: %w", s.base, err)
		}
		bytes = bytes[n:]
	}
	l.end = end
	return nil
}
