package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// A node reaches others in two ways: by the names of its bootstrap servers, and at the addresses that voters advertise. Either may be
// gone for good: servers that were retired while nobody changed the configuration, a firewall or a NAT between a broker and
// the controllers that only the load balancer passes. Whoever is no voter must do with the one that is left (kraft-protocol 1.9).

// names is a way to reach other nodes.
type names string

const (
	bootstrapNames  names = "bootstrap"
	advertisedNames names = "advertised"
)

// loseNamesKind is the action.
func loseNamesKind() plan.Kind {
	return plan.Kind{Name: "lose-names", Doc: "a node that is no voter restarts where names of one kind lead nowhere, for good, and those of the other kind lead on",
		Fields: []plan.Field{fieldNode, fieldDowntime,
			{Name: "names", Type: plan.WordField, Words: []string{string(bootstrapNames), string(advertisedNames)}, Required: true,
				Doc: "those of the bootstrap servers, or those that voters advertise"}}}
}

// loseNames refuses what Kafka does not survive either: a node that loses the bootstrap servers needs the leader's address, in a
// voter set on its disk, since nobody looks for a node that is no voter.
func (o *operations) loseNames(w *sim.World, a *sim.Act) string {
	h, down, lost := a.Host("host"), a.DurationNs("down", 20*million), names(a.Word("names", string(bootstrapNames)))
	if h == nil || a.Error != nil {
		return ""
	}
	e := &o.c.hosts[h.Index()]
	if e.kind == kindController || e.kind == kindOperator {
		return "host=" + a.Params["host"] + " is a voter, or an operator's"
	}
	switch n := o.running(h); {
	case e.lost == lost:
		return "they are lost already"
	case n == nil:
		return "it is down"
	case n.replica.Voters().Find(e.nodeID) != nil:
		return "it is a voter"
	case lost == bootstrapNames && !o.knowsLeader(n):
		return "it does not know the leader's address"
	}
	return o.reconfigure(w, h, down, func(e *hostSettings) { e.lost = lost })
}

// knowsLeader reports whether a node follows the leader that there is, and has its address in its log.
func (o *operations) knowsLeader(n *node) bool {
	l := o.leader(n.h.cluster)
	if l == nil || n.replica.Role() != raft.Follower {
		return false
	}
	key, ok := o.keyOf(l)
	return ok && n.replica.LeaderAndEpoch() == nodeOf(l).replica.LeaderAndEpoch() && n.replica.Voters().Contains(key)
}

// reaches reports whether a name is of a kind that leads anywhere from a host.
func (h *hostSettings) reaches(name string) bool {
	switch h.lost {
	case bootstrapNames:
		return !strings.HasPrefix(name, bootstrapPrefix)
	case advertisedNames:
		return strings.HasPrefix(name, bootstrapPrefix)
	}
	return true
}
