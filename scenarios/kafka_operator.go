//nodet:room

package scenarios

import (
	"encoding/binary"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// kindOperator is a host that no replica runs on: the machine from which an operator changes the voter set.
const kindOperator = "operator"

// change is what the operator wants: a replica in the voter set, or out of it.
type change struct {
	add bool
	id  int32
}

// order is a request on its way to the operator's machine, with whom to ask.
type order struct {
	request raft.Message
	host    string
	port    uint16
}

func (o *order) Kind() uint32 { return postRequest }
func (o *order) Key() uint64  { return uint64(o.request.Kind())<<32 ^ o.request.Key() }
func (o *order) AppendTo(buf []byte) []byte {
	return o.request.AppendTo(append(append(buf, 'o'), o.host...))
}
func (o *order) String() string { return "ask " + o.host }

// operator sends one request after the other over the network, each on a connection of its own, and says what came of it.
type operator struct {
	play  *play
	conn  sim.Conn
	order *order
}

// answerNs is how long the operator waits for an answer: longer than raft takes for a change that can succeed.
const answerNs = 10_000_000_000

// Boot is sim.Process.
func (o *operator) Boot(env *sim.Env) error { env.Lanes("operator"); return nil }

// Input is sim.Process.
func (o *operator) Input(env *sim.Env, in *sim.Input) error {
	switch in.Kind {
	case sim.InLocal:
		o.order = in.Msg.(*order)
		o.conn = env.Dial(o.order.host, int32(o.order.port))
		env.WakeAt(env.MonotonicNs() + answerNs)
	case sim.InConnected:
		if in.Conn == o.conn {
			env.Send(o.conn, o.order.request)
		}
	case sim.InDisconnected, sim.InWake:
		if o.conn != 0 && (in.Kind == sim.InWake || in.Conn == o.conn) {
			o.end(env, raft.RequestTimedOut)
		}
	case sim.InMessage:
		if in.Conn != o.conn {
			break
		}
		switch m := in.Msg.(type) {
		case *raft.AddRaftVoterResponse:
			o.end(env, m.ErrorCode)
		case *raft.RemoveRaftVoterResponse:
			o.end(env, m.ErrorCode)
		}
	}
	return nil
}

// end closes the connection and hands the outcome to the play.
func (o *operator) end(env *sim.Env, code raft.ErrorCode) {
	env.CloseConn(o.conn)
	env.WakeAt(-1)
	o.conn = 0
	o.play.answered(code)
}

// Stop is sim.Process.
func (o *operator) Stop(env *sim.Env) { env.Exit() }

// AppendState is sim.Process.
func (o *operator) AppendState(buf []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(o.conn))
}

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
func (p *play) answered(code raft.ErrorCode) {
	c := &p.changes[0]
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
