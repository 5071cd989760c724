package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// drawListeners gives each controller one to three listeners in an order of its own. Raft goes by the one whose name comes first in
// controller.listener.names (kraft-protocol 2.15); at the ports of the others nobody answers it. An entry of a voter set that the
// format tool wrote has one endpoint; those that leaders and UpdateRaftVoter write have them all.
func drawListeners(d dice, p *plan.Plan) {
	dynamic := d.chance("dynamic", 70)
	if dynamic {
		dynamicQuorum(d, p, int(d.between("voters", 2, 4)), int(d.between("observers", 1, 2)), int(d.roll("brokers", 2)))
	} else {
		controllers(p, int(d.oneOf("voters", 2, 3, 3)), int(d.roll("observers", 2)), int(d.roll("brokers", 2)))
		d.identify(p)
	}
	p.Params["listener"] = d.pick("listener", listenerName, "RAFT")
	for i := range p.Hosts {
		h := &p.Hosts[i]
		names := []string{"ADMIN", p.Params["listener"], "INTERNAL"}[:d.oneOf(h.ID+"/listeners", 2, 2, 3)]
		if d.chance(h.ID+"/first", 30) {
			slices.Reverse(names)
		}
		if h.Kind != kindBroker {
			h.Params["listeners"] = strings.Join(names, ",")
		}
	}
	d.storm(p, &lightProfile)
	d.operators(p)
	if dynamic {
		d.changes(p, 1, 5)
		d.moves(p, 0, 3)
	} else {
		p.Actions = append(p.Actions, plan.Action{ID: "u1-upgrade-kraft", Kind: "upgrade-kraft", AtUs: plan.Int64(d.between("u1/at", 30_000, int64(p.StormUs)/3))})
	}
	d.ambushed(p, 0, 2, changeSteps...)
	d.bearable(p, &lightProfile)
}
