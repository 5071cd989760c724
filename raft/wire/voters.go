package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
)

// normalAddRequest: version 1 adds AckWhenCommitted, which is not ignorable; without it the leader always waits for the
// commit (kraft-protocol 2.11).
func normalAddRequest(m *raft.AddRaftVoterRequest, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	set(&e, &n.WrongShape, false)
	e.clusterID(&n.ClusterID)
	e.listeners(&n.Listeners)
	if version < 1 && !n.AckWhenCommitted {
		e.refuse("AckWhenCommitted", version)
	}
	return finish(&e, m, &n)
}

// appendAddRequest appends the body of a normalized request.
func appendAddRequest(dst []byte, m *raft.AddRaftVoterRequest, version int16) []byte {
	k := kmsg.AddRaftVoterRequest{
		Version: version, ClusterID: clusterIDPointer(&m.ClusterID), TimeoutMillis: m.TimeoutMs, VoterID: m.VoterID,
		VoterDirectoryID: m.VoterDirectoryID, AckWhenCommitted: m.AckWhenCommitted,
		Listeners: toListeners[kmsg.AddRaftVoterRequestListener](m.Listeners),
	}
	return k.AppendTo(dst)
}

// decodeAddRequest reads a body.
func decodeAddRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.AddRaftVoterRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	return &raft.AddRaftVoterRequest{
		ClusterID: toClusterID(k.ClusterID), TimeoutMs: k.TimeoutMillis, VoterID: k.VoterID,
		VoterDirectoryID: k.VoterDirectoryID, Listeners: fromListeners(k.Listeners), AckWhenCommitted: k.AckWhenCommitted,
	}, nil
}

// normalAddResponse is the same in all versions.
func normalAddResponse(m *raft.AddRaftVoterResponse) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	set(&e, &n.WrongShape, false)
	e.message(&n.ErrorMessage)
	return finish(&e, m, &n)
}

// appendAddResponse appends the body of a normalized response.
func appendAddResponse(dst []byte, m *raft.AddRaftVoterResponse, version int16) []byte {
	k := kmsg.AddRaftVoterResponse{
		Version: version, ErrorCode: int16(m.ErrorCode), ErrorMessage: messagePointer(&m.ErrorMessage),
	}
	return k.AppendTo(dst)
}

// decodeAddResponse reads a body.
func decodeAddResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.AddRaftVoterResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	return &raft.AddRaftVoterResponse{
		Header: raft.Header{Response: true}, ErrorCode: raft.ErrorCode(k.ErrorCode), ErrorMessage: toMessage(k.ErrorMessage),
	}, nil
}

// normalRemoveRequest is the same in all versions (kraft-protocol 2.12).
func normalRemoveRequest(m *raft.RemoveRaftVoterRequest) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	set(&e, &n.WrongShape, false)
	e.clusterID(&n.ClusterID)
	return finish(&e, m, &n)
}

// appendRemoveRequest appends the body of a normalized request.
func appendRemoveRequest(dst []byte, m *raft.RemoveRaftVoterRequest, version int16) []byte {
	k := kmsg.RemoveRaftVoterRequest{
		Version: version, ClusterID: clusterIDPointer(&m.ClusterID), VoterID: m.VoterID, VoterDirectoryID: m.VoterDirectoryID,
	}
	return k.AppendTo(dst)
}

// decodeRemoveRequest reads a body.
func decodeRemoveRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.RemoveRaftVoterRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	return &raft.RemoveRaftVoterRequest{
		ClusterID: toClusterID(k.ClusterID), VoterID: k.VoterID, VoterDirectoryID: k.VoterDirectoryID,
	}, nil
}

// normalRemoveResponse is the same in all versions.
func normalRemoveResponse(m *raft.RemoveRaftVoterResponse) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	set(&e, &n.WrongShape, false)
	e.message(&n.ErrorMessage)
	return finish(&e, m, &n)
}

// appendRemoveResponse appends the body of a normalized response.
func appendRemoveResponse(dst []byte, m *raft.RemoveRaftVoterResponse, version int16) []byte {
	k := kmsg.RemoveRaftVoterResponse{
		Version: version, ErrorCode: int16(m.ErrorCode), ErrorMessage: messagePointer(&m.ErrorMessage),
	}
	return k.AppendTo(dst)
}

// decodeRemoveResponse reads a body.
func decodeRemoveResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.RemoveRaftVoterResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	return &raft.RemoveRaftVoterResponse{
		Header: raft.Header{Response: true}, ErrorCode: raft.ErrorCode(k.ErrorCode), ErrorMessage: toMessage(k.ErrorMessage),
	}, nil
}
