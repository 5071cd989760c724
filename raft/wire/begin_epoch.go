package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// normalBeginRequest: version 1 adds the voter's key and the leader's endpoints, all ignorable (kraft-protocol 2.6).
func normalBeginRequest(m *raft.BeginQuorumEpochRequest, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	e.clusterID(&n.ClusterID)
	if n.WrongShape {
		set(&e, &n.VoterDirectoryID, record.ZeroUUID)
		set(&e, &n.LeaderID, 0)
		set(&e, &n.LeaderEpoch, 0)
	}
	if version < 1 {
		set(&e, &n.VoterID, -1)
		set(&e, &n.VoterDirectoryID, record.ZeroUUID)
		drop(&e, &n.LeaderEndpoints)
	}
	e.listeners(&n.LeaderEndpoints)
	return finish(&e, m, &n)
}

// appendBeginRequest appends the body of a normalized request.
func appendBeginRequest(dst []byte, m *raft.BeginQuorumEpochRequest, version int16) []byte {
	k := kmsg.BeginQuorumEpochRequest{Version: version, ClusterID: clusterIDPointer(&m.ClusterID), VoterID: m.VoterID}
	k.LeaderEndpoints = toListeners[kmsg.BeginQuorumEpochRequestLeaderEndpoint](m.LeaderEndpoints)
	if m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.BeginQuorumEpochRequestTopicPartition{{
		VoterDirectoryID: m.VoterDirectoryID,
		LeaderID:         m.LeaderID,
		LeaderEpoch:      m.LeaderEpoch,
	}}
	topics := [1]kmsg.BeginQuorumEpochRequestTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	k.Topics = topics[:]
	return k.AppendTo(dst)
}

// decodeBeginRequest reads a body.
func decodeBeginRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.BeginQuorumEpochRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.BeginQuorumEpochRequest{ClusterID: toClusterID(k.ClusterID), VoterID: k.VoterID}
	m.LeaderEndpoints = fromListeners(k.LeaderEndpoints)
	if len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadata(k.Topics[0].Topic, k.Topics[0].Partitions[0].Partition) {
		m.WrongShape = true
		return m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.VoterDirectoryID, m.LeaderID, m.LeaderEpoch = p.VoterDirectoryID, p.LeaderID, p.LeaderEpoch
	return m, nil
}

// emptyBeginResponse is a response that says nothing of the partition.
func emptyBeginResponse(h raft.Header, code raft.ErrorCode) raft.BeginQuorumEpochResponse {
	h.WrongShape = h.WrongShape && code == raft.None
	return raft.BeginQuorumEpochResponse{Header: h, ErrorCode: code, LeaderID: -1, LeaderEpoch: -1, Endpoint: noEndpoint}
}

// normalBeginResponse: version 1 adds the leader's endpoint.
func normalBeginResponse(m *raft.BeginQuorumEpochResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	if n.ErrorCode != raft.None || n.WrongShape {
		set(&e, &n, emptyBeginResponse(n.Header, n.ErrorCode))
	}
	e.endpoint(&n.Endpoint, n.LeaderID, version >= 1)
	return finish(&e, m, &n)
}

// appendBeginResponse appends the body of a normalized response.
func appendBeginResponse(dst []byte, m *raft.BeginQuorumEpochResponse, version int16) []byte {
	k := kmsg.BeginQuorumEpochResponse{Version: version, ErrorCode: int16(m.ErrorCode)}
	if m.ErrorCode != raft.None || m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.BeginQuorumEpochResponseTopicPartition{{
		ErrorCode:   int16(m.PartitionError),
		LeaderID:    m.LeaderID,
		LeaderEpoch: m.LeaderEpoch,
	}}
	topics := [1]kmsg.BeginQuorumEpochResponseTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	k.Topics = topics[:]
	k.NodeEndpoints = toNodes[kmsg.BeginQuorumEpochResponseNodeEndpoint](&m.Endpoint)
	return k.AppendTo(dst)
}

// decodeBeginResponse reads a body.
func decodeBeginResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.BeginQuorumEpochResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := emptyBeginResponse(raft.Header{Response: true, WrongShape: true}, raft.ErrorCode(k.ErrorCode))
	if m.ErrorCode != raft.None || len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadata(k.Topics[0].Topic, k.Topics[0].Partitions[0].Partition) {
		return &m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.WrongShape = false
	m.PartitionError, m.LeaderID, m.LeaderEpoch = raft.ErrorCode(p.ErrorCode), p.LeaderID, p.LeaderEpoch
	if version >= 1 { // below, the tag means nothing
		m.Endpoint = fromNodes(k.NodeEndpoints, m.LeaderID)
	}
	return &m, nil
}
