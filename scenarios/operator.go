package scenarios

import (
	"encoding/binary"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// kindOperator is a host that no replica runs on: the machine from which an operator changes the voter set.
const kindOperator = "operator"

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

// asker is who gives orders to an operator's machine.
type asker interface {
	// answered hears what came of the order: the answer, or nil when there was none in time.
	answered(m raft.Message)
}

// operator sends one request after the other over the network, each on a connection of its own, and says what came of it.
type operator struct {
	asker    asker
	answerNs int64 // how long it waits for an answer
	untilNs  int64 // on the host's monotonic clock
	conn     sim.Conn
	order    *order
}

// Boot is sim.Process.
func (o *operator) Boot(env *sim.Env) error { env.Lanes("operator"); return nil }

// Input is sim.Process.
func (o *operator) Input(env *sim.Env, in *sim.Input) error {
	switch in.Kind {
	case sim.InLocal:
		o.order = in.Msg.(*order)
		o.conn = env.Dial(o.order.host, int32(o.order.port))
		o.untilNs = env.MonotonicNs() + o.answerNs
		env.WakeAt(o.untilNs)
	case sim.InConnected:
		if in.Conn == o.conn {
			env.Send(o.conn, o.order.request)
		}
	case sim.InDisconnected:
		if o.conn != 0 && in.Conn == o.conn {
			o.end(env, nil)
		}
	case sim.InWake:
		if o.conn != 0 && env.MonotonicNs() >= o.untilNs {
			o.end(env, nil)
		}
	case sim.InMessage:
		if m, ok := in.Msg.(raft.Message); ok && in.Conn == o.conn {
			o.end(env, m)
		}
	}
	return nil
}

// end closes the connection and hands the outcome to the asker.
func (o *operator) end(env *sim.Env, m raft.Message) {
	env.CloseConn(o.conn)
	env.WakeAt(-1)
	o.conn = 0
	o.asker.answered(m)
}

// Stop is sim.Process.
func (o *operator) Stop(env *sim.Env) { env.Exit() }

// AppendState is sim.Process.
func (o *operator) AppendState(buf []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(o.conn))
}
