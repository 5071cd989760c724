package mutants

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// NotAlone is the status of a mutant whose header names a fault that alone exposes it, and that is killed without that fault too.
const NotAlone Status = "killed without its fault too"

// strip takes one fault out of a plan, by the word that a header says after `fault`: a field of the models, or a kind of action.
func strip(p *plan.Plan, fault string) {
	drop := func(gone func(a plan.Action) bool) { p.Actions = slices.DeleteFunc(p.Actions, gone) }
	switch fault {
	case "disk.profile":
		p.Disk.Profile = ""
	case "disk.failed_sync":
		p.Disk.FailedSync = ""
	case "network.bytes_per_second":
		p.Network.BytesPerSecond, p.Network.QueueBytes = 0, 0
		drop(func(a plan.Action) bool { return a.Kind == "throttle" })
	case "network.queue_bytes":
		p.Network.QueueBytes = 0
		for i := range p.Actions {
			delete(p.Actions[i].Params, "queue")
		}
	case "power by rack":
		drop(func(a plan.Action) bool { return a.Kind == "power" && a.Params["rack"] != "" })
	default:
		drop(func(a plan.Action) bool { return a.Kind == fault })
	}
}

// leastAlone is how many runs without the fault must leave the mutant alive, at least.
const leastAlone = 200

// alone sets the status of a mutant that is killed, by a hunt of the same seeds in plans without its fault.
func (r *Row) alone(h *hunt) {
	if h.best == nil {
		return
	}
	r.Status, r.Error = NotAlone, fmt.Sprintf("without %s it is killed too, by %s at %s:%d: %s", r.Fault, h.best.Invariant, h.best.Scenario, h.best.Seed,
		h.best.Detail)
}
