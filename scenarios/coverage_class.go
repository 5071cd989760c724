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
	high, known := r.HighWatermark()
	end, at := r.LogEndOffset(), r.VotersOffset()
	v := uint64(r.Role()) | uint64(r.KRaftVersion())&1<<9 | uint64(min(r.Voters().Len(), 7))<<10
	if r.LeaderAndEpoch().LeaderID >= 0 {
		v |= 1 << 4
	}
	if known {
		v |= 1 << 5
		if high < end {
			v |= 1 << 6
		}
	}
	if end == 0 {
		v |= 1 << 7
	}
	if r.LogStartOffset() > 0 {
		v |= 1 << 8
	}
	if at >= 0 {
		v |= 1 << 13
		if !known || at >= high { // a change of voters that is not committed
			v |= 1 << 14
		}
	}
	c.add(v, 15)
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
