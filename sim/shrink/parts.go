package shrink

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The kinds of part. Action, Decision, Rate and Clock are what went wrong; Host and Workload are what it went wrong with. What a
// message or a disk operation costs at least is no part: without it a plan would not be simpler, but another world.
const (
	ActionPart   = "action"   // ID: the action's
	DecisionPart = "decision" // ID: the hash of its name, 16 hexadecimal digits
	RatePart     = "rate"     // a fault or a spread of the models, or the scheduler; ID: the field, "network.reset_ppm"
	ClockPart    = "clock"    // an error of a host's clock, or a start later than the others'; ID: host and field, "n1.drift_ppm"
	HostPart     = "host"     // ID: the host's
	WorkloadPart = "workload" // ID: the workload's
)

// Part is one thing that a plan consists of and can be run without: the unit of shrinking and of blame.
type Part struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Text string `json:"text"` // one line: an action as FormatAction prints it, the readable name of a decision, "network.reset_ppm=500"
	// Necessary: the plan without it does not show the target. Parts leaves it false; Necessary finds out, by running.
	Necessary bool `json:"necessary"`
}

// Fault reports whether the part is something that went wrong, as against something that it went wrong with.
func (p *Part) Fault() bool {
	return p.Kind == ActionPart || p.Kind == DecisionPart || p.Kind == RatePart || p.Kind == ClockPart
}

// Parts lists what a plan consists of: actions in the order in which they happen, decisions, rates, clocks, hosts, workloads.
func Parts(p *plan.Plan) (parts []Part) {
	var plain *plan.Registry
	for _, a := range p.InOrder() {
		parts = append(parts, Part{Kind: ActionPart, ID: a.ID, Text: plain.FormatAction(&a)})
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		parts = append(parts, Part{Kind: DecisionPart, ID: hashText(d.NameHash), Text: d.Name})
	}
	fields := modelFields(p)
	for _, kind := range []string{RatePart, ClockPart} {
		for _, f := range fields {
			if f.kind == kind {
				parts = append(parts, Part{Kind: kind, ID: f.name, Text: f.name + "=" + f.text()})
			}
		}
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		parts = append(parts, Part{Kind: HostPart, ID: h.ID, Text: strings.TrimSpace(h.ID + " " + h.Kind + " " + h.Release)})
	}
	for i := range p.Workload {
		w := &p.Workload[i]
		text := w.ID + " " + w.Kind
		for _, name := range slices.Sorted(maps.Keys(w.Params)) {
			text += " " + name + "=" + w.Params[name]
		}
		parts = append(parts, Part{Kind: WorkloadPart, ID: w.ID, Text: text})
	}
	return parts
}

func hashText(hash plan.Uint64) string { return fmt.Sprintf("%016x", uint64(hash)) }

// Without returns a copy of the plan that lacks the part: a host together with whatever names it, a field at its benign value. ok is
// false when the plan has no such part.
func Without(p *plan.Plan, part *Part) (candidate *plan.Plan, ok bool) {
	candidate = p.Clone()
	switch part.Kind {
	case ActionPart:
		candidate.Actions = slices.DeleteFunc(candidate.Actions, func(a plan.Action) bool { return a.ID == part.ID })
		ok = len(candidate.Actions) < len(p.Actions)
	case DecisionPart:
		hash, err := strconv.ParseUint(part.ID, 16, 64)
		if err != nil {
			return nil, false
		}
		candidate.Decisions = slices.DeleteFunc(candidate.Decisions, func(d plan.Decision) bool { return uint64(d.NameHash) == hash })
		ok = len(candidate.Decisions) < len(p.Decisions)
	case HostPart:
		if i := slices.IndexFunc(p.Hosts, func(h plan.Host) bool { return h.ID == part.ID }); i >= 0 {
			return withoutHost(p, i), true
		}
	case WorkloadPart:
		candidate.Workload = slices.DeleteFunc(candidate.Workload, func(w plan.Workload) bool { return w.ID == part.ID })
		ok = len(candidate.Workload) < len(p.Workload)
	case RatePart, ClockPart:
		for _, f := range modelFields(candidate) {
			if f.kind == part.Kind && f.name == part.ID {
				f.clear()
				ok = true
			}
		}
	}
	return candidate, ok
}

// Necessary runs the plan without each part and returns the parts with Necessary set: where the target does not show any more, or where
// the scenario refuses what is left. A run that is stuck shows another failure when it waits for something else first, as it does to Shrink; what
// that is tells one more run. parts are those of Parts(p), or some of them; the slice given stays as it is.
func Necessary(r Runner, p *plan.Plan, target string, parts []Part) []Part {
	parts = slices.Clone(parts)
	waits := ""
	if target == string(plan.Stuck) {
		if whole, err := r.Run(p, sim.Options{}); err == nil && whole.Verdict != nil {
			waits = bound(whole.Verdict)
		}
	}
	for i := range parts {
		candidate, ok := Without(p, &parts[i])
		if !ok {
			continue
		}
		result, err := r.Run(candidate, sim.Options{})
		parts[i].Necessary = err != nil || result.Verdict == nil || !Shows(result.Verdict, target) || waits != "" && bound(result.Verdict) != waits
	}
	return parts
}

// Count says how many parts of a kind there are and how many of them are necessary.
func Count(parts []Part, kind string) (all, necessary int64) {
	for i := range parts {
		if parts[i].Kind == kind {
			all++
			if parts[i].Necessary {
				necessary++
			}
		}
	}
	return all, necessary
}
