package vdisk

import "github.com/kraftsim/kraftsim/sim/decide"

// Immediate is a Host for which every operation succeeds and is complete at once: an operator's shell on a quiet machine,
// and the host of tests. Forced errors of SetErrors and SetFull still hold.
type Immediate struct{}

// Choose returns the benign value.
func (Immediate) Choose(site *decide.Site, _, _ uint64, _ int64) int64 { return site.Benign() }

// Chance returns the benign value.
func (Immediate) Chance(site *decide.Site, _, _ uint64, _ int64) bool { return site.Benign() != 0 }

// Issue commits.
func (Immediate) Issue(v *Volume, op OpID, _ int64) {
	if op != NoOp {
		v.Commit(op)
	}
}
