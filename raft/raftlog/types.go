package raftlog

import "errors"

// Sentinels that callers match with errors.Is.
var (
	// ErrOffsetOutOfRange: a read below the log start or above the log end.
	ErrOffsetOutOfRange = errors.New("raftlog: offset out of range")
	// ErrBelowHighWatermark: a truncation that would cut what is committed; fatal (kraft-protocol 3.4).
	ErrBelowHighWatermark = errors.New("raftlog: truncation below the high watermark")
	// ErrInvalidAppend: a leader's batch that does not fit the end of the log; fatal.
	ErrInvalidAppend = errors.New("raftlog: invalid append")
	// ErrDirectory: a partition directory that cannot be opened as a metadata log.
	ErrDirectory = errors.New("raftlog: unusable partition directory")
	// ErrSnapshotNotFound: no complete snapshot has that id.
	ErrSnapshotNotFound = errors.New("raftlog: snapshot not found")
)

// Config holds the limits of a log. The zero value means Kafka's defaults.
type Config struct {
	// SegmentBytes is metadata.log.segment.bytes: a segment is rolled before it would exceed this. Default 1 GiB;
	// Kafka refuses less than 8 MiB. Smaller values are simulation only and reach down to 1, which gives every batch
	// its own segment.
	SegmentBytes int64
	// SegmentMs is metadata.log.segment.ms: a segment is rolled when a batch is this much younger than the segment's
	// first one. Default seven days; there is no clock in it, only timestamps of batches.
	SegmentMs int64
	// RetentionBytes is metadata.max.retention.bytes: while log and snapshots together are larger, the oldest snapshot and
	// the log below the next one go (kraft-protocol 4.6). Default 100 MiB, negative: no limit. The least is 1 (0 means the
	// default here), which keeps one snapshot and the log behind it.
	RetentionBytes int64
	// RetentionMs is metadata.max.retention.ms: the same for snapshots whose last record is older. Default seven days,
	// negative: no limit.
	RetentionMs int64
	// DeleteDelayMs is how long a file that was deleted stays under its .deleted name. Fixed at 60 s in Kafka, others are
	// simulation only.
	DeleteDelayMs int64
	// Alloc gives the buffers that Read, ReadUpTo and ReadSnapshot return; nil means make. The log never gives one
	// back.
	Alloc func(n int) []byte
	// Memory lends the log what it takes for its index; nil means that the index is the log's own.
	Memory *Memory
}

// OffsetAndEpoch names a point in a log: Epoch is the epoch of the record at Offset-1. As a snapshot id it says that
// the snapshot holds the effect of every record below Offset.
type OffsetAndEpoch struct {
	Offset int64
	Epoch  int32
}

// Validity is the verdict on a fetch position (kraft-protocol 3.3).
type Validity uint8

// The verdicts.
const (
	// Valid: the fetcher's log agrees with this one up to its fetch offset.
	Valid Validity = 1 + iota
	// Diverging: the fetcher has to truncate; the point returned is where its last common epoch may end.
	Diverging
	// Snapshot: the fetcher has to load the snapshot returned.
	Snapshot
)

// String returns the name of the verdict.
func (v Validity) String() string {
	switch v {
	case Valid:
		return "valid"
	case Diverging:
		return "diverging"
	case Snapshot:
		return "snapshot"
	}
	return "unknown"
}

// Recovery says what opening a log found and what it cut (formats.md 9.3). Offsets are log end offsets.
type Recovery struct {
	Segments    int32  // segment files scanned
	Batches     int64  // batches kept
	BytesCut    int64  // bytes that were dropped, later segments included
	BadSegment  int64  // base offset of the segment with the first bad batch; -1: none
	BadPosition int64  // position of that batch in its segment; -1: none
	Reason      string // what was wrong there; empty: nothing
	// EndBefore is the offset after the last batch whose header can still be read behind the cut; -1 when nothing was
	// cut or nothing can be read there. It comes from damaged bytes: evidence, not truth.
	EndBefore int64
	EndAfter  int64 // log end offset that the log was opened with
	// TruncatedToSnapshot tells that the latest snapshot was ahead of the log, which was emptied in its favour
	// (kraft-protocol 4.7).
	TruncatedToSnapshot bool
}
