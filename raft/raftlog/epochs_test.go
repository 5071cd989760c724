package raftlog

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestAssignKeepsEpochsAscending: an epoch that begins again no earlier changes nothing, one that begins earlier takes the place of what it
// overlaps, and what is negative is no entry (formats 9.1).
func TestAssignKeepsEpochsAscending(t *testing.T) {
	before := []epochEntry{{1, 0}, {3, 10}, {4, 20}}
	for _, x := range []struct {
		epoch   int32
		start   int64
		want    []epochEntry
		changed bool
	}{
		{4, 20, before, false},
		{4, 25, before, false},
		{4, 15, []epochEntry{{1, 0}, {3, 10}, {4, 15}}, true},
		{4, 10, []epochEntry{{1, 0}, {4, 10}}, true},
		{5, 20, []epochEntry{{1, 0}, {3, 10}, {5, 20}}, true},
		{5, 21, []epochEntry{{1, 0}, {3, 10}, {4, 20}, {5, 21}}, true},
		{2, 5, []epochEntry{{1, 0}, {2, 5}}, true},
		{-1, 30, before, false},
		{6, -1, before, false},
	} {
		c := epochCache{entries: append([]epochEntry(nil), before...)}
		require.Equal(t, x.changed, c.assign(x.epoch, x.start), "%+v", x)
		require.Equal(t, x.want, c.entries, "%+v", x)
	}
}

// TestCheckpointOfEpochsCountsItsLines: a count that is not that of the lines is a damaged file, whichever is larger (formats 9.1).
func TestCheckpointOfEpochsCountsItsLines(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "0\n": true, "0\n0\n": true, "0\n1\n1 0\n": true, "0\n2\n1 0\n3 10\n": true, "0\r\n1\r\n1 0\r\n": true,
		"0\n2\n1 0\n": false, "0\n1\n1 0\n3 10\n": false, "0\n0\n1 0\n": false, "0\n-1\n": false, "1\n0\n": false, "0\n1\n1\n": false,
		"0\n1\n1 -1\n": false, "0\n1\n-1 0\n": false, "0\n1\n1 0 0\n": false, "0\n1\n1 x\n": false, "0\nx\n": false,
	} {
		var c epochCache
		err := c.parse(text)
		if ok {
			require.NoError(t, err, "%q", text)
			continue
		}
		require.ErrorIs(t, err, ErrDirectory, "%q", text)
	}
}

// TestOffsetOutOfASegmentsRange: a base offset is under no checksum; one that its segment cannot hold stops the start (formats 9.3).
func TestOffsetOutOfASegmentsRange(t *testing.T) {
	for base, ok := range map[int64]bool{5: true, 4: false, 0: false, 5 + math.MaxInt32: true, 6 + math.MaxInt32: false} {
		files := memfiles.New()
		files.WriteFile("/d/"+segmentName(5), record.AppendBatch(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: 1}, []byte("x")))
		files.WriteFile("/d/"+SnapshotName(OffsetAndEpoch{Offset: 5, Epoch: 1}), nil)
		_, err := Open(files, "/d", Config{})
		if ok {
			require.NoError(t, err, "%d", base)
			continue
		}
		require.ErrorIs(t, err, ErrDirectory, "%d", base)
	}
}
