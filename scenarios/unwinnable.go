package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	election "github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
)

// unwinnable says why no election can be won although the fault budget holds, "" when one can be or when all voters are whole. With a
// disk or an address gone for good three things can leave a living majority without a leader, in Kafka as here:
//
//   - A leader that removes itself and fails before the others have the record has the longest log and is no voter to itself. Whoever
//     needs its vote does not get it. Of two voters that happens without any loss, where one operator asks for what he takes for the last voter
//     to go, and another one has just added the second.
//   - A node that is about to become a voter, but does not have the record that says so, is an observer to itself: it follows its leader
//     without a fetch timeout (kraft-protocol 1.9) and refuses all pre-votes, since it has fetched once (1.7). That ends when the
//     leader comes back and leaves its epoch; one whose disk was replaced never does. KIP-853 and KIP-996 make that together.
//   - A leader writes its own address into the voter set when its epoch starts, and nobody tries that one before (3.2; the fix of
//     KAFKA-20661 is for the others). When it was wrong, who has the longest log may not find the voters that it needs, and they, who
//     find it, have the shorter logs.
//
// The proof goes through all candidates: the votes that one gets are its own and those of living voters of its set, at addresses that
// are right, whose log is no longer than its own and who are not deaf in that way.
func (o *operations) unwinnable(cluster int) string {
	damaged := len(o.c.w.Budget().Keys())+len(o.ledWrong) > 0 || o.anyMoved()
	if o.leader(cluster) != nil || !damaged && !o.removedItself(cluster) {
		return ""
	}
	for _, h := range o.c.w.Hosts() {
		n := o.running(h)
		key, ok := o.keyOf(h)
		if n == nil || !ok || !o.c.belongs(n, cluster) || !n.replica.Voters().Contains(key) {
			continue
		}
		set, votes := n.replica.Voters(), int32(0)
		for k := range set.Len() {
			if o.grants(set.At(k), h, n) {
				votes++
			}
		}
		if votes > set.Len()/2 {
			return ""
		}
	}
	if !damaged {
		return "nobody can be elected: the leader removed itself, failed when it alone had the record, and has the longer log as no voter to itself"
	}
	return "nobody can be elected: a disk or an address is gone for good, and who is left has the longer log as no voter to itself, " +
		"waits for a leader whose disk is gone, or is not found where it told others as leader"
}

// removedItself reports whether an operator asked for what he took for the last voter to go, and a node lives that is no voter to itself, though another
// one that takes it for a voter has the shorter log: it alone has the record of its removal.
func (o *operations) removedItself(cluster int) bool {
	if !slices.ContainsFunc(o.desks, func(d *desk) bool { return d.hasty }) {
		return false
	}
	hosts := o.c.w.Hosts()
	return slices.ContainsFunc(hosts, func(h *sim.Host) bool {
		n := o.running(h)
		key, ok := o.keyOf(h)
		if n == nil || !ok || !o.c.belongs(n, cluster) || n.replica.Voters().Contains(key) {
			return false
		}
		mine := n.replica.Metrics()
		return slices.ContainsFunc(hosts, func(other *sim.Host) bool {
			m := o.running(other)
			if m == nil || !o.c.belongs(m, cluster) || !m.replica.Voters().Contains(key) {
				return false
			}
			its := m.replica.Metrics()
			return !election.UpToDate(its.LogEndEpoch, its.LogEndOffset, mine.LogEndEpoch, mine.LogEndOffset)
		})
	})
}

// anyMoved reports whether a node listens elsewhere than at the start of the run: voter sets from before have its old address.
func (o *operations) anyMoved() bool {
	return slices.ContainsFunc(o.c.hosts, func(h hostSettings) bool { return h.moved })
}

// running returns the node of a host that has one and is not just starting.
func (o *operations) running(h *sim.Host) *node {
	if n := nodeOf(h); n != nil && n.replica != nil && !h.Booting() {
		return n
	}
	return nil
}

// grants reports whether a voter lives, is found by a candidate, and would vote for it.
func (o *operations) grants(voter *voters.Voter, candidate *sim.Host, c *node) bool {
	for _, h := range o.c.w.Hosts() {
		n, at := o.running(h), &o.c.hosts[h.Index()]
		key, ok := o.keyOf(h)
		if n == nil || !ok || key != voter.ReplicaKey {
			continue
		}
		if h == candidate {
			return true
		}
		if e, _ := voter.Endpoint(o.c.listener); (e.Port != at.port || e.Host != at.name) && (at.moved || slices.Contains(o.ledWrong, key.String())) {
			return false
		}
		a, b := c.replica.Metrics(), n.replica.Metrics()
		return election.UpToDate(a.LogEndEpoch, a.LogEndOffset, b.LogEndEpoch, b.LogEndOffset) && !o.deaf(n, key)
	}
	return false
}

// deaf reports whether a node follows, as an observer to itself, a leader whose disk is gone.
func (o *operations) deaf(n *node, key raft.ReplicaKey) bool {
	return n.replica.Role() == raft.Follower && !n.replica.Voters().Contains(key) && o.disowned(n.replica.LeaderAndEpoch().LeaderID)
}

// disowned reports whether the replica with a node id had its disk replaced in this run.
func (o *operations) disowned(nodeID int32) bool {
	for i := range o.c.hosts {
		if h := &o.c.hosts[i]; h.nodeID == nodeID && h.replaced {
			return true
		}
	}
	return false
}
