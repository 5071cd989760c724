package scenarios

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/sim"
)

// asked is a request from the network that a controller works on.
type asked struct {
	op     int64
	conn   sim.Conn
	number int64
	from   int32
}

// inputRequests is a controller's request handlers. A heartbeat counts as heard when it arrives, however long the controller's queue is
// (metadata-bootstrap 7.5); what comes of it goes back from here.
func (n *node) inputRequests(env *sim.Env, in *sim.Input) error {
	switch m := in.Msg.(type) {
	case *memberGreeting:
		env.Send(in.Conn, &memberVersions{ranges: n.h.asks()})
	case *clientRequest:
		n.asked = append(n.asked, asked{op: m.op.ID, conn: in.Conn})
		env.Post(laneController, &request{op: m.op})
	case *clientDone:
		for i := range n.asked {
			if a := n.asked[i]; a.op == m.op {
				n.asked = append(n.asked[:i], n.asked[i+1:]...)
				env.Send(a.conn, &clientAnswer{op: m.op, boot: env.Host().Boot(), result: m.result})
				break
			}
		}
	case *memberRequest:
		if h := m.heartbeat; h != nil {
			n.control.Contact(env.MonotonicNs(), h.BrokerID, h.BrokerEpoch)
		}
		op := memberOps | int64(m.from&0x3fff)<<48 | m.number&(1<<48-1)
		n.asked = append(n.asked, asked{op: op, conn: in.Conn, number: m.number, from: m.from})
		env.Post(laneController, &memberPost{op: op, m: m})
	case *memberDone:
		for i := range n.asked {
			if a := n.asked[i]; a.op == m.op {
				n.asked = append(n.asked[:i], n.asked[i+1:]...)
				env.Send(a.conn, &memberAnswer{number: a.number, to: a.from, code: m.code, reply: m.reply})
				break
			}
		}
	}
	return nil
}

// memberPost brings a request of a member to the controller's lane.
type memberPost struct {
	op int64
	m  *memberRequest
}

func (p *memberPost) Kind() uint32               { return p.m.Kind() }
func (p *memberPost) Key() uint64                { return p.m.Key() }
func (p *memberPost) AppendTo(buf []byte) []byte { return p.m.AppendTo(buf) }
func (p *memberPost) String() string             { return p.m.String() }

// submitMember starts the operation of a member's request.
func (n *node) submitMember(nowNs int64, p *memberPost) error {
	op := controller.Op{ID: p.op}
	switch m := p.m; {
	case m.broker != nil:
		op.Kind, op.Broker = controller.RegisterBroker, m.broker
	case m.heartbeat != nil:
		op.Kind, op.Heartbeat = controller.Heartbeat, m.heartbeat
	default:
		op.Kind, op.Controller = controller.RegisterController, m.controller
	}
	return n.submit(nowNs, &op)
}

// submit starts an operation, and shows what the controller's memory was and is.
func (n *node) submit(nowNs int64, op *controller.Op) error {
	before := n.control.Image()
	asked := n.c.memory.operations.next()
	*asked = invariants.OperationAsked{Op: *op, Image: before}
	n.env.Observe(asked)
	n.told = 0
	if err := n.control.Submit(nowNs, op); err != nil {
		return err
	}
	taken := n.c.memory.taken.next()
	*taken = invariants.OperationTaken{OpID: op.ID, Before: before, Image: n.control.Image(), Answered: n.told == op.ID}
	n.env.Observe(taken)
	return nil
}

// memberDone is the outcome of a member's request, on its way to the handlers.
type memberDone struct {
	op    int64
	code  controller.ErrorCode
	reply controller.BrokerReply
}

func (p *memberDone) Kind() uint32 { return postMemberDone }
func (p *memberDone) Key() uint64  { return uint64(p.op) >> 48 }
func (p *memberDone) AppendTo(buf []byte) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(append(buf, 'M'), uint64(p.op)), uint16(p.code))
}
func (p *memberDone) String() string {
	return fmt.Sprintf("answer %v to operation %d", p.code, p.op)
}

// clientDone is the outcome of a client's request, on its way to the handlers.
type clientDone struct {
	op     int64
	result controller.Result
}

func (p *clientDone) Kind() uint32 { return postClientDone }
func (p *clientDone) Key() uint64  { return uint64(p.op) }
func (p *clientDone) AppendTo(buf []byte) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(append(buf, 'K'), uint64(p.op)), uint16(p.result.Code))
}
func (p *clientDone) String() string {
	return fmt.Sprintf("answer %v to operation %d", p.result.Code, p.op)
}

// takesRequests reports whether a node has handlers of requests from the network: where nodes register, and where clients have a
// machine of their own.
func (n *node) takesRequests() bool {
	return n.c.members.register || n.c.machine(n.h.cluster) != nil
}
