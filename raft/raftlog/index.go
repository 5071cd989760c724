package raftlog

import "github.com/kraftsim/kraftsim/raft/record"

// entry is what the log remembers of one batch.
type entry struct {
	base        int64
	reach       int64 // the largest last offset of this and all earlier batches; equal to its own in a sound log
	position    int64 // in its segment
	timestampMs int64 // of the newest record
	lastDelta   int32
	epoch       int32
	size        int32
	segment     int32
}

func (e *entry) last() int64 { return e.base + int64(e.lastDelta) }

// push adds a batch behind the others. Position and segment are set when the bytes get their place.
func (l *Log) push(b record.Batch) *entry {
	n := len(l.index)
	l.index = append(l.index, entry{})
	e := &l.index[n] // in its place: an entry made first and then copied waits for its own stores
	e.base, e.timestampMs, e.lastDelta = b.BaseOffset(), b.MaxTimestampMs(), b.LastOffsetDelta()
	e.epoch, e.size = b.LeaderEpoch(), int32(len(b))
	e.reach = e.last()
	if n > 0 {
		e.reach = max(e.reach, l.index[n-1].reach)
	}
	return e
}

// find returns the position in the index of the first batch that reaches offset, len(index) if none does. Base
// offsets are not under the checksum and recovery believes them, so they may be out of order; Kafka searches a
// segment front to back for the first batch whose last offset is not below the target, and the running maximum finds
// the same one by bisection.
func (l *Log) find(offset int64) int32 {
	lo, hi := int32(0), int32(len(l.index))
	for lo < hi {
		mid := lo + (hi-lo)/2
		if l.index[mid].reach < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
