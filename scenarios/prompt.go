package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// noNeedlessWait judges how long a leader keeps a Fetch. It counts turns of the leader's raft lane and not time, so neither a slow disk
// nor a slow network is mistaken for a leader that waits.
var noNeedlessWait = sim.InvariantDoc{
	Name: "no-needless-wait", Source: "KAFKA-15100, KIP-1166; known-bugs KB-07; kraft-protocol 2.8",
	Doc: "A Fetch that diverges, that needs a snapshot, or whose sender lacks a high watermark that its leader has told to somebody in this " +
		"epoch is answered in the turn in which it is received, and all that wait when their leader resigns or follows another; one that waits is " +
		"answered with news, or when its time is over. A leader that shows that it has resigned has told it by then to every voter that it can reach.",
}

// prompt is the checker. It remembers the last Fetch that each node received from each other.
type prompt struct {
	c         *cluster
	evaluated *int64
	epochs    *int64       // evaluations of fenced
	asked     []askedFetch // by receiver, then by sender
	called    []askedFetch // the same for the last Vote, BeginQuorumEpoch or EndQuorumEpoch
	told      []toldMark   // by leader
	turns     []int64      // by host: inputs that its raft lane has taken

	fastPpm int64 // by how much the fastest clock runs fast; -1: some clock jumps

	leaving    []leavingSince // by host
	seen       []int32        // by host: highest epoch that a message told it
	successors successors
	once       once
	tells      tells
	changes    changesOpen

	resignation resignation

	listeners  *int64       // evaluations of ownListeners
	configured []configured // by host
}

// askedFetch is a Fetch as it was received, until it is answered or its connection is over.
type askedFetch struct {
	conn        sim.Conn
	kind        uint32
	epoch       int32
	correlation int32
	boot        int32 // of the receiver
	turn        int64
	open        bool
	behind      bool  // its sender lacks a high watermark that was told
	mark        int64 // that its sender told
	waitNs      int64 // until when it may wait; 0: no matter

	peerBoot      int32 // of the sender
	forgottenTurn int64 // when its receiver said that it has resigned; 0: it has not
	forgottenNs   int64
	deposedTurn   int64 // when its receiver began to follow another leader; 0: it has not

	leftOver overtaken
}

// toldMark is the highest high watermark that a node told as leader of an epoch, in one process life: the next may run on another disk.
type toldMark struct {
	epoch int32
	boot  int32
	mark  int64
}

// build makes it ready for a run.
func (x *prompt) build(c *cluster, p *plan.Plan) {
	n := len(c.w.Hosts())
	*x = prompt{c: c, asked: x.asked[:0], called: x.called[:0], told: x.told[:0], turns: x.turns[:0], leaving: x.leaving[:0], successors: x.successors, once: x.once, tells: x.tells, resignation: x.resignation, seen: x.seen[:0], configured: x.configured[:0], listeners: c.w.Evaluated(ownListeners.Name), changes: changesOpen{evaluated: c.w.Evaluated("voter-answer"), list: x.changes.list[:0]},
		fastPpm: fastestPpm(p), evaluated: c.w.Evaluated(noNeedlessWait.Name), epochs: c.w.Evaluated(fenced.Name)}
	for range n * n {
		x.asked, x.called = append(x.asked, askedFetch{}), append(x.called, askedFetch{})
	}
	x.successors.build(c.w, n)
	x.once.build(c.w, n)
	x.tells.build(c.w, n)
	x.resignation.build(c.w, n)
	for range n {
		x.told, x.turns = append(x.told, toldMark{epoch: -1}), append(x.turns, 0)
		x.leaving, x.seen = append(x.leaving, leavingSince{}), append(x.seen, -1)
		x.configured = append(x.configured, configured{boot: -1})
	}
	x.once.turns = x.turns
	c.w.Add(x)
}

// Attach is sim.Checker.
func (x *prompt) Attach(*sim.World) {}

// turn hears that the raft lane of a host takes an input. All that the input before it did has left the process by then.
func (x *prompt) turn(h *sim.Host) {
	if x.c == nil {
		return
	}
	x.changes.turn(x.c.w, h)
	i, n := h.Index(), len(x.turns)
	x.resignation.turnNs[i] = x.c.w.NowNs()
	x.turns[i]++
	x.changes.abandoned(x, h)
	if x.turns[i]%forgottenTurns != 0 {
		return
	}
	for k := range n {
		if a := &x.asked[i*n+k]; a.open && a.forgottenTurn != 0 && a.boot == h.Boot() {
			x.forgotten(h, x.c.w.Hosts()[k], a)
		}
	}
}

// forgottenTurns is how many turns a leader that has resigned may take before a Fetch that it has not answered counts as forgotten: its
// connection may be over, and the word of that wait behind other inputs.
const forgottenTurns = 64

// forgotten judges a Fetch that waited at a leader when it resigned.
func (x *prompt) forgotten(h, from *sim.Host, a *askedFetch) {
	if from.Up() && from.Boot() == a.peerBoot && x.turns[h.Index()] > a.forgottenTurn+forgottenTurns &&
		x.c.w.NowNs() > a.forgottenNs+2*x.c.timeouts.request*million && !x.c.decay.wild {
		a.open = false
		x.c.w.Violate(noNeedlessWait.Name, "resigned", h.ID()+" resigned from epoch "+number(int64(a.epoch))+" and did not answer the Fetch of "+
			from.ID()+" that waited")
	}
}

// closed hears, in the turn that learns of it, that a connection is over: nobody is owed an answer over it.
func (x *prompt) closed(at *sim.Host, conn sim.Conn) {
	if x.c == nil {
		return
	}
	x.changes.closed(at, conn)
	x.once.over(at, conn)
	n := len(x.turns)
	for i := at.Index() * n; i < at.Index()*n+n; i++ {
		if x.asked[i].conn == conn {
			x.asked[i].open = false
		}
	}
}

// fetchReceived tells of a message before raft sees it.
func (n *node) fetchReceived(env *sim.Env, conn sim.Conn, m raft.Message) {
	x := &n.c.prompt
	if x.c == nil {
		return
	}
	from := env.Peer(conn)
	x.saw(env.Host(), m)
	if m.Kind()&1 == 1 {
		if from != nil {
			x.once.answered(env.Host(), from, m)
			x.tells.heard(env.Host(), from, conn, m, x.turns[env.Host().Index()])
		}
		return
	}
	if from == nil {
		x.successors.unseen[env.Host().Index()] = env.Host().Boot()
		return
	}
	switch r := m.(type) {
	case *raft.FetchRequest:
		x.received(env.Host(), from, conn, r)
	case *raft.VoteRequest:
		x.call(env.Host(), from, m, r.Correlation, r.ReplicaEpoch)
	case *raft.BeginQuorumEpochRequest:
		x.call(env.Host(), from, m, r.Correlation, r.LeaderEpoch)
	case *raft.EndQuorumEpochRequest:
		x.call(env.Host(), from, m, r.Correlation, r.LeaderEpoch)
	default:
		x.changes.received(env.Host(), from, conn, m, x.turns[env.Host().Index()])
	}
}

// call notes a request about an election.
func (x *prompt) call(at, from *sim.Host, m raft.Message, correlation, epoch int32) {
	x.called[at.Index()*len(x.turns)+from.Index()] = askedFetch{
		correlation: correlation, kind: m.Kind(), epoch: epoch, boot: at.Boot(), open: true,
	}
}

// received hears of a Fetch in the turn that handles it.
func (x *prompt) received(at, from *sim.Host, conn sim.Conn, m *raft.FetchRequest) {
	x.successors.received(at, from, m, x.c.w.NowNs())
	i, told := int32(at.Index()), &x.told[at.Index()]
	a := &x.asked[int(i)*len(x.turns)+from.Index()]
	*a = askedFetch{
		leftOver: a.by(from.Boot()), conn: conn, correlation: m.Correlation, epoch: m.CurrentLeaderEpoch, boot: at.Boot(), turn: x.turns[i], open: true, peerBoot: from.Boot(),
		mark: m.HighWatermark, waitNs: x.waitsUntilNs(m),
		behind: m.HighWatermark != raft.HighWatermarkNotSent && told.epoch == m.CurrentLeaderEpoch && told.boot == at.Boot() && m.HighWatermark < told.mark,
	}
}

// waitsUntilNs is until when a Fetch may wait, less the rounding of clocks to milliseconds, by the fastest clock; 0 for one whose sender is
// too old to tell a high watermark, and where clocks jump.
func (x *prompt) waitsUntilNs(m *raft.FetchRequest) int64 {
	if m.HighWatermark == raft.HighWatermarkNotSent || x.fastPpm < 0 {
		return 0
	}
	wait := (int64(m.MaxWaitMs) - 2) * million
	return x.c.w.NowNs() + wait - wait/million*x.fastPpm
}

// fastestPpm is by how much the fastest clock of a plan runs fast, in millionths; -1 when some clock jumps.
func fastestPpm(p *plan.Plan) (fastest int64) {
	if slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Kind == "jump" }) {
		return -1
	}
	for i := range p.Hosts {
		fastest = max(fastest, int64(p.Hosts[i].DriftPpm))
	}
	return fastest
}

// OnSend is sim.SendChecker.
func (x *prompt) OnSend(from, to *sim.Host, m sim.Message) {
	if to == nil {
		return
	}
	x.sent(from, to, m)
	x.saysWhere(from, m)
	x.changes.asks(x, from, m)
	switch r := m.(type) {
	case *raft.FetchResponse:
		x.answered(from, to, r)
	case *raft.VoteResponse:
		x.answeredCall(from, to, m, r.Correlation, r.LeaderEpoch, r.ErrorCode, r.PartitionError)
	case *raft.BeginQuorumEpochResponse:
		x.answeredCall(from, to, m, r.Correlation, r.LeaderEpoch, r.ErrorCode, r.PartitionError)
	case *raft.EndQuorumEpochResponse:
		x.answeredCall(from, to, m, r.Correlation, r.LeaderEpoch, r.ErrorCode, r.PartitionError)
	case *raft.EndQuorumEpochRequest:
		x.resigned(from, r)
		x.resignsForCause(from, r)
		x.tellsResignation(from, to, r)
	default:
		x.changes.answered(from, to, m)
	}
}

// OnProtocol is sim.ProtocolChecker. A leader that follows another one answers whoever waited at it on entry, in the same turn: an answer
// in a later one, of what it knew as a leader, is of a leader that is gone (kraft-protocol 1.5).
func (x *prompt) OnProtocol(h *sim.Host, o sim.Observation) {
	e, ok := o.(*invariants.RaftObservation)
	if !ok {
		if m, ok := o.(*invariants.MetadataObservation); ok && m.E.Kind == controller.Renounced {
			x.resignation.renounced(h)
		}
		return
	}
	x.once.shown(h, &e.E)
	x.resignation.shown(h, &e.E)
	x.leavesItsEpoch(h, &e.E)
	if e.E.Kind != raft.RoleChanged || e.E.Role != raft.Follower {
		return
	}
	i, n := h.Index(), len(x.turns)
	for k := range n {
		if a := &x.asked[i*n+k]; a.open && a.boot == h.Boot() && a.epoch < e.E.Epoch && a.turn < x.turns[i] {
			a.deposedTurn = x.turns[i]
		}
	}
}

// answeredCall follows the answer to a request about an election.
func (x *prompt) answeredCall(from, to *sim.Host, m sim.Message, correlation, epoch int32, top, partition raft.ErrorCode) {
	a := &x.called[from.Index()*len(x.turns)+to.Index()]
	if !a.open || a.correlation != correlation || a.kind|1 != m.Kind() || a.boot != from.Boot() {
		return
	}
	a.open = false
	x.epochsFit(from, to, a, epoch, top, partition)
}

// resigned follows a leader that says that it has resigned: whoever waited at it has its answer by then (KAFKA-10677).
func (x *prompt) resigned(h *sim.Host, m *raft.EndQuorumEpochRequest) {
	x.ordered(h, m)
	i, n := h.Index(), len(x.turns)
	for k := range n {
		a := &x.asked[i*n+k]
		if !a.open || a.boot != h.Boot() || a.epoch != m.LeaderEpoch {
			continue
		}
		*x.evaluated++
		if a.turn < x.turns[i] && a.forgottenTurn == 0 {
			a.forgottenTurn, a.forgottenNs = x.turns[i], x.c.w.NowNs()
		}
	}
}

// answered follows the answer to a Fetch.
func (x *prompt) answered(from, to *sim.Host, r *raft.FetchResponse) {
	x.successors.answered(from, to, r)
	i := from.Index()
	x.tells.answered(from, r, x.turns[i])
	a := &x.asked[i*len(x.turns)+to.Index()]
	answers := a.open && a.correlation == r.Correlation && a.boot == from.Boot()
	if answers {
		a.open = false
	}
	if answers && !a.leftOver.has(r.Correlation) {
		*x.evaluated++
		if a.deposedTurn != 0 && x.turns[i] > a.deposedTurn && !x.c.decay.wild {
			x.c.w.Violate(noNeedlessWait.Name, "follows", from.ID()+" answered a Fetch of "+to.ID()+" in epoch "+number(int64(a.epoch))+
				" only after it had begun to follow another leader")
		}
		x.judge(from, to, a, r)
		x.epochsFit(from, to, a, r.LeaderEpoch, r.ErrorCode, r.PartitionError)
		x.servedWhileLeaving(from, to, a, r)
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
	if late == 0 || x.c.decay.wild { // after damage that no checksum shows the log may change its mind
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
	case r.ErrorCode == raft.None && r.PartitionError == raft.None && x.c.w.NowNs() < a.waitNs && len(r.Records) == 0 && r.HighWatermark <= a.mark:
		x.c.w.Violate(noNeedlessWait.Name, "nothing", from.ID()+" answered a Fetch of "+to.ID()+" that was to wait longer with nothing that "+to.ID()+
			" did not know")
		return
	default:
		return
	}
	x.c.w.Violate(noNeedlessWait.Name, word, from.ID()+" kept a Fetch of "+to.ID()+" for "+number(late)+
		" more "+map[bool]string{true: "turn", false: "turns"}[late == 1]+" before it answered with what it knew from the start: "+word)
}
