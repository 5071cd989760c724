package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWindowForgets: a value counts for one to two samples, the maximum and the average are over what counts, and a rate
// is over half a minute at least.
func TestWindowForgets(t *testing.T) {
	var w window
	average, maximum := w.averageAndMaximum(5)
	require.EqualValues(t, -1, average)
	require.EqualValues(t, -1, maximum)
	require.Zero(t, w.milliPerSec(5))

	w.add(10, 1000)
	w.add(30, 2000)
	average, maximum = w.averageAndMaximum(2000)
	require.EqualValues(t, 20, average)
	require.EqualValues(t, 30, maximum)
	require.EqualValues(t, 40*1_000_000/(1000+windowMs), w.milliPerSec(2000))

	w.add(4, 1000+windowMs)
	average, maximum = w.averageAndMaximum(1000 + windowMs)
	require.EqualValues(t, 44/3, average)
	require.EqualValues(t, 30, maximum)
	require.EqualValues(t, 44*1_000_000/windowMs, w.milliPerSec(1000+windowMs))

	average, maximum = w.averageAndMaximum(1000 + 2*windowMs)
	require.EqualValues(t, 4, average)
	require.EqualValues(t, 4, maximum)
	average, _ = w.averageAndMaximum(1000 + 3*windowMs)
	require.EqualValues(t, -1, average)
}

// TestWindowAgainstModel: what a window has is never more than what the last two samples' time saw, and at least what the
// last sample's time saw.
func TestWindowAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		type value struct{ atMs, value int64 }
		var all []value
		nowMs := int64(1)
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			nowMs += rapid.Int64Range(0, windowMs).Draw(t, "gap")
			v := rapid.Int64Range(0, 100).Draw(t, "value")
			w.add(v, nowMs)
			all = append(all, value{nowMs, v})
			var atMost, atLeast int64
			for _, x := range all {
				if nowMs-x.atMs < windowSamples*windowMs {
					atMost += x.value
				}
				if x.atMs == nowMs {
					atLeast += x.value
				}
			}
			sum := w.total(nowMs).sum
			require.LessOrEqual(t, sum, atMost)
			require.GreaterOrEqual(t, sum, atLeast)
		}
	})
}
