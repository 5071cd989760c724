package raft

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// Kinds of the messages that change the voter set (KIP-853).
const (
	KindAddRaftVoterRequest     uint32 = 80 << 1
	KindAddRaftVoterResponse    uint32 = 80<<1 | 1
	KindRemoveRaftVoterRequest  uint32 = 81 << 1
	KindRemoveRaftVoterResponse uint32 = 81<<1 | 1
	KindUpdateRaftVoterRequest  uint32 = 82 << 1
	KindUpdateRaftVoterResponse uint32 = 82<<1 | 1
)

// Error codes that only changes of the voter set use (kraft-protocol 2.2).
const (
	RequestTimedOut ErrorCode = 7
	DuplicateVoter  ErrorCode = 126
	VoterNotFound   ErrorCode = 127
)

// ErrorMessage is a nullable text that explains an error to a person. Null (Known false) goes with NONE.
type ErrorMessage struct {
	Text  string
	Known bool
}

// appendTo appends canonical bytes.
func (e *ErrorMessage) appendTo(buf []byte) []byte {
	return appendString(record.AppendBool(buf, e.Known), e.Text)
}

// AddRaftVoterRequest asks the leader to take a replica into the voter set (RPC 80, kraft-protocol 2.11).
type AddRaftVoterRequest struct {
	Header
	ClusterID        ClusterID
	TimeoutMs        int32 // not used by raft
	VoterID          int32
	VoterDirectoryID record.UUID
	Listeners        []voters.Endpoint
	// AckWhenCommitted false asks for an answer as soon as the record is appended. Version 0 has no field for it and
	// always waits for the commit, so false is refused there.
	AckWhenCommitted bool
}

// Kind implements Message.
func (*AddRaftVoterRequest) Kind() uint32 { return KindAddRaftVoterRequest }

// Key implements Message: the voter's id.
func (m *AddRaftVoterRequest) Key() uint64 { return uint64(uint32(m.VoterID)) }

// AppendTo implements Message.
func (m *AddRaftVoterRequest) AppendTo(buf []byte) []byte {
	buf = record.AppendInt32(m.ClusterID.appendTo(m.Header.appendTo(buf)), m.TimeoutMs)
	buf = record.AppendUUID(record.AppendInt32(buf, m.VoterID), m.VoterDirectoryID)
	return record.AppendBool(appendEndpoints(buf, m.Listeners), m.AckWhenCommitted)
}

// String describes the request: "AddRaftVoter voter=4:AAAAAAAAAAAAAAAAAAAABA".
func (m *AddRaftVoterRequest) String() string {
	return string(*(&line{}).word("AddRaftVoter").voter(m.VoterID, m.VoterDirectoryID))
}

// AddRaftVoterResponse answers an AddRaftVoterRequest. It names no leader.
type AddRaftVoterResponse struct {
	Header
	ErrorCode    ErrorCode
	ErrorMessage ErrorMessage
}

// Kind implements Message.
func (*AddRaftVoterResponse) Kind() uint32 { return KindAddRaftVoterResponse }

// Key implements Message: 0, the response says nothing of what it answers.
func (*AddRaftVoterResponse) Key() uint64 { return 0 }

// AppendTo implements Message.
func (m *AddRaftVoterResponse) AppendTo(buf []byte) []byte {
	return m.ErrorMessage.appendTo(record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode)))
}

// String describes the response: "AddRaftVoterResponse NONE".
func (m *AddRaftVoterResponse) String() string {
	return string(*(&line{}).word("AddRaftVoterResponse").outcome(None, m.ErrorCode))
}

// RemoveRaftVoterRequest asks the leader to take a voter out of the voter set (RPC 81, kraft-protocol 2.12).
type RemoveRaftVoterRequest struct {
	Header
	ClusterID        ClusterID
	VoterID          int32
	VoterDirectoryID record.UUID
}

// Kind implements Message.
func (*RemoveRaftVoterRequest) Kind() uint32 { return KindRemoveRaftVoterRequest }

// Key implements Message: the voter's id.
func (m *RemoveRaftVoterRequest) Key() uint64 { return uint64(uint32(m.VoterID)) }

// AppendTo implements Message.
func (m *RemoveRaftVoterRequest) AppendTo(buf []byte) []byte {
	buf = m.ClusterID.appendTo(m.Header.appendTo(buf))
	return record.AppendUUID(record.AppendInt32(buf, m.VoterID), m.VoterDirectoryID)
}

// String describes the request: "RemoveRaftVoter voter=4:AAAAAAAAAAAAAAAAAAAABA".
func (m *RemoveRaftVoterRequest) String() string {
	return string(*(&line{}).word("RemoveRaftVoter").voter(m.VoterID, m.VoterDirectoryID))
}

// RemoveRaftVoterResponse answers a RemoveRaftVoterRequest. It names no leader.
type RemoveRaftVoterResponse struct {
	Header
	ErrorCode    ErrorCode
	ErrorMessage ErrorMessage
}

// Kind implements Message.
func (*RemoveRaftVoterResponse) Kind() uint32 { return KindRemoveRaftVoterResponse }

// Key implements Message: 0, the response says nothing of what it answers.
func (*RemoveRaftVoterResponse) Key() uint64 { return 0 }

// AppendTo implements Message.
func (m *RemoveRaftVoterResponse) AppendTo(buf []byte) []byte {
	return m.ErrorMessage.appendTo(record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode)))
}

// String describes the response: "RemoveRaftVoterResponse NONE".
func (m *RemoveRaftVoterResponse) String() string {
	return string(*(&line{}).word("RemoveRaftVoterResponse").outcome(None, m.ErrorCode))
}

// UpdateRaftVoterRequest tells the leader a voter's own endpoints and kraft.version range (RPC 82, kraft-protocol 2.13).
type UpdateRaftVoterRequest struct {
	Header
	ClusterID          ClusterID
	CurrentLeaderEpoch int32
	VoterID            int32
	VoterDirectoryID   record.UUID
	Listeners          []voters.Endpoint
	MinKRaftVersion    int16
	MaxKRaftVersion    int16
}

// Kind implements Message.
func (*UpdateRaftVoterRequest) Kind() uint32 { return KindUpdateRaftVoterRequest }

// Key implements Message: the epoch and the voter's id.
func (m *UpdateRaftVoterRequest) Key() uint64 {
	return epochKey(m.CurrentLeaderEpoch, int64(m.VoterID))
}

// AppendTo implements Message.
func (m *UpdateRaftVoterRequest) AppendTo(buf []byte) []byte {
	buf = record.AppendInt32(m.ClusterID.appendTo(m.Header.appendTo(buf)), m.CurrentLeaderEpoch)
	buf = record.AppendUUID(record.AppendInt32(buf, m.VoterID), m.VoterDirectoryID)
	return record.AppendInt16(record.AppendInt16(appendEndpoints(buf, m.Listeners), m.MinKRaftVersion), m.MaxKRaftVersion)
}

// String describes the request: "UpdateRaftVoter epoch=2 voter=3:AAAAAAAAAAAAAAAAAAAAAw kraft.version=0-1".
func (m *UpdateRaftVoterRequest) String() string {
	l := (&line{}).word("UpdateRaftVoter").number("epoch", int64(m.CurrentLeaderEpoch))
	return string(*l.voter(m.VoterID, m.VoterDirectoryID).versions("kraft.version", m.MinKRaftVersion, m.MaxKRaftVersion))
}

// UpdateRaftVoterResponse answers an UpdateRaftVoterRequest; it names the leader on every path.
type UpdateRaftVoterResponse struct {
	Header
	ErrorCode   ErrorCode
	LeaderID    int32 // -1: unknown
	LeaderEpoch int32
	Endpoint    NodeEndpoint
}

// Kind implements Message.
func (*UpdateRaftVoterResponse) Kind() uint32 { return KindUpdateRaftVoterResponse }

// Key implements Message: the epoch.
func (m *UpdateRaftVoterResponse) Key() uint64 { return epochKey(m.LeaderEpoch, 0) }

// AppendTo implements Message.
func (m *UpdateRaftVoterResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	return m.Endpoint.appendTo(record.AppendInt32(record.AppendInt32(buf, m.LeaderID), m.LeaderEpoch))
}

// String describes the response: "UpdateRaftVoterResponse NONE leader=1 epoch=2".
func (m *UpdateRaftVoterResponse) String() string {
	return epochResponseText("UpdateRaftVoterResponse", &m.Header, None, m.ErrorCode, m.LeaderID, m.LeaderEpoch)
}

// voter appends which replica a change of the voter set is about.
func (l *line) voter(id int32, directoryID record.UUID) *line {
	return l.word("voter=" + ReplicaKey{ID: id, DirectoryID: directoryID}.String())
}

// versions appends name=minimum-maximum.
func (l *line) versions(name string, minimum, maximum int16) *line {
	l.number(name, int64(minimum))
	return l.joined('-', int64(maximum))
}
