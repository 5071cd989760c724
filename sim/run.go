package sim

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Engine runs plans, one after the other, in one World that it resets between them. It is not safe for concurrent use:
// give every worker an engine of its own.
type Engine struct {
	catalogue *Catalogue
	world     World
}

// NewEngine returns an engine for the scenarios of a catalogue.
func NewEngine(c *Catalogue) *Engine { return &Engine{catalogue: c} }

// Catalogue returns what the engine was made for.
func (e *Engine) Catalogue() *Catalogue { return e.catalogue }

// Reached tells where the run in progress is, or where the last one ended: the id of its event, the virtual time in
// microseconds, and the host whose process was called last in that event, "" for none. It is for those who catch a panic.
func (e *Engine) Reached() (event, atUs int64, host string) {
	w := &e.world
	if w.running != nil {
		host = w.running.spec.ID
	}
	return w.eventID, w.now / 1000, host
}

// Run runs a plan to its verdict. It is a pure function of the plan and the engine's version: options, earlier runs,
// machine and architecture change nothing. An error means that the plan can't be run, and names the field; everything that
// happens in the run is in the verdict.
func (e *Engine) Run(p *plan.Plan, o Options) (Result, error) {
	w := &e.world
	if err := e.prepare(p, o); err != nil {
		return Result{}, err
	}
	w.run()
	if w.givenUp {
		return Result{}, ErrGivenUp
	}
	w.poison.checkAll()
	v := w.verdict()
	if j, ok := e.catalogue.Scenario(p.Scenario).(Judge); ok && !v.Outcome.Finding() {
		j.Judge(w, v)
	}
	return Result{Verdict: v, Decisions: w.drawn, Coverage: w.coverage.found, Workload: w.coverage.workload}, nil
}

// prepare furnishes the world for a plan.
func (e *Engine) prepare(p *plan.Plan, o Options) error {
	if err := e.catalogue.Check(); err != nil {
		return err
	}
	s := e.catalogue.Scenario(p.Scenario)
	if s == nil {
		return fmt.Errorf("plan: scenario %q is not known: see `%s list scenarios`", p.Scenario, e.catalogue.Program)
	}
	catalogue := e.catalogue.of(p.Scenario)
	if err := plan.Validate(p, catalogue.Registry); err != nil {
		return err
	}
	w := &e.world
	w.catalogue, w.registry = catalogue, catalogue.Registry
	if err := w.reset(p, o); err != nil {
		return err
	}
	if o.RecordDecisions {
		w.source.Record(w.record)
	}
	w.usePolicy()
	w.installFaults()
	if err := s.Build(w, p); err != nil {
		return err
	}
	if len(w.duties) > 0 && w.liveness.BoundNs <= 0 {
		return fmt.Errorf("sim: scenario %s has obligations but no bound for them: call World.SetLiveness", p.Scenario)
	}
	return w.scheduleActions()
}

// run handles events until the run is over.
func (w *World) run() {
	for !w.done {
		if !w.step() {
			break
		}
	}
	if !w.done {
		w.endStuck()
	}
	if w.givenUp {
		return
	}
	if w.outcome == plan.OK || w.outcome == plan.LegitimatelyStuck || w.outcome == plan.Stuck {
		for _, c := range w.atEnd {
			c.AtEnd()
			if w.report.finding {
				break
			}
		}
	}
}

// record keeps a decision for the capsule; those that were not benign get their readable name.
func (w *World) record(d decide.Drawn) {
	r := plan.DrawnDecision{Hash: d.Hash, Value: d.Value, Benign: d.Value == d.Site.Benign(), Spread: d.Site.Spread()}
	if !r.Benign {
		r.Name = fmt.Sprintf("%s %s kind=%d key=%d window=%ds #%d = %d", d.Site.Name(), w.entity(d.Name.Entity), d.Name.Kind,
			d.Name.Key, d.Name.Window, d.Name.Occurrence, d.Value)
	}
	w.drawn = append(w.drawn, r)
}

// entity turns the hash of a host or a link back into its id.
func (w *World) entity(hash uint64) string {
	for _, a := range w.hosts {
		if a.hash == hash {
			return a.spec.ID
		}
		for _, b := range w.hosts {
			if decide.Combine(a.hash, b.hash) == hash {
				return a.spec.ID + ">" + b.spec.ID
			}
		}
	}
	return fmt.Sprintf("%016x", hash)
}
