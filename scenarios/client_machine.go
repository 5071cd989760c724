package scenarios

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// clientMachine is the process of a host from which clients and operators ask controllers: what a plan's workload and the steps of its
// operators ask for goes from here, where a plan has such a host (kind operator, asks=requests), and straight to the controller's lane
// where it has none. It keeps a connection to each controller that it was told to ask, greets it, and sends one request behind the
// other, without waiting. A request whose connection breaks, or that is not answered in time, is lost: who asked hears nothing, and goes by
// a timeout of its own, since nobody can tell whether the request came about.
type clientMachine struct {
	c     *cluster
	h     *hostSettings
	links []clientLink
}

// clientLink is a connection to a controller.
type clientLink struct {
	conn    sim.Conn
	to      int32                  // index of the host
	speaks  []raft.APIVersionRange // of the controller, nil until it has answered the greeting
	out     []clientOut            // requests without an answer, oldest first
	sinceNs int64                  // when it was dialled
}

// clientOut is a request that is under way, or waits for the greeting.
type clientOut struct {
	request *clientRequest
	sentNs  int64
}

// machine is the host from which clients of a cluster ask, nil where there is none.
func (c *cluster) machine(cluster int) *sim.Host {
	for i := range c.hosts {
		if e := &c.hosts[i]; e.requests && e.cluster == cluster {
			return c.w.Hosts()[i]
		}
	}
	return nil
}

// Boot is sim.Process.
func (m *clientMachine) Boot(env *sim.Env) error { env.Lanes("clients"); return nil }

// Input is sim.Process.
func (m *clientMachine) Input(env *sim.Env, in *sim.Input) error {
	now := env.MonotonicNs()
	switch in.Kind {
	case sim.InLocal:
		m.ask(env, now, in.Msg.(*clientRequest))
	case sim.InConnected:
		if m.linkOf(in.Conn) >= 0 {
			env.Send(in.Conn, &memberGreeting{from: m.h.nodeID})
		}
	case sim.InDisconnected:
		m.drop(in.Conn)
	case sim.InMessage:
		m.heard(env, in)
	}
	m.giveUp(env, now)
	return nil
}

func (m *clientMachine) linkOf(conn sim.Conn) int {
	return slices.IndexFunc(m.links, func(l clientLink) bool { return l.conn == conn })
}

// drop forgets a connection, with what it owed.
func (m *clientMachine) drop(conn sim.Conn) {
	if i := m.linkOf(conn); i >= 0 {
		*m.c.w.Stat("requests-lost") += int64(len(m.links[i].out))
		m.links = slices.Delete(m.links, i, i+1)
	}
}

// ask sends a request, or keeps it until the controller has told its versions.
func (m *clientMachine) ask(env *sim.Env, nowNs int64, r *clientRequest) {
	i := slices.IndexFunc(m.links, func(l clientLink) bool { return l.to == r.to })
	if i < 0 {
		m.links = append(m.links, clientLink{conn: env.Dial(m.c.hosts[r.to].id, memberPort), to: r.to, sinceNs: nowNs})
		i = len(m.links) - 1
	}
	l := &m.links[i]
	if l.out = append(l.out, clientOut{request: r, sentNs: nowNs}); l.speaks != nil {
		m.send(env, l, r)
	}
}

// send puts a request on a greeted connection, in the version that both ends know.
func (m *clientMachine) send(env *sim.Env, l *clientLink, r *clientRequest) {
	version, ok := spokenVersion(rpcOf(r.op.Kind), m.h.asks(), l.speaks)
	if !ok {
		l.out = slices.DeleteFunc(l.out, func(o clientOut) bool { return o.request == r })
		m.c.answered(r.op.ID, &controller.Result{Code: controller.UnsupportedVersion, Message: "the controller does not know this request", Offset: -1, LeaderID: -1})
		return
	}
	env.Send(l.conn, &clientRequest{to: r.to, op: inVersion(r.op, version)})
}

func (m *clientMachine) heard(env *sim.Env, in *sim.Input) {
	i := m.linkOf(in.Conn)
	if i < 0 {
		return
	}
	l := &m.links[i]
	switch x := in.Msg.(type) {
	case *memberVersions:
		l.speaks = x.ranges
		for _, o := range slices.Clone(l.out) {
			m.send(env, l, o.request)
		}
	case *clientAnswer:
		at := slices.IndexFunc(l.out, func(o clientOut) bool { return o.request.op.ID == x.op })
		if at < 0 {
			return
		}
		l.out = slices.Delete(l.out, at, at+1)
		m.c.clients.servedBy(x.op, m.c.hosts[l.to].id, x.boot)
		m.c.answered(x.op, &x.result)
	}
}

// giveUp closes connections that owe an answer, or an opening, for too long, and sets the time to look again.
func (m *clientMachine) giveUp(env *sim.Env, nowNs int64) {
	patience, next := m.c.timeouts.request*million, int64(-1)
	for i := len(m.links) - 1; i >= 0; i-- {
		l := &m.links[i]
		since := int64(-1)
		switch {
		case len(l.out) > 0:
			since = l.out[0].sentNs
		case l.speaks == nil:
			since = l.sinceNs
		}
		if since < 0 {
			continue
		}
		if nowNs >= since+patience {
			env.CloseConn(l.conn)
			m.drop(l.conn)
			continue
		}
		next = sooner(next, since+patience)
	}
	env.WakeAt(next)
}

// Stop is sim.Process.
func (m *clientMachine) Stop(env *sim.Env) { env.Exit() }

// AppendState is sim.Process.
func (m *clientMachine) AppendState(buf []byte, _ sim.View) []byte {
	for i := range m.links {
		l := &m.links[i]
		buf = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(buf, uint32(l.to)), uint32(len(l.out)))
	}
	return buf
}

// clientRequest is an operation on its way to a controller: first to the machine that asks, then over the network.
type clientRequest struct {
	to int32 // index of the controller's host
	op controller.Op
}

// Kind is sim.Message.
func (r *clientRequest) Kind() uint32 { return kindClientRequest }

// Key is sim.Message.
func (r *clientRequest) Key() uint64 { return uint64(r.op.ID) }

// AppendTo is sim.Message.
func (r *clientRequest) AppendTo(buf []byte) []byte {
	return (&request{op: r.op}).AppendTo(binary.BigEndian.AppendUint32(append(buf, 'q'), uint32(r.to)))
}
func (r *clientRequest) String() string { return fmt.Sprintf("request %d: %s", r.op.ID, r.op.Kind) }

// clientAnswer is what a controller says to it.
type clientAnswer struct {
	op     int64
	boot   int32 // of the process that answered
	result controller.Result
}

// Kind is sim.Message.
func (a *clientAnswer) Kind() uint32 { return kindClientAnswer }

// Key is sim.Message.
func (a *clientAnswer) Key() uint64 { return uint64(a.op) }

// AppendTo is sim.Message.
func (a *clientAnswer) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'a'), uint64(a.op))
	buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(buf, uint16(a.result.Code)), uint64(a.result.Offset))
	return append(buf, a.result.Value...)
}
func (a *clientAnswer) String() string {
	return fmt.Sprintf("answer to request %d: %v, offset %d", a.op, a.result.Code, a.result.Offset)
}

// memberGreeting asks a controller for the versions of its requests, as the first thing on a connection to its port for them.
type memberGreeting struct{ from int32 }

// Kind is sim.Message.
func (g *memberGreeting) Kind() uint32 { return kindMemberGreeting }

// Key is sim.Message.
func (g *memberGreeting) Key() uint64 { return uint64(uint32(g.from)) }

// AppendTo is sim.Message.
func (g *memberGreeting) AppendTo(buf []byte) []byte {
	return binary.BigEndian.AppendUint32(append(buf, 'g'), uint32(g.from))
}
func (g *memberGreeting) String() string { return "ApiVersions" }

// memberVersions is the answer.
type memberVersions struct{ ranges []raft.APIVersionRange }

// Kind is sim.Message.
func (v *memberVersions) Kind() uint32 { return kindMemberVersions }

// Key is sim.Message.
func (v *memberVersions) Key() uint64 { return uint64(len(v.ranges)) }

// AppendTo is sim.Message.
func (v *memberVersions) AppendTo(buf []byte) []byte {
	for i := range v.ranges {
		r := &v.ranges[i]
		buf = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(buf, uint16(r.APIKey)), uint16(r.MaxVersion))
	}
	return buf
}
func (v *memberVersions) String() string {
	return fmt.Sprintf("ApiVersions of %d requests", len(v.ranges))
}
