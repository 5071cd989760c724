package controller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/image/imagetest"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// What a reader of committed batches keeps is what one moment for each record would leave when the batches are settled: image, where
// it ends, registrations, the open transaction and every moment in it. Records that cannot follow change nothing in either.
func TestStableReplayLeavesWhatReplayDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := imagetest.Pick(func(n int32) int32 { return rapid.Int32Range(0, n-1).Draw(t, "pick") })
		one, run := newTimeline(), newTimeline()
		offset, stable := int64(0), int64(-1)
		for range rapid.IntRange(1, 8).Draw(t, "batches") {
			for range rapid.IntRange(1, 12).Draw(t, "records") {
				r := drawRecord(t, pick)
				err := one.replay(offset, r)
				require.Equal(t, err, run.replayStable(offset, r))
				if err == nil {
					offset++
				}
			}
			run.catchUp()
			last := offset - 1
			if start := one.at(last).transactionStart; start != noTransaction {
				last = min(last, start-1)
			}
			if last > stable {
				stable = last
				one.settle(stable)
				run.settle(stable)
			}
			require.Equal(t, one.appendTo(nil), run.appendTo(nil))
			require.Equal(t, one.image.Provenance(), run.image.Provenance())
			require.Equal(t, one.stable.offset, run.stable.offset)
			require.True(t, one.image.Equal(run.image))
		}
	})
}

func drawRecord(t *rapid.T, pick imagetest.Pick) records.Record {
	switch rapid.IntRange(0, 15).Draw(t, "marker") {
	case 0:
		return &records.BeginTransactionRecord{}
	case 1:
		return &records.EndTransactionRecord{}
	case 2:
		return &records.AbortTransactionRecord{}
	case 3:
		return &records.NoOpRecord{}
	}
	return imagetest.Record(pick)
}

// A run of committed records makes one moment, a transaction one for each record that changes something.
func TestStableReplayMakesOneMoment(t *testing.T) {
	run := newTimeline()
	level := func(n int16) records.Record { return &records.FeatureLevelRecord{Name: "feature", FeatureLevel: n} }
	for n := range int64(5) {
		require.NoError(t, run.replayStable(n, level(int16(n)+1)))
	}
	require.Empty(t, run.live())
	run.catchUp()
	require.Len(t, run.live(), 1)
	require.Equal(t, int64(4), run.live()[0].offset)
	require.NoError(t, run.replayStable(5, &records.BeginTransactionRecord{}))
	require.NoError(t, run.replayStable(6, level(7)))
	require.NoError(t, run.replayStable(7, level(8)))
	require.Len(t, run.live(), 4)
}
