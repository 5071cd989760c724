package raftlog

import (
	"fmt"
	"math"
	"slices"

	"github.com/kraftsim/kraftsim/raft/record"
)

const scanChunk = 256 << 10

// recover opens all segments, indexes their batches up to the first bad one, and cuts there (formats.md 9.3): the
// segment is truncated, later ones are removed. Without any segment the log begins at 0.
func (l *Log) recover(names []string) error {
	l.recovered = Recovery{BadSegment: -1, BadPosition: -1, EndBefore: -1}
	var bases []int64
	for _, name := range names {
		base, ok, err := parseSegmentName(name)
		if err != nil {
			return err
		}
		if ok {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	for _, base := range bases {
		if err := l.openSegment(base, false); err != nil {
			return err
		}
	}
	if len(bases) == 0 {
		if err := l.openSegment(0, true); err != nil {
			return err
		}
	}
	l.start = l.segments[0].base
	sc := scanner{files: l.files}
	for i := range l.segments {
		bad, err := l.scan(&sc, &l.segments[i])
		if err != nil {
			return err
		}
		if bad != nil {
			if err := l.cut(&sc, i, bad); err != nil {
				return err
			}
			break
		}
	}
	l.recovered.Batches = int64(len(l.index))
	l.end = l.segments[len(l.segments)-1].base
	if n := len(l.index); n > 0 && l.index[n-1].segment == l.active().number {
		l.end = l.index[n-1].last() + 1
	}
	return nil
}

// badBatch is where a scan stopped, and why.
type badBatch struct {
	position int64
	reason   error
}

// scan indexes the sound batches of a segment and returns the first bad one, nil if there is none.
func (l *Log) scan(sc *scanner, s *segment) (*badBatch, error) {
	l.recovered.Segments++
	sc.reset(s)
	for sc.position < s.size {
		b, reason, err := sc.next()
		if err != nil {
			return nil, err
		}
		if reason == nil {
			reason = b.Verify()
		}
		if reason != nil {
			return &badBatch{sc.position, reason}, nil
		}
		if d := b.LastOffset() - s.base; d < 0 || d > math.MaxInt32 {
			// Kafka would split the segment at such a batch; it can only come from a damaged base offset, which no
			// checksum covers.
			return nil, fmt.Errorf("%w: segment %d at %d: offset %d is out of its range",
				ErrDirectory, s.base, sc.position, b.LastOffset())
		}
		if sc.position == 0 {
			s.firstTimestampMs = b.MaxTimestampMs()
		}
		e := l.push(b)
		e.position, e.segment = sc.position, s.number
		sc.position += int64(len(b))
	}
	return nil, nil
}

// cut drops everything from a bad batch in segment i on.
func (l *Log) cut(sc *scanner, i int, bad *badBatch) error {
	s := &l.segments[i]
	r := &l.recovered
	r.BadSegment, r.BadPosition, r.Reason = s.base, bad.position, bad.reason.Error()
	r.BytesCut = s.size - bad.position
	sc.claimedEnd(s, bad.position, r)
	for j := i + 1; j < len(l.segments); j++ {
		r.BytesCut += l.segments[j].size
		sc.claimedEnd(&l.segments[j], 0, r)
	}
	if err := l.dropSegments(i + 1); err != nil {
		return err
	}
	s = &l.segments[i]
	if err := l.files.Truncate(s.fd, bad.position); err != nil {
		return err
	}
	s.size = bad.position
	return nil
}

// scanner reads a segment piece by piece, so that a large one does not have to fit into memory.
type scanner struct {
	files    Files
	seg      *segment
	position int64 // of the next batch
	buf      []byte
	at       int64 // position of buf in the file
}

func (sc *scanner) reset(s *segment) { sc.seg, sc.position, sc.at, sc.buf = s, 0, 0, sc.buf[:0] }

// next returns the batch at the position, which it does not move. reason is what is wrong with it, err a failure to
// read.
func (sc *scanner) next() (b record.Batch, reason, err error) {
	head, err := sc.window(min(record.BatchOverhead, sc.seg.size-sc.position))
	if err != nil {
		return nil, nil, err
	}
	size, reason := record.FileBatchSize(head, sc.seg.size-sc.position)
	if reason != nil {
		return nil, reason, nil
	}
	if size == 0 {
		left := sc.seg.size - sc.position
		return nil, fmt.Errorf("%w: %d bytes of a batch that is cut short", record.ErrTruncated, left), nil
	}
	body, err := sc.window(size)
	return body, nil, err
}

// window returns n bytes at the position.
func (sc *scanner) window(n int64) ([]byte, error) {
	from := sc.position - sc.at
	if from < 0 || from+n > int64(len(sc.buf)) {
		want := min(max(n, scanChunk), sc.seg.size-sc.position)
		sc.buf = slices.Grow(sc.buf[:0], int(want))[:want]
		if err := readFull(sc.files, sc.seg.fd, sc.buf, sc.position); err != nil {
			return nil, fmt.Errorf("read segment %d at %d: %w", sc.seg.base, sc.position, err)
		}
		sc.at, from = sc.position, 0
	}
	return sc.buf[from : from+n], nil
}

// claimedEnd follows the headers from a position on and notes the end of the last batch that has a readable one. A
// read error on bytes that are about to be dropped is no reason to fail.
func (sc *scanner) claimedEnd(s *segment, position int64, r *Recovery) {
	sc.reset(s)
	sc.position = position
	for sc.position < s.size {
		b, reason, err := sc.next()
		if err != nil || reason != nil {
			return
		}
		r.EndBefore = max(r.EndBefore, b.NextOffset())
		sc.position += int64(len(b))
	}
}
