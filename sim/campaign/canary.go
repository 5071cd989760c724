package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// ErrCanary is returned when the planted bug was not found: whatever else the campaign says would be worth nothing.
var ErrCanary = errors.New("campaign: the campaign's own pipeline is broken")

// CanaryResult is how the planted bug was found.
type CanaryResult struct {
	Scenario    string `json:"scenario"`
	Fingerprint string `json:"fingerprint"`
	Runs        int64  `json:"runs"` // that showed it
	OutOf       int64  `json:"out_of"`
	Actions     int64  `json:"actions"` // of the shortened plan
	ElapsedMs   int64  `json:"elapsed_ms"`
}

// canaryShrinkRuns is how many runs shortening the canary's plan takes at most.
const canaryShrinkRuns = 60

// sing lets a worker find the catalogue's planted bug, count it, shorten it and pack it, before anything else runs.
func (c *campaign) sing(ctx context.Context) error {
	planted := c.Catalogue.Canary
	if planted == nil || ctx.Err() != nil {
		return nil
	}
	c.Progress.Phase("canary")
	begin := time.Now()
	name := planted.Scenario
	tally := newTally(name)
	batch := request{Do: doBatch, Scenario: name, First: 1, Count: planted.Seeds}
	err := c.pool.each(ctx, []request{batch}, func(_ request, res response, d *death) ([]request, error) {
		if d != nil || res.Batch == nil {
			return nil, fmt.Errorf("%w: the worker of %s has no answer", ErrCanary, name)
		}
		tally.merge(res.Batch)
		return nil, nil
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	hit := tally.Hits[planted.Fingerprint]
	if hit == nil || tally.Runs != planted.Seeds {
		return fmt.Errorf("%w: the planted bug of %s did not show %s in %d runs", ErrCanary, name, planted.Fingerprint, planted.Seeds)
	}
	short, err := c.shortenCanary(ctx, &hit.Small[len(hit.Small)-1])
	if err != nil || ctx.Err() != nil {
		return err
	}
	c.canary = &CanaryResult{
		Scenario: name, Fingerprint: planted.Fingerprint, Runs: hit.Runs, OutOf: tally.Runs,
		Actions: int64(len(short.Plan.Actions)), ElapsedMs: time.Since(begin).Milliseconds(),
	}
	return nil
}

// shortenCanary has the plan of an example shortened and looks at the capsule that comes back.
func (c *campaign) shortenCanary(ctx context.Context, e *Example) (short *plan.Capsule, err error) {
	planted := c.Catalogue.Canary
	p, problem := draw(c.Catalogue.Scenario(planted.Scenario), e.Seed)
	if problem != "" {
		return nil, fmt.Errorf("%w: %s", ErrCanary, problem)
	}
	ask := request{Do: doShrink, Plan: p, Target: planted.Fingerprint, Budget: canaryShrinkRuns}
	err = c.pool.each(ctx, []request{ask}, func(_ request, res response, d *death) ([]request, error) {
		if d != nil || res.Shrunk == nil || res.Shrunk.Capsule == nil {
			return nil, fmt.Errorf("%w: %s:%d failed in a batch, and not when it was to be shortened", ErrCanary, e.Scenario, e.Seed)
		}
		short, err = plan.DecodeCapsule(res.Shrunk.Capsule)
		return nil, err
	})
	switch {
	case err != nil || ctx.Err() != nil:
		return nil, err
	case short.Fingerprint != planted.Fingerprint || !short.Consistent():
		return nil, fmt.Errorf("%w: the capsule of %s:%d does not show %s", ErrCanary, e.Scenario, e.Seed, planted.Fingerprint)
	case len(short.Plan.Actions) > int(planted.Actions):
		return nil, fmt.Errorf("%w: %s:%d was shortened to %d actions, and %d are enough", ErrCanary, e.Scenario, e.Seed,
			len(short.Plan.Actions), planted.Actions)
	}
	return short, nil
}
