package raft

import (
	"math"

	"github.com/kraftsim/kraftsim/raft/record"
)

// HighWatermarkNotSent is the HighWatermark of a Fetch of a version below 18, which lacks the field (KIP-1166): such
// a request is never answered only because the high watermark moved.
const HighWatermarkNotSent int64 = math.MaxInt64

// FetchRequest asks for records from FetchOffset on and thereby acknowledges everything below (RPC 1,
// kraft-protocol 2.8).
type FetchRequest struct {
	Header
	ClusterID          ClusterID
	ReplicaID          int32 // -1: not a replica; served, not tracked
	ReplicaEpoch       int64 // of ReplicaState; raft sends -1
	ReplicaDirectoryID record.UUID
	MaxWaitMs          int32
	MinBytes           int32 // ignored
	MaxBytes           int32
	CurrentLeaderEpoch int32
	FetchOffset        int64
	LastFetchedEpoch   int32
	HighWatermark      int64 // the sender's, -1 unknown, or HighWatermarkNotSent
}

// Kind implements Message.
func (*FetchRequest) Kind() uint32 { return KindFetchRequest }

// Key implements Message: epoch and fetch offset.
func (m *FetchRequest) Key() uint64 { return epochKey(m.CurrentLeaderEpoch, m.FetchOffset) }

// AppendTo implements Message.
func (m *FetchRequest) AppendTo(buf []byte) []byte {
	buf = m.ClusterID.appendTo(m.Header.appendTo(buf))
	buf = record.AppendInt64(record.AppendInt32(buf, m.ReplicaID), m.ReplicaEpoch)
	buf = record.AppendUUID(buf, m.ReplicaDirectoryID)
	buf = record.AppendInt32(record.AppendInt32(buf, m.MaxWaitMs), m.MinBytes)
	buf = record.AppendInt32(record.AppendInt32(buf, m.MaxBytes), m.CurrentLeaderEpoch)
	buf = record.AppendInt32(record.AppendInt64(buf, m.FetchOffset), m.LastFetchedEpoch)
	return record.AppendInt64(buf, m.HighWatermark)
}

// FetchResponse answers a FetchRequest with records, a diverging point, a snapshot id or an error.
type FetchResponse struct {
	Header
	ErrorCode      ErrorCode
	PartitionError ErrorCode
	HighWatermark  int64 // the leader's, -1 unknown
	LogStartOffset int64
	DivergingEpoch OffsetAndEpoch // Epoch -1: none
	LeaderID       int32          // CurrentLeader; -1: unknown
	LeaderEpoch    int32
	SnapshotID     OffsetAndEpoch // Epoch and Offset -1: none
	Records        []byte         // whole batches from FetchOffset on
	Endpoint       NodeEndpoint
}

// Kind implements Message.
func (*FetchResponse) Kind() uint32 { return KindFetchResponse }

// Key implements Message: epoch and high watermark.
func (m *FetchResponse) Key() uint64 { return epochKey(m.LeaderEpoch, m.HighWatermark) }

// AppendTo implements Message.
func (m *FetchResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	buf = record.AppendInt16(buf, int16(m.PartitionError))
	buf = record.AppendInt64(record.AppendInt64(buf, m.HighWatermark), m.LogStartOffset)
	buf = appendOffsetAndEpoch(buf, m.DivergingEpoch)
	buf = record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch)
	buf = appendOffsetAndEpoch(buf, m.SnapshotID)
	buf = append(record.AppendInt32(buf, int32(len(m.Records))), m.Records...)
	return m.Endpoint.appendTo(buf)
}
