package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// kafkaChecks are the invariants of Kafka's own simulation, beside those of package invariants, which say more and hear more. Kafka
// looks at all nodes after each event; here they are looked at when a node shows what one of them speaks of. Each speaks of the
// leader of the newest epoch: Kafka's helper means to, and picks the oldest.
//
// Not among them, because package invariants says it better: that a running node's epoch is the persisted one (roles,
// epoch-monotonic), and the agreement of all committed records at the end of a phase (state-machine-safety, log-matching, at
// any time; and the counters).
type kafkaChecks struct {
	report  func(invariant, evidence, detail string) // World.Violate
	lossy   bool                                     // a voter loses committed data: only what Kafka checks then
	stable  bool                                     // once there is a leader it never changes
	voters  int32
	dynamic bool

	leaders   []int32 // by epoch, -1: none
	newest    int32   // newest epoch with a leader
	watermark int64
	steady    int32 // leader that must stay, -1: none yet
	since     int32 // epoch in which it was elected
	settled   bool  // its high watermark has moved: a majority has fetched from it, and grants no pre-vote any more
	excused   int32 // newest epoch of a candidate whose pre-vote is from before that
	counts    [len(kafkaCheckDocs)]*int64
}

const (
	kafkaWatermark = iota
	kafkaEpoch
	kafkaMajority
	kafkaOneLeader
	kafkaStable
	kafkaMajorityAhead
)

var kafkaCheckDocs = [...]sim.InvariantDoc{
	{Name: "kafka-watermark", Source: "RaftEventSimulationTest", Doc: "The high watermark of the leader of the newest epoch never goes down."},
	{Name: "kafka-epoch", Source: "RaftEventSimulationTest", Doc: "No node's epoch goes down, restarts included."},
	{Name: "kafka-majority", Source: "RaftEventSimulationTest", Doc: "A majority of the voters has a log end at or past the leader's high watermark."},
	{Name: "kafka-one-leader", Source: "RaftEventSimulationTest", Doc: "At most one leader is named per epoch, by anybody."},
	{Name: "kafka-stable-leader", Source: "RaftEventSimulationTest, KIP-996", Doc: "Where pre-vote must keep the peace: once there is a leader it never changes, " +
		"but by a node that asked for pre-votes before a majority had fetched from that leader (KIP-996: such voters may grant them)."},
	{Name: "kafka-majority-ahead", Source: "RaftEventSimulationTest", Doc: "The side of a partition with the majority has the higher high watermark."},
}

func (c *kafkaChecks) attach(w *sim.World, voters int32) {
	c.report, c.voters = w.Violate, voters
	c.leaders, c.newest, c.watermark = c.leaders[:0], -1, 0
	c.steady, c.settled, c.excused = -1, false, -1
	for i := range kafkaCheckDocs {
		c.counts[i] = w.Evaluated(kafkaCheckDocs[i].Name)
	}
}

func (c *kafkaChecks) count(check int) { *c.counts[check]++ }

func (c *kafkaChecks) fail(check int, evidence, detail string) {
	c.report(kafkaCheckDocs[check].Name, evidence, detail)
}

// look checks what a node has just shown; n has it already.
func (c *kafkaChecks) look(p *play, n *shown, e *raft.Event) {
	if n.leader >= 0 {
		c.oneLeader(n)
	}
	if e.Kind == raft.RoleChanged {
		if !c.lossy {
			c.epoch(n)
		}
		if c.stable {
			c.challenger(n)
			c.steadyLeader(n)
		}
	}
	if e.Kind == raft.HighWatermarkAdvanced && n.role == raft.Leader && n.epoch >= c.newest {
		if c.stable && n.id == c.steady && !c.settled {
			c.settle(p)
		}
		c.leaderWatermark(p, n)
	}
}

func (c *kafkaChecks) oneLeader(n *shown) {
	c.count(kafkaOneLeader)
	for int(n.epoch) >= len(c.leaders) {
		c.leaders = append(c.leaders, -1)
	}
	if have := c.leaders[n.epoch]; have >= 0 && have != n.leader {
		c.fail(kafkaOneLeader, "two-leaders", n.h.ID()+" names "+number(int64(n.leader))+" as leader of epoch "+number(int64(n.epoch))+
			", which "+number(int64(have))+" leads")
	}
	c.leaders[n.epoch] = n.leader
	c.newest = max(c.newest, n.epoch)
}

func (c *kafkaChecks) epoch(n *shown) {
	c.count(kafkaEpoch)
	if n.epoch < n.top {
		c.fail(kafkaEpoch, "went-back", n.h.ID()+" is in epoch "+number(int64(n.epoch))+" after "+number(int64(n.top)))
	}
	n.top = max(n.top, n.epoch)
}

// settle notes who asks for pre-votes while a majority fetches from the leader for the first time: their answers may be on the way.
func (c *kafkaChecks) settle(p *play) {
	c.settled = true
	for i := range p.nodes {
		n := &p.nodes[i]
		n.early = n.role == raft.Prospective || n.role == raft.Candidate
	}
}

// challenger notes a candidate whom voters could grant a pre-vote that did not know the leader yet.
func (c *kafkaChecks) challenger(n *shown) {
	switch {
	case n.role == raft.Candidate && (n.early || !c.settled):
		c.excused = max(c.excused, n.epoch)
	case n.role != raft.Prospective:
		n.early = false
	}
}

func (c *kafkaChecks) steadyLeader(n *shown) {
	c.count(kafkaStable)
	if c.steady >= 0 && n.epoch > c.since && n.epoch <= c.excused && (n.role == raft.Leader) != (n.id == c.steady) {
		c.steady, c.settled = -1, false
	}
	switch {
	case n.role == raft.Leader && c.steady < 0:
		c.steady, c.since = n.id, n.epoch
	case n.role == raft.Leader && n.id != c.steady:
		c.fail(kafkaStable, "another-leader", n.h.ID()+" leads epoch "+number(int64(n.epoch))+" after "+number(int64(c.steady))+" was elected")
	case n.role != raft.Leader && n.id == c.steady:
		c.fail(kafkaStable, "leader-gone", n.h.ID()+" was leader and is "+n.role.String()+" in epoch "+number(int64(n.epoch)))
	}
}

func (c *kafkaChecks) leaderWatermark(p *play, n *shown) {
	c.count(kafkaWatermark)
	if n.highWatermark < c.watermark {
		evidence := "went-back"
		if c.voters == 1 {
			evidence = evidenceSoleVoter // it may have lost what it had not flushed
		}
		c.fail(kafkaWatermark, evidence, n.h.ID()+" leads with high watermark "+number(n.highWatermark)+" after "+number(c.watermark))
	}
	c.watermark = n.highWatermark
	if c.lossy || c.dynamic {
		return
	}
	c.count(kafkaMajority)
	have := int32(0)
	for i := range p.nodes {
		if v := &p.nodes[i]; v.voter && v.logEnd >= n.highWatermark {
			have++
		}
	}
	if have <= c.voters/2 {
		c.fail(kafkaMajority, "minority", number(int64(have))+" of "+number(int64(c.voters))+" voters hold everything below high watermark "+
			number(n.highWatermark)+" of "+n.h.ID())
	}
}

// majorityAhead is the assertion of S5.
func (c *kafkaChecks) majorityAhead(majority, minority int64) {
	c.count(kafkaMajorityAhead)
	if majority <= minority {
		c.fail(kafkaMajorityAhead, "behind", "the majority's high watermark is "+number(majority)+", the minority's "+number(minority))
	}
}

// leaderAmong: with the links of S8 only some nodes can be elected.
func (c *kafkaChecks) leaderAmong(leader int32, allowed ...int32) {
	c.count(kafkaStable)
	for _, id := range allowed {
		if leader == id {
			return
		}
	}
	c.fail(kafkaStable, "impossible-leader", number(int64(leader))+" was elected, which reaches no majority")
}
