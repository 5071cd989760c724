package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim"
)

// Messages between nodes cross the network in the version of their RPC that both ends speak: passed through wire.Normalize as
// structs, or as frames of bytes where the plan says so (params wire). Both hash alike. What a request's version is was learned when
// its connection opened (greeting.go); an answer has the version of its request, the highest that the releases of both ends know.

// generation is a set of RPC versions that releases share (kraft-protocol 2.1).
type generation uint8

const (
	beforeChanges generation = iota // up to 3.8: no voter changes
	withChanges                     // 3.9 and 4.0
	withPreVotes                    // trunk of August 2026
	generations
)

func generationOf(r *features.Release) generation {
	switch {
	case r.Layout == features.Aug26:
		return withPreVotes
	case r.Feature(features.KRaftVersion) != nil:
		return withChanges
	}
	return beforeChanges
}

// spoken lists the versions of a generation. Before voter changes the releases spoke what they had, at most, in October 2024, and
// less of what KIP-853 changed; software says the same to raft.
func spoken(g generation) []raft.APIVersionRange {
	switch g {
	case withPreVotes:
		return wire.Supported(wire.Aug26)
	case withChanges:
		return wire.Supported(wire.Oct24)
	}
	var list []raft.APIVersionRange
	for _, v := range wire.Supported(wire.Oct24) {
		most := v.MaxVersion
		for _, limit := range beforeVoterChanges {
			if limit.APIKey == v.APIKey {
				most = limit.MaxVersion
			}
		}
		if v.MaxVersion = min(v.MaxVersion, most); v.MaxVersion >= v.MinVersion {
			list = append(list, v)
		}
	}
	return list
}

// versions is the version of each RPC between two generations, -1 for none.
type versions [generations][generations][rpcs]int16

// rpcs is one more than the largest API key of raft's.
const rpcs = 83

// languages are what the generations speak, made once and never changed.
var languages = func() (list [generations][]raft.APIVersionRange) {
	for g := range generations {
		list[g] = spoken(g)
	}
	return list
}()

// speaking is the highest version of each RPC that both lists have, -1 for none.
func speaking(ours, theirs []raft.APIVersionRange) (table [rpcs]int16) {
	for key := range int16(rpcs) {
		version, err := wire.CommonVersion(key, ours, theirs)
		if err != nil {
			version = -1
		}
		table[key] = version
	}
	return table
}

// negotiated is filled once and never changed: the versions between any two generations.
var negotiated = func() (v versions) {
	for a := range generations {
		for b := range generations {
			v[a][b] = speaking(languages[a], languages[b])
		}
	}
	return v
}()

// versionOn is the version of a message on a connection to a host: for a request, what the greeting of the connection told.
func (n *node) versionOn(conn sim.Conn, m raft.Message, peer *hostSettings) (int16, error) {
	if m.Kind()&1 == 1 {
		return versionFor(m, n.h, peer)
	}
	i := n.linkOf(conn)
	if i < 0 || n.links[i].speaks == nil {
		return versionFor(m, n.h, peer) // without greetings
	}
	if key := m.Kind() >> 1; key < rpcs {
		if v := n.links[i].speaks[key]; v >= 0 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: RPC %d from %s to %s", wire.ErrUnsupportedVersion, m.Kind()>>1, n.h.release.Name, peer.release.Name)
}

// versionFor is the version of a message between two nodes, or why there is none.
func versionFor(m raft.Message, one, two *hostSettings) (int16, error) {
	key := m.Kind() >> 1
	if key < rpcs {
		if v := between(one, two, int16(key)); v >= 0 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: RPC %d between %s and %s", wire.ErrUnsupportedVersion, key, one.release.Name, two.release.Name)
}

// Send puts a message on a connection, in the version that both ends speak. A request that this version cannot carry is answered
// here, as Kafka's client does: with UNSUPPORTED_VERSION (kraft-protocol 2.4).
func (t *transport) Send(conn int64, m raft.Message) {
	h := t.env.Peer(conn)
	if h == nil {
		t.env.Send(conn, m)                   // it is over: nobody gets it,
		t.c.prompt.closed(t.env.Host(), conn) // nor is anybody owed an answer over it
		return
	}
	if h.Kind() == kindOperator { // whose tool is as new as anybody, and has no version of its own
		t.env.Send(conn, m)
		return
	}
	version, err := (*node)(t).versionOn(conn, m, &t.c.hosts[h.Index()])
	if err == nil && !t.c.bytesOnWire {
		var n raft.Message
		if n, err = wire.Normalize(m, version); err == nil {
			t.env.Send(conn, n)
			return
		}
	} else if err == nil {
		var f *frame
		if f, err = (*node)(t).encode(m, version); err == nil {
			t.env.Send(conn, f)
			return
		}
	}
	*t.c.w.Stat("wire-unsupported")++
	if answer := unsupported(m); answer != nil {
		t.env.Post(laneRaft, &unsupportedPost{conn: conn, answer: answer})
		return
	}
	t.env.CloseConn(conn)
}

// unsupported is the answer that a request gets from the sender's own client, nil for a response.
func unsupported(m raft.Message) raft.Message {
	h, code := raft.Header{Correlation: wire.Correlation(m), Response: true}, raft.UnsupportedVersion
	var answer raft.Message
	switch m.(type) {
	case *raft.FetchRequest:
		answer = &raft.FetchResponse{Header: h, ErrorCode: code}
	case *raft.VoteRequest:
		answer = &raft.VoteResponse{Header: h, ErrorCode: code}
	case *raft.BeginQuorumEpochRequest:
		answer = &raft.BeginQuorumEpochResponse{Header: h, ErrorCode: code}
	case *raft.EndQuorumEpochRequest:
		answer = &raft.EndQuorumEpochResponse{Header: h, ErrorCode: code}
	case *raft.FetchSnapshotRequest:
		answer = &raft.FetchSnapshotResponse{Header: h, ErrorCode: code}
	case *raft.AddRaftVoterRequest:
		answer = &raft.AddRaftVoterResponse{Header: h, ErrorCode: code}
	case *raft.RemoveRaftVoterRequest:
		answer = &raft.RemoveRaftVoterResponse{Header: h, ErrorCode: code}
	case *raft.UpdateRaftVoterRequest:
		answer = &raft.UpdateRaftVoterResponse{Header: h, ErrorCode: code}
	case *raft.DescribeQuorumRequest:
		answer = &raft.DescribeQuorumResponse{Header: h, ErrorCode: code}
	case *raft.ApiVersionsRequest:
		answer = &raft.ApiVersionsResponse{Header: h, ErrorCode: code}
	default:
		return nil
	}
	canonical, err := wire.Normalize(answer, newestVersion(m))
	if err != nil {
		return answer
	}
	return canonical
}

func newestVersion(m raft.Message) int16 {
	return max(0, negotiated[withPreVotes][withPreVotes][m.Kind()>>1])
}

// unsupportedPost is the answer of a node's own client, on its way to the raft lane.
type unsupportedPost struct {
	conn   int64
	answer raft.Message
}

func (p *unsupportedPost) Kind() uint32               { return postUnsupported }
func (p *unsupportedPost) Key() uint64                { return uint64(wire.Correlation(p.answer)) }
func (p *unsupportedPost) AppendTo(buf []byte) []byte { return p.answer.AppendTo(append(buf, 'u')) }
func (p *unsupportedPost) String() string {
	return fmt.Sprintf("request %d cannot be sent: UNSUPPORTED_VERSION", wire.Correlation(p.answer))
}

// postUnsupported is apart from the other kinds of posts.
const postUnsupported uint32 = 1_100
