package shrink_test

import (
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/stretchr/testify/require"
)

// dealer is a runner whose runs draw: two resets in a plan with a rate, each under its name, or those that the plan lists.
type dealer struct {
	runs  int64
	fails func(p *plan.Plan, resets map[string]bool) *plan.Verdict
}

func resetName(window int64, key uint64) (decide.Name, string) {
	n := decide.Name{Site: decide.HashString("net/reset"), Entity: decide.Combine(decide.HashString("n0"), decide.HashString("n1")), Kind: 3, Key: key,
		Window: window}
	return n, fmt.Sprintf("net/reset n0>n1 kind=3 key=%d window=%ds #0 = 1", key, window)
}

func (r *dealer) Run(p *plan.Plan, o sim.Options) (sim.Result, error) {
	r.runs++
	resets := map[string]bool{}
	var drawn []plan.DrawnDecision
	for key := range uint64(20) {
		n, text := resetName(int64(key%4), key)
		hit := !p.Explicit && p.Network.ResetPpm > 0 && key%2 == 0
		for i := range p.Decisions {
			hit = hit || uint64(p.Decisions[i].NameHash) == n.Hash() && p.Decisions[i].Value == 1
		}
		if hit {
			resets[text] = true
		}
		drawn = append(drawn, plan.DrawnDecision{Hash: n.Hash(), Value: 1, Benign: !hit, Name: text})
	}
	drawn = append(drawn, plan.DrawnDecision{Hash: 77, Value: 12, Spread: true, Name: "net/latency = 12"})
	v := r.fails(p, resets)
	if v == nil {
		v = &plan.Verdict{Outcome: plan.OK}
	}
	result := sim.Result{Verdict: v}
	if o.RecordDecisions {
		result.Decisions = drawn
	}
	return result, nil
}

func TestMaterialiseListsFaultsTargetsAndDropsRefusals(t *testing.T) {
	r := &dealer{fails: func(p *plan.Plan, resets map[string]bool) *plan.Verdict {
		if len(resets) < 10 {
			return nil
		}
		v := broken("x")
		v.Refused = []plan.Refused{{Action: "a1", Reason: "down already"}}
		v.Resolved = []plan.Resolved{{Action: "a2", As: []plan.Action{
			{ID: "a2", AtUs: 0, Kind: "crash", Params: plan.Params{"host": "n1"}}, {AtUs: 0, Kind: "crash", Params: plan.Params{"host": "n0"}}}}}
		return v
	}}
	p := noisy(3, 2)
	p.Network.ResetPpm = 500_000
	got, stats := shrink.Materialise(r, p, "violation/x/e")
	require.True(t, stats.Reproduced && stats.Materialised)
	require.Empty(t, stats.TakenBack)
	require.Equal(t, int64(2), stats.Runs)
	require.True(t, got.Explicit)
	require.Zero(t, got.Network.ResetPpm)
	require.Len(t, got.Decisions, 10, "the faults, and not the delay")
	require.Contains(t, got.Decisions[1].Name, "net/reset n0>n1 kind=3 key=2 window=2s #0 = 1")
	var lines []string
	for i := range got.Actions {
		lines = append(lines, got.Actions[i].ID+" "+got.Actions[i].Params["host"])
	}
	require.Equal(t, []string{"a0 n0", "a2 n1", "a2.2 n0"}, lines)
	require.Equal(t, plan.Uint64(0), p.Seed)
	require.Len(t, p.Actions, 3, "the plan given stays as it is")
}

// A step that loses the failure is taken back alone, and the stats name it.
func TestMaterialiseTakesBackWhatLosesTheTarget(t *testing.T) {
	r := &dealer{fails: func(p *plan.Plan, resets map[string]bool) *plan.Verdict {
		if !has(p, "a1") || len(resets) == 0 {
			return nil
		}
		v := broken("x")
		v.Refused = []plan.Refused{{Action: "a1"}}
		return v
	}}
	p := noisy(3, 2)
	p.Network.ResetPpm = 500_000
	got, stats := shrink.Materialise(r, p, "violation/x/e")
	require.Equal(t, []string{"refused actions"}, stats.TakenBack)
	require.True(t, stats.Materialised)
	require.Len(t, got.Actions, 3)
	require.Zero(t, got.Network.ResetPpm)
}

// Single decisions go, too, and the one that is left is named for the second to which shrinking of times has moved it.
func TestShrinkLeavesTheDecisionThatMatters(t *testing.T) {
	r := &dealer{fails: func(p *plan.Plan, resets map[string]bool) *plan.Verdict {
		for i := range p.Actions {
			if p.Actions[i].ID != "a0" {
				continue
			}
			if _, text := resetName(2, 6); resets[text] {
				return broken("x")
			}
		}
		return nil
	}}
	p := noisy(8, 3)
	p.Network.ResetPpm, p.Network.TailPpm, p.Network.LatencyUs = 500_000, 3, 487
	p.StormUs = 9_000_000
	p.Hosts[0].DriftPpm = 17
	small, stats := shrink.Shrink(r, p, "violation/x/e", 500, nil)
	require.True(t, stats.Minimal, "%+v", stats)
	require.Equal(t, r.runs, stats.Runs)
	require.Len(t, small.Decisions, 1)
	_, text := resetName(2, 6)
	require.Equal(t, text, small.Decisions[0].Name)
	require.Equal(t, int64(10), stats.DecisionsBefore)
	require.Equal(t, int64(1), stats.DecisionsAfter)
	require.Len(t, small.Actions, 1)
	require.Len(t, small.Hosts, 1)
	require.Equal(t, plan.Network{LatencyUs: 500}, small.Network)
	require.Less(t, small.StormUs, p.StormUs)
	for _, part := range shrink.Necessary(r, small, "violation/x/e", shrink.Parts(small)) {
		require.True(t, part.Necessary || part.Kind == shrink.HostPart, "%s can go", part.ID)
	}
}

// Times become short and round, and what is named by the second moves along.
func TestShrinkRoundsTimes(t *testing.T) {
	r := &dealer{fails: func(p *plan.Plan, resets map[string]bool) *plan.Verdict {
		if len(p.Actions) != 2 || p.Actions[1].AtUs-p.Actions[0].AtUs < 70_000 || len(resets) == 0 {
			return nil
		}
		v := broken("x")
		v.Broken[0].AtUs = p.Actions[1].AtUs + 5
		return v
	}}
	p := noisy(2, 2)
	p.Network.ResetPpm = 500_000
	p.Actions[0].AtUs, p.Actions[1].AtUs, p.StormUs = 2_345_678, 3_912_345, 9_000_000
	small, stats := shrink.Shrink(r, p, "violation/x/e", 500, nil)
	require.True(t, stats.Minimal)
	require.Len(t, small.Decisions, 1)
	first, second := int64(small.Actions[0].AtUs), int64(small.Actions[1].AtUs)
	require.Zero(t, first%1_000, "%d", first)
	require.Zero(t, second%1_000, "%d", second)
	require.Less(t, second, int64(1_000_000))
	require.GreaterOrEqual(t, second-first, int64(70_000))
	require.LessOrEqual(t, int64(small.StormUs), second+100_000)
}

// What shows in the calm only keeps its storm, which rounding makes longer by a quarter at most, or up to a tenth of a second.
func TestRoundingMakesNoStormMuchLonger(t *testing.T) {
	for storm, want := range map[plan.Int64]plan.Int64{500_000: 500_000, 457_300: 500_000, 210_000: 210_000, 90_000: 100_000, 960_000: 1_000_000} {
		r := &dealer{fails: func(p *plan.Plan, _ map[string]bool) *plan.Verdict {
			if p.StormUs < storm || len(p.Actions) == 0 {
				return nil
			}
			v := broken("x")
			v.Broken[0].AtUs = p.StormUs + 5
			return v
		}}
		p := noisy(2, 2)
		p.Actions[0].AtUs, p.Actions[1].AtUs, p.StormUs = 40_000, 80_000, storm
		small, stats := shrink.Shrink(r, p, "violation/x/e", 500, nil)
		require.True(t, stats.Minimal)
		require.Equal(t, want, small.StormUs)
	}
}

// A stuck run that waits for something else is another failure, though all have one fingerprint.
func TestShrinkKeepsWhatAStuckRunWaitsFor(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		name := "progress"
		if has(p, "a4") {
			name = "leader-exists"
		}
		return &plan.Verdict{Outcome: plan.Stuck, Waiting: []string{name + ": c1 waits"}}
	}}
	small, stats := shrink.Shrink(f, noisy(9, 3), "stuck", 500, nil)
	require.True(t, stats.Minimal)
	require.Len(t, small.Actions, 1)
	require.True(t, has(small, "a4"))
}
