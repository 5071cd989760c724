package campaign

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"

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
			g.runner = g.fresh()
			result, err = sim.Result{Verdict: panicked(fmt.Sprint(r), origin())}, nil
		}
	}()
	return g.runner.Run(p, o)
}

// panicked is the verdict of a run that panicked: its hashes are zero, since the trace ends in mid air.
func panicked(message, where string) *plan.Verdict {
	return &plan.Verdict{Outcome: plan.Panic, Broken: []plan.Broken{{
		Invariant: NoPanic, Detail: message + " in " + where, Evidence: withoutNumbers(message) + " in " + where,
	}}}
}

// origin names the function that panicked. It is called from a deferred function.
func origin() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
		}
		if !more {
			return "an unknown function"
		}
	}
}

// withoutNumbers makes messages of one cause equal: index out of range [#] with length #.
func withoutNumbers(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`).ReplaceAllString(first, "#")
}

// dead is the verdict of a run that took its process along. evidence is a fixed word.
func dead(outcome plan.Outcome, evidence, detail string) *plan.Verdict {
	return &plan.Verdict{Outcome: outcome, Broken: []plan.Broken{{
		Invariant: ProcessLives, Detail: detail, Evidence: evidence,
	}}}
}
