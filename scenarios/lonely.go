package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// lonely follows voters that wait for their election timer without a leader: as long as they wait they ask the bootstrap servers (KAFKA-17030).
//
// A pre-vote that nobody answers ends by its timer, and Unattached inherits what is left of that, nothing (kraft-protocol 1.4), so that
// the next pre-vote begins in the same moment, without a question to anybody else in between. A voter whose pre-votes are not
// even refused therefore never asks a bootstrap server again. Others may make it wait: a vote request, an epoch. Whoever was taken
// out of the voter set gets neither.
type lonely struct {
	plan  *plan.Plan
	waits []wait // by host
}

// wait is what is known of the waits of one process.
type wait struct {
	boot    int32
	sinceNs int64 // when it last became Unattached
	lastNs  int64 // when the last wait began that took any time; -1: there was none
}

// build makes it ready for a run.
func (x *lonely) build(w *sim.World, p *plan.Plan) {
	x.plan = p
	for range w.Hosts() {
		x.waits = append(x.waits, wait{boot: -1, lastNs: -1})
	}
}

// hear takes in an event of a replica.
func (x *lonely) hear(w *sim.World, h *sim.Host, e *raft.Event) {
	a := &x.waits[h.Index()]
	if a.boot != h.Boot() {
		*a = wait{boot: h.Boot(), sinceNs: w.NowNs(), lastNs: -1}
	}
	switch {
	case e.Role != raft.Unattached:
	case e.Kind == raft.RoleChanged:
		a.sinceNs = w.NowNs()
	case e.Kind == raft.ElectionTimeout && w.NowNs() > a.sinceNs:
		a.lastNs = a.sinceNs
	}
}

// troubleUntilNs is when the last action has ended that may keep a host from a bootstrap server: any but an end of its own process.
func (x *lonely) troubleUntilNs(host string) (until int64) {
	for i := range x.plan.Actions {
		a := &x.plan.Actions[i]
		if a.Kind == "kill" && a.Params["host"] == host {
			continue
		}
		end := int64(a.AtUs)*1000 + parseNs(a.Params["for"]) + parseNs(a.Params["down"])
		if a.Kind == "move" {
			end += restartGraceNs
		}
		until = max(until, end)
	}
	return until
}

// forsaken finds a voter that will never hear of its leader: it knows none, the leader's voter set does not have it or has it where it
// does not listen, nobody is left where its own voter set says, and since the network is whole it has not waited for a moment.
// Whoever has waited had to find the leader, and is not excused.
func (o *operations) forsaken(cluster int) string {
	l := o.leader(cluster)
	if l == nil {
		return ""
	}
	for _, h := range o.c.w.Hosts() {
		n := o.running(h)
		key, ok := o.keyOf(h)
		if n == nil || !ok || !o.c.belongs(n, cluster) || !n.replica.Voters().Contains(key) || o.foundBy(nodeOf(l), h, key) {
			continue
		}
		role := n.replica.Role()
		_, follows := n.replica.LeaderEndpoint()
		if follows || role != raft.Prospective && role != raft.Unattached || o.lonely.waits[h.Index()].lastNs >= o.lonely.troubleUntilNs(h.ID()) {
			continue
		}
		if o.findsAnybody(h, n) {
			continue
		}
		const noMoment = "all voters that it knows have moved, and pre-votes that nobody answers leave no moment in which it would ask a " +
			"bootstrap server"
		if nodeOf(l).replica.Voters().Contains(key) {
			return h.ID() + " is a voter of its leader at an address where it does not listen, " + noMoment
		}
		return h.ID() + " was removed while it was cut off, " + noMoment
	}
	return ""
}

// foundBy reports whether a host is where the voter set of a leader says that it is.
func (o *operations) foundBy(leader *node, h *sim.Host, key raft.ReplicaKey) bool {
	set, at := leader.replica.Voters(), &o.c.hosts[h.Index()]
	for k := range set.Len() {
		if v := set.At(k); v.ReplicaKey == key {
			e, _ := v.Endpoint(o.c.listener)
			return e.Port == at.port && e.Host == at.name
		}
	}
	return false
}

// findsAnybody reports whether another voter of a node's set runs where the set says.
func (o *operations) findsAnybody(self *sim.Host, n *node) bool {
	set := n.replica.Voters()
	for k := range set.Len() {
		v := set.At(k)
		e, _ := v.Endpoint(o.c.listener)
		for _, h := range o.c.w.Hosts() {
			at := &o.c.hosts[h.Index()]
			if h != self && o.running(h) != nil && at.port == e.Port && at.name == e.Host {
				return true
			}
		}
	}
	return false
}
