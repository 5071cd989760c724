package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// clientHost is the id of the machine from which clients ask, in drawn plans.
const clientHost = "clients"

// remote gives the clients and operators of a plan a machine of their own, so that what they ask for crosses the network: with its
// latencies, connections that break, cuts between them and single controllers, and the end of the machine itself. It comes behind the
// storm, whose faults are those of nodes.
func (d dice) remote(p *plan.Plan, percent, faults int64) {
	if !d.chance("remote", percent) {
		return
	}
	nodes := hostIDs(p, kindController, kindObserver)
	p.Hosts = append(p.Hosts, plan.Host{ID: clientHost, Kind: kindOperator, Params: plan.Params{"asks": "requests"}})
	for i := range d.between("remote-faults", 0, faults) {
		name := "remote-" + number(i+1)
		lasts := micros(d.oneOf(name+"/for", 10_000, 60_000, 200_000))
		a := plan.Action{ID: name, AtUs: plan.Int64(d.between(name+"/at", 50_000, max(50_001, int64(p.StormUs)*9/10))), Params: plan.Params{"for": lasts}}
		one := nodes[d.roll(name+"/node", int64(len(nodes)))]
		switch a.Kind = d.pick(name+"/kind", "isolate", "cut", "cut", "clog", "kill"); a.Kind {
		case "isolate":
			a.Params["host"] = clientHost
		case "cut":
			a.Params["from"], a.Params["to"] = clientHost, one
			if d.chance(name+"/answers", 50) {
				a.Params["from"], a.Params["to"] = one, clientHost
			}
		case "clog":
			a.Params["from"], a.Params["to"], a.Params["add"] = clientHost, strings.Join(nodes, ","), micros(d.oneOf(name+"/add", 2_000, 30_000, 120_000))
		case "kill":
			a.Params = plan.Params{"host": clientHost, "down": lasts}
		}
		p.Actions = append(p.Actions, a)
	}
}
