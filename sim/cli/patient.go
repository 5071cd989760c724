package cli

import (
	"errors"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// candidateLimit is the wall time of one candidate of shrinking, and of one run that asks whether a fault is necessary; mostHung is how
// many may pass it. Each leaves a run behind that goes on until the process ends.
const (
	candidateLimit = 20 * time.Second
	mostHung       = 2
)

var errHung = errors.New("cli: candidates do not end")

// patience is a runner for many runs of what may be a broken program: a panic is a verdict, and so is a run that does not end in time.
// After mostHung of those it runs nothing any more. It is no runner for runs with sinks: one that is given up still writes to them.
type patience struct {
	fresh  func() campaign.Runner
	runner campaign.Runner
	limit  time.Duration
	hung   int
}

func (a *App) patience() *patience {
	fresh := func() campaign.Runner { return campaign.Guard(a.NewRunner) }
	return &patience{fresh: fresh, runner: fresh(), limit: candidateLimit}
}

// Run implements campaign.Runner.
func (r *patience) Run(p *plan.Plan, o sim.Options) (sim.Result, error) {
	if r.hung >= mostHung {
		return sim.Result{}, errHung
	}
	dog, runner := &watchdog{limit: r.limit}, r.runner
	result, hung, err := dog.run(func() (sim.Result, error) { return runner.Run(p, o) })
	if hung {
		r.hung++
		r.runner = r.fresh() // the other one is still busy
	}
	return result, err
}

// Catalogue tells shrinking which parameters an action may lack.
func (r *patience) Catalogue() *sim.Catalogue {
	if c, ok := r.runner.(interface{ Catalogue() *sim.Catalogue }); ok {
		return c.Catalogue()
	}
	return nil
}
