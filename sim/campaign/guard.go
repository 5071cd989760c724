package campaign

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// Runner runs a plan. *sim.Engine is one.
type Runner = shrink.Runner

// Names of the invariants under which the shells report what no checker inside a run can see.
const (
	NoPanic        = "no-panic"         // the program under test or the simulator panicked
	ProcessLives   = "process-lives"    // the process of the run died, hung or outgrew its memory
	PlanIsRunnable = "plan-is-runnable" // a scenario refused a plan that it drew itself
)

// Guard makes a panic of a run a verdict. After one it continues with a fresh runner, since the old world is in the middle of
// an event. It does not catch what ends a process: fatal errors of the Go runtime, endless handlers, memory running out.
func Guard(fresh func() Runner) Runner { return &guard{fresh: fresh, runner: fresh()} }

type guard struct {
	fresh  func() Runner
	runner Runner
}

// Run runs the plan on the guarded runner.
func (g *guard) Run(p *plan.Plan, o sim.Options) (result sim.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = sim.Result{Verdict: panicked(g.runner, fmt.Sprint(r), stack())}, nil
			g.runner = g.fresh()
		}
	}()
	return g.runner.Run(p, o)
}

// Catalogue is what the guarded runner was made for, nil when it does not say.
func (g *guard) Catalogue() *sim.Catalogue { return catalogueOf(g.runner) }

func catalogueOf(r Runner) *sim.Catalogue {
	if c, ok := r.(interface{ Catalogue() *sim.Catalogue }); ok {
		return c.Catalogue()
	}
	return nil
}

// reacher is a runner that can tell how far its run has come. *sim.Engine is one.
type reacher interface {
	Reached() (event, atUs int64, host string)
}

// panicked is the verdict of a run that panicked: its hashes are zero, since the trace ends in mid air.
func panicked(runner Runner, message string, stack []string) *plan.Verdict {
	where, _, _ := strings.Cut(stack[0], " (")
	b := plan.Broken{
		Invariant: NoPanic, Detail: message + " in " + where, Evidence: withoutNumbers(message) + " in " + where, Stack: stack,
	}
	v := &plan.Verdict{Outcome: plan.Panic}
	if r, ok := runner.(reacher); ok {
		event, atUs, host := r.Reached()
		b.Event, b.AtUs = plan.Int64(event), plan.Int64(atUs)
		v.Events, v.VirtualUs = b.Event, b.AtUs
		if host != "" {
			b.Detail += ", while " + host + " handled it"
		}
	}
	v.Broken = []plan.Broken{b}
	return v
}

// maxFrames bounds the stack of a panic that is kept.
const maxFrames = 16

// stack lists the functions from the one that panicked down to the runner, as "pkg.Func (file.go:12)": no paths and no
// addresses, which differ from machine to machine. It is called from a deferred function and never empty.
func stack() (list []string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for more := true; more && len(list) < maxFrames; {
		var frame runtime.Frame
		frame, more = frames.Next()
		name := frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
		if strings.HasPrefix(name, "campaign.(*guard)") {
			break
		}
		if name != "" && !strings.HasPrefix(name, "runtime.") {
			list = append(list, fmt.Sprintf("%s (%s:%d)", name, filepath.Base(frame.File), frame.Line))
		}
	}
	if len(list) == 0 {
		list = []string{"an unknown function"}
	}
	return list
}

// withoutNumbers makes messages of one cause equal: index out of range [#] with length #.
func withoutNumbers(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`).ReplaceAllString(first, "#")
}

// refused is the verdict on a scenario whose own plan can't be run. evidence is a fixed word.
func refused(evidence, detail string) *plan.Verdict {
	return &plan.Verdict{Outcome: plan.Panic, Broken: []plan.Broken{{
		Invariant: PlanIsRunnable, Detail: detail, Evidence: evidence,
	}}}
}

// draw draws the plan of a seed. What a scenario does wrong in that is a problem, in words, and the plan then a stand-in that
// names scenario and seed.
func draw(s sim.Scenario, seed uint64) (p *plan.Plan, problem string) {
	own, _, _ := sim.CutProfile(s.Name())
	standIn := &plan.Plan{Format: plan.Format, Scenario: own, Seed: plan.Uint64(seed), Hosts: []plan.Host{}}
	defer func() {
		if r := recover(); r != nil {
			p, problem = standIn, fmt.Sprintf("Draw panics: %v in %s", r, stack()[0])
		}
	}()
	switch p = s.Draw(seed); {
	case p == nil:
		return standIn, "Draw returns no plan"
	case p.Format != plan.Format:
		problem = fmt.Sprintf("plan: format is %d: Draw must set it to plan.Format, %d", p.Format, plan.Format)
		p.Format = plan.Format
	case p.Scenario != own:
		problem = fmt.Sprintf("plan: scenario is %q: Draw must set it to the scenario's own name, %q", p.Scenario, own)
		p.Scenario = own
	case p.Seed != plan.Uint64(seed):
		problem = fmt.Sprintf("plan: seed is %d: Draw must set it to the seed it was given, %d", p.Seed, seed)
		p.Seed = plan.Uint64(seed)
	}
	return p, problem
}

// Hung is the verdict of a run that was given up after so much wall time.
func Hung(limit time.Duration) *plan.Verdict {
	return dead(plan.Spin, "hang", fmt.Sprintf("no end within %v", limit))
}

// dead is the verdict of a run that took its process along. evidence is a fixed word.
func dead(outcome plan.Outcome, evidence, detail string) *plan.Verdict {
	return &plan.Verdict{Outcome: outcome, Broken: []plan.Broken{{
		Invariant: ProcessLives, Detail: detail, Evidence: evidence,
	}}}
}
