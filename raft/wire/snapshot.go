package wire

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// normalSnapshotRequest: version 1 adds the directory id, which is ignorable (kraft-protocol 2.9).
func normalSnapshotRequest(m *raft.FetchSnapshotRequest, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	e.clusterID(&n.ClusterID)
	e.partitions(&n.Other, n.WrongShape)
	if n.WrongShape {
		if len(n.Other) > 1 { // several are wrong as a whole, and raft does not look further
			drop(&e, &n.Other)
		}
		set(&e, &n.CurrentLeaderEpoch, 0)
		set(&e, &n.SnapshotID, raft.OffsetAndEpoch{})
		set(&e, &n.Position, 0)
		set(&e, &n.ReplicaDirectoryID, record.ZeroUUID)
	}
	if version < 1 {
		set(&e, &n.ReplicaDirectoryID, record.ZeroUUID)
	}
	return finish(&e, m, &n)
}

// appendSnapshotRequest appends the body of a normalized request.
func appendSnapshotRequest(dst []byte, m *raft.FetchSnapshotRequest, version int16) []byte {
	k := kmsg.FetchSnapshotRequest{
		Version: version, ClusterID: clusterIDPointer(&m.ClusterID), ReplicaID: m.ReplicaID, MaxBytes: m.MaxBytes,
	}
	partitions := [1]kmsg.FetchSnapshotRequestTopicPartition{{
		CurrentLeaderEpoch: m.CurrentLeaderEpoch,
		Position:           m.Position,
		ReplicaDirectoryID: m.ReplicaDirectoryID,
	}}
	partitions[0].SnapshotID.EndOffset, partitions[0].SnapshotID.Epoch = m.SnapshotID.Offset, m.SnapshotID.Epoch
	topics := [1]kmsg.FetchSnapshotRequestTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	switch {
	case len(m.Other) == 1:
		topics[0].Topic, partitions[0].Partition = m.Other[0].Topic, m.Other[0].Partition
		k.Topics = topics[:]
	case !m.WrongShape:
		k.Topics = topics[:]
	}
	return k.AppendTo(dst)
}

// decodeSnapshotRequest reads a body.
func decodeSnapshotRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.FetchSnapshotRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.FetchSnapshotRequest{ClusterID: toClusterID(k.ClusterID), ReplicaID: k.ReplicaID, MaxBytes: k.MaxBytes}
	if len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 {
		m.WrongShape = true
		return m, nil
	}
	p := &k.Topics[0].Partitions[0]
	if topic := k.Topics[0].Topic; !isMetadata(topic, p.Partition) {
		m.WrongShape = true
		m.Other = []raft.TopicPartition{{Topic: topic, Partition: p.Partition}}
		return m, nil
	}
	m.CurrentLeaderEpoch, m.Position = p.CurrentLeaderEpoch, p.Position
	m.SnapshotID = raft.OffsetAndEpoch{Offset: p.SnapshotID.EndOffset, Epoch: p.SnapshotID.Epoch}
	if version >= 1 { // below, the tag means nothing
		m.ReplicaDirectoryID = p.ReplicaDirectoryID
	}
	return m, nil
}

// emptySnapshotResponse is a response that says nothing of the partition. The leader is 0 in epoch 0, as in a response
// that leaves it out.
func emptySnapshotResponse(h raft.Header, code raft.ErrorCode) raft.FetchSnapshotResponse {
	h.WrongShape = h.WrongShape && code == raft.None
	return raft.FetchSnapshotResponse{Header: h, ErrorCode: code, Endpoint: noEndpoint}
}

// normalSnapshotResponse: version 1 adds the leader's endpoint.
func normalSnapshotResponse(m *raft.FetchSnapshotResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	trim(&e, &n.Bytes)
	e.partitions(&n.Other, n.WrongShape && n.ErrorCode == raft.None)
	if n.ErrorCode != raft.None || n.WrongShape {
		empty := emptySnapshotResponse(n.Header, n.ErrorCode)
		if len(n.Other) == 1 {
			empty.Other, empty.PartitionError = n.Other, n.PartitionError
		}
		if !sameSnapshotResponse(&n, &empty) {
			n, e.changed = empty, true
		}
		return finish(&e, m, &n)
	}
	e.endpoint(&n.Endpoint, n.LeaderID, version >= 1)
	return finish(&e, m, &n)
}

// sameSnapshotResponse compares two responses without bytes.
func sameSnapshotResponse(a, b *raft.FetchSnapshotResponse) bool {
	return a.Header == b.Header && a.ErrorCode == b.ErrorCode && a.PartitionError == b.PartitionError &&
		a.SnapshotID == b.SnapshotID && a.LeaderID == b.LeaderID && a.LeaderEpoch == b.LeaderEpoch &&
		a.Size == b.Size && a.Position == b.Position && a.Bytes == nil && b.Bytes == nil &&
		a.Endpoint == b.Endpoint && slices.Equal(a.Other, b.Other)
}

// appendSnapshotResponse appends the body of a normalized response.
func appendSnapshotResponse(dst []byte, m *raft.FetchSnapshotResponse, version int16) []byte {
	k := kmsg.FetchSnapshotResponse{Version: version, ErrorCode: int16(m.ErrorCode)}
	if m.ErrorCode != raft.None || m.WrongShape && len(m.Other) != 1 {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.FetchSnapshotResponseTopicPartition{{
		ErrorCode: int16(m.PartitionError),
		Size:      m.Size,
		Position:  m.Position,
		Bytes:     m.Bytes,
	}}
	p := &partitions[0]
	p.SnapshotID.EndOffset, p.SnapshotID.Epoch = m.SnapshotID.Offset, m.SnapshotID.Epoch
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = m.LeaderID, m.LeaderEpoch
	topics := [1]kmsg.FetchSnapshotResponseTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	if len(m.Other) == 1 {
		topics[0].Topic, p.Partition = m.Other[0].Topic, m.Other[0].Partition
	}
	k.Topics = topics[:]
	k.NodeEndpoints = toNodes[kmsg.FetchSnapshotResponseNodeEndpoint](&m.Endpoint)
	return k.AppendTo(dst)
}

// decodeSnapshotResponse reads a body. Bytes are a view of it.
func decodeSnapshotResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.FetchSnapshotResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := emptySnapshotResponse(raft.Header{Response: true, WrongShape: true}, raft.ErrorCode(k.ErrorCode))
	if m.ErrorCode != raft.None || len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 {
		return &m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.PartitionError = raft.ErrorCode(p.ErrorCode)
	if topic := k.Topics[0].Topic; !isMetadata(topic, p.Partition) {
		m.Other = []raft.TopicPartition{{Topic: topic, Partition: p.Partition}}
		return &m, nil
	}
	m.WrongShape = false
	m.SnapshotID = raft.OffsetAndEpoch{Offset: p.SnapshotID.EndOffset, Epoch: p.SnapshotID.Epoch}
	m.LeaderID, m.LeaderEpoch = p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch
	m.Size, m.Position, m.Bytes = p.Size, p.Position, view(p.Bytes)
	if version >= 1 { // below, the tag means nothing
		m.Endpoint = fromNodes(k.NodeEndpoints, m.LeaderID)
	}
	return &m, nil
}
