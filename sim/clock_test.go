package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// trueNs is the first instant at which the clock shows the value: the conversions are inverse, and a wake-up is never early.
func TestClockConversionsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{driftPpm: rapid.Int64Range(-maxDriftPpm, maxDriftPpm).Draw(t, "drift"), wallNs: wallEpochNs}
		m := rapid.Int64Range(0, foreverNs).Draw(t, "monotonic")
		at := c.trueNs(m)
		require.GreaterOrEqual(t, c.monotonicNs(at), m)
		if at > 0 {
			require.Less(t, c.monotonicNs(at-1), m)
		}
		require.LessOrEqual(t, c.trueNs(c.monotonicNs(at)), at)
		later := rapid.Int64Range(0, foreverNs-at/2).Draw(t, "later")
		require.LessOrEqual(t, c.monotonicNs(at), c.monotonicNs(at+later), "it never goes back")
		before := c.monotonicNs(at)
		c.wallNs += rapid.Int64Range(-1<<40, 1<<40).Draw(t, "jump")
		require.Equal(t, before, c.monotonicNs(at), "a jump moves the wall clock only")
	})
}

func FuzzClock(f *testing.F) {
	f.Add(int64(1), int64(200))
	f.Fuzz(func(t *testing.T, m, drift int64) {
		c := clock{driftPpm: drift % (maxDriftPpm + 1)}
		m &= foreverNs - 1
		if at := c.trueNs(m); c.monotonicNs(at) < m {
			t.Fatalf("drift %d: woken at %d for %d", c.driftPpm, c.monotonicNs(at), m)
		}
	})
}
