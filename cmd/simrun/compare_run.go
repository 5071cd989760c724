package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// comparePeriod is how often a line tells how far a comparison is.
const comparePeriod = 5 * time.Second

// inParallel calls do with each number below n, on so many workers, each with an engine of its own. What do writes belongs to its
// number, so that the result depends on no order. When ctx ends, no further number is taken. Progress goes to w.
func inParallel(ctx context.Context, w io.Writer, what string, n, workers int, do func(engine *sim.Engine, i int) error) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, first := 0, error(nil)
	last := time.Now()
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == n || first != nil || ctx.Err() != nil {
			return 0, false
		}
		if time.Since(last) > comparePeriod {
			last = time.Now()
			fmt.Fprintf(w, "compare: %s %d of %d\n", what, next, n)
		}
		next++
		return next - 1, true
	}
	for range min(workers, n) {
		wg.Go(func() {
			engine := sim.NewEngine(scenarios.Catalogue())
			for i, ok := take(); ok; i, ok = take() {
				if err := do(engine, i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}

// compareCell is a row of the sheet under one variant.
type compareCell struct {
	Variant    string `json:"variant"`
	Applies    bool   `json:"applies"`
	Runs       int64  `json:"runs"`
	OK         int64  `json:"ok"`
	Hazard     int64  `json:"hazard"`
	Stuck      int64  `json:"stuck"`
	Finding    int64  `json:"finding"`
	NotReached int64  `json:"not_reached"`
	// Shortest is the shortest plan of each way in which the cell is not ok, in the order of first sight.
	Shortest []*compareExample `json:"shortest,omitempty"`
}

// compareExample is a plan that shows why a cell is not ok.
type compareExample struct {
	Target  string     `json:"target"` // fingerprint
	Token   string     `json:"token"`  // scenario:seed from which it was shrunk, to be run under the variant
	Runs    int64      `json:"runs"`   // that show the same
	Hosts   int64      `json:"hosts"`
	Actions []string   `json:"actions"`
	Detail  string     `json:"detail,omitempty"`
	File    string     `json:"file,omitempty"`
	Plan    *plan.Plan `json:"plan"`
}

// add counts a run.
func (c *compareCell) add(status scenarios.CompareStatus, target string, p *plan.Plan) {
	c.Runs++
	switch status {
	case scenarios.StatusOK:
		c.OK++
	case scenarios.StatusHazard:
		c.Hazard++
	case scenarios.StatusStuck:
		c.Stuck++
	case scenarios.StatusFinding:
		c.Finding++
	default:
		c.NotReached++
	}
	if target == "" {
		return
	}
	for _, e := range c.Shortest {
		if e.Target == target {
			if e.Runs++; size(p) < size(e.Plan) {
				e.Plan, e.Token = p, token(p)
			}
			return
		}
	}
	c.Shortest = append(c.Shortest, &compareExample{Target: target, Token: token(p), Runs: 1, Plan: p})
}

func size(p *plan.Plan) int { return len(p.Actions)*8 + len(p.Hosts) }

func token(p *plan.Plan) string { return fmt.Sprintf("%s:%d", p.Scenario, p.Seed) }

// shrinkExample makes an example as short as it gets and tells what it shows.
func shrinkExample(engine *sim.Engine, e *compareExample, budget int64, registry *plan.Registry) error {
	if budget > 0 {
		e.Plan, _ = shrink.Shrink(engine, e.Plan, e.Target, budget, nil)
	}
	result, err := engine.Run(e.Plan, sim.Options{})
	if err != nil {
		return err
	}
	e.Hosts = int64(len(e.Plan.Hosts))
	for _, a := range e.Plan.InOrder() {
		e.Actions = append(e.Actions, registry.FormatAction(&a))
	}
	for _, b := range result.Verdict.Broken {
		if b.Hazard == "" || e.Target == "hazard/"+b.Hazard {
			e.Detail = b.Detail
			break
		}
	}
	if e.Detail == "" && len(result.Verdict.Waiting) > 0 {
		e.Detail = result.Verdict.Waiting[0]
	}
	return nil
}
