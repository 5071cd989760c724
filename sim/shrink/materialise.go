package shrink

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Materialise returns a plan of the same run in which every fault is a line: actions with symbolic targets name the hosts that they met,
// refused actions are gone, each decision that was a fault is an override with its readable name, and the rates that drew those are zero.
// Such a plan is explicit (plan.Plan.Explicit): what it does not list does not happen, so a line that is deleted stays away, instead of
// being drawn again.
//
// It must show the target. A step that loses it is taken back, and Stats.TakenBack names it; where nothing is left of the materialised
// form the plan comes back as it was given. It takes two runs when all goes well, a dozen at most.
func Materialise(r Runner, p *plan.Plan, target string) (*plan.Plan, Stats) {
	s := newSearch(r, p, target, maxMaterialise, nil)
	if s.reproduce() {
		s.materialise()
		s.stats.DecisionsBefore = int64(len(s.best.Decisions))
	}
	return s.best, s.stats
}

// maxMaterialise bounds the runs of Materialise, with one for every rate that a model may have.
const maxMaterialise = 64

// Listed returns the materialised form of a plan, by what a run of it said: verdict and recorded decisions. It runs nothing. The run of
// what it returns is the same run, but for two things: an action that waited for a condition comes at the microsecond after it, and a rate
// may mean something beside its faults (a link that reorders keeps no order).
func Listed(p *plan.Plan, v *plan.Verdict, drawn []plan.DrawnDecision) *plan.Plan {
	listed := p.Clone()
	for _, step := range listing {
		step.do(listed, v, drawn)
	}
	return listed
}

// targetStep is the step of the listing that names hosts and times.
const targetStep = "targets"

// listing are the steps towards a materialised plan.
var listing = []struct {
	name string
	do   func(p *plan.Plan, v *plan.Verdict, drawn []plan.DrawnDecision)
}{
	{"refused actions", withoutRefused}, {targetStep, resolved}, {"decisions", explicit}, {"rates", withoutRates},
}

// materialise tries all steps at once, and one by one when that loses the target.
func (s *search) materialise() {
	if s.best.Explicit {
		s.stats.Materialised = true
		candidate := s.best.Clone()
		withoutRefused(candidate, s.verdict, nil)
		s.try(candidate)
		return
	}
	verdict := s.verdict // of the plan as given: what the draws are of
	if listed := Listed(s.best, verdict, s.drawn); same(listed, s.best) || s.try(listed) {
		s.stats.Materialised = s.best.Explicit
		return
	}
	for _, step := range listing {
		candidate := s.best.Clone()
		if step.do(candidate, verdict, s.drawn); same(candidate, s.best) {
			continue
		}
		if !s.try(candidate) && !s.singly(step.name, verdict.Resolved) {
			s.stats.TakenBack = append(s.stats.TakenBack, step.name)
		}
	}
	s.stats.Materialised = s.best.Explicit
}

// singly does a step bit by bit where all of it at once loses the target. It reports whether nothing was left.
func (s *search) singly(step string, met []plan.Resolved) bool {
	switch step {
	case targetStep:
		return s.targets(met)
	case "rates":
		return s.singleRates()
	}
	return false
}

// targets puts what single actions came to in their place.
func (s *search) targets(met []plan.Resolved) bool {
	all := true
	for i := range met {
		candidate := s.best.Clone()
		resolved(candidate, &plan.Verdict{Resolved: met[i : i+1]}, nil)
		all = (same(candidate, s.best) || s.try(candidate)) && all
	}
	return all
}

func same(a, b *plan.Plan) bool {
	x, _ := digest(a)
	y, _ := digest(b)
	return x == y
}

func withoutRefused(p *plan.Plan, v *plan.Verdict, _ []plan.DrawnDecision) {
	dropActions(p, func(a *plan.Action) bool {
		return slices.ContainsFunc(v.Refused, func(r plan.Refused) bool { return r.Action == a.ID })
	})
}

// resolved puts what an action came to in its place. The first keeps its id, since decisions may be named by it.
func resolved(p *plan.Plan, v *plan.Verdict, _ []plan.DrawnDecision) {
	for _, r := range v.Resolved {
		i := slices.IndexFunc(p.Actions, func(a plan.Action) bool { return a.ID == r.Action })
		if i < 0 {
			continue
		}
		as := make([]plan.Action, 0, len(r.As))
		for n, a := range r.As {
			if a.Params = a.Params.Clone(); n > 0 {
				a.ID = fmt.Sprintf("%s.%d", r.Action, n+1)
			} else {
				a.ID = r.Action
			}
			if a.AtUs < p.StormUs { // in the calm no fault starts: there the symbol did something of its own
				as = append(as, a)
			}
		}
		p.Actions = slices.Replace(p.Actions, i, i+1, as...)
	}
}

// explicit lists the faults that were drawn.
func explicit(p *plan.Plan, _ *plan.Verdict, drawn []plan.DrawnDecision) {
	if len(drawn) == 0 {
		return // nothing is known of them, as after a panic
	}
	listed := make(map[plan.Uint64]bool, len(p.Decisions))
	for i := range p.Decisions {
		listed[p.Decisions[i].NameHash] = true
	}
	for i := range drawn {
		d := &drawn[i]
		if d.Benign || d.Spread || listed[plan.Uint64(d.Hash)] {
			continue
		}
		listed[plan.Uint64(d.Hash)] = true
		p.Decisions = append(p.Decisions, plan.Decision{Name: d.Name, NameHash: plan.Uint64(d.Hash), Value: plan.Int64(d.Value)})
	}
	p.Explicit = true
}

// faultRate reports whether a field is a rate of faults, all of which an explicit plan lists.
func faultRate(f *field) bool {
	return f.kind == RatePart && strings.HasSuffix(f.name, "_ppm")
}

func withoutRates(p *plan.Plan, _ *plan.Verdict, _ []plan.DrawnDecision) {
	if !p.Explicit {
		return
	}
	for _, f := range modelFields(p) {
		if faultRate(&f) {
			f.clear()
		}
	}
}

// singleRates clears rate by rate: one of them may mean something beside its faults. It reports whether all could go.
func (s *search) singleRates() bool {
	all := true
	for _, part := range Parts(s.best) {
		if part.Kind == RatePart && strings.HasSuffix(part.ID, "_ppm") {
			candidate, ok := Without(s.best, &part)
			all = ok && s.try(candidate) && all
		}
	}
	return all
}
