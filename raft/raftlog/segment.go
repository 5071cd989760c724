package raftlog

import (
	"fmt"
	"math"
	"strings"
)

const (
	segmentSuffix = ".log"
	offsetWidth   = 20
)

// segment is one file of the log.
type segment struct {
	base             int64
	number           int32 // counts up over the life of a Log; entries name their segment by it
	fd               int32
	size             int64
	firstTimestampMs int64 // of its first batch
	dirty            bool  // has unsynced bytes
}

// parseSegmentName returns the base offset in a file name. Only the form that segmentName writes is accepted: Kafka
// fails at start on others that end like a segment.
func parseSegmentName(name string) (base int64, isSegment bool, err error) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false, nil
	}
	base, ok = parseDigits(digits)
	if !ok || len(digits) != offsetWidth {
		return 0, false, fmt.Errorf("%w: %s is not the name of a segment", ErrDirectory, name)
	}
	return base, true, nil
}

// parseDigits reads a non-negative decimal number that consists of digits only.
func parseDigits(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	var v int64
	for i := 0; i < len(s); i++ {
		d := int64(s[i]) - '0'
		if d < 0 || d > 9 || v > (math.MaxInt64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

func (l *Log) active() *segment { return &l.segments[len(l.segments)-1] }

// segment returns the segment that an entry lies in.
func (l *Log) segmentOf(e *entry) *segment { return &l.segments[e.segment-l.segments[0].number] }

// openSegment opens a segment, or makes it, and puts it behind the others.
func (l *Log) openSegment(base int64, create bool) error {
	fd, err := l.files.Open(l.path(segmentName(base)), create)
	if err != nil {
		return err
	}
	size, err := l.files.Size(fd)
	if err != nil {
		return err
	}
	number := int32(0)
	if n := len(l.segments); n > 0 {
		number = l.segments[n-1].number + 1
	}
	l.segments = append(l.segments, segment{base: base, number: number, fd: fd, size: size})
	l.dirDirty = l.dirDirty || create
	return nil
}

// roll closes the active segment for writing and begins the next one. The old one becomes durable first, file and
// directory entry: a crash can lose the new segment but never leave it behind a hole. Kafka flushes the old segment
// too, but does not wait. A segment of that name with bytes in it is one that recovery should not have left, or
// somebody else's: an error, as in Kafka.
func (l *Log) roll(base int64) error {
	if err := l.Flush(); err != nil {
		return err
	}
	if err := l.openSegment(base, true); err != nil {
		return fmt.Errorf("raftlog: roll: %w", err)
	}
	if size := l.active().size; size > 0 {
		return fmt.Errorf("%w: %s, to be rolled to, exists already with %d bytes: somebody else writes there, or its recovery was wrong",
			ErrDirectory, segmentName(base), size)
	}
	return nil
}

// mustRoll tells whether the batch may not go into the segment behind the size bytes that it has or will have
// (formats.md 9.4).
func (l *Log) mustRoll(s *segment, size int64, e *entry) bool {
	if size == 0 {
		return false
	}
	return size+int64(e.size) > l.cfg.SegmentBytes || e.last()-s.base > math.MaxInt32 ||
		e.timestampMs-s.firstTimestampMs > l.cfg.SegmentMs
}

// dropSegments removes the segments from position n on, last one first and each durably, so that a crash in between
// leaves a prefix of the log.
func (l *Log) dropSegments(n int) error {
	for i := len(l.segments) - 1; i >= n; i-- {
		s := &l.segments[i]
		if err := l.files.Close(s.fd); err != nil {
			return err
		}
		if err := l.files.Remove(l.path(segmentName(s.base))); err != nil {
			return err
		}
		if err := l.files.SyncDir(l.dir); err != nil {
			return err
		}
		l.segments = l.segments[:i]
	}
	return nil
}
