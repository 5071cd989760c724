package campaign

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// ended reports the reason with which rules end a campaign that has so many findings, as many fingerprints of findings and one of a hazard, and
// so many runs since coverage grew.
func ended(stop Stop, findings, buckets, quiet int64) string {
	t := newTally("toy")
	t.Outcomes[plan.Violation], t.Runs = findings, 100+quiet
	t.Hits["hazard/late"] = &Hit{Runs: 3}
	for i := range buckets {
		t.Hits[string(rune('a'+i))] = &Hit{Runs: 1}
	}
	_, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &campaign{Config: Config{Stop: stop}, tallies: []*Tally{t}, stopRuns: cancel, newsAt: 100, start: time.Now()}
	c.checkRules()
	return c.stopped
}

// A rule with the number n ends a campaign at n, not before and not behind.
func TestRulesHoldAtTheirNumber(t *testing.T) {
	for n := range int64(4) {
		require.Equal(t, n >= 1, ended(Stop{Findings: 1}, n, 0, 0) != "", "the first finding ends it: %d", n)
		require.Equal(t, n >= 3, ended(Stop{Findings: 3}, n, 0, 0) != "", "%d findings", n)
		require.Equal(t, n >= 1, ended(Stop{Buckets: 1}, n, n, 0) != "", "%d buckets, and a hazard, which is none", n)
		require.Equal(t, n >= 3, ended(Stop{Buckets: 3}, n, n, 0) != "", "%d buckets", n)
		require.Equal(t, n >= 3, ended(Stop{Quiet: 3}, 0, 0, n) != "", "%d quiet runs", n)
		require.Empty(t, ended(Stop{}, n, n, n), "no rule")
	}
	require.Equal(t, "runs with a finding: 1", ended(Stop{Findings: 1}, 1, 1, 0))
	require.Equal(t, "a run showed hazard/late", ended(Stop{Fingerprint: "hazard/late"}, 0, 0, 0))
	require.Empty(t, ended(Stop{Fingerprint: "hazard/early"}, 0, 0, 0))
}
