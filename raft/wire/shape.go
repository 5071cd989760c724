package wire

import (
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// metadataTopic is the name of the one topic of raft, of which partition 0 is the only partition.
const metadataTopic = "__cluster_metadata"

// isMetadata reports whether that is the metadata partition.
func isMetadata(topic string, partition int32) bool { return topic == metadataTopic && partition == 0 }

// listener is the shape that all RPCs give a listener.
type listener struct {
	Name        string
	Host        string
	Port        uint16
	UnknownTags kmsg.Tags
}

// kmsgListener is any of kmsg's names for that shape.
type kmsgListener interface {
	~struct {
		Name        string
		Host        string
		Port        uint16
		UnknownTags kmsg.Tags
	}
}

// toListeners returns endpoints as kmsg wants them.
func toListeners[T kmsgListener](endpoints []voters.Endpoint) []T {
	if len(endpoints) == 0 {
		return nil
	}
	out := make([]T, len(endpoints))
	for i := range endpoints {
		out[i] = T(listener{Name: endpoints[i].Name, Host: endpoints[i].Host, Port: endpoints[i].Port})
	}
	return out
}

// fromListeners returns kmsg's listeners as endpoints.
func fromListeners[T kmsgListener](listeners []T) []voters.Endpoint {
	if len(listeners) == 0 {
		return nil
	}
	out := make([]voters.Endpoint, len(listeners))
	for i := range listeners {
		l := listener(listeners[i])
		out[i] = voters.Endpoint{Name: l.Name, Host: l.Host, Port: l.Port}
	}
	return out
}

// node is the shape that all RPCs but Fetch give the endpoint of a node.
type node struct {
	NodeID      int32
	Host        string
	Port        uint16
	UnknownTags kmsg.Tags
}

// kmsgNode is any of kmsg's names for that shape.
type kmsgNode interface {
	~struct {
		NodeID      int32
		Host        string
		Port        uint16
		UnknownTags kmsg.Tags
	}
}

// toNodes returns the leader's endpoint as kmsg wants it, or nothing.
func toNodes[T kmsgNode](endpoint *raft.NodeEndpoint) []T {
	if endpoint.NodeID < 0 {
		return nil
	}
	return []T{T(node{NodeID: endpoint.NodeID, Host: endpoint.Host, Port: endpoint.Port})}
}

// fromNodes returns the endpoint of the leader among those of a response.
func fromNodes[T kmsgNode](nodes []T, leaderID int32) raft.NodeEndpoint {
	for i := range nodes {
		if n := node(nodes[i]); leaderID >= 0 && n.NodeID == leaderID {
			return raft.NodeEndpoint{NodeID: n.NodeID, Host: n.Host, Port: n.Port}
		}
	}
	return noEndpoint
}

// port narrows a port that the schema has as int32.
func port(p int32) (uint16, error) {
	if p < 0 || p > math.MaxUint16 {
		return 0, fmt.Errorf("%w: port %d", ErrMalformed, p)
	}
	return uint16(p), nil
}

// clusterIDPointer returns a cluster id as kmsg wants it.
func clusterIDPointer(c *raft.ClusterID) *string {
	if !c.Known {
		return nil
	}
	return &c.ID
}

// toClusterID returns kmsg's cluster id as raft wants it.
func toClusterID(s *string) raft.ClusterID {
	if s == nil {
		return raft.ClusterID{}
	}
	return raft.ClusterID{ID: *s, Known: true}
}

// messagePointer returns an error message as kmsg wants it.
func messagePointer(m *raft.ErrorMessage) *string {
	if !m.Known {
		return nil
	}
	return &m.Text
}

// toMessage returns kmsg's error message as raft wants it.
func toMessage(s *string) raft.ErrorMessage {
	if s == nil {
		return raft.ErrorMessage{}
	}
	return raft.ErrorMessage{Text: *s, Known: true}
}

// isMetadataID reports whether that is the metadata partition, by the id of its topic.
func isMetadataID(topicID [16]byte, partition int32) bool {
	return record.UUID(topicID) == record.MetadataTopicID && partition == 0
}

// view returns bytes, nil for none.
func view(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
