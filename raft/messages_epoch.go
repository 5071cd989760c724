package raft

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// BeginQuorumEpochRequest tells a voter who leads (RPC 53, kraft-protocol 2.6).
type BeginQuorumEpochRequest struct {
	Header
	ClusterID        ClusterID
	VoterID          int32
	VoterDirectoryID record.UUID
	LeaderID         int32
	LeaderEpoch      int32
	LeaderEndpoints  []voters.Endpoint // all listeners of the leader
}

// Kind implements Message.
func (*BeginQuorumEpochRequest) Kind() uint32 { return KindBeginQuorumEpochRequest }

// Key implements Message: the epoch.
func (m *BeginQuorumEpochRequest) Key() uint64 { return epochKey(m.LeaderEpoch, 0) }

// AppendTo implements Message.
func (m *BeginQuorumEpochRequest) AppendTo(buf []byte) []byte {
	buf = m.ClusterID.appendTo(m.Header.appendTo(buf))
	buf = record.AppendUUID(record.AppendInt32(buf, m.VoterID), m.VoterDirectoryID)
	buf = record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch)
	return appendEndpoints(buf, m.LeaderEndpoints)
}

// BeginQuorumEpochResponse answers a BeginQuorumEpochRequest.
type BeginQuorumEpochResponse struct {
	Header
	ErrorCode      ErrorCode
	PartitionError ErrorCode
	LeaderID       int32
	LeaderEpoch    int32
	Endpoint       NodeEndpoint
}

// Kind implements Message.
func (*BeginQuorumEpochResponse) Kind() uint32 { return KindBeginQuorumEpochResponse }

// Key implements Message: the epoch.
func (m *BeginQuorumEpochResponse) Key() uint64 { return epochKey(m.LeaderEpoch, 0) }

// AppendTo implements Message.
func (m *BeginQuorumEpochResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	buf = record.AppendInt16(buf, int16(m.PartitionError))
	return m.Endpoint.appendTo(record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch))
}

// EndQuorumEpochRequest tells a voter that its leader has resigned (RPC 54, kraft-protocol 2.7).
type EndQuorumEpochRequest struct {
	Header
	ClusterID   ClusterID
	LeaderID    int32
	LeaderEpoch int32
	// PreferredCandidates is ordered: the first starts an election at once. Version 0 carries ids only, which read as
	// keys without directory id.
	PreferredCandidates []ReplicaKey
	LeaderEndpoints     []voters.Endpoint // Kafka's senders leave it empty
}

// Kind implements Message.
func (*EndQuorumEpochRequest) Kind() uint32 { return KindEndQuorumEpochRequest }

// Key implements Message: the epoch.
func (m *EndQuorumEpochRequest) Key() uint64 { return epochKey(m.LeaderEpoch, 0) }

// AppendTo implements Message.
func (m *EndQuorumEpochRequest) AppendTo(buf []byte) []byte {
	buf = m.ClusterID.appendTo(m.Header.appendTo(buf))
	buf = record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch)
	buf = record.AppendInt32(buf, int32(len(m.PreferredCandidates)))
	for _, k := range m.PreferredCandidates {
		buf = appendKey(buf, k)
	}
	return appendEndpoints(buf, m.LeaderEndpoints)
}

// EndQuorumEpochResponse answers an EndQuorumEpochRequest.
type EndQuorumEpochResponse struct {
	Header
	ErrorCode      ErrorCode
	PartitionError ErrorCode
	LeaderID       int32
	LeaderEpoch    int32
	Endpoint       NodeEndpoint
}

// Kind implements Message.
func (*EndQuorumEpochResponse) Kind() uint32 { return KindEndQuorumEpochResponse }

// Key implements Message: the epoch.
func (m *EndQuorumEpochResponse) Key() uint64 { return epochKey(m.LeaderEpoch, 0) }

// AppendTo implements Message.
func (m *EndQuorumEpochResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	buf = record.AppendInt16(buf, int16(m.PartitionError))
	return m.Endpoint.appendTo(record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch))
}
