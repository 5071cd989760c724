package sim

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Resolved tells what an action came to in this run, where the plan alone does not say: one with a symbolic target ("the leader"), or one
// that waits for a condition. as are actions without such a symbol that do the same at the same time; none when it came to nothing. The
// verdict lists them, and shrinking puts them in place of the action (shrink.Materialise). An id that is empty becomes the action's own.
// A later call for an action adds to what an earlier one said.
func (w *World) Resolved(action string, as ...plan.Action) {
	list := &w.report.resolved
	i := slices.IndexFunc(*list, func(r plan.Resolved) bool { return r.Action == action })
	if i < 0 {
		i = len(*list)
		*list = append(*list, plan.Resolved{Action: action})
	}
	for _, a := range as {
		if a.ID == "" {
			a.ID = action
		}
		(*list)[i].As = append((*list)[i].As, a)
	}
}

// ResolvedHosts is Resolved for an action whose one symbol was a parameter that stood for hosts: the same action, at its own time, naming
// these. The action must be one of the plan's; for any other the call says nothing.
func (w *World) ResolvedHosts(action, field string, hosts ...*Host) {
	for i := range w.actions {
		if a := &w.actions[i].act; a.ID == action {
			as := a.Action
			as.Params = as.Params.Clone()
			ids := ""
			for n, h := range hosts {
				if n > 0 {
					ids += ","
				}
				ids += h.spec.ID
			}
			as.Params[field] = ids
			w.Resolved(action, as)
			return
		}
	}
}
