package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// Shrinking leaves parameters out, but not the one that says by which case a run is judged: the declarations of the case go with it, and
// what it declares would be a finding.
func TestShrinkingKeepsWhatIsJudged(t *testing.T) {
	c := Catalogue()
	p := c.Scenario("kip1262/t27").Draw(20)
	require.Contains(t, p.Params, "fetch_timeout_ms")
	small, stats := shrink.Shrink(sim.NewEngine(c), p, "hazard/T27-static-voter-forgets", 400, nil)
	require.True(t, stats.Minimal)
	require.Equal(t, "t27", small.Params[caseParam])
	require.NotContains(t, small.Params, "fetch_timeout_ms")
}
