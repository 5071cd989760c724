package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// accumulator gathers the records that the state machine appends until the raft lane writes them (kraft-protocol 3.9).
// prepare and schedule are called from the controller's lane; everything else by the raft lane.
//
//	prepare(records)   offsets are assigned, all records of one call in one batch
//	schedule()         what was prepared may be written
//	drain()            whole batches, once one of them is complete or the linger time is over
type accumulator struct {
	epoch        int32
	cfg          *Config
	alloc        func(int) []byte
	closed       bool
	completed    []completedBatch
	openRecords  [][]byte // of the batch being filled
	openBase     int64
	openSize     int32 // bytes of that batch
	nextOffset   int64
	scheduledTo  int64      // records at and above are prepared only
	lingerFromMs int64      // -1: no append waits
	woken        bool       // the raft lane was woken and has not looked yet
	drained      [][]byte   // scratch of drain
	spare        [][][]byte // record lists of batches that were built, for the next ones
	builder      record.Builder
}

// completedBatch is a batch that takes no more records. Control batches are built when they are appended.
type completedBatch struct {
	base    int64
	records [][]byte
	size    int32
	control []byte // the whole batch, for a control batch
	last    int64
}

// open makes the accumulator of a new leader.
func (a *accumulator) open(epoch int32, baseOffset int64, cfg *Config, alloc func(int) []byte) {
	*a = accumulator{
		epoch: epoch, cfg: cfg, alloc: alloc,
		nextOffset: baseOffset, scheduledTo: baseOffset, lingerFromMs: -1,
	}
}

// close discards what was not written.
func (a *accumulator) close() {
	a.closed = true
	a.completed, a.openRecords, a.drained, a.spare = nil, nil, nil, nil
}

// isEmpty reports whether nothing waits.
func (a *accumulator) isEmpty() bool { return len(a.completed) == 0 && len(a.openRecords) == 0 }

// prepare assigns offsets to the records of one call, which share a batch, and returns the last of them. The record
// bytes are immutable from now on. Whether too many batches wait is asked first, of every call, and the open one is not among
// them; a call that is refused leaves it open (3.9).
func (a *accumulator) prepare(records [][]byte) (int64, error) {
	if len(records) == 0 {
		return 0, ErrNoRecords
	}
	if int32(len(a.completed)) >= a.cfg.MaxUnwrittenBatches {
		return 0, ErrTooManyBatches
	}
	n := int32(len(a.openRecords))
	size := a.sizeOf(records, n)
	if record.BatchOverhead+size > a.cfg.MaxBatchBytes {
		return 0, fmt.Errorf("%w: %d bytes, the limit is %d", ErrRecordBatchTooLarge,
			record.BatchOverhead+size, a.cfg.MaxBatchBytes)
	}
	if n > 0 && (a.openSize+size > a.cfg.MaxBatchBytes || n >= a.cfg.MaxBatchRecords) {
		a.completeOpen()
		size = a.sizeOf(records, 0)
	}
	if len(a.openRecords) == 0 {
		a.openBase = a.nextOffset
		a.openSize = record.BatchOverhead
		if n := len(a.spare); n > 0 {
			a.openRecords, a.spare = a.spare[n-1], a.spare[:n-1]
		}
	}
	a.openRecords = append(a.openRecords, records...)
	a.openSize += size
	a.nextOffset += int64(len(records))
	return a.nextOffset - 1, nil
}

// sizeOf is the number of bytes that records take from position first of a batch on.
func (a *accumulator) sizeOf(records [][]byte, first int32) (size int32) {
	for i, value := range records {
		size += record.RecordSize(first+int32(i), nil, value)
	}
	return size
}

// completeOpen takes the open batch out of reach of further records.
func (a *accumulator) completeOpen() {
	a.completed = append(a.completed, completedBatch{
		base: a.openBase, records: a.openRecords, size: a.openSize, last: a.nextOffset - 1,
	})
	a.openRecords = nil
}

// schedule lets everything prepared so far be drained.
func (a *accumulator) schedule() { a.scheduledTo = a.nextOffset }

// appendControl adds a finished control batch of n records. It is complete, so it and what was scheduled before it are drained
// without linger; what is prepared before it and not scheduled yet holds it up.
func (a *accumulator) appendControl(bytes []byte, n int64) {
	if len(a.openRecords) > 0 {
		a.completeOpen()
	}
	a.completed = append(a.completed, completedBatch{base: a.nextOffset, control: bytes, last: a.nextOffset + n - 1})
	if a.scheduledTo == a.nextOffset {
		a.scheduledTo += n
	}
	a.nextOffset += n
}

// drainDeadlineMs returns when the raft lane should drain: now if a batch is complete, never if nothing may be written. The linger
// time is that of the open batch. It runs from the first poll that sees an append in an empty accumulator; prepare, on another
// lane, has no clock.
func (a *accumulator) drainDeadlineMs(nowMs int64) int64 {
	a.woken = false
	if !a.drainable() {
		a.lingerFromMs = -1
		return never
	}
	if len(a.completed) > 0 {
		return nowMs
	}
	if a.lingerFromMs < 0 {
		a.lingerFromMs = nowMs
	}
	return a.lingerFromMs + a.cfg.AppendLingerMs
}

// drainable reports whether a whole batch may be written: its records are all scheduled.
func (a *accumulator) drainable() bool {
	if len(a.completed) > 0 {
		return a.completed[0].last < a.scheduledTo
	}
	return len(a.openRecords) > 0 && a.scheduledTo == a.nextOffset
}

// drain closes the open batch and returns the batches that may be written, in order, as bytes that are immutable from then on;
// the slice itself is reused. Batches get their timestamp here, when they are about to be written.
func (a *accumulator) drain(nowMs int64) [][]byte {
	if len(a.openRecords) > 0 {
		a.completeOpen()
	}
	a.drained = a.drained[:0]
	n := 0
	for ; n < len(a.completed) && a.completed[n].last < a.scheduledTo; n++ {
		b := &a.completed[n]
		if b.control == nil {
			b.control = a.build(b, nowMs)
			clear(b.records)
			a.spare = append(a.spare, b.records[:0])
		}
		a.drained = append(a.drained, b.control)
	}
	rest := copy(a.completed, a.completed[n:])
	clear(a.completed[rest:])
	a.completed = a.completed[:rest]
	a.lingerFromMs = -1
	return a.drained
}

// build writes a data batch.
func (a *accumulator) build(b *completedBatch, nowMs int64) []byte {
	var dst []byte
	if a.alloc != nil {
		dst = a.alloc(int(b.size))[:0]
	} else {
		dst = make([]byte, 0, b.size)
	}
	a.builder.Reset(dst, record.BatchSpec{BaseOffset: b.base, LeaderEpoch: a.epoch, TimestampMs: nowMs})
	for _, value := range b.records {
		a.builder.Add(nil, value)
	}
	return a.builder.Finish()
}

// appendTo appends canonical bytes.
func (a *accumulator) appendTo(buf []byte) []byte {
	buf = record.AppendInt64(record.AppendInt64(buf, a.nextOffset), a.scheduledTo)
	return record.AppendInt32(record.AppendInt32(buf, int32(len(a.completed))), int32(len(a.openRecords)))
}
