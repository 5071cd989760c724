package raft

import "github.com/kraftsim/kraftsim/raft/record"

// VoteRequest asks a voter for its vote (RPC 52, kraft-protocol 2.5; pre-votes: KIP-996).
type VoteRequest struct {
	Header
	ClusterID          ClusterID
	VoterID            int32       // whom it is meant for; -1: whoever gets it
	VoterDirectoryID   record.UUID // zero: any
	ReplicaEpoch       int32       // a candidate's own epoch, or a prospective's, which it has not raised
	ReplicaID          int32
	ReplicaDirectoryID record.UUID
	LastOffsetEpoch    int32
	LastOffset         int64 // log end offset, exclusive
	// PreVote is not ignorable: a peer that does not know it must be answered for with UNSUPPORTED_VERSION, never sent
	// the request without it.
	PreVote bool
}

// Kind implements Message.
func (*VoteRequest) Kind() uint32 { return KindVoteRequest }

// Key implements Message: the epoch.
func (m *VoteRequest) Key() uint64 { return epochKey(m.ReplicaEpoch, 0) }

// AppendTo implements Message.
func (m *VoteRequest) AppendTo(buf []byte) []byte {
	buf = m.ClusterID.appendTo(m.Header.appendTo(buf))
	buf = record.AppendUUID(record.AppendInt32(buf, m.VoterID), m.VoterDirectoryID)
	buf = record.AppendInt32(record.AppendInt32(buf, m.ReplicaEpoch), m.ReplicaID)
	buf = record.AppendUUID(buf, m.ReplicaDirectoryID)
	buf = record.AppendInt64(record.AppendInt32(buf, m.LastOffsetEpoch), m.LastOffset)
	return record.AppendBool(buf, m.PreVote)
}

// VoteResponse answers a VoteRequest.
type VoteResponse struct {
	Header
	ErrorCode      ErrorCode // top level
	PartitionError ErrorCode
	LeaderID       int32 // -1: unknown
	LeaderEpoch    int32
	VoteGranted    bool
	Endpoint       NodeEndpoint
}

// Kind implements Message.
func (*VoteResponse) Kind() uint32 { return KindVoteResponse }

// Key implements Message: the epoch.
func (m *VoteResponse) Key() uint64 { return epochKey(m.LeaderEpoch, 0) }

// AppendTo implements Message.
func (m *VoteResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	buf = record.AppendInt16(buf, int16(m.PartitionError))
	buf = record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch)
	return m.Endpoint.appendTo(record.AppendBool(buf, m.VoteGranted))
}
