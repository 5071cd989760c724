package raft

import "github.com/kraftsim/kraftsim/raft/record"

// Kinds of the messages that carry snapshots.
const (
	KindFetchSnapshotRequest  uint32 = 59 << 1
	KindFetchSnapshotResponse uint32 = 59<<1 | 1
)

// Error codes that only FetchSnapshot and DescribeQuorum use (kraft-protocol 2.2).
const (
	UnknownTopicOrPartition ErrorCode = 3
	SnapshotNotFound        ErrorCode = 98
	PositionOutOfRange      ErrorCode = 99
)

// TopicPartition names a partition that is not the metadata partition, for answers that echo what was asked for.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// appendPartitions appends canonical bytes of a list of partitions.
func appendPartitions(buf []byte, partitions []TopicPartition) []byte {
	buf = record.AppendInt32(buf, int32(len(partitions)))
	for i := range partitions {
		buf = record.AppendInt32(appendString(buf, partitions[i].Topic), partitions[i].Partition)
	}
	return buf
}

// FetchSnapshotRequest asks for a piece of a snapshot from a byte position on (RPC 59, kraft-protocol 2.9, KIP-630).
type FetchSnapshotRequest struct {
	Header
	ClusterID          ClusterID
	ReplicaID          int32       // -1: not a replica
	ReplicaDirectoryID record.UUID // zero: unknown, or version 0
	MaxBytes           int32
	CurrentLeaderEpoch int32
	SnapshotID         OffsetAndEpoch
	Position           int64 // bytes of the snapshot that the sender has
	// Other has one entry when, with WrongShape, exactly one partition was asked for and it is another one. Such a
	// request is answered with UNKNOWN_TOPIC_OR_PARTITION for that partition, any other wrong shape with INVALID_REQUEST.
	Other []TopicPartition
}

// Kind implements Message.
func (*FetchSnapshotRequest) Kind() uint32 { return KindFetchSnapshotRequest }

// Key implements Message: the epoch, the end offset of the snapshot and the position in it.
func (m *FetchSnapshotRequest) Key() uint64 {
	return epochKey(m.CurrentLeaderEpoch, m.SnapshotID.Offset) ^ uint64(m.Position)<<20
}

// AppendTo implements Message.
func (m *FetchSnapshotRequest) AppendTo(buf []byte) []byte {
	buf = m.ClusterID.appendTo(m.Header.appendTo(buf))
	buf = record.AppendUUID(record.AppendInt32(buf, m.ReplicaID), m.ReplicaDirectoryID)
	buf = record.AppendInt32(record.AppendInt32(buf, m.MaxBytes), m.CurrentLeaderEpoch)
	buf = record.AppendInt64(appendOffsetAndEpoch(buf, m.SnapshotID), m.Position)
	return appendPartitions(buf, m.Other)
}

// String describes the request: "FetchSnapshot epoch=2 snapshot=50/1 pos=4096 from=3".
func (m *FetchSnapshotRequest) String() string {
	l := (&line{}).word("FetchSnapshot").shape(&m.Header).number("epoch", int64(m.CurrentLeaderEpoch))
	l.point("snapshot", m.SnapshotID)
	return string(*l.number("pos", m.Position).known("from", int64(m.ReplicaID)))
}

// FetchSnapshotResponse answers a FetchSnapshotRequest with bytes from its position on, which end anywhere, or with an
// error.
type FetchSnapshotResponse struct {
	Header
	ErrorCode      ErrorCode // top level
	PartitionError ErrorCode
	SnapshotID     OffsetAndEpoch
	// LeaderID and LeaderEpoch are 0 where the sender left them out: unlike in Fetch that is their default, so leader 0
	// of epoch 0 and nothing at all are the same on the wire.
	LeaderID    int32 // -1: unknown
	LeaderEpoch int32
	Size        int64  // of the whole snapshot, in bytes
	Position    int64  // of the first of Bytes
	Bytes       []byte // not cut at batches; immutable
	Endpoint    NodeEndpoint
	// Other has the partition that the request asked for when that was another one, with WrongShape and PartitionError
	// UNKNOWN_TOPIC_OR_PARTITION.
	Other []TopicPartition
}

// Kind implements Message.
func (*FetchSnapshotResponse) Kind() uint32 { return KindFetchSnapshotResponse }

// Key implements Message: the epoch, the end offset of the snapshot and the position in it.
func (m *FetchSnapshotResponse) Key() uint64 {
	return epochKey(m.LeaderEpoch, m.SnapshotID.Offset) ^ uint64(m.Position)<<20
}

// AppendTo implements Message.
func (m *FetchSnapshotResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	buf = appendOffsetAndEpoch(record.AppendInt16(buf, int16(m.PartitionError)), m.SnapshotID)
	buf = record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch)
	buf = record.AppendInt64(record.AppendInt64(buf, m.Size), m.Position)
	buf = append(record.AppendInt32(buf, int32(len(m.Bytes))), m.Bytes...)
	return appendPartitions(m.Endpoint.appendTo(buf), m.Other)
}

// String describes the response: "FetchSnapshotResponse NONE leader=1 epoch=2 snapshot=50/1 pos=4096 bytes=1024 of=9000".
func (m *FetchSnapshotResponse) String() string {
	l := (&line{}).word("FetchSnapshotResponse").shape(&m.Header).outcome(m.ErrorCode, m.PartitionError)
	if m.ErrorCode != None {
		return string(*l)
	}
	l.leader(m.LeaderID, m.LeaderEpoch)
	if m.PartitionError == None {
		l.point("snapshot", m.SnapshotID)
		l.number("pos", m.Position).number("bytes", int64(len(m.Bytes))).number("of", m.Size)
	}
	return string(*l)
}
