package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// reached counts what runs of voter changes get to, beside the conditions of the invariants: a scenario that rarely reaches its point
// shows in the counts of its runs (TestReconfigReaches).
type reached struct {
	upgradeEpoch int32 // of the leader that began the newest upgrade to kraft.version 1; 0: none
	upgraded     bool  // one was committed
}

// setsOf are the names of the counts of voter sets by size, the last for all that are larger.
var setsOf = [...]string{"voter-sets-of-0", "voter-sets-of-1", "voter-sets-of-2", "voter-sets-of-3", "voter-sets-of-4", "voter-sets-of-5", "voter-sets-of-6"}

// hear takes in an event of a replica.
func (r *reached) hear(c *cluster, h *sim.Host, e *raft.Event) {
	if e.Kind == raft.KRaftVersionChanged && e.Offset < e.Other {
		*c.w.Stat("upgrades-lost")++ // truncated with the log of a leader that failed
	}
	n := c.ops.running(h)
	if e.Role != raft.Leader || n == nil {
		return
	}
	switch e.Kind {
	case raft.VotersChanged:
		*c.w.Stat(setsOf[min(int(n.replica.Voters().Len()), len(setsOf)-1)])++
	case raft.KRaftVersionChanged:
		*c.w.Stat("upgrades-begun")++
		r.upgradeEpoch = e.Epoch
	case raft.HighWatermarkAdvanced:
		if r.upgradeEpoch > 0 && !r.upgraded && n.replica.KRaftVersion() > 0 && n.replica.VotersOffset() < e.Offset {
			r.upgraded = true
			if e.Epoch > r.upgradeEpoch {
				*c.w.Stat("upgrades-by-an-heir")++
			}
		}
	case raft.RoleChanged:
		if c.work.kraft.asked && n.replica.KRaftVersion() == 0 {
			*c.w.Stat("elections-before-upgrade")++
		}
		if c.ops.mixed(n.replica) {
			*c.w.Stat("leaders-of-mixed-quorums")++
		}
	}
}

// mixed reports whether the voters that run are of more than one generation of software.
func (o *operations) mixed(of *raft.Replica) bool {
	set, first := of.Voters(), generations
	for k := range set.Len() {
		for i, h := range o.c.w.Hosts() {
			if e := &o.c.hosts[i]; e.nodeID == set.At(k).ID && o.running(h) != nil {
				if g := generationOf(e.release); first == generations {
					first = g
				} else if g != first {
					return true
				}
			}
		}
	}
	return false
}
