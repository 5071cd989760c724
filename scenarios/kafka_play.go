package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// phase is one step of a script: something happens, then the world goes on until a condition holds.
type phase struct {
	name  string
	do    func(p *play) // nil: nothing
	until condition     // met == nil: at once
}

// condition is the end of a phase. It is a function of what the nodes have shown, costs O(nodes), and is looked at when one of
// them has shown something that can matter: a role, a high watermark, its start or its end.
type condition struct {
	text string
	met  func(p *play) bool
	// late says whether a node is one that the condition waits for; nil: all that run.
	late func(p *play, n *shown) bool
}

// shown is what a node has shown of itself.
type shown struct {
	h             *sim.Host
	id            int32
	voter         bool
	cut           bool // off from all others, by the script
	up            bool
	role          raft.Role
	epoch, leader int32
	highWatermark int64 // 0 as long as it knows none, as in Kafka's simulation
	logEnd        int64 // also of a node that is down
	early         bool  // it asked for pre-votes before a majority had fetched from the leader, and has not given up since
	top           int32 // highest epoch in which it had a role, over all its lives
}

// play runs the script of a scenario: a checker that looks on, and steps in between two events when a condition holds.
type play struct {
	w       *sim.World
	name    string
	script  []phase
	nodes   []shown
	index   []int32 // by host: in nodes, -1 for an operator
	checks  kafkaChecks
	k       *kafkaCluster
	boundNs int64

	at        int32 // phase under way
	scheduled bool  // the end of the phase is
	started   *int64

	first, second int32 // nodes that the script remembers, -1
	offset        int64 // offset that it remembers
	victim        int64 // random number for a choice of the script

	operator *sim.Host // nil: none
	changes  []change  // that it wants, the first is under way
	asking   bool      // a request or the next look for a leader is pending
	asked    int32
	changed  *int64
}

// Attach implements sim.Checker: the script starts with the run.
func (p *play) Attach(w *sim.World) {
	p.w = w
	p.at, p.scheduled, p.first, p.second, p.offset = -1, true, -1, -1, 0
	p.changes, p.asking, p.asked = p.changes[:0], false, 0
	p.started, p.changed = w.Stat("kafka-phases"), w.Stat("voter-changes")
	w.At(0, decide.HashString("kafka/phase"), 0, p.next)
}

// next begins the next phase, and the ones after it as long as their conditions hold at once.
func (p *play) next() {
	for {
		p.at++
		if int(p.at) == len(p.script) {
			p.w.End()
			return
		}
		f := &p.script[p.at]
		*p.started++
		p.w.Note("phase", f.name)
		if f.do != nil {
			f.do(p)
		}
		if f.until.met != nil && !f.until.met(p) {
			break
		}
	}
	p.scheduled = false
	at := p.at
	p.w.At(p.w.NowNs()+p.boundNs, decide.HashString("kafka/bound"), uint64(at), func() {
		if p.at == at && !p.scheduled {
			p.w.EndStuck(p.waiting()...)
		}
	})
}

// look ends the phase when its condition holds. The next one begins between two events.
func (p *play) look() {
	if p.scheduled || !p.script[p.at].until.met(p) {
		return
	}
	p.scheduled = true
	p.w.At(p.w.NowNs(), decide.HashString("kafka/phase"), uint64(p.at)+1, p.next)
}

// waiting says who waits for whom.
func (p *play) waiting() (lines []string) {
	f := &p.script[p.at]
	lines = append(lines, p.name+": \""+f.name+"\" waits for "+f.until.text+" since "+number(p.boundNs/1_000_000)+" ms")
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.up && (f.until.late == nil || f.until.late(p, n)) {
			lines = append(lines, p.name+": "+n.text())
		}
	}
	return lines
}

// text describes a node: "n2 is follower of n0 in epoch 3, high watermark 17, log end 20".
func (n *shown) text() string {
	var b strings.Builder
	b.WriteString(n.h.ID() + " is " + n.role.String())
	if n.leader >= 0 && n.role == raft.Follower {
		b.WriteString(" of " + number(int64(n.leader)))
	}
	b.WriteString(" in epoch " + number(int64(n.epoch)) + ", high watermark " + number(n.highWatermark) + ", log end " + number(n.logEnd))
	return b.String()
}

// of returns what the node on a host has shown, nil for an operator.
func (p *play) of(h *sim.Host) *shown {
	if i := p.index[h.Index()]; i >= 0 {
		return &p.nodes[i]
	}
	return nil
}

// OnBoot implements sim.LifeChecker. A node has shown nothing yet.
func (p *play) OnBoot(h *sim.Host) {
	if n := p.of(h); n != nil {
		n.up, n.role, n.epoch, n.leader, n.highWatermark = true, raft.Unattached, 0, -1, 0
	}
}

// OnDown implements sim.LifeChecker. In Kafka's simulation nobody learns that a node is gone, graceful or not, so a process
// that ended takes its machine with it.
func (p *play) OnDown(h *sim.Host, kind sim.DownKind, _ error) {
	n := p.of(h)
	if n == nil {
		return
	}
	n.up, n.highWatermark, n.leader = false, 0, -1
	if kind == sim.Exited {
		p.w.At(p.w.NowNs(), decide.HashString(h.ID()), 8, func() {
			if !h.Up() {
				p.w.PowerOff(h)
			}
		})
	}
	p.look()
}

// OnProtocol implements sim.ProtocolChecker.
func (p *play) OnProtocol(h *sim.Host, o sim.Observation) {
	r, ok := o.(*invariants.RaftObservation)
	if !ok {
		return
	}
	e := &r.E
	switch e.Kind {
	case raft.LogAppended, raft.LogTruncated, raft.LogRecovered:
		p.of(h).logEnd = e.Offset
		return
	case raft.HighWatermarkAdvanced:
		p.of(h).highWatermark = e.Offset
	case raft.RoleChanged, raft.EpochAdopted:
	default:
		return
	}
	n := p.of(h)
	n.role, n.epoch, n.leader = e.Role, e.Epoch, e.Leader
	p.checks.look(p, n, e)
	p.look()
}
