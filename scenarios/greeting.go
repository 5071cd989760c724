package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim"
)

// A connection of Kafka's begins with a greeting: the client asks for the server's versions in the newest version of ApiVersions
// that it knows itself. A server that does not know it answers in version 0, with UNSUPPORTED_VERSION and the versions that it does
// know, and the client asks once more (formats 2). Until it has its answer nothing else is sent; from then on every request goes
// in the highest version that both know (kraft-protocol 2.1). What was learned belongs to the connection: the next one, to a
// peer that may have been upgraded or taken back in between, begins with a greeting of its own.
//
// Kafka's own simulation has no such thing, and the scenarios under kafka/ go without. So does the operator's machine, whose tool is
// as new as anybody.

// link is a connection that this node dialled.
type link struct {
	conn    sim.Conn
	to      *sim.Host    // where it leads
	asked   int16        // version of the greeting under way
	greeted bool         // the answer is there
	speaks  *[rpcs]int16 // the version of each RPC on it, -1 for none; nil before it is greeted
}

// linkOf finds a connection that this node dialled, -1 for others.
func (n *node) linkOf(conn sim.Conn) int {
	for i := range n.links {
		if n.links[i].conn == conn {
			return i
		}
	}
	return -1
}

// unlink forgets a connection.
func (n *node) unlink(conn sim.Conn) {
	n.c.prompt.tells.over(n.env.Host(), conn)
	if i := n.linkOf(conn); i >= 0 {
		n.links = slices.Delete(n.links, i, i+1)
	}
}

// opened greets the peer on a connection that this node dialled; raft hears of the connection when the answer is there.
func (n *node) opened(env *sim.Env, nowMs int64, conn sim.Conn) error {
	if !n.c.greets {
		return n.connected(env, nowMs, conn)
	}
	n.links = append(n.links, link{conn: conn, to: env.Peer(conn)})
	return n.greet(env, nowMs, conn, newestGreeting(n.h))
}

// connected tells raft that a connection is open. What has waited for that leaves in this call, and is as old as
// its dial.
func (n *node) connected(env *sim.Env, nowMs int64, conn sim.Conn) error {
	n.c.prompt.once.opens(env.Host(), conn)
	err := n.replica.Connected(nowMs, conn)
	n.c.prompt.once.opening = nil
	return err
}

// newestGreeting is the newest version of ApiVersions that a host knows.
func newestGreeting(h *hostSettings) int16 {
	return between(h, h, wire.APIVersions)
}

// greet asks for the peer's versions in a version of ApiVersions. A connection that is over already needs none: raft will be told.
func (n *node) greet(env *sim.Env, nowMs int64, conn sim.Conn, version int16) error {
	f, err := n.encode(&raft.ApiVersionsRequest{ClientSoftwareName: clientSoftware, ClientSoftwareVersion: n.h.release.Name, NodeID: -1}, version)
	if err != nil {
		return n.hangUp(env, nowMs, conn)
	}
	n.links[n.linkOf(conn)].asked = version
	env.Send(conn, f)
	return nil
}

// clientSoftware is how Kafka's clients call themselves.
const clientSoftware = "apache-kafka-java"

// hangUp closes a connection on which no common language was found.
func (n *node) hangUp(env *sim.Env, nowMs int64, conn sim.Conn) error {
	*n.c.w.Stat("greetings-failed")++
	n.unlink(conn)
	env.CloseConn(conn)
	return n.replica.Disconnected(nowMs, conn, false)
}

// greeted takes the answer to a greeting; taken is false for messages that are for raft.
func (n *node) greeted(env *sim.Env, nowMs int64, conn sim.Conn, m raft.Message) (taken bool, err error) {
	i := n.linkOf(conn)
	if i < 0 || n.links[i].greeted {
		return false, nil
	}
	l := &n.links[i]
	answer, ok := m.(*raft.ApiVersionsResponse)
	if !ok {
		return true, n.hangUp(env, nowMs, conn)
	}
	switch answer.ErrorCode {
	case raft.None:
		l.greeted, l.speaks = true, n.learned(answer.APIKeys)
		return true, n.connected(env, nowMs, conn)
	case raft.UnsupportedVersion:
		version, err := wire.Negotiate(wire.APIVersions, n.h.speaks(), answer.APIKeys)
		if err == nil && version < l.asked {
			*n.c.w.Stat("greetings-repeated")++
			return true, n.greet(env, nowMs, conn, version)
		}
	default:
	}
	return true, n.hangUp(env, nowMs, conn)
}

// learned is the version of each RPC that this node and a peer with these versions both know. The table of a generation is
// shared; versions that are those of none would be a table of their own.
func (n *node) learned(theirs []raft.APIVersionRange) *[rpcs]int16 {
	own := generationOf(n.h.release)
	for g := range generations {
		if len(n.h.limits.rpcs) == 0 && slices.Equal(languages[g], theirs) {
			return &negotiated[own][g]
		}
	}
	table := speaking(n.h.speaks(), theirs)
	return &table
}

// greetedBy answers a greeting in a version that this node does not know; taken is false for those that raft can answer.
func (n *node) greetedBy(env *sim.Env, conn sim.Conn, f *frame) (taken bool, err error) {
	request, ok := f.plain.(*raft.ApiVersionsRequest)
	newest := newestGreeting(n.h)
	if !ok || f.version <= newest {
		return false, nil
	}
	answer, err := n.encode(&raft.ApiVersionsResponse{
		Header: raft.Header{Correlation: request.Correlation, Response: true}, ErrorCode: raft.UnsupportedVersion,
		APIKeys: []raft.APIVersionRange{{APIKey: wire.APIVersions, MaxVersion: newest}}, FinalizedFeaturesEpoch: -1,
	}, 0)
	if err != nil {
		return true, err
	}
	env.Send(conn, answer)
	return true, nil
}
