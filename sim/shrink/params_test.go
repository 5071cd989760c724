package shrink_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/stretchr/testify/require"
)

// documented is a fake runner whose parameters are registered.
type documented struct{ fake }

func (d *documented) Catalogue() *sim.Catalogue {
	r := sim.NewRegistry()
	r.AddParameters(plan.Parameters{Scenario: "toy", Plan: []plan.Field{
		{Name: "timeout_ms", Type: plan.NumberField, Usual: 2000},
		{Name: "wait_ms", Type: plan.NumberField, Usual: 500, Below: []string{"timeout_ms"}},
		{Name: "other_ms", Type: plan.NumberField},
	}})
	return &sim.Catalogue{Registry: r}
}

// Shrinking leaves a parameter out where its usual value is as sensible as the one that the plan has. The usual wait over a short timeout
// would make a plan fail in a way of its own (docs/liveness.md, known traps), which here looks like the same failure.
func TestShrinkKeepsParametersThatOthersNeed(t *testing.T) {
	for name, c := range map[string]struct {
		params, want plan.Params
		needs        string // parameter that the failure needs
	}{
		"short timeout": {plan.Params{"timeout_ms": "183", "wait_ms": "15", "other_ms": "1"}, plan.Params{"timeout_ms": "183", "wait_ms": "15"}, "timeout_ms"},
		"long timeout":  {plan.Params{"timeout_ms": "900", "wait_ms": "15", "other_ms": "1"}, plan.Params{"timeout_ms": "900"}, "timeout_ms"},
		"the wait":      {plan.Params{"timeout_ms": "183", "wait_ms": "15"}, plan.Params{"wait_ms": "15"}, "wait_ms"},
		"neither":       {plan.Params{"timeout_ms": "183", "wait_ms": "15"}, plan.Params{}, "other_ms"},
		"broken before": {plan.Params{"timeout_ms": "183", "wait_ms": "200"}, plan.Params{"timeout_ms": "183"}, "timeout_ms"},
	} {
		d := &documented{fake{fails: func(p *plan.Plan) *plan.Verdict {
			if p.Params[c.needs] == c.params[c.needs] {
				return broken("x")
			}
			return nil
		}}}
		p := noisy(1, 2)
		p.Params = c.params
		small, stats := shrink.Shrink(d, p, "violation/x/e", 400, nil)
		require.True(t, stats.Minimal, name)
		require.Equal(t, c.want, small.Params, name)
	}
}
