package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// change is what the operator wants: a replica in the voter set, or out of it.
type change struct {
	add bool
	id  int32
}

// answerNs is how long the operator waits for an answer: longer than raft takes for a change that can succeed.
const answerNs = 10_000_000_000

// wish adds changes to what the operator does next, in this order.
func (p *play) wish(changes ...change) {
	p.changes = append(p.changes, changes...)
	if !p.asking {
		p.asking = true
		p.ask()
	}
}

// ask sends the first change to the leader, or looks for one again after a while.
func (p *play) ask() {
	if p.asking = len(p.changes) > 0; !p.asking {
		return
	}
	p.asked++
	if leader := p.latestLeader(); leader >= 0 {
		to := &p.k.hosts[p.byID(leader).h.Index()]
		o := &order{request: p.request(&p.changes[0]), host: to.name, port: to.port}
		if p.w.Request(p.operator, 0, o) {
			return
		}
	}
	p.askAgain(100_000_000)
}

func (p *play) askAgain(afterNs int64) {
	p.w.At(p.w.NowNs()+afterNs, decide.HashString("kafka/operator"), uint64(p.asked), p.ask)
}

// answered hears an outcome. What an earlier request may have done already counts as done.
func (p *play) answered(m raft.Message) {
	c, code := &p.changes[0], changeOutcome(m)
	if code != raft.None && (c.add || code != raft.VoterNotFound) && (!c.add || code != raft.DuplicateVoter) {
		p.askAgain(500_000_000)
		return
	}
	*p.changed++
	p.byID(c.id).voter = c.add
	p.changes = p.changes[1:]
	p.askAgain(0)
	p.look()
}

// changeOutcome is the error code of an answer to a change; no answer is one that is too late.
func changeOutcome(m raft.Message) raft.ErrorCode {
	switch m := m.(type) {
	case *raft.AddRaftVoterResponse:
		return m.ErrorCode
	case *raft.RemoveRaftVoterResponse:
		return m.ErrorCode
	}
	return raft.RequestTimedOut
}

// request is a change as a message.
func (p *play) request(c *change) raft.Message {
	h := &p.k.hosts[p.byID(c.id).h.Index()]
	header := raft.Header{Correlation: p.asked}
	cluster := raft.ClusterID{ID: h.clusterID, Known: true}
	if !c.add {
		return &raft.RemoveRaftVoterRequest{Header: header, ClusterID: cluster, VoterID: c.id, VoterDirectoryID: h.directoryID}
	}
	return &raft.AddRaftVoterRequest{Header: header, ClusterID: cluster, TimeoutMs: int32(answerNs / million), VoterID: c.id, VoterDirectoryID: h.directoryID,
		Listeners: []voters.Endpoint{{Name: p.k.listener, Host: h.name, Port: h.port}}, AckWhenCommitted: true}
}

// untilChanged waits until all changes are committed and the nodes that which allows have caught up with the remembered offset.
func untilChanged(what string, plus int64, which func(p *play, n *shown) bool) condition {
	return condition{text: "the voter set to be changed, and the high watermark of " + what + " to move on",
		met: func(p *play) bool {
			return len(p.changes) == 0 && p.allAt(p.offset+plus, func(n *shown) bool { return which(p, n) })
		},
		late: func(p *play, n *shown) bool { return which(p, n) && n.highWatermark < p.offset+plus }}
}
