package mutants

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// NotAlone is the status of a mutant whose header names a fault that alone exposes it, and that is killed without that fault too.
const NotAlone Status = "killed without its fault too"

// strip takes one fault out of a plan, by the word that a header says after `fault`: a kind of action, a field of a model or of the hosts
// (network.reset_ppm, hosts.drift_ppm), which becomes its benign value, or "power by rack".
func strip(p *plan.Plan, fault string) {
	drop := func(gone func(a plan.Action) bool) { p.Actions = slices.DeleteFunc(p.Actions, gone) }
	switch fault {
	case "network.bytes_per_second":
		p.Network.BytesPerSecond, p.Network.QueueBytes = 0, 0
		drop(func(a plan.Action) bool { return a.Kind == "throttle" })
	case "network.queue_bytes":
		p.Network.QueueBytes = 0
		for i := range p.Actions {
			delete(p.Actions[i].Params, "queue")
		}
	case "disk.failed_sync": // two kernels, neither of which is benign: the other one
		if p.Disk.FailedSync = map[string]string{"": "keep", "drop": "keep", "keep": "drop"}[p.Disk.FailedSync]; p.Disk.FailedSync == "drop" {
			p.Disk.FailedSync = ""
		}
	case "power by rack":
		drop(func(a plan.Action) bool { return a.Kind == "power" && a.Params["rack"] != "" })
	default:
		if !benign(p, fault) {
			drop(func(a plan.Action) bool { return a.Kind == fault })
		}
	}
}

// benign sets a field of a model, or of all hosts, to its zero, by its name in the plan's JSON. It reports whether there is such a field.
func benign(p *plan.Plan, fault string) bool {
	model, name, dotted := strings.Cut(fault, ".")
	if !dotted {
		return false
	}
	if model == "hosts" {
		found := false
		for i := range p.Hosts {
			found = clearField(&p.Hosts[i], name)
		}
		return found
	}
	models := map[string]any{"network": &p.Network, "disk": &p.Disk, "lanes": &p.Lanes}
	return models[model] != nil && clearField(models[model], name)
}

func clearField(model any, name string) bool {
	v := reflect.ValueOf(model).Elem()
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
			v.Field(i).SetZero()
			return true
		}
	}
	return false
}

// Exposure says that a mutant is killed in some scenarios, and in the same seeds not without some faults, which are one to an operator.
type Exposure struct {
	Faults    []string `json:"faults"`
	Scenarios []string `json:"scenarios"`
}

// Exposures reads what the header says after `fault`: faults with commas, and where it is not the header's scenarios "in" and others;
// several of these with semicolons.
func (p *Patch) Exposures() (all []Exposure) {
	if p.Fault == "" {
		return nil
	}
	for _, clause := range strings.Split(p.Fault, ";") {
		faults, scenarios, elsewhere := strings.Cut(clause, " in ")
		e := Exposure{Faults: list(faults), Scenarios: p.Scenarios}
		if elsewhere {
			e.Scenarios = list(scenarios)
		}
		all = append(all, e)
	}
	return all
}

// knowsFault reports whether strip knows what a header says after `fault`.
func knowsFault(fault string, registry *plan.Registry) bool {
	return fault == "power by rack" || registry.Action(fault) != nil || benign(&plan.Plan{Hosts: make([]plan.Host, 1)}, fault)
}

// leastAlone is how many runs without the fault must leave the mutant alive, at least.
const leastAlone = 200

// expose hunts a mutant that is killed again, in plans without each of its faults.
func (s *session) expose(ctx context.Context, x *product, row *Row) error {
	for _, e := range x.patch.Exposures() {
		kill := row.Kill
		if !slices.Equal(e.Scenarios, x.patch.Scenarios) {
			with := &hunt{patch: x.patch, scenarios: e.Scenarios, limit: max(s.limit, int64(len(e.Scenarios)))}
			if err := with.run(ctx, x.binary, s.workers); err != nil {
				return err
			}
			if kill = with.best; kill == nil {
				row.Status, row.Error = NotAlone, fmt.Sprintf("not killed in %s", strings.Join(e.Scenarios, ", "))
				return nil
			}
		}
		without := &hunt{patch: x.patch, scenarios: e.Scenarios, limit: max(leastAlone, kill.Runs), without: e.Faults}
		if err := without.run(ctx, x.binary, s.workers); err != nil {
			return err
		}
		row.alone(&e, without)
	}
	return nil
}

// alone sets the status of a mutant that is killed, by a hunt of the same seeds in plans without a fault.
func (r *Row) alone(e *Exposure, h *hunt) {
	if h.best == nil {
		return
	}
	r.Status, r.Error = NotAlone, fmt.Sprintf("without %s it is killed too, by %s at %s:%d: %s", strings.Join(e.Faults, " and "), h.best.Invariant,
		h.best.Scenario, h.best.Seed, h.best.Detail)
}
