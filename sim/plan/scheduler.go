package plan

import "fmt"

const (
	maxDepth        = 100
	maxChosenFaults = 1_000
)

// checkScheduler refuses what a policy has no use for.
func checkScheduler(s *Scheduler) error {
	if *s == (Scheduler{}) {
		return nil
	}
	if s.Policy != "pct" && s.Policy != "uniform" {
		return &FieldError{Field: "scheduler.policy", Problem: fmt.Sprintf("%q is not known: pct or uniform; leave scheduler out for order of time", s.Policy)}
	}
	for _, b := range []bound{
		{"scheduler.window_us", s.WindowUs, maxDurationUs}, {"scheduler.depth", s.Depth, maxDepth}, {"scheduler.steps", s.Steps, 1_000 * million},
		{"scheduler.faults", s.Faults, maxChosenFaults}, {"scheduler.from_us", int64(s.FromUs), maxDurationUs},
	} {
		if b.value < 0 || b.value > b.high {
			return outside(b.field, b.value, 0, b.high, "")
		}
	}
	switch {
	case s.Power && s.Policy != "uniform":
		return &FieldError{Field: "scheduler.power", Problem: "belongs to uniform, not to pct"}
	case s.Policy == "pct" && (s.Faults != 0 || s.FromUs != 0):
		return &FieldError{Field: "scheduler", Problem: "faults and from_us belong to uniform, not to pct"}
	case s.Policy == "uniform" && (s.Depth != 0 || s.Steps != 0):
		return &FieldError{Field: "scheduler", Problem: "depth and steps belong to pct, not to uniform"}
	}
	return nil
}
