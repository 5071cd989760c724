package shrink

import (
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// params takes parameters of the plan out that may be absent: what is absent has its usual value, and a reader need not wonder about it.
// Usual timeouts are ten times as long as those that scenarios draw, so a candidate that takes more than twice the events is not worth it.
// What says by which case a run is judged stays: without it the same schedule may be a finding that it is not. So does what has a usual value
// that contradicts another one of the plan, such as a wait that is longer than the timeout over it: the plan would fail for that alone.
func (s *search) params() {
	var plain, slow []string
	c := s.catalogue()
	if c == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.best.Params)) {
		switch f := c.Registry.PlanParameter(s.best.Scenario, name); {
		case f == nil || f.Required || f.Judged:
		case strings.HasSuffix(name, "_ms"):
			slow = append(slow, name)
		default:
			plain = append(plain, name)
		}
	}
	s.mostEvents = 2 * int64(s.verdict.Events)
	s.absent(plain)
	s.absent(slow)
	s.mostEvents = 0
}

// absent takes as many of the named parameters out as it can, in chunks.
func (s *search) absent(names []string) {
	left := func() (list []string) {
		for _, name := range names {
			if _, have := s.best.Params[name]; have {
				list = append(list, name)
			}
		}
		return list
	}
	registry := s.catalogue().Registry
	s.chunks(func() int { return len(left()) }, func(from, to int) *plan.Plan {
		candidate := s.best.Clone()
		for _, name := range left()[from:to] {
			delete(candidate.Params, name)
		}
		if registry.Contradictions(candidate) > registry.Contradictions(s.best) {
			return s.best // which is tried already
		}
		return candidate
	})
}
