package dump

import (
	"encoding/binary"
	"errors"
	"io/fs"

	"github.com/kraftsim/kraftsim/raft/record"
)

// Sizes of the entries of index files (formats.md 9), in bytes.
const (
	offsetEntrySize = 8
	timeEntrySize   = 12
	txnEntrySize    = 34
)

// offsetEntryLine is an entry of an offset index: where in the segment the batch begins that ends with an offset.
type offsetEntryLine struct {
	Type     string `json:"type"` // "indexEntry"
	File     string `json:"file"`
	Offset   int64  `json:"offset"` // relative to the base offset when the name has none
	Position int64  `json:"position"`
}

func (l *offsetEntryLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "  offset "...), l.Offset)
	return appendNumber(append(dst, " at "...), l.Position)
}

// timeEntryLine is an entry of a time index: the largest timestamp so far and its offset.
type timeEntryLine struct {
	Type      string `json:"type"` // "timeIndexEntry"
	File      string `json:"file"`
	Timestamp int64  `json:"timestamp"`
	Offset    int64  `json:"offset"`
}

func (l *timeEntryLine) appendText(dst []byte) []byte {
	dst = appendTime(append(dst, "  time "...), l.Timestamp)
	return appendNumber(append(dst, " offset "...), l.Offset)
}

// txnEntryLine is an entry of a transaction index; the metadata log has none.
type txnEntryLine struct {
	Type             string `json:"type"` // "abortedTransaction"
	File             string `json:"file"`
	Version          int16  `json:"version"`
	ProducerID       int64  `json:"producerId"`
	FirstOffset      int64  `json:"firstOffset"`
	LastOffset       int64  `json:"lastOffset"`
	LastStableOffset int64  `json:"lastStableOffset"`
}

func (l *txnEntryLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "  aborted transaction of producer "...), l.ProducerID)
	dst = appendNumber(append(dst, ", offsets "...), l.FirstOffset)
	dst = appendNumber(append(dst, " to "...), l.LastOffset)
	return appendNumber(append(dst, ", last stable offset "...), l.LastStableOffset)
}

// entries calls each with every entry of an index file, until it returns false.
func (f *file) entries(size int64, each func(position int64, entry []byte) bool) error {
	rest := f.in.size % size
	for at := int64(0); at < f.in.size-rest && f.err == nil; at += size {
		entry, err := f.in.window(at, size)
		if err != nil {
			return err
		}
		if !each(at, entry) {
			break
		}
	}
	if rest > 0 {
		f.damage(f.in.size-rest, "%d bytes that are no whole entry of %d; recovery rebuilds the index", rest, size)
	}
	return nil
}

// unused reports the preallocated end of an index that was not closed: zeros from a position on.
func (f *file) unused(position int64) error {
	for at := position; at < f.in.size; {
		n := min(f.in.size-at, pieceSize)
		piece, err := f.in.window(at, n)
		if err != nil {
			return err
		}
		for i, c := range piece {
			if c != 0 {
				f.damage(at+int64(i), "bytes behind the last entry that are not zero; recovery rebuilds the index")
				return nil
			}
		}
		at += n
	}
	f.emit(&unusedLine{Type: "unused", File: f.shown, Position: position, SizeInBytes: f.in.size - position})
	return nil
}

// unusedLine is the preallocated end of an index: it was open when its node stopped.
type unusedLine struct {
	Type        string `json:"type"` // "unused"
	File        string `json:"file"`
	Position    int64  `json:"position"`
	SizeInBytes int64  `json:"sizeInBytes"`
}

func (l *unusedLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "  preallocated and unused: "...), l.SizeInBytes)
	return append(dst, " bytes"...)
}

// dumpOffsetIndex reports an offset index and holds it against its segment.
func dumpOffsetIndex(f *file) error {
	base := max(segmentBase(f.name), 0)
	segment, err := f.segment()
	if err != nil {
		return err
	}
	if segment != nil {
		defer segment.close()
	}
	lastOffset, lastPosition, unused := int64(-1), int64(-1), int64(-1)
	err = f.entries(offsetEntrySize, func(at int64, entry []byte) bool {
		relative, position := int64(int32(binary.BigEndian.Uint32(entry))), int64(int32(binary.BigEndian.Uint32(entry[4:])))
		if position == 0 && relative == 0 { // the first batch of a segment never has an entry
			unused = at
			return false
		}
		f.emit(&offsetEntryLine{Type: "indexEntry", File: f.shown, Offset: base + relative, Position: position})
		if relative < 0 || position < 0 || relative <= lastOffset || position <= lastPosition {
			f.damage(at, "offsets and positions do not ascend; recovery rebuilds the index")
		}
		lastOffset, lastPosition = relative, position
		if segment != nil && !endsAt(segment, position, base+relative) {
			f.damage(at, "the segment has no batch at %d that ends with offset %d; recovery rebuilds the index", position, base+relative)
		}
		return true
	})
	if err != nil || unused < 0 {
		return err
	}
	return f.unused(unused)
}

// segment opens the segment of an index, nil if there is none. It is held apart from the source of the index.
func (f *file) segment() (*source, error) {
	path, ok := f.segmentPath()
	if ok {
		segment := &source{}
		err := segment.open(path)
		if err == nil {
			return segment, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if f.leftover == "" && segmentBase(f.name) >= 0 {
		f.warn(-1, "there is no segment to this index; recovery removes it")
	}
	return nil, nil
}

// endsAt tells whether a batch begins at a position of the segment and ends with an offset.
func endsAt(segment *source, position, offset int64) bool {
	left := segment.size - position
	if position < 0 || left < record.BatchOverhead {
		return false
	}
	head, err := segment.window(position, record.BatchOverhead)
	if err != nil {
		return false
	}
	size, reason := record.FileBatchSize(head, left)
	return reason == nil && size > 0 && record.Batch(head).LastOffset() == offset
}

// dumpTimeIndex reports a time index.
func dumpTimeIndex(f *file) error {
	base := max(segmentBase(f.name), 0)
	lastTime, lastOffset, unused := int64(-1), int64(-1), int64(-1)
	err := f.entries(timeEntrySize, func(at int64, entry []byte) bool {
		timestamp, relative := int64(binary.BigEndian.Uint64(entry)), int64(int32(binary.BigEndian.Uint32(entry[8:])))
		if timestamp == 0 && relative == 0 && at > 0 {
			unused = at
			return false
		}
		f.emit(&timeEntryLine{Type: "timeIndexEntry", File: f.shown, Timestamp: timestamp, Offset: base + relative})
		if relative < 0 || timestamp < lastTime || relative < lastOffset {
			f.damage(at, "timestamps and offsets do not ascend; recovery rebuilds the index")
		}
		lastTime, lastOffset = timestamp, relative
		return true
	})
	if err != nil || unused < 0 {
		return err
	}
	return f.unused(unused)
}

// dumpTxnIndex reports an index of aborted transactions.
func dumpTxnIndex(f *file) error {
	return f.entries(txnEntrySize, func(at int64, entry []byte) bool {
		in := record.NewReader(entry)
		l := &txnEntryLine{Type: "abortedTransaction", File: f.shown, Version: in.Int16(), ProducerID: in.Int64(),
			FirstOffset: in.Int64(), LastOffset: in.Int64(), LastStableOffset: in.Int64()}
		f.emit(l)
		if l.Version > 0 {
			f.damage(at, "entry of version %d, known is 0", l.Version)
		}
		return true
	})
}

// producerStateLine is the head of a snapshot of the producer state.
type producerStateLine struct {
	Type    string `json:"type"` // "producerState"
	File    string `json:"file"`
	Version int16  `json:"version"`
	CRC     uint32 `json:"crc"`
	Entries int32  `json:"entries"`
}

func (l *producerStateLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "  version "...), int64(l.Version))
	dst = appendNumber(append(dst, ", producers "...), int64(l.Entries))
	return appendCRC(append(dst, ", crc "...), l.CRC)
}

// dumpProducerState reports the head of a producer state snapshot: version, checksum of what follows, entries. A
// metadata log has no producers, so entries are counted and not decoded.
func dumpProducerState(f *file) error {
	content, ok, err := f.in.content()
	if err != nil {
		return err
	}
	if !ok || len(content) < 10 {
		f.damage(0, "%d bytes are no producer state of a metadata log", f.in.size)
		return nil
	}
	in := record.NewReader(content)
	l := &producerStateLine{Type: "producerState", File: f.shown, Version: in.Int16(), CRC: in.Uint32(), Entries: in.Int32()}
	f.emit(l)
	if l.Version != 1 {
		f.damage(0, "version %d, known is 1", l.Version)
	}
	if sum := record.Checksum(content[6:]); sum != l.CRC {
		f.damage(2, "checksum %08x stored, %08x computed", l.CRC, sum)
	}
	return nil
}
