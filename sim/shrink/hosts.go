package shrink

import (
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// withoutHost copies the plan without a host, without the actions and workloads that name it in a parameter, and with lists of the
// other hosts' parameters that are shorter by it.
func withoutHost(p *plan.Plan, index int) *plan.Plan {
	candidate := p.Clone()
	id := candidate.Hosts[index].ID
	candidate.Hosts = slices.Delete(candidate.Hosts, index, index+1)
	for i := range candidate.Hosts {
		forget(candidate.Hosts[i].Params, id)
	}
	candidate.Actions = slices.DeleteFunc(candidate.Actions, func(a plan.Action) bool { return names(a.Params, id) })
	candidate.Workload = slices.DeleteFunc(candidate.Workload, func(w plan.Workload) bool { return names(w.Params, id) })
	return candidate
}

// forget takes an id out of each list that has it; a list without any is left out.
func forget(params plan.Params, id string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		list := params.List(name)
		if !slices.Contains(list, id) {
			continue
		}
		list = slices.DeleteFunc(slices.Clone(list), func(have string) bool { return have == id })
		if len(list) == 0 {
			delete(params, name)
			continue
		}
		params[name] = strings.Join(list, ",")
	}
}

func names(params plan.Params, id string) bool {
	//nodet:allow maprange whichever parameter names it
	for name := range params {
		if slices.Contains(params.List(name), id) {
			return true
		}
	}
	return false
}
