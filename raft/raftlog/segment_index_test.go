package raftlog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// TestGoldenSegmentIndexes: both indexes of Kafka's segment come out of its batches, byte for byte.
func TestGoldenSegmentIndexes(t *testing.T) {
	var index struct {
		File    string
		Batches []golden.Batch
	}
	golden.JSON(t, "segment/segment.json", &index)
	folder := "segment/__cluster_metadata-0/"
	segment := golden.Read(t, folder+index.File)
	names, contents, ok := raftlog.IndexFiles(index.File, segment)
	require.True(t, ok)
	for i, name := range names {
		require.True(t, raftlog.IsIndexFile(name), name)
		require.Equal(t, golden.Read(t, folder+name), contents[i], name)
	}
	last := &index.Batches[len(index.Batches)-1]
	cut := segment[:last.Position+int64(last.SizeInBytes)-1]
	offsets, times := raftlog.SegmentIndexes(0, cut)
	wantOffsets, wantTimes := raftlog.SegmentIndexes(0, segment[:last.Position])
	require.Equal(t, wantOffsets, offsets, "a torn batch is not indexed")
	require.Equal(t, wantTimes, times)
}

// Segments that no entry is due in, and names that are no segment's.
func TestSegmentIndexesAtTheEdges(t *testing.T) {
	offsets, times := raftlog.SegmentIndexes(7, nil)
	require.Empty(t, offsets)
	require.Empty(t, times)
	offsets, times = raftlog.SegmentIndexes(0, batch(0, 1, 1))
	require.Empty(t, offsets, "less than the interval")
	require.Len(t, times, 12, "the latest timestamp of a segment that is closed")
	offsets, times = raftlog.SegmentIndexes(1, batch(0, 1, 1))
	require.Empty(t, offsets, "a batch below the base offset")
	require.Empty(t, times)
	for name, want := range map[string]bool{
		"00000000000000000000.index": true, "00000000000000000000.timeindex": true, "00000000000000000000.log": false, "0.index": false,
		"0000000000000000000x.index": false, "00000000000000000000.txnindex": false, ".index": false, strings.Repeat("0", 21) + ".index": false,
	} {
		require.Equal(t, want, raftlog.IsIndexFile(name), name)
		_, _, segment := raftlog.IndexFiles(name, nil)
		require.Equal(t, strings.HasSuffix(name, ".log"), segment, name)
	}
}

// FuzzSegmentIndexes takes any bytes for a segment: entries are whole and ascend.
func FuzzSegmentIndexes(f *testing.F) {
	f.Add(int64(0), append(batch(0, 1, 2), batch(2, 3, 1)...))
	f.Add(int64(2), []byte{})
	f.Fuzz(func(t *testing.T, base int64, segment []byte) {
		offsets, times := raftlog.SegmentIndexes(base, segment)
		require.Zero(t, len(offsets)%8)
		require.Zero(t, len(times)%12)
		for i := 12; i < len(times); i += 12 {
			require.Negative(t, strings.Compare(string(times[i-12:i-4]), string(times[i:i+8])))
		}
	})
}
