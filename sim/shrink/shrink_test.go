package shrink_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/stretchr/testify/require"
)

// fake is a runner that fails when its condition holds.
type fake struct {
	runs  int64
	fails func(p *plan.Plan) *plan.Verdict
}

func (f *fake) Run(p *plan.Plan, _ sim.Options) (sim.Result, error) {
	f.runs++
	if len(p.Hosts) < 2 {
		return sim.Result{}, errors.New("scenario: hosts: at least two")
	}
	v := f.fails(p)
	if v == nil {
		v = &plan.Verdict{Outcome: plan.OK}
	}
	return sim.Result{Verdict: v}, nil
}

func has(p *plan.Plan, id string) bool {
	for i := range p.Actions {
		if p.Actions[i].ID == id {
			return true
		}
	}
	return false
}

func noisy(actions, hosts int) *plan.Plan {
	p := &plan.Plan{Format: 1, Scenario: "toy", StormUs: 1}
	for i := range hosts {
		p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("n%d", i), Kind: "node"})
	}
	for i := range actions {
		p.Actions = append(p.Actions, plan.Action{
			ID: fmt.Sprintf("a%d", i), AtUs: plan.Int64(i), Kind: "crash",
			Params: plan.Params{"host": fmt.Sprintf("n%d", i%hosts)},
		})
	}
	p.Workload = []plan.Workload{{ID: "w0", Kind: "append"}, {ID: "w1", Kind: "append", Params: plan.Params{"to": "n0,n1"}}}
	return p
}

func broken(invariant string) *plan.Verdict {
	return &plan.Verdict{Outcome: plan.Violation, Broken: []plan.Broken{{Invariant: invariant, Evidence: "e", AtUs: 1_000}}}
}

// Hosts name each other in their parameters: a host that goes is taken out of the others' lists, and no parameter stays empty.
func TestShrinkTakesAHostOutOfTheListsOfOthers(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		for i := range p.Hosts {
			for _, id := range p.Hosts[i].Params.List("bootstrap") {
				known := false
				for k := range p.Hosts {
					known = known || p.Hosts[k].ID == id
				}
				require.True(t, known, "%s is no host of the candidate", id)
			}
		}
		if p.Hosts[0].ID == "n0" {
			return broken("x")
		}
		return nil
	}}
	p := noisy(0, 5)
	p.Hosts[0].Params = plan.Params{"bootstrap": "n0,n3,n4", "name": "first"}
	p.Hosts[1].Params = plan.Params{"bootstrap": "n2"}
	small, _ := shrink.Shrink(f, p, "violation/x/e", 500, nil)
	require.Len(t, small.Hosts, 2)
	require.Equal(t, plan.Params{"bootstrap": "n0", "name": "first"}, small.Hosts[0].Params)
	require.Empty(t, small.Hosts[1].Params)
}

func TestShrinkKeepsWhatTheFailureNeeds(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		if has(p, "a3") && has(p, "a17") {
			return broken("x")
		}
		return nil
	}}
	p := noisy(20, 5)
	small, stats := shrink.Shrink(f, p, "violation/x/e", 500, nil)
	require.True(t, stats.Reproduced)
	require.Equal(t, f.runs, stats.Runs)
	require.Less(t, stats.Runs, int64(70))
	require.Equal(t, noisy(20, 5), p, "the plan given stays as it is")

	var left []string
	for i := range small.Actions {
		left = append(left, small.Actions[i].ID)
	}
	require.Equal(t, []string{"a3", "a17"}, left)
	require.Len(t, small.Hosts, 2, "a3 is on n3, a17 on n2, and two hosts are needed")
	require.Empty(t, small.Workload)
	require.Equal(t, int64(2), stats.ActionsAfter)
	require.Equal(t, int64(20), stats.ActionsBefore)
	require.Equal(t, int64(2), stats.HostsAfter)
}

func TestShrinkDoesNotSlipToAnotherFailure(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		if len(p.Actions) >= 4 {
			return broken("x")
		}
		return broken("y")
	}}
	small, _ := shrink.Shrink(f, noisy(20, 3), "violation/x/e", 500, nil)
	require.Len(t, small.Actions, 4)
}

func TestShrinkFollowsAHazard(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		if !has(p, "a5") {
			return nil
		}
		return &plan.Verdict{Outcome: plan.OK, Broken: []plan.Broken{{Invariant: "x", Hazard: "late"}}}
	}}
	small, stats := shrink.Shrink(f, noisy(9, 3), "hazard/late", 500, nil)
	require.True(t, stats.Reproduced)
	require.Len(t, small.Actions, 1)
}

func TestShrinkUsesRefusalsAndTime(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		v := broken("x")
		v.Broken[0].AtUs = 4
		for i := range p.Actions {
			if i < 3 {
				v.Refused = append(v.Refused, plan.Refused{Action: p.Actions[i].ID})
			}
		}
		if !has(p, "a3") || !has(p, "a4") {
			return nil
		}
		return v
	}}
	_, stats := shrink.Shrink(f, noisy(100, 3), "violation/x/e", 3, nil)
	require.Equal(t, int64(2), stats.ActionsAfter, "two steps leave the two that matter")
}

func TestShrinkBudgetAndMissing(t *testing.T) {
	f := &fake{fails: func(*plan.Plan) *plan.Verdict { return broken("x") }}
	calls := int64(0)
	small, stats := shrink.Shrink(f, noisy(50, 9), "violation/x/e", 4, func(shrink.Stats) bool { calls++; return true })
	require.Equal(t, int64(4), stats.Runs)
	require.Equal(t, int64(4), calls)
	require.True(t, stats.Exhausted)
	require.NotNil(t, small)

	_, stats = shrink.Shrink(f, noisy(50, 9), "violation/x/e", 100, func(s shrink.Stats) bool { return s.Runs < 3 })
	require.Equal(t, int64(3), stats.Runs)
	require.True(t, stats.Exhausted, "whoever watches may end the search")
	require.False(t, stats.Minimal)

	small, stats = shrink.Shrink(f, noisy(50, 9), "violation/other/e", 100, nil)
	require.False(t, stats.Reproduced)
	require.Equal(t, int64(1), stats.Runs)
	require.Len(t, small.Actions, 50)
}
