package shrink_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/stretchr/testify/require"
)

// The order of events is a part like any other: it goes where the failure stays, before anything else, and is told where it does not.
func TestTheSchedulerIsAPart(t *testing.T) {
	pct := plan.Scheduler{Policy: "pct", WindowUs: 8000, Depth: 3, Steps: 100}
	for _, needed := range []bool{false, true} {
		f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
			if has(p, "a1") && (!needed || p.Scheduler == pct) {
				return broken("x")
			}
			return nil
		}}
		p := noisy(3, 2)
		p.Scheduler = pct
		small, stats := shrink.Shrink(f, p, "violation/x/e", 200, nil)
		require.True(t, stats.Minimal)
		require.Equal(t, needed, small.Scheduler == pct)
		rates := 0
		for _, part := range shrink.Necessary(f, small, "violation/x/e", shrink.Parts(small)) {
			if part.ID == "scheduler" {
				require.True(t, part.Necessary && part.Fault())
				rates++
			}
		}
		require.Equal(t, needed, rates == 1)
	}
}

// Actions whose targets cannot all be named at once are named one by one, and what was taken back is not told any more when none is left.
func TestTargetsAreNamedOneByOne(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		v := broken("x")
		for _, a := range p.Actions {
			if a.Params["host"] != "leader" {
				continue
			}
			v.Resolved = append(v.Resolved, plan.Resolved{Action: a.ID, As: []plan.Action{{Kind: a.Kind, AtUs: a.AtUs, Params: plan.Params{"host": "n1"}}}})
		}
		if len(p.Actions) == 3 && len(v.Resolved) == 0 {
			return nil // all at once
		}
		if !has(p, "a1") || !has(p, "a0") {
			return nil
		}
		return v
	}}
	p := noisy(3, 2)
	for i := range p.Actions {
		p.Actions[i].Params = plan.Params{"host": "leader"}
	}
	small, stats := shrink.Shrink(f, p, "violation/x/e", 400, nil)
	require.Len(t, small.Actions, 2)
	for _, a := range small.Actions {
		require.Equal(t, "n1", a.Params["host"])
	}
	require.NotContains(t, stats.TakenBack, "targets")
}
