package sim

import (
	"errors"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Symbolic targets. A fault that names a host hits the leader by chance; one that names "the leader" hits it whoever that is when its time
// comes. A program declares the words it knows with plan.Registry.AddTargets and finds the hosts behind them with SetTargets; then every
// parameter that is marked as Symbolic takes them in place of ids. What a word came to is in the verdict (World.Resolved) and in the trace.

// SetTargets says which hosts a symbolic target is now. why tells, with no hosts, why there are none: then the action is refused. A
// scenario calls it in Build.
func (w *World) SetTargets(resolve func(word string) (hosts []*Host, why string)) {
	w.targets = resolve
}

// symbolic is what a parameter's symbols came to, kept for the end of the action.
type symbolic struct {
	field string
	hosts []*Host
}

// Host returns the host that a parameter names, or nil with Error set. A symbolic target is resolved when it is asked for first.
func (a *Act) Host(field string) *Host {
	if h := a.w.Host(a.Params[field]); h != nil {
		return h
	}
	hosts := a.Hosts(field)
	if a.Error != nil {
		return nil
	}
	if len(hosts) != 1 {
		a.fail(field, "not one host")
		return nil
	}
	return hosts[0]
}

// Hosts returns the hosts of a comma separated parameter, each once.
func (a *Act) Hosts(field string) (hosts []*Host) {
	if i := slices.IndexFunc(a.symbols, func(s symbolic) bool { return s.field == field }); i >= 0 {
		return a.symbols[i].hosts
	}
	symbols := false
	for id := range strings.SplitSeq(a.Params[field], ",") {
		h := a.w.Host(id)
		if h != nil {
			hosts = appendOnce(hosts, h)
			continue
		}
		list, why := a.target(field, id)
		if len(list) == 0 {
			if a.Error == nil {
				a.Error = errors.New(why)
			}
			return nil
		}
		symbols, hosts = true, appendOnce(hosts, list...)
	}
	if symbols {
		a.symbols = append(a.symbols, symbolic{field: field, hosts: hosts})
	}
	return hosts
}

// target resolves one word.
func (a *Act) target(field, word string) (hosts []*Host, why string) {
	k := a.w.registry.Action(a.Kind)
	if f := k.Field(field); a.w.targets == nil || f == nil || !f.Symbolic || !slices.Contains(f.Words, word) {
		a.fail(field, "no host "+word)
		return nil, ""
	}
	if hosts, why = a.w.targets(word); len(hosts) == 0 && why == "" {
		why = "nobody is " + word
	}
	return hosts, why
}

func appendOnce(hosts []*Host, more ...*Host) []*Host {
	for _, h := range more {
		if !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// concrete is the action with its symbols replaced by ids.
func (a *Act) concrete() plan.Action {
	c := a.Action
	c.Params = c.Params.Clone()
	for _, s := range a.symbols {
		ids := make([]string, len(s.hosts))
		for i, h := range s.hosts {
			ids[i] = h.spec.ID
		}
		c.Params[s.field] = strings.Join(ids, ",")
	}
	return c
}
