package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
)

// normalUpdateRequest is the same in all versions (kraft-protocol 2.13).
func normalUpdateRequest(m *raft.UpdateRaftVoterRequest) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	set(&e, &n.WrongShape, false)
	e.clusterID(&n.ClusterID)
	e.listeners(&n.Listeners)
	return finish(&e, m, &n)
}

// appendUpdateRequest appends the body of a normalized request.
func appendUpdateRequest(dst []byte, m *raft.UpdateRaftVoterRequest, version int16) []byte {
	k := kmsg.UpdateRaftVoterRequest{
		Version: version, ClusterID: clusterIDPointer(&m.ClusterID), CurrentLeaderEpoch: m.CurrentLeaderEpoch,
		VoterID: m.VoterID, VoterDirectoryID: m.VoterDirectoryID,
		Listeners: toListeners[kmsg.UpdateRaftVoterRequestListener](m.Listeners),
	}
	k.KRaftVersionFeature.MinSupportedVersion = m.MinKRaftVersion
	k.KRaftVersionFeature.MaxSupportedVersion = m.MaxKRaftVersion
	return k.AppendTo(dst)
}

// decodeUpdateRequest reads a body.
func decodeUpdateRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.UpdateRaftVoterRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	return &raft.UpdateRaftVoterRequest{
		ClusterID: toClusterID(k.ClusterID), CurrentLeaderEpoch: k.CurrentLeaderEpoch, VoterID: k.VoterID,
		VoterDirectoryID: k.VoterDirectoryID, Listeners: fromListeners(k.Listeners),
		MinKRaftVersion: k.KRaftVersionFeature.MinSupportedVersion,
		MaxKRaftVersion: k.KRaftVersionFeature.MaxSupportedVersion,
	}, nil
}

// normalUpdateResponse is the same in all versions. An endpoint without a host is none: the reader then looks the leader
// up in its voter set.
func normalUpdateResponse(m *raft.UpdateRaftVoterResponse) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	set(&e, &n.WrongShape, false)
	e.endpoint(&n.Endpoint, n.LeaderID, n.Endpoint.Host != "")
	return finish(&e, m, &n)
}

// appendUpdateResponse appends the body of a normalized response.
func appendUpdateResponse(dst []byte, m *raft.UpdateRaftVoterResponse, version int16) []byte {
	k := kmsg.UpdateRaftVoterResponse{Version: version, ErrorCode: int16(m.ErrorCode)}
	k.CurrentLeader.LeaderID, k.CurrentLeader.LeaderEpoch = m.LeaderID, m.LeaderEpoch
	if m.Endpoint.NodeID >= 0 {
		k.CurrentLeader.Host, k.CurrentLeader.Port = m.Endpoint.Host, int32(m.Endpoint.Port)
	}
	return k.AppendTo(dst)
}

// decodeUpdateResponse reads a body.
func decodeUpdateResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.UpdateRaftVoterResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	l := &k.CurrentLeader
	m := &raft.UpdateRaftVoterResponse{
		Header: raft.Header{Response: true}, ErrorCode: raft.ErrorCode(k.ErrorCode),
		LeaderID: l.LeaderID, LeaderEpoch: l.LeaderEpoch, Endpoint: noEndpoint,
	}
	if l.LeaderID >= 0 && l.Host != "" {
		p, err := port(l.Port)
		if err != nil {
			return nil, err
		}
		m.Endpoint = raft.NodeEndpoint{NodeID: l.LeaderID, Host: l.Host, Port: p}
	}
	return m, nil
}
