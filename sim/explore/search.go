package explore

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Runner runs plans: a *sim.Engine, or a guarded one.
type Runner interface {
	Run(p *plan.Plan, o sim.Options) (sim.Result, error)
}

// Search is a depth-first search that can be stopped between two runs.
type Search struct {
	runner  Runner
	plan    *plan.Plan // as the search runs it
	bounds  Bounds
	stack   []frame
	visited map[uint64][]visit
	report  Report
	started bool

	ended end // of the run in progress
}

// end is why a run was ended, or is let go.
type end uint8

const (
	goesOn end = iota
	leaf
	known
	asleep
)

// frame is a choice on the way to where the search is.
type frame struct {
	Options []option `json:"options"`
	Taken   int64    `json:"taken"`
	Sleep   []string `json:"sleep,omitempty"` // options that need not be tried: another order of what was run
	Inner   bool     `json:"inner,omitempty"`
}

type option struct {
	Name  string `json:"name"`
	Host  int32  `json:"host"`
	Fault bool   `json:"fault,omitempty"`
}

// independent reports whether two options commute: events of different hosts do, faults and what is the world's own with nothing.
func (o *option) independent(p *option) bool {
	return !o.Fault && !p.Fault && o.Host >= 0 && p.Host >= 0 && o.Host != p.Host
}

// visit is how a state was left behind: with so many choices and deviations to come, and these options asleep.
type visit struct {
	left, deviations int64
	sleep            []string
}

// New returns a search that has not begun. The plan is copied.
func New(r Runner, p *plan.Plan, b Bounds) *Search {
	s := &Search{runner: r, plan: b.apply(p), bounds: b, visited: map[uint64][]visit{}}
	s.report = Report{Bounds: b, Covered: b.String(), Reductions: b.reductions(), Findings: []Finding{}}
	return s
}

// Report returns how far the search is.
func (s *Search) Report() *Report { return &s.report }

// Run goes on until everything is covered, or stop says so between two runs; nil never does. An error means that the plan cannot be run.
func (s *Search) Run(stop func(r *Report) bool) (*Report, error) {
	for !s.report.Complete && (stop == nil || !stop(&s.report)) {
		if s.started && !s.advance() {
			s.report.Complete = true
			break
		}
		s.started = true
		if err := s.once(); err != nil {
			return &s.report, err
		}
	}
	return &s.report, nil
}

// once runs the schedule that the stack begins.
func (s *Search) once() error {
	s.ended = goesOn
	calls := 0
	o := sim.Options{Choice: func(c *sim.Choice) int64 {
		calls++
		return s.choose(c, calls-1)
	}}
	r, err := s.runner.Run(s.plan, o)
	if err != nil {
		return err
	}
	s.report.Runs++
	switch s.ended {
	case known:
		s.report.Known++
	case asleep:
		s.report.Asleep++
	default:
		s.report.Leaves++
	}
	s.report.Deepest = max(s.report.Deepest, int64(len(s.stack)))
	if r.Verdict.Outcome.Finding() {
		return s.found(r.Verdict)
	}
	return nil
}

// choose answers the i-th choice of a run.
func (s *Search) choose(c *sim.Choice, i int) int64 {
	switch {
	case i < len(s.stack):
		return s.stack[i].Taken
	case s.ended != goesOn:
		return sim.Leave
	}
	depth, deviations := s.used()
	if !c.Inner && depth >= s.bounds.Depth {
		return s.leave(leaf)
	}
	f := frame{Inner: c.Inner, Sleep: s.slept()}
	for k := range c.Options {
		x := &c.Options[k]
		f.Options = append(f.Options, option{Name: x.Name, Host: x.Hosts[0], Fault: x.Fault})
	}
	if !s.bounds.Plain && !s.visit(c.State(s.bounds.QuantumUs*1000), visit{left: s.bounds.Depth - depth, deviations: s.bounds.Deviations - deviations, sleep: f.Sleep}) {
		return s.leave(known)
	}
	f.Taken = -1
	if !s.next(&f, deviations) {
		return s.leave(asleep)
	}
	s.stack = append(s.stack, f)
	s.report.Transitions++
	return f.Taken
}

// leave ends a run, or lets it go on in order of time where that is wanted.
func (s *Search) leave(why end) int64 {
	s.ended = why
	if why == leaf && s.bounds.Tail {
		return sim.Leave
	}
	return sim.Stop
}

// used is how much of the bounds the stack has taken.
func (s *Search) used() (depth, deviations int64) {
	for i := range s.stack {
		f := &s.stack[i]
		if !f.Inner {
			depth++
		}
		if f.Taken > 0 && !f.Options[f.Taken].Fault {
			deviations++
		}
	}
	return depth, deviations
}

// slept are the options that are asleep behind the last choice of the stack: those that were before it and commute with it.
func (s *Search) slept() []string {
	if len(s.stack) == 0 || !s.bounds.sleeps() {
		return nil
	}
	f := &s.stack[len(s.stack)-1]
	taken := &f.Options[f.Taken]
	var list []string
	for k := range f.Options {
		if o := &f.Options[k]; slices.Contains(f.Sleep, o.Name) && o.independent(taken) {
			list = append(list, o.Name)
		}
	}
	return list
}

// visit notes a state. false: it was left behind with at least as much to come, and no more asleep.
func (s *Search) visit(hash uint64, v visit) bool {
	list := s.visited[hash]
	for i := range list {
		o := &list[i]
		if o.left >= v.left && (s.bounds.Deviations < 0 || o.deviations >= v.deviations) && subset(o.sleep, v.sleep) {
			return false
		}
	}
	if len(list) == 0 {
		s.report.States++
	}
	s.visited[hash] = append(list, v)
	return true
}

func subset(a, b []string) bool {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

// next moves a frame to its next option that has to be tried.
func (s *Search) next(f *frame, deviations int64) bool {
	for f.Taken++; f.Taken < int64(len(f.Options)); f.Taken++ {
		o := &f.Options[f.Taken]
		if slices.Contains(f.Sleep, o.Name) {
			continue
		}
		if f.Taken > 0 && !o.Fault && s.bounds.Deviations >= 0 && deviations >= s.bounds.Deviations {
			continue
		}
		return true
	}
	return false
}

// advance moves the stack to the next schedule. false: there is none.
func (s *Search) advance() bool {
	for len(s.stack) > 0 {
		f := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		_, deviations := s.used()
		if s.bounds.sleeps() && !f.Options[f.Taken].Fault && !f.Inner {
			f.Sleep = append(slices.Clone(f.Sleep), f.Options[f.Taken].Name)
		}
		if s.next(&f, deviations) {
			s.stack = append(s.stack, f)
			s.report.Transitions++
			return true
		}
	}
	return false
}

// found keeps the first schedule of a fingerprint, as a plan that runs by itself.
func (s *Search) found(v *plan.Verdict) error {
	fingerprint := v.Fingerprint()
	if slices.ContainsFunc(s.report.Findings, func(f Finding) bool { return f.Fingerprint == fingerprint }) {
		return nil
	}
	f := Finding{Fingerprint: fingerprint, Run: s.report.Runs}
	for i := range s.stack {
		if x := &s.stack[i]; x.Taken > 0 || !x.Inner {
			f.Choices = append(f.Choices, x.Options[x.Taken].Name)
		}
	}
	stack := s.stack
	calls := 0
	r, err := s.runner.Run(s.plan, sim.Options{RecordDecisions: true, Choice: func(*sim.Choice) int64 {
		if calls++; calls <= len(stack) {
			return stack[calls-1].Taken
		}
		return sim.Leave
	}})
	if err != nil {
		return err
	}
	f.Plan = s.plan.Clone()
	f.Plan.Decisions = nil
	for i := range r.Decisions {
		if d := &r.Decisions[i]; !d.Benign && !d.Spread {
			f.Plan.Decisions = append(f.Plan.Decisions, plan.Decision{Name: d.Name, NameHash: plan.Uint64(d.Hash), Value: plan.Int64(d.Value)})
		}
	}
	again, err := s.runner.Run(f.Plan, sim.Options{})
	if err != nil {
		return err
	}
	if again.Verdict.Fingerprint() != fingerprint {
		return fmt.Errorf("explore: the plan of run %d shows %q by itself, not %q", f.Run, again.Verdict.Fingerprint(), fingerprint)
	}
	s.report.Findings = append(s.report.Findings, f)
	return nil
}
