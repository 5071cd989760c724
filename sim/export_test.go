package sim

import (
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// RunWith is Engine.Run with another scheduling policy (nil: the default) and with every decision shown to draw.
func (e *Engine) RunWith(p *plan.Plan, o Options, policy Scheduler, draw func(decide.Drawn)) (Result, error) {
	if err := e.prepare(p, o); err != nil {
		return Result{}, err
	}
	w := &e.world
	if draw != nil {
		w.source.Record(draw)
	}
	if policy != nil {
		policy.Reset()
		for it, ok := w.timed.Pop(); ok; it, ok = w.timed.Pop() {
			policy.Push(it)
		}
		w.policy = policy
	}
	w.run()
	return Result{Verdict: w.verdict(), Decisions: w.drawn}, nil
}

// Crash ends the process of a host now, as a plan's action would.
func (w *World) Crash(h *Host, power bool) { w.crashHost(h, power, -1) }
