package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// kafkaLab is the checks with three nodes, and the first thing that they report.
func kafkaLab() (p *play, c *kafkaChecks, found *string) {
	p, found = &play{nodes: make([]shown, 3)}, new(string)
	for i := range p.nodes {
		p.nodes[i] = shown{h: &sim.Host{}, id: int32(i), voter: true, role: raft.Unattached, leader: -1}
	}
	c = &kafkaChecks{steady: -1, excused: -1, newest: -1, voters: 3, report: func(invariant, evidence, _ string) {
		if *found == "" {
			*found = invariant + "/" + evidence
		}
	}}
	for i := range c.counts {
		c.counts[i] = new(int64)
	}
	return p, c, found
}

// TestKafkaChecks: what Kafka's simulation looks at. In runs package invariants sees the same earlier or better, so that no bug of the product
// reaches most of these checks alone; here each is shown what it is about, and what it must not mind.
func TestKafkaChecks(t *testing.T) {
	role := func(role raft.Role, epoch, leader int32) func(p *play, c *kafkaChecks, n *shown) {
		return func(p *play, c *kafkaChecks, n *shown) {
			n.role, n.epoch, n.leader = role, epoch, leader
			c.look(p, n, &raft.Event{Kind: raft.RoleChanged})
		}
	}
	watermark := func(offset int64) func(p *play, c *kafkaChecks, n *shown) {
		return func(p *play, c *kafkaChecks, n *shown) {
			n.highWatermark, n.logEnd = offset, max(n.logEnd, offset)
			c.look(p, n, &raft.Event{Kind: raft.HighWatermarkAdvanced})
		}
	}
	logs := func(ends ...int64) func(p *play, c *kafkaChecks, n *shown) {
		return func(p *play, _ *kafkaChecks, _ *shown) {
			for i, end := range ends {
				p.nodes[i].logEnd = end
			}
		}
	}
	type step struct {
		node int32
		do   func(p *play, c *kafkaChecks, n *shown)
	}
	for _, x := range []struct {
		name  string
		lossy bool
		steps []step
		want  string
	}{
		{"epochs go up", false, []step{{0, role(raft.Follower, 1, 1)}, {0, role(raft.Unattached, 3, -1)}}, ""},
		{"an epoch goes down", false, []step{{0, role(raft.Follower, 2, 1)}, {0, role(raft.Unattached, 1, -1)}}, "kafka-epoch/went-back"},
		{"an epoch goes down where data are lost", true, []step{{0, role(raft.Follower, 2, 1)}, {0, role(raft.Unattached, 1, -1)}}, ""},
		{"one leader an epoch", false, []step{{0, role(raft.Follower, 1, 1)}, {2, role(raft.Follower, 1, 1)}, {2, role(raft.Follower, 2, 0)}}, ""},
		{"two leaders of an epoch", false, []step{{0, role(raft.Follower, 1, 1)}, {2, role(raft.Follower, 1, 0)}}, "kafka-one-leader/two-leaders"},
		{"the watermark moves", false, []step{{1, role(raft.Leader, 1, 1)}, {0, logs(4, 4, 0)}, {1, watermark(3)}, {1, watermark(4)}}, ""},
		{"the watermark goes back", false, []step{{1, role(raft.Leader, 1, 1)}, {0, logs(4, 4, 0)}, {1, watermark(4)}, {1, watermark(3)}}, "kafka-watermark/went-back"},
		{"that of the next leader is lower", false, []step{{1, role(raft.Leader, 1, 1)}, {0, logs(4, 4, 4)}, {1, watermark(4)}, {2, role(raft.Leader, 2, 2)}, {2, watermark(3)}},
			"kafka-watermark/went-back"},
		{"a former leader's does not count", false, []step{{1, role(raft.Leader, 1, 1)}, {0, logs(5, 5, 5)}, {2, role(raft.Leader, 2, 2)}, {2, watermark(5)}, {1, watermark(3)}}, ""},
		{"a minority holds it", false, []step{{1, role(raft.Leader, 1, 1)}, {0, logs(2, 3, 2)}, {1, watermark(3)}}, "kafka-majority/minority"},
		{"a minority holds it where data are lost", true, []step{{1, role(raft.Leader, 1, 1)}, {0, logs(2, 3, 2)}, {1, watermark(3)}}, ""},
		{"the majority is ahead", false, []step{{0, func(_ *play, c *kafkaChecks, _ *shown) { c.majorityAhead(5, 4) }}}, ""},
		{"the majority is behind", false, []step{{0, func(_ *play, c *kafkaChecks, _ *shown) { c.majorityAhead(4, 4) }}}, "kafka-majority-ahead/behind"},
		{"one of those that can lead", false, []step{{0, func(_ *play, c *kafkaChecks, _ *shown) { c.leaderAmong(2, 2, 3, 4) }}}, ""},
		{"one that reaches no majority", false, []step{{0, func(_ *play, c *kafkaChecks, _ *shown) { c.leaderAmong(1, 2, 3, 4) }}}, "kafka-stable-leader/impossible-leader"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p, c, found := kafkaLab()
			c.lossy = x.lossy
			for _, s := range x.steps {
				s.do(p, c, &p.nodes[s.node])
			}
			require.Equal(t, x.want, *found)
		})
	}
}
