//nodet:room

package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	election "github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/sim"
)

// unwinnable says why no election can be won although the fault budget holds, "" when one can be or when all voters are whole. With a
// disk or an address gone for good two things can leave a living majority without a leader, in Kafka as here:
//
//   - A leader that removes itself and fails before the others have the record has the longest log and is no voter to itself. Whoever
//     needs its vote does not get it.
//   - A node that is about to become a voter, but does not have the record that says so, is an observer to itself: it follows its leader
//     without a fetch timeout (kraft-protocol 1.9) and refuses all pre-votes, since it has fetched once (1.7). That ends when the
//     leader comes back and leaves its epoch; one whose disk was replaced never does. KIP-853 and KIP-996 make that together.
//
// The proof goes through all candidates: the votes that one gets are its own and those of living voters of its set whose log is no
// longer than its own and who are not deaf in that way.
func (o *operations) unwinnable() string {
	if o.leader() != nil || len(o.c.w.Budget().Keys()) == 0 {
		return ""
	}
	for _, h := range o.c.w.Hosts() {
		n := o.running(h)
		key, ok := o.keyOf(h)
		if n == nil || !ok || !n.replica.Voters().Contains(key) {
			continue
		}
		set, votes := n.replica.Voters(), int32(0)
		for k := range set.Len() {
			if o.grants(set.At(k).ReplicaKey, h, n) {
				votes++
			}
		}
		if votes > set.Len()/2 {
			return ""
		}
	}
	return "nobody can be elected: a disk or an address is gone for good, and who is left has the longer log as no voter to itself, " +
		"or waits for a leader whose disk is gone"
}

// running returns the node of a host that has one and is not just starting.
func (o *operations) running(h *sim.Host) *node {
	if n := nodeOf(h); n != nil && n.replica != nil && !h.Booting() {
		return n
	}
	return nil
}

// grants reports whether the voter with a key lives and would vote for a candidate.
func (o *operations) grants(voter raft.ReplicaKey, candidate *sim.Host, c *node) bool {
	for _, h := range o.c.w.Hosts() {
		n := o.running(h)
		key, ok := o.keyOf(h)
		if n == nil || !ok || key != voter {
			continue
		}
		if h == candidate {
			return true
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
