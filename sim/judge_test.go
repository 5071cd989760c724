package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// judged is a scenario that judges its runs.
type judged struct {
	pings
	judge func(v *plan.Verdict)
	calls int
}

func (j *judged) Judge(_ *sim.World, v *plan.Verdict) {
	j.calls++
	j.judge(v)
}

// TestJudgeHasTheLastWord: it may turn a good outcome, and changes no hash.
func TestJudgeHasTheLastWord(t *testing.T) {
	j := &judged{judge: func(*plan.Verdict) {}}
	engine := sim.NewEngine(&sim.Catalogue{Program: "judged", Scenarios: []sim.Scenario{j}, Registry: sim.NewRegistry()})
	p := j.Draw(1)
	good, err := engine.Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.OK, good.Verdict.Outcome)
	j.judge = func(v *plan.Verdict) { v.Outcome = plan.Unknown }
	unknown, err := engine.Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.Unknown, unknown.Verdict.Outcome)
	require.Equal(t, good.Verdict.TraceHash, unknown.Verdict.TraceHash)
	require.Equal(t, 2, j.calls)
}
