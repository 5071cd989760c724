package mutants

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// remote is a runner of plans in a mutant's process, for shrinking. What it shows is the mutant's doing: a plan that fails on the clean
// program, too, shows nothing, or a script would be shortened until any program fails it. A run that never ends, or that takes its
// process along, shows nothing either, and costs the process.
type remote struct {
	ctx       context.Context
	child     child
	clean     campaign.Runner // of this program
	catalogue *sim.Catalogue
	deadline  time.Time // after it nothing is run any more
	expired   bool
	// failsClean is the fingerprint of the last run of the clean program that failed: such a plan says nothing of the mutant, and something of
	// the clean program.
	failsClean string
}

// candidateTime is the wall time of one candidate, a hundred times what most need.
const candidateTime = 20 * time.Second

var errExpired = errors.New("mutants: no time is left for shrinking")

// Catalogue tells shrinking which parameters are optional.
func (r *remote) Catalogue() *sim.Catalogue { return r.catalogue }

// Run implements shrink.Runner.
func (r *remote) Run(p *plan.Plan, o sim.Options) (sim.Result, error) {
	limit := min(candidateTime, time.Until(r.deadline))
	if limit <= 0 {
		r.expired = true
		return sim.Result{}, errExpired
	}
	res, err := r.child.one(r.ctx, &order{Plan: p, Record: o.RecordDecisions, MostEvents: o.MostEvents}, limit)
	switch {
	case err != nil:
		return sim.Result{}, err
	case res.GivenUp:
		return sim.Result{}, sim.ErrGivenUp
	case res.Verdict == nil:
		return sim.Result{}, fmt.Errorf("mutants: the plan cannot be run: %s", res.Detail)
	}
	result := sim.Result{Verdict: res.Verdict, Decisions: res.Drawn}
	r.failsClean = ""
	if res.Verdict.Outcome.Finding() {
		own, err := r.clean.Run(p, sim.Options{})
		if err != nil {
			return sim.Result{}, err
		}
		if own.Verdict.Outcome.Finding() {
			r.failsClean, result.Verdict = own.Verdict.Fingerprint(), &plan.Verdict{Outcome: plan.OK}
		}
	}
	return result, nil
}

// one runs a single plan. A process that dies or that does not end within the limit is an error, and gone.
func (c *child) one(ctx context.Context, o *order, limit time.Duration) (result, error) {
	if c.process == nil {
		if err := c.start(); err != nil {
			return result{}, err
		}
	}
	o.Count, o.Scenarios = 1, []string{o.Plan.Scenario}
	var got result
	how, err := "died", error(nil)
	if c.send(o) {
		how, err = c.collect(ctx, o, limit, func(r *result) { got = *r })
	}
	if err != nil || how != "" {
		c.stop()
		return result{}, errors.Join(err, fmt.Errorf("mutants: the process %s", how))
	}
	return got, nil
}
