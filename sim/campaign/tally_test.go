package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// What two tallies counted is there once in their sum, and the examples that are kept are those of the shortest plans.
func TestMergedTallies(t *testing.T) {
	a, b := newTally("toy"), newTally("toy")
	a.add(&plan.Plan{Seed: 4, Actions: make([]plan.Action, 5)}, &plan.Verdict{Outcome: plan.Stuck, Refused: make([]plan.Refused, 2)}, "")
	for seed := range 4 {
		b.add(&plan.Plan{Seed: plan.Uint64(seed), Actions: make([]plan.Action, 1+seed)}, &plan.Verdict{Outcome: plan.Stuck, Refused: make([]plan.Refused, 1)}, "")
	}
	a.merge(b)
	require.Equal(t, []int64{5, 6}, []int64{a.Runs, a.Refused})
	hit := a.Hits["stuck"]
	require.NotNil(t, hit)
	require.Equal(t, uint64(0), hit.First.Seed)
	var actions []int64
	for _, e := range hit.Small {
		actions = append(actions, e.Actions)
	}
	require.Equal(t, []int64{1, 2, 3}, actions)
}
