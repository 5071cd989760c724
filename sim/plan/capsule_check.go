package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// unusualLine is a decision as NewCapsule lists it: its name with the value, then the hash of the name in brackets.
var unusualLine = regexp.MustCompile(`^[^\x00-\x1f\x7f]+ \[[0-9a-f]{16}\]$`)

// checkUnusual refuses lines that name no decision.
func (c *Capsule) checkUnusual() error {
	for i, line := range c.Unusual {
		if !unusualLine.MatchString(line) {
			return &FieldError{Field: fmt.Sprintf("unusual[%d]", i), Problem: fmt.Sprintf("%.80q is no decision: "+
				"a line has a name, and its hash of 16 digits in brackets", line)}
		}
	}
	return nil
}

// check refuses a verdict that no run can have come to: somebody edited it, or it is none.
func (v *Verdict) check() error {
	if !v.Outcome.known() {
		return &FieldError{Field: "verdict.outcome", Problem: fmt.Sprintf("%q is not one of ok, violation, stuck, legitimately-stuck, spin, "+
			"unknown, panic", string(v.Outcome))}
	}
	for _, b := range []bound{
		{field: "events", value: int64(v.Events)}, {field: "virtual_us", value: int64(v.VirtualUs)}, {field: "decisions", value: int64(v.Decisions)},
	} {
		if b.value < 0 {
			return &FieldError{Field: "verdict." + b.field, Problem: "must not be negative"}
		}
	}
	for _, group := range []struct {
		name   string
		counts map[string]int64
	}{{"stats", v.Stats}, {"sometimes", v.Sometimes}, {"evaluated", v.Evaluated}} {
		for _, name := range slices.Sorted(maps.Keys(group.counts)) {
			if group.counts[name] < 0 {
				return &FieldError{Field: "verdict." + group.name + "." + name, Problem: "must not be negative"}
			}
		}
	}
	for i := range v.Broken {
		if v.Broken[i].AtUs < 0 {
			return &FieldError{Field: fmt.Sprintf("verdict.broken[%d].at_us", i), Problem: "must not be negative"}
		}
	}
	return nil
}

// Consistent reports whether the capsule's own verdict shows the fingerprint that the capsule is about.
func (c *Capsule) Consistent() bool {
	return c.Verdict.Shows(c.Fingerprint)
}

// Shows reports whether a verdict shows a target: its fingerprint, or "hazard/<id>" among the hazards met. A run that is legitimately stuck is no
// finding, and shows that word.
func (v *Verdict) Shows(target string) bool {
	return target != "" && (v.Fingerprint() == target || slices.Contains(v.HazardFingerprints(), target) ||
		v.Outcome == LegitimatelyStuck && target == string(LegitimatelyStuck))
}
