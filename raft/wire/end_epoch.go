package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
)

// normalEndRequest: version 0 has the preferred candidates as ids alone; version 1 adds their directory ids and the
// leader's endpoints, all ignorable (kraft-protocol 2.7).
func normalEndRequest(m *raft.EndQuorumEpochRequest, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	e.clusterID(&n.ClusterID)
	if n.WrongShape {
		set(&e, &n.LeaderID, 0)
		set(&e, &n.LeaderEpoch, 0)
		drop(&e, &n.PreferredCandidates)
	}
	trim(&e, &n.PreferredCandidates)
	if version < 1 {
		drop(&e, &n.LeaderEndpoints)
		n.PreferredCandidates = withoutDirectories(&e, n.PreferredCandidates)
	}
	e.listeners(&n.LeaderEndpoints)
	return finish(&e, m, &n)
}

// withoutDirectories returns the keys without directory ids: the same slice when there are none.
func withoutDirectories(e *edit, keys []raft.ReplicaKey) []raft.ReplicaKey {
	has := false
	for _, k := range keys {
		has = has || k.HasDirectoryID()
	}
	if !has {
		return keys
	}
	out := make([]raft.ReplicaKey, len(keys))
	for i, k := range keys {
		out[i].ID = k.ID
	}
	e.changed = true
	return out
}

// appendEndRequest appends the body of a normalized request.
func appendEndRequest(dst []byte, m *raft.EndQuorumEpochRequest, version int16) []byte {
	k := kmsg.EndQuorumEpochRequest{Version: version, ClusterID: clusterIDPointer(&m.ClusterID)}
	k.LeaderEndpoints = toListeners[kmsg.EndQuorumEpochRequestLeaderEndpoint](m.LeaderEndpoints)
	if m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.EndQuorumEpochRequestTopicPartition{{LeaderID: m.LeaderID, LeaderEpoch: m.LeaderEpoch}}
	p := &partitions[0]
	for _, key := range m.PreferredCandidates {
		if version < 1 {
			p.PreferredSuccessors = append(p.PreferredSuccessors, key.ID)
			continue
		}
		p.PreferredCandidates = append(p.PreferredCandidates, kmsg.EndQuorumEpochRequestTopicPartitionPreferredCandidate{
			CandidateID: key.ID, CandidateDirectoryID: key.DirectoryID,
		})
	}
	topics := [1]kmsg.EndQuorumEpochRequestTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	k.Topics = topics[:]
	return k.AppendTo(dst)
}

// decodeEndRequest reads a body.
func decodeEndRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.EndQuorumEpochRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.EndQuorumEpochRequest{ClusterID: toClusterID(k.ClusterID)}
	m.LeaderEndpoints = fromListeners(k.LeaderEndpoints)
	if len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadata(k.Topics[0].Topic, k.Topics[0].Partitions[0].Partition) {
		m.WrongShape = true
		return m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.LeaderID, m.LeaderEpoch = p.LeaderID, p.LeaderEpoch
	for _, id := range p.PreferredSuccessors {
		m.PreferredCandidates = append(m.PreferredCandidates, raft.ReplicaKey{ID: id})
	}
	for i := range p.PreferredCandidates {
		c := &p.PreferredCandidates[i]
		m.PreferredCandidates = append(m.PreferredCandidates,
			raft.ReplicaKey{ID: c.CandidateID, DirectoryID: c.CandidateDirectoryID})
	}
	return m, nil
}

// emptyEndResponse is a response that says nothing of the partition.
func emptyEndResponse(h raft.Header, code raft.ErrorCode) raft.EndQuorumEpochResponse {
	h.WrongShape = h.WrongShape && code == raft.None
	return raft.EndQuorumEpochResponse{Header: h, ErrorCode: code, LeaderID: -1, LeaderEpoch: -1, Endpoint: noEndpoint}
}

// normalEndResponse: version 1 adds the leader's endpoint.
func normalEndResponse(m *raft.EndQuorumEpochResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	if n.ErrorCode != raft.None || n.WrongShape {
		set(&e, &n, emptyEndResponse(n.Header, n.ErrorCode))
	}
	e.endpoint(&n.Endpoint, n.LeaderID, version >= 1)
	return finish(&e, m, &n)
}

// appendEndResponse appends the body of a normalized response.
func appendEndResponse(dst []byte, m *raft.EndQuorumEpochResponse, version int16) []byte {
	k := kmsg.EndQuorumEpochResponse{Version: version, ErrorCode: int16(m.ErrorCode)}
	if m.ErrorCode != raft.None || m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.EndQuorumEpochResponseTopicPartition{{
		ErrorCode:   int16(m.PartitionError),
		LeaderID:    m.LeaderID,
		LeaderEpoch: m.LeaderEpoch,
	}}
	topics := [1]kmsg.EndQuorumEpochResponseTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	k.Topics = topics[:]
	k.NodeEndpoints = toNodes[kmsg.EndQuorumEpochResponseNodeEndpoint](&m.Endpoint)
	return k.AppendTo(dst)
}

// decodeEndResponse reads a body.
func decodeEndResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.EndQuorumEpochResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := emptyEndResponse(raft.Header{Response: true, WrongShape: true}, raft.ErrorCode(k.ErrorCode))
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
