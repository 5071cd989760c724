package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
)

// A rate so low that no number of seeds is enough is not told as none.
func TestFixOfRareFailure(t *testing.T) {
	var b strings.Builder
	require.NoError(t, reports.WriteFix(&b, &reports.Fix{Before: &campaign.Rate{Runs: 1, OutOf: 1 << 62}, NeededObserved: 17, Confidence: 0.95}))
	require.Contains(t, b.String(), "17 seeds at the rate observed, more seeds than can be run at its lower limit")
	require.NotContains(t, b.String(), "0 seeds")
}

// A capsule without decisions, such as one of a panic, has none that come up again.
func TestFixOfACapsuleWithoutDecisions(t *testing.T) {
	for decisions, want := range map[int64]string{0: "ends with ok\n", 7: "ends with ok; 3 of 7 decisions came up again\n"} {
		var b strings.Builder
		require.NoError(t, reports.WriteFix(&b, &reports.Fix{Replayed: true, Outcome: "ok", Decisions: decisions, Matched: min(decisions, 3)}))
		require.Contains(t, b.String(), want)
	}
}
