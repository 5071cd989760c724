package shrink_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// slow is a runner whose runs take events, and that gives up as an engine does.
type slow struct {
	fake
	events  func(p *plan.Plan) int64
	givenUp int64
	limited int64 // runs with a limit
}

func (f *slow) Run(p *plan.Plan, o sim.Options) (sim.Result, error) {
	if o.MostEvents > 0 {
		f.limited++
		if f.events(p) > o.MostEvents {
			f.givenUp++
			f.runs++
			return sim.Result{}, sim.ErrGivenUp
		}
	}
	r, err := f.fake.Run(p, o)
	if err == nil {
		r.Verdict.Events = plan.Int64(f.events(p))
	}
	return r, err
}

// A candidate that takes far longer than the failure is given up; whether a part can go is asked without a limit in the end.
func TestCandidatesThatTakeLongAreGivenUp(t *testing.T) {
	f := &slow{events: func(p *plan.Plan) int64 {
		if has(p, "a3") {
			return 1_000
		}
		return 50_000
	}}
	f.fails = func(p *plan.Plan) *plan.Verdict {
		if has(p, "a17") { // with a3 soon, without it late
			return broken("x")
		}
		return nil
	}
	small, stats := shrink.Shrink(f, noisy(20, 5), "violation/x/e", 500, nil)
	require.True(t, stats.Minimal)
	require.Positive(t, f.givenUp)
	require.Greater(t, f.limited, f.runs-f.limited)
	require.Len(t, small.Actions, 1)
	require.Equal(t, "a17", small.Actions[0].ID, "the last pass waits for the late failure")
}
