package raft

import (
	"strconv"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// Kinds of the messages that describe the quorum.
const (
	KindDescribeQuorumRequest  uint32 = 55 << 1
	KindDescribeQuorumResponse uint32 = 55<<1 | 1
)

// DescribeQuorumRequest asks the leader how far every replica is (RPC 55, kraft-protocol 2.10, KIP-836).
type DescribeQuorumRequest struct {
	Header
	// Other is what was asked for when, with WrongShape, it was not the metadata partition alone: partition by
	// partition, in order. The answer says UNKNOWN_TOPIC_OR_PARTITION for each.
	Other []TopicPartition
}

// Kind implements Message.
func (*DescribeQuorumRequest) Kind() uint32 { return KindDescribeQuorumRequest }

// Key implements Message: 0, all such requests are alike.
func (*DescribeQuorumRequest) Key() uint64 { return 0 }

// AppendTo implements Message.
func (m *DescribeQuorumRequest) AppendTo(buf []byte) []byte {
	return appendPartitions(m.Header.appendTo(buf), m.Other)
}

// String describes the request: "DescribeQuorum".
func (m *DescribeQuorumRequest) String() string {
	return string(*(&line{}).word("DescribeQuorum").shape(&m.Header))
}

// DescribedReplica is how far one replica is, as its leader knows it. Times are wall clock milliseconds; for the
// leader's own entry both are the time of the answer.
type DescribedReplica struct {
	ReplicaKey               // without directory id below version 2
	LogEndOffset       int64 // -1: unknown
	LastFetchTimeMs    int64 // -1: unknown, or version 0
	LastCaughtUpTimeMs int64 // -1: unknown, or version 0
}

// DescribedNode is where one voter listens.
type DescribedNode struct {
	NodeID    int32
	Listeners []voters.Endpoint
}

// DescribeQuorumResponse answers a DescribeQuorumRequest.
type DescribeQuorumResponse struct {
	Header
	ErrorCode        ErrorCode // top level
	ErrorMessage     ErrorMessage
	PartitionError   ErrorCode
	PartitionMessage ErrorMessage
	LeaderID         int32
	LeaderEpoch      int32
	HighWatermark    int64
	Voters           []DescribedReplica
	Observers        []DescribedReplica
	Nodes            []DescribedNode // voters only; none below version 2
	// Other is, with WrongShape, what the request asked for; PartitionError and PartitionMessage hold for each.
	Other []TopicPartition
}

// Kind implements Message.
func (*DescribeQuorumResponse) Kind() uint32 { return KindDescribeQuorumResponse }

// Key implements Message: epoch and high watermark.
func (m *DescribeQuorumResponse) Key() uint64 { return epochKey(m.LeaderEpoch, m.HighWatermark) }

// AppendTo implements Message.
func (m *DescribeQuorumResponse) AppendTo(buf []byte) []byte {
	buf = m.ErrorMessage.appendTo(record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode)))
	buf = m.PartitionMessage.appendTo(record.AppendInt16(buf, int16(m.PartitionError)))
	buf = record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch)
	buf = record.AppendInt64(buf, m.HighWatermark)
	buf = appendDescribedReplicas(appendDescribedReplicas(buf, m.Voters), m.Observers)
	buf = record.AppendInt32(buf, int32(len(m.Nodes)))
	for i := range m.Nodes {
		buf = appendEndpoints(record.AppendInt32(buf, m.Nodes[i].NodeID), m.Nodes[i].Listeners)
	}
	return appendPartitions(buf, m.Other)
}

// appendDescribedReplicas appends canonical bytes.
func appendDescribedReplicas(buf []byte, replicas []DescribedReplica) []byte {
	buf = record.AppendInt32(buf, int32(len(replicas)))
	for i := range replicas {
		r := &replicas[i]
		buf = record.AppendInt64(appendKey(buf, r.ReplicaKey), r.LogEndOffset)
		buf = record.AppendInt64(record.AppendInt64(buf, r.LastFetchTimeMs), r.LastCaughtUpTimeMs)
	}
	return buf
}

// String describes the response: "DescribeQuorumResponse NONE leader=1 epoch=2 hw=60 voters=1@60,2@59 observers=7@40",
// each replica with its log end offset.
func (m *DescribeQuorumResponse) String() string {
	l := (&line{}).word("DescribeQuorumResponse").shape(&m.Header).outcome(m.ErrorCode, m.PartitionError)
	if m.ErrorCode != None || m.PartitionError != None {
		return string(*l)
	}
	l.leader(m.LeaderID, m.LeaderEpoch).known("hw", m.HighWatermark)
	return string(*l.described("voters", m.Voters).described("observers", m.Observers))
}

// described appends name= and the replicas with their log end offsets.
func (l *line) described(name string, replicas []DescribedReplica) *line {
	for i := range replicas {
		if i == 0 {
			l.number(name, int64(replicas[i].ID))
		} else {
			l.joined(',', int64(replicas[i].ID))
		}
		l.joined('@', replicas[i].LogEndOffset)
	}
	return l
}

// joined appends a number to the word before, after a separator.
func (l *line) joined(separator byte, value int64) *line {
	*l = strconv.AppendInt(append(*l, separator), value, 10)
	return l
}
