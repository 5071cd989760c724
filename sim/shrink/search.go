package shrink

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Shows is plan.Verdict.Shows.
func Shows(v *plan.Verdict, target string) bool {
	return v.Shows(target)
}

// bound is what a stuck run waits for first: the name of an obligation. Other runs have none. All stuck runs have one fingerprint, and a
// run that waits for something else is not the same failure.
func bound(v *plan.Verdict) string {
	if v.Outcome != plan.Stuck && v.Outcome != plan.LegitimatelyStuck || len(v.Waiting) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(v.Waiting[0], ": ")
	return name
}

// search is the state of one shrinking: the best plan so far and what is known of others.
type search struct {
	runner  Runner
	target  string
	bound   string // of the plan as given
	budget  int64
	goesOn  func(Stats) bool
	best    *plan.Plan
	verdict *plan.Verdict // of best
	drawn   []plan.DrawnDecision
	failed  map[[sha256.Size]byte]bool // documents of plans that do not show the target
	stats   Stats
	// mostEvents is how many events a candidate may take, 0: some more than the best plan.
	mostEvents int64
	// thorough: candidates may take any number of events.
	thorough bool
}

// A candidate that lacks a fault may take its time until it fails; one that took twice the events, and some, is given up. Most candidates
// that do not fail would go on for the whole storm and calm, ten times as long.
const (
	eventsFactor = 2
	eventsMore   = 2_000
)

// limit is how many events the next candidate may take, 0: any number.
func (s *search) limit() int64 {
	switch {
	case s.verdict == nil || s.thorough:
		return 0
	case s.mostEvents > 0:
		return s.mostEvents
	}
	return eventsFactor*int64(s.verdict.Events) + eventsMore
}

// catalogue is what the runner runs, nil when it does not tell; and where a run is legitimately stuck, which it may be for want of a parameter
// alone: that would be another run, and shorter.
func (s *search) catalogue() *sim.Catalogue {
	if s.target == string(plan.LegitimatelyStuck) {
		return nil
	}
	if r, ok := s.runner.(interface{ Catalogue() *sim.Catalogue }); ok {
		return r.Catalogue()
	}
	return nil
}

func newSearch(r Runner, p *plan.Plan, target string, budget int64, goesOn func(Stats) bool) *search {
	s := &search{runner: r, target: target, budget: budget, goesOn: goesOn, best: p.Clone(), failed: map[[sha256.Size]byte]bool{}}
	s.stats.ActionsBefore, s.stats.HostsBefore = int64(len(p.Actions)), int64(len(p.Hosts))
	s.stats.WorkloadBefore, s.stats.StormBeforeUs = int64(len(p.Workload)), p.StormUs
	s.measure()
	s.stats.RatesBefore = s.stats.RatesAfter
	return s
}

func (s *search) measure() {
	s.stats.ActionsAfter, s.stats.HostsAfter = int64(len(s.best.Actions)), int64(len(s.best.Hosts))
	s.stats.WorkloadAfter, s.stats.StormAfterUs = int64(len(s.best.Workload)), s.best.StormUs
	s.stats.DecisionsAfter, s.stats.RatesAfter = int64(len(s.best.Decisions)), 0
	for _, f := range modelFields(s.best) {
		if f.kind != cost {
			s.stats.RatesAfter++
		}
	}
}

// reproduce runs the plan as given, keeping its decisions.
func (s *search) reproduce() bool {
	s.stats.Reproduced, _ = s.run(s.best, sim.Options{RecordDecisions: true})
	return s.stats.Reproduced
}

// try runs a candidate and makes it the best plan when it shows the target. A plan that the scenario refuses is no failure. What was
// tried before, and what is the best plan already, costs no run.
func (s *search) try(candidate *plan.Plan) bool {
	key, known := digest(candidate)
	if known && s.failed[key] {
		return false
	}
	if have, ok := digest(s.best); ok && known && have == key {
		return false
	}
	shows, ended := s.run(candidate, sim.Options{MostEvents: s.limit()})
	if !shows && ended && known && !s.stats.Exhausted {
		s.failed[key] = true
	}
	return shows
}

func digest(p *plan.Plan) (key [sha256.Size]byte, ok bool) {
	text, err := plan.Encode(p)
	if err != nil {
		return key, false
	}
	return sha256.Sum256(text), true
}

// run runs a plan. ended is false for a run that was given up: it may show the target later.
func (s *search) run(candidate *plan.Plan, o sim.Options) (shows, ended bool) {
	if s.stats.Runs >= s.budget {
		s.stats.Exhausted = true
		return false, false
	}
	s.stats.Runs++
	result, err := s.runner.Run(candidate, o)
	first := s.verdict == nil
	ended = !errors.Is(err, sim.ErrGivenUp)
	shows = err == nil && result.Verdict != nil && Shows(result.Verdict, s.target) && (first || bound(result.Verdict) == s.bound) &&
		(s.mostEvents == 0 || int64(result.Verdict.Events) <= s.mostEvents)
	if shows {
		// The runner may reuse what it returned.
		v := *result.Verdict
		v.Refused, v.Broken, v.Resolved = slices.Clone(v.Refused), slices.Clone(v.Broken), slices.Clone(v.Resolved)
		if s.best, s.verdict = candidate, &v; first {
			s.bound, s.drawn = bound(&v), slices.Clone(result.Decisions)
		}
		s.measure()
	}
	if s.goesOn != nil && !s.goesOn(s.stats) {
		s.budget = s.stats.Runs
	}
	return shows, ended
}

// evidenceAt is the time at which the target showed.
func (s *search) evidenceAt() (at plan.Int64, known bool) {
	for _, b := range s.verdict.Broken {
		if b.Hazard == "" && s.verdict.Fingerprint() == s.target || "hazard/"+b.Hazard == s.target {
			return b.AtUs, b.AtUs > 0
		}
	}
	return 0, false
}
