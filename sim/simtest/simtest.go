// Package simtest runs scenarios from `go test`: one subtest a seed, whose name is the token that `replay` takes.
//
//	func TestRegister(t *testing.T) { simtest.Seeds(t, register.Catalogue(), "register/fixed", 1, 200) }
//
// A failing seed says which invariant broke, and how to replay it: the subtest's name is SCENARIO:SEED.
package simtest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Seeds runs count seeds of a scenario, each as a subtest, and fails those whose verdict is a finding.
func Seeds(t *testing.T, c *sim.Catalogue, scenario string, first uint64, count int) {
	t.Helper()
	s := c.Scenario(scenario)
	if s == nil {
		t.Fatalf("simtest: no scenario %q", scenario)
	}
	e := sim.NewEngine(c)
	for seed := first; seed < first+uint64(count); seed++ {
		t.Run(fmt.Sprintf("%s:%d", scenario, seed), func(t *testing.T) { Check(t, e, s.Draw(seed)) })
	}
}

// Check runs one plan and fails the test when the verdict is a finding.
func Check(t rapid.TB, e *sim.Engine, p *plan.Plan) *plan.Verdict {
	t.Helper()
	r, err := e.Run(p, sim.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if r.Verdict.Outcome.Finding() {
		t.Fatalf("%s", Explain(p, r.Verdict))
	}
	return r.Verdict
}

// Explain is a finding in a few lines, the replay command last.
func Explain(p *plan.Plan, v *plan.Verdict) string {
	s := fmt.Sprintf("%s in %s, seed %d", v.Outcome, p.Scenario, uint64(p.Seed))
	for _, b := range v.Broken {
		s += fmt.Sprintf("\n  %s: %s", b.Invariant, b.Detail)
	}
	for _, l := range v.Waiting {
		s += "\n  waiting: " + l
	}
	for _, l := range v.Stopped {
		s += fmt.Sprintf("\n  stopped: %s at %d us: %s", l.Host, l.AtUs, l.Error)
	}
	return s + fmt.Sprintf("\n  replay %s:%d", p.Scenario, uint64(p.Seed))
}

// Plans draws whole plans of a scenario for rapid: the seed first, then a subset of its actions, so that rapid's own
// shrinking deletes actions.
func Plans(s sim.Scenario) *rapid.Generator[*plan.Plan] {
	return rapid.Custom(func(t *rapid.T) *plan.Plan {
		p := s.Draw(rapid.Uint64Range(1, 1<<32).Draw(t, "seed"))
		kept := p.Actions[:0]
		for _, a := range p.Actions {
			if rapid.Bool().Draw(t, a.ID) {
				kept = append(kept, a)
			}
		}
		p.Actions = kept
		return p
	})
}
