package shrink

import (
	"maps"
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
)

func dropActions(p *plan.Plan, drop func(*plan.Action) bool) (dropped bool) {
	before := len(p.Actions)
	p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { return drop(&a) })
	return len(p.Actions) < before
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

func (s *search) decisions() {
	s.chunks(func() int { return len(s.best.Decisions) }, func(from, to int) *plan.Plan {
		candidate := s.best.Clone()
		candidate.Decisions = slices.Delete(candidate.Decisions, from, to)
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

// maxHalvings bounds how often one number is halved.
const maxHalvings = 4

// operations lowers the numbers of the workloads (clients, operations, sizes) and rounds their durations.
func (s *search) operations() {
	for i := range s.best.Workload {
		for _, name := range slices.Sorted(maps.Keys(s.best.Workload[i].Params)) {
			params := func(p *plan.Plan) plan.Params { return p.Workload[i].Params }
			s.lower(params, name)
			s.roundDuration(params, name)
		}
	}
}

// lower makes a number 1, or halves it as often as the target shows.
func (s *search) lower(params func(p *plan.Plan) plan.Params, name string) {
	set := func(v int64) bool {
		candidate := s.best.Clone()
		params(candidate)[name] = strconv.FormatInt(v, 10)
		return s.try(candidate)
	}
	v, err := strconv.ParseInt(params(s.best)[name], 10, 64)
	if err != nil || v <= 1 || set(1) {
		return
	}
	for range maxHalvings {
		if v /= 2; v <= 1 || !set(v) {
			return
		}
	}
}
