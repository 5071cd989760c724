package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// TestRunsInAScenario: a test case of JUnit counts the runs of its own scenario, not those of all that showed the failure.
func TestRunsInAScenario(t *testing.T) {
	b := &campaign.Bucket{Runs: 9, Scenarios: []string{"a", "b"}, ScenarioRuns: []int64{2, 7}}
	require.Equal(t, int64(2), runsIn(b, "a"))
	require.Equal(t, int64(7), runsIn(b, "b"))
	require.Zero(t, runsIn(b, "c"))
	b.ScenarioRuns = nil // a summary of before they were kept
	require.Equal(t, int64(9), runsIn(b, "b"))
}
