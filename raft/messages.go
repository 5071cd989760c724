package raft

import (
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// Message is one of the request and response structs of this package, by pointer. A message is immutable from the
// moment it is sent. The structs are those of Kafka's RPCs with the one topic and the one partition that raft knows
// unfolded; package wire turns them into Kafka's bytes and back.
type Message interface {
	// Kind is a stable number for the type of message: Kafka's API key times two, plus one for a response.
	Kind() uint32
	// Key is what the protocol says this message is, among those of its kind: Vote, BeginQuorumEpoch and
	// EndQuorumEpoch: the epoch; Fetch: epoch<<40 ^ fetch offset; its response: epoch<<40 ^ high watermark.
	Key() uint64
	// AppendTo appends canonical bytes: all fields in order, big endian, the same on every machine.
	AppendTo(buf []byte) []byte
}

// Kinds of messages.
const (
	KindFetchRequest             uint32 = 1 << 1
	KindFetchResponse            uint32 = 1<<1 | 1
	KindVoteRequest              uint32 = 52 << 1
	KindVoteResponse             uint32 = 52<<1 | 1
	KindBeginQuorumEpochRequest  uint32 = 53 << 1
	KindBeginQuorumEpochResponse uint32 = 53<<1 | 1
	KindEndQuorumEpochRequest    uint32 = 54 << 1
	KindEndQuorumEpochResponse   uint32 = 54<<1 | 1
)

// Header is what every message carries besides its fields. A response has the correlation id of its request.
type Header struct {
	Correlation int32
	Response    bool
	// WrongShape says that the message did not have exactly the topic __cluster_metadata with partition 0. The other
	// fields mean nothing then, except the top level error of a response.
	WrongShape bool
}

// appendTo appends canonical bytes.
func (h *Header) appendTo(buf []byte) []byte {
	return record.AppendBool(record.AppendBool(record.AppendInt32(buf, h.Correlation), h.Response), h.WrongShape)
}

// ClusterID is a nullable cluster id. Null (Known false) is accepted by everybody; the empty string is not null.
type ClusterID struct {
	ID    string
	Known bool
}

// appendTo appends canonical bytes.
func (c *ClusterID) appendTo(buf []byte) []byte {
	return appendString(record.AppendBool(buf, c.Known), c.ID)
}

// NodeEndpoint is where the leader named by a response listens, on the listener that the request came in by. NodeID
// is -1 when the response names none.
type NodeEndpoint struct {
	NodeID int32
	Host   string
	Port   uint16
}

// appendTo appends canonical bytes.
func (e *NodeEndpoint) appendTo(buf []byte) []byte {
	return record.AppendUint16(appendString(record.AppendInt32(buf, e.NodeID), e.Host), e.Port)
}

// OffsetAndEpoch is a point in a log: the epoch is that of the record before the offset.
type OffsetAndEpoch = raftlog.OffsetAndEpoch

// noOffset stands for an absent diverging epoch or snapshot id.
var noOffset = OffsetAndEpoch{Offset: -1, Epoch: -1}

// appendOffsetAndEpoch appends canonical bytes.
func appendOffsetAndEpoch(buf []byte, o OffsetAndEpoch) []byte {
	return record.AppendInt32(record.AppendInt64(buf, o.Offset), o.Epoch)
}

// appendString appends the length and the bytes of s.
func appendString(buf []byte, s string) []byte {
	return append(record.AppendInt32(buf, int32(len(s))), s...)
}

// appendKey appends canonical bytes of a replica key.
func appendKey(buf []byte, k ReplicaKey) []byte {
	return record.AppendUUID(record.AppendInt32(buf, k.ID), k.DirectoryID)
}

// appendEndpoints appends canonical bytes of a list of endpoints.
func appendEndpoints(buf []byte, endpoints []voters.Endpoint) []byte {
	buf = record.AppendInt32(buf, int32(len(endpoints)))
	for i := range endpoints {
		e := &endpoints[i]
		buf = record.AppendUint16(appendString(appendString(buf, e.Name), e.Host), e.Port)
	}
	return buf
}

// epochKey is the Key of messages that are told apart by epoch and offset.
func epochKey(epoch int32, offset int64) uint64 { return uint64(uint32(epoch))<<40 ^ uint64(offset) }

// ErrorCode is an error on the wire, with Kafka's numbers (kraft-protocol 2.2).
type ErrorCode int16

// The error codes that raft sends or treats specially.
const (
	None                       ErrorCode = 0
	UnknownServerError         ErrorCode = -1
	NotLeaderOrFollower        ErrorCode = 6
	BrokerNotAvailable         ErrorCode = 8
	NetworkException           ErrorCode = 13
	ClusterAuthorizationFailed ErrorCode = 31
	UnsupportedVersion         ErrorCode = 35
	InvalidRequest             ErrorCode = 42
	FencedLeaderEpoch          ErrorCode = 74
	UnknownLeaderEpoch         ErrorCode = 75
	InconsistentClusterID      ErrorCode = 104
	InvalidVoterKey            ErrorCode = 125
)

// String returns Kafka's name of the code; codes that raft does not use are "ERROR".
func (c ErrorCode) String() string {
	switch c {
	case None:
		return "NONE"
	case UnknownServerError:
		return "UNKNOWN_SERVER_ERROR"
	case NotLeaderOrFollower:
		return "NOT_LEADER_OR_FOLLOWER"
	case BrokerNotAvailable:
		return "BROKER_NOT_AVAILABLE"
	case NetworkException:
		return "NETWORK_EXCEPTION"
	case ClusterAuthorizationFailed:
		return "CLUSTER_AUTHORIZATION_FAILED"
	case UnsupportedVersion:
		return "UNSUPPORTED_VERSION"
	case InvalidRequest:
		return "INVALID_REQUEST"
	case FencedLeaderEpoch:
		return "FENCED_LEADER_EPOCH"
	case UnknownLeaderEpoch:
		return "UNKNOWN_LEADER_EPOCH"
	case InconsistentClusterID:
		return "INCONSISTENT_CLUSTER_ID"
	case InvalidVoterKey:
		return "INVALID_VOTER_KEY"
	case UnknownTopicOrPartition:
		return "UNKNOWN_TOPIC_OR_PARTITION"
	case RequestTimedOut:
		return "REQUEST_TIMED_OUT"
	case SnapshotNotFound:
		return "SNAPSHOT_NOT_FOUND"
	case PositionOutOfRange:
		return "POSITION_OUT_OF_RANGE"
	case DuplicateVoter:
		return "DUPLICATE_VOTER"
	case VoterNotFound:
		return "VOTER_NOT_FOUND"
	}
	return "ERROR"
}
