//nodet:room

package scenarios

import "github.com/kraftsim/kraftsim/raft"

// classBits packs small numbers into a class of states, sim.Classed.
type classBits struct {
	bits  uint64
	width uint32
}

func (c *classBits) add(value uint64, width uint32) {
	c.bits |= value << c.width
	c.width += width
}

func (c *classBits) flag(on bool) {
	if on {
		c.bits |= 1 << c.width
	}
	c.width++
}

// replica adds what a replica is, and how it stands to its log, its voters and its snapshots.
func (c *classBits) replica(r *raft.Replica) {
	le := r.LeaderAndEpoch()
	high, known := r.HighWatermark()
	end := r.LogEndOffset()
	c.add(uint64(r.Role()), 4)
	c.flag(le.LeaderID >= 0)
	c.flag(known)
	c.flag(known && high < end)
	c.flag(end == 0)
	c.flag(r.LogStartOffset() > 0)
	c.add(uint64(r.KRaftVersion())&1, 1)
	c.add(uint64(min(r.Voters().Len(), 7)), 3)
	at := r.VotersOffset()
	c.flag(at >= 0)
	c.flag(at >= 0 && (!known || at >= high)) // a change of voters that is not committed
}

// CoverageClass is sim.Classed: the replica, the controller, the loader and the life of the broker, without a single number of theirs.
func (n *node) CoverageClass() (class uint64, role uint8) {
	if n.loader == nil {
		return 0, 0
	}
	c := classBits{}
	c.flag(true)
	c.replica(n.replica)
	c.flag(n.control != nil && n.control.Active())
	c.flag(n.loader.CaughtUp())
	c.flag(n.clusterID != "")
	c.flag(n.stopping)
	if n.member != nil && n.member.life != nil {
		c.add(uint64(n.member.life.State()), 3)
	}
	return c.bits, uint8(n.replica.Role())
}

// CoverageClass is sim.Classed.
func (n *counterNode) CoverageClass() (class uint64, role uint8) {
	c := classBits{}
	c.replica(n.replica)
	c.flag(n.stopping)
	return c.bits, uint8(n.replica.Role())
}
