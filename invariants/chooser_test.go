package invariants

import "github.com/kraftsim/kraftsim/sim/decide"

// loseAll is a vdisk.Chooser for the worst power loss: everything that was not synced is gone.
type loseAll struct{}

func (loseAll) Choose(_ *decide.Site, _, _ uint64, n int64) int64 { return n - 1 }
func (loseAll) Chance(*decide.Site, uint64, uint64, int64) bool   { return true }
