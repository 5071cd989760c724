//nodet:room

package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// noNeedlessWait judges how long a leader keeps a Fetch. It counts turns of the leader's raft lane and not time, so neither a slow disk
// nor a slow network is mistaken for a leader that waits.
var noNeedlessWait = sim.InvariantDoc{
	Name: "no-needless-wait", Source: "KAFKA-15100, KIP-1166; known-bugs KB-07; kraft-protocol 2.8",
	Doc: "A Fetch that diverges, that needs a snapshot, or whose sender lacks a high watermark that its leader has told to somebody in this " +
		"epoch is answered in the turn in which it is received.",
}

// prompt is the checker. It remembers the last Fetch that each node received from each other.
type prompt struct {
	c         *cluster
	evaluated *int64
	asked     []askedFetch // by receiver, then by sender
	told      []toldMark   // by leader
	turns     []int64      // by host: inputs that its raft lane has taken
}

// askedFetch is a Fetch as it was received, until it is answered.
type askedFetch struct {
	correlation int32
	boot        int32 // of the receiver
	turn        int64
	open        bool
	behind      bool // its sender lacks a high watermark that was told
}

// toldMark is the highest high watermark that a node told as leader of an epoch, in one process life: the next may run on another disk.
type toldMark struct {
	epoch int32
	boot  int32
	mark  int64
}

// build makes it ready for a run.
func (x *prompt) build(c *cluster) {
	n := len(c.w.Hosts())
	*x = prompt{c: c, asked: x.asked[:0], told: x.told[:0], turns: x.turns[:0], evaluated: c.w.Evaluated(noNeedlessWait.Name)}
	for range n * n {
		x.asked = append(x.asked, askedFetch{})
	}
	for range n {
		x.told, x.turns = append(x.told, toldMark{epoch: -1}), append(x.turns, 0)
	}
	c.w.Add(x)
}

// Attach is sim.Checker.
func (x *prompt) Attach(*sim.World) {}

// turn hears that the raft lane of a host takes an input. All that the input before it did has left the process by then. Nodes of
// Kafka's own scenarios are not followed.
func (x *prompt) turn(h *sim.Host) {
	if x.c != nil {
		x.turns[h.Index()]++
	}
}

// fetchReceived tells of a Fetch before raft sees it.
func (n *node) fetchReceived(env *sim.Env, conn sim.Conn, m raft.Message) {
	if r, ok := m.(*raft.FetchRequest); ok {
		n.c.prompt.received(env.Host(), env.Peer(conn), r)
	}
}

// received hears of a Fetch in the turn that handles it.
func (x *prompt) received(at, from *sim.Host, m *raft.FetchRequest) {
	if from == nil || x.c == nil {
		return
	}
	i, told := int32(at.Index()), &x.told[at.Index()]
	x.asked[int(i)*len(x.turns)+from.Index()] = askedFetch{
		correlation: m.Correlation, boot: at.Boot(), turn: x.turns[i], open: true,
		behind: m.HighWatermark != raft.HighWatermarkNotSent && told.epoch == m.CurrentLeaderEpoch && told.boot == at.Boot() && m.HighWatermark < told.mark,
	}
}

// OnSend is sim.SendChecker.
func (x *prompt) OnSend(from, to *sim.Host, m sim.Message) {
	r, ok := m.(*raft.FetchResponse)
	if !ok || to == nil {
		return
	}
	i := from.Index()
	a := &x.asked[i*len(x.turns)+to.Index()]
	if a.open && a.correlation == r.Correlation && a.boot == from.Boot() {
		a.open = false
		*x.evaluated++
		x.judge(from, to, a, r)
	}
	if r.ErrorCode == raft.None && r.PartitionError == raft.None && r.HighWatermark >= 0 {
		told := &x.told[i]
		if told.epoch != r.LeaderEpoch || told.boot != from.Boot() {
			*told = toldMark{epoch: r.LeaderEpoch, boot: from.Boot()}
		}
		told.mark = max(told.mark, r.HighWatermark)
	}
}

// judge looks at an answer.
func (x *prompt) judge(from, to *sim.Host, a *askedFetch, r *raft.FetchResponse) {
	late := x.turns[from.Index()] - a.turn
	if late == 0 {
		return
	}
	word := ""
	switch {
	case r.DivergingEpoch.Epoch >= 0:
		word = "divergence"
	case r.SnapshotID.Epoch >= 0 || r.SnapshotID.Offset >= 0:
		word = "snapshot"
	case a.behind && r.ErrorCode == raft.None && r.PartitionError == raft.None:
		word = "high-watermark"
	default:
		return
	}
	x.c.w.Violate(noNeedlessWait.Name, word, from.ID()+" kept a Fetch of "+to.ID()+" for "+number(late)+
		" turns before it answered with what it knew from the start: "+word)
}
