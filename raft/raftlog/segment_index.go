package raftlog

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/kraftsim/kraftsim/raft/record"
)

// indexIntervalBytes is how many bytes of a segment lie between two entries of its indexes at least (index.interval.bytes).
const indexIntervalBytes = 4096

// The suffixes of the indexes of a segment.
const (
	offsetIndexSuffix = ".index"
	timeIndexSuffix   = ".timeindex"
)

// SegmentIndexes returns the content of the two indexes that Kafka keeps beside a segment with that base offset and content, as a recovery
// and a clean close leave them (formats 9): offsets has int32 relative offset and int32 position, times has int64 timestamp and int32 relative
// offset an entry. What comes behind the first batch that is damaged is not indexed. This log reads neither: it indexes its batches in memory,
// and what it exports has them for the tools of others.
func SegmentIndexes(base int64, segment []byte) (offsets, times []byte) {
	lastEntry, latestMs, latestOffset, lastMs := 0, int64(-1), base, int64(-1)
	time := func() {
		if latestMs > lastMs {
			times = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(times, uint64(latestMs)), uint32(latestOffset-base))
			lastMs = latestMs
		}
	}
	for position, rest := 0, segment; ; {
		batch, behind, err := record.NextFileBatch(rest)
		if err != nil || len(batch) == 0 || batch.Verify() != nil || batch.BaseOffset() < base || batch.LastOffset()-base > math.MaxInt32 {
			break
		}
		if batch.MaxTimestampMs() > latestMs {
			latestMs, latestOffset = batch.MaxTimestampMs(), batch.LastOffset()
		}
		if position-lastEntry > indexIntervalBytes {
			offsets = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(offsets, uint32(batch.LastOffset()-base)), uint32(position))
			time()
			lastEntry = position
		}
		position, rest = position+len(batch), behind
	}
	time()
	return offsets, times
}

// IndexFiles returns the names and contents of the indexes of a segment, given the base name of its file, for example
// 00000000000000000000.log; nothing for a name that no segment has.
func IndexFiles(name string, segment []byte) (names [2]string, contents [2][]byte, ok bool) {
	base, isSegment, err := parseSegmentName(name)
	if !isSegment || err != nil {
		return names, contents, false
	}
	stem := name[:len(name)-len(segmentSuffix)]
	contents[0], contents[1] = SegmentIndexes(base, segment)
	return [2]string{stem + offsetIndexSuffix, stem + timeIndexSuffix}, contents, true
}

// IsIndexFile reports whether a base name is that of an index of a segment.
func IsIndexFile(name string) bool {
	return slices.ContainsFunc([]string{offsetIndexSuffix, timeIndexSuffix}, func(suffix string) bool {
		stem := len(name) - len(suffix)
		if stem != offsetWidth || name[stem:] != suffix {
			return false
		}
		_, digits := parseDigits(name[:stem])
		return digits
	})
}
