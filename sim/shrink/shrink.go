package shrink

import (
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Runner runs a plan. *sim.Engine is one.
type Runner interface {
	Run(p *plan.Plan, o sim.Options) (sim.Result, error)
}

// Stats tell what shrinking did.
type Stats struct {
	Reproduced bool  `json:"reproduced"` // the plan as given shows the target; otherwise nothing was tried
	Runs       int64 `json:"runs"`
	// ActionsBefore and the others are sizes of the plan as given and as returned.
	ActionsBefore int64 `json:"actions_before"`
	ActionsAfter  int64 `json:"actions_after"`
	HostsBefore   int64 `json:"hosts_before"`
	HostsAfter    int64 `json:"hosts_after"`
	Exhausted     bool  `json:"exhausted,omitempty"` // the budget of runs ended the search
}

// Shows reports whether a verdict shows the target: its fingerprint, or "hazard/<id>" among the hazards met.
func Shows(v *plan.Verdict, target string) bool {
	return target != "" && (v.Fingerprint() == target || slices.Contains(v.HazardFingerprints(), target))
}

// Shrink returns the shortest plan found that still shows the target, and never changes p. budgetRuns bounds the runs.
// progress, when not nil, is called after each run.
func Shrink(r Runner, p *plan.Plan, target string, budgetRuns int64, progress func(Stats)) (*plan.Plan, Stats) {
	s := &search{runner: r, target: target, budget: budgetRuns, progress: progress, best: p.Clone()}
	s.stats.ActionsBefore, s.stats.HostsBefore = int64(len(p.Actions)), int64(len(p.Hosts))
	s.measure()
	s.stats.Reproduced = s.try(p.Clone())
	if s.stats.Reproduced {
		s.obvious()
		s.actions()
		s.hosts()
		s.workloads()
		s.actions() // fewer hosts may need fewer actions
	}
	return s.best, s.stats
}

type search struct {
	runner   Runner
	target   string
	budget   int64
	progress func(Stats)
	best     *plan.Plan
	verdict  *plan.Verdict // of best
	stats    Stats
}

func (s *search) measure() {
	s.stats.ActionsAfter, s.stats.HostsAfter = int64(len(s.best.Actions)), int64(len(s.best.Hosts))
}

// try runs a candidate and makes it the best plan when it shows the target. A plan that the scenario refuses is no failure.
func (s *search) try(candidate *plan.Plan) bool {
	if s.stats.Runs >= s.budget {
		s.stats.Exhausted = true
		return false
	}
	s.stats.Runs++
	result, err := s.runner.Run(candidate, sim.Options{})
	shows := err == nil && result.Verdict != nil && Shows(result.Verdict, s.target)
	if shows {
		// The runner may reuse what it returned.
		v := *result.Verdict
		v.Refused = slices.Clone(v.Refused)
		v.Broken = slices.Clone(v.Broken)
		s.best, s.verdict = candidate, &v
		s.measure()
	}
	if s.progress != nil {
		s.progress(s.stats)
	}
	return shows
}

// obvious drops in one step each what the verdict says had no part in it: refused actions, and actions after the evidence.
func (s *search) obvious() {
	refused := make(map[string]bool)
	for _, r := range s.verdict.Refused {
		refused[r.Action] = true
	}
	s.dropActions(func(a *plan.Action) bool { return refused[a.ID] })
	until, known := s.evidenceAt()
	if known {
		s.dropActions(func(a *plan.Action) bool { return a.AtUs > until })
	}
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

func (s *search) dropActions(drop func(*plan.Action) bool) {
	candidate := s.best.Clone()
	candidate.Actions = slices.DeleteFunc(candidate.Actions, func(a plan.Action) bool { return drop(&a) })
	if len(candidate.Actions) < len(s.best.Actions) {
		s.try(candidate)
	}
}

func (s *search) actions() {
	s.chunks(func() int { return len(s.best.Actions) }, func(from, to int) *plan.Plan {
		candidate := s.best.Clone()
		candidate.Actions = slices.Delete(candidate.Actions, from, to)
		return candidate
	})
}

func (s *search) workloads() {
	s.chunks(func() int { return len(s.best.Workload) }, func(from, to int) *plan.Plan {
		candidate := s.best.Clone()
		candidate.Workload = slices.Delete(candidate.Workload, from, to)
		return candidate
	})
}

// hosts drops one host after the other, each with what names it.
func (s *search) hosts() {
	for i := len(s.best.Hosts) - 1; i >= 0 && len(s.best.Hosts) > 1 && !s.stats.Exhausted; i-- {
		s.try(withoutHost(s.best, i))
	}
}

// chunks deletes runs of items, from the back and in ever shorter runs, until no single item can go. without returns the best
// plan without the items [from, to).
func (s *search) chunks(size func() int, without func(from, to int) *plan.Plan) {
	if n := size(); n > 0 && s.try(without(0, n)) {
		return
	}
	for length := max(1, size()/2); size() > 0 && !s.stats.Exhausted; {
		removed := false
		for to := size(); to > 0 && !s.stats.Exhausted; {
			from := max(0, to-length)
			removed = s.try(without(from, to)) || removed
			to = from
		}
		if length == 1 && !removed {
			return
		}
		length = max(1, length/2)
	}
}

// withoutHost copies the plan without a host, without the actions and workloads that name it in a parameter, and with lists of the
// other hosts' parameters that are shorter by it.
func withoutHost(p *plan.Plan, index int) *plan.Plan {
	candidate := p.Clone()
	id := candidate.Hosts[index].ID
	candidate.Hosts = slices.Delete(candidate.Hosts, index, index+1)
	for i := range candidate.Hosts {
		forget(candidate.Hosts[i].Params, id)
	}
	candidate.Actions = slices.DeleteFunc(candidate.Actions, func(a plan.Action) bool { return names(a.Params, id) })
	candidate.Workload = slices.DeleteFunc(candidate.Workload, func(w plan.Workload) bool { return names(w.Params, id) })
	return candidate
}

// forget takes an id out of each list that has it; a list without any is left out.
func forget(params plan.Params, id string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		list := params.List(name)
		if !slices.Contains(list, id) {
			continue
		}
		list = slices.DeleteFunc(slices.Clone(list), func(have string) bool { return have == id })
		if len(list) == 0 {
			delete(params, name)
			continue
		}
		params[name] = strings.Join(list, ",")
	}
}

func names(params plan.Params, id string) bool {
	for name := range params {
		if slices.Contains(params.List(name), id) {
			return true
		}
	}
	return false
}
