// Package simtest runs scenarios from `go test`.
//
// A campaign of the command line is for machines that have the night; a test is for the change at hand. The same plans
// run in both, and a failure in one is a token for the other.
//
//	func TestRegister(t *testing.T) { simtest.Seeds(t, register.Catalogue(), "register/fixed", 1, 200) }
//
//	func TestRegisterPlans(t *testing.T) {
//		c := register.Catalogue()
//		e, plans := sim.NewEngine(c), simtest.Plans(c.Scenario("register/fixed"))
//		rapid.Check(t, func(t *rapid.T) { simtest.Check(t, e, plans.Draw(t, "plan")) })
//	}
//
//	func FuzzRegister(f *testing.F) { simtest.Fuzz(f, register.Catalogue(), "register/fixed") }
//
//	func FuzzRegisterEdits(f *testing.F) { simtest.FuzzEdits(f, register.Catalogue(), "register/fixed") }
//
// Seeds gives each seed a subtest whose name is SCENARIO:SEED: what `go test -run` selects, and the token that the replay
// command takes. With slashes in the scenario's name, quote it piecewise for -run, as go test wants: -run
// 'TestRegister/register/fixed:17'. Plans is another way to draw plans, for rapid, which shrinks what fails by deleting
// actions; EditedPlans adds profiles and edits, which shrink too. Fuzz is the third: the fuzzer picks the seed and the actions that stay;
// with FuzzEdits it changes the plan by edits, so that what it learns of coverage guides it to plans near by.
//
// What fails says how to replay it: by its token when the plan is the one that the seed draws, else by a capsule file that
// holds the plan. Runs in tests do not poison memory; Poisoned does, for programs that may reuse what they gave away.
//
// Everything here is deterministic but the choice of plans by rapid and the fuzzer, which have seeds and corpora of their own.
package simtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/outfile"
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
		t.Run(Token(scenario, seed), func(t *testing.T) { Check(t, e, s.Draw(seed)) })
	}
}

// Poisoned runs count seeds of a scenario like Seeds, each a second time with sim.Options.Poison: buffers and messages are
// copied at each boundary and scribbled over, so a program that changes what it gave away panics or ends otherwise. It fails
// seeds whose two runs differ in a hash.
func Poisoned(t *testing.T, c *sim.Catalogue, scenario string, first uint64, count int) {
	t.Helper()
	s := c.Scenario(scenario)
	if s == nil {
		t.Fatalf("simtest: no scenario %q", scenario)
	}
	e := sim.NewEngine(c)
	for seed := first; seed < first+uint64(count); seed++ {
		t.Run(Token(scenario, seed), func(t *testing.T) {
			v := Check(t, e, s.Draw(seed))
			again, err := e.Run(s.Draw(seed), sim.Options{Poison: true})
			if err != nil {
				t.Fatalf("%v", err)
			}
			if again.Verdict.TraceHash != v.TraceHash {
				t.Fatalf("simtest: %s runs otherwise with poisoned buffers: the program reuses memory that it gave away", Token(scenario, seed))
			}
		})
	}
}

// Token names a run of a scenario for the replay command: SCENARIO:SEED.
func Token(scenario string, seed uint64) string { return fmt.Sprintf("%s:%d", scenario, seed) }

// Check runs one plan and fails the test when the verdict is a finding. It returns the verdict otherwise.
func Check(t rapid.TB, e *sim.Engine, p *plan.Plan) *plan.Verdict {
	t.Helper()
	r, err := e.Run(p, sim.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if r.Verdict.Outcome.Finding() {
		t.Fatalf("%s\n  %s", Explain(p, r.Verdict), Replay(e.Catalogue(), p, r.Verdict))
	}
	return r.Verdict
}

// Replay says in one line how to run a plan again with its full trace. A plan that is the one its seed draws has a token. Any
// other one (rapid, the fuzzer or shrinking took actions out) is written as a capsule into the folder for temporary files,
// under a name made of program, scenario and seed: a later capsule of that name takes the place of the earlier one.
func Replay(c *sim.Catalogue, p *plan.Plan, v *plan.Verdict) string {
	name := c.DrawnAs(p)
	if s := c.Scenario(name); s != nil && same(p, s.Draw(uint64(p.Seed))) {
		return "replay with: " + c.Program + " replay " + Token(name, uint64(p.Seed))
	}
	capsule, err := plan.EncodeCapsule(plan.NewCapsule(sim.EngineVersion, p, v, nil, ""))
	if err != nil {
		return "no replay: " + err.Error()
	}
	base := strings.ReplaceAll(fmt.Sprintf("%s-%s-%d.json", c.Program, p.Scenario, uint64(p.Seed)), "/", "-")
	file := filepath.Join(os.TempDir(), base)
	if err := outfile.Write(file, capsule); err != nil {
		return fmt.Sprintf("replay: save this capsule (%v) and give it to %s replay:\n%s", err, c.Program, capsule)
	}
	return fmt.Sprintf("not the plan that seed %d draws; replay with: %s replay %s", uint64(p.Seed), c.Program, file)
}

// same reports whether two plans are equal as documents.
func same(a, b *plan.Plan) bool {
	x, errX := plan.Encode(a)
	y, errY := plan.Encode(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Explain is a finding in a few lines: what broke, and the actions of the plan in order of time. Replay says how to see more.
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
	for _, a := range p.InOrder() {
		s += "\n  " + (*plan.Registry)(nil).FormatAction(&a)
	}
	return s
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

// Fuzz makes a fuzz target of a scenario: the input is a seed and, bit by bit, which of the plan's actions stay.
func Fuzz(f *testing.F, c *sim.Catalogue, scenario string) {
	f.Helper()
	s := c.Scenario(scenario)
	if s == nil {
		f.Fatalf("simtest: no scenario %q", scenario)
	}
	e := sim.NewEngine(c)
	for seed := uint64(1); seed <= 4; seed++ {
		f.Add(seed, ^uint64(0))
	}
	f.Fuzz(func(t *testing.T, seed, stay uint64) { Check(t, e, Subset(s.Draw(seed), stay)) })
}

// Subset keeps the actions whose bit is set, the 65th sharing a bit with the first. It changes p and returns it.
func Subset(p *plan.Plan, stay uint64) *plan.Plan {
	kept := p.Actions[:0]
	for i, a := range p.Actions {
		if stay>>(uint(i)%64)&1 == 1 {
			kept = append(kept, a)
		}
	}
	p.Actions = kept
	return p
}
