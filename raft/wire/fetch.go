package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// normalFetchRequest: version 13 is the first that names topics by id, so raft sends none below (kraft-protocol 2.1).
// Version 15 moves the replica id into ReplicaState beside the replica's epoch, which the sender gives up below; 17 adds
// the directory id and 18 the high watermark, both ignorable (kraft-protocol 2.8, KIP-903, KIP-853, KIP-1166).
func normalFetchRequest(m *raft.FetchRequest, version int16) (raft.Message, error) {
	if version < fetchByTopicID {
		return nil, fmt.Errorf("%w: Fetch %d names topics by name only", ErrUnsupportedVersion, version)
	}
	n, e := *m, edit{}
	e.header(&n.Header, false)
	e.clusterID(&n.ClusterID)
	if version < 15 {
		set(&e, &n.ReplicaEpoch, -1)
	}
	if n.WrongShape {
		set(&e, &n, raft.FetchRequest{Header: n.Header, ClusterID: n.ClusterID, ReplicaID: n.ReplicaID,
			ReplicaEpoch: n.ReplicaEpoch, MaxWaitMs: n.MaxWaitMs, MinBytes: n.MinBytes, MaxBytes: n.MaxBytes})
		return finish(&e, m, &n)
	}
	if version < 17 {
		set(&e, &n.ReplicaDirectoryID, record.ZeroUUID)
	}
	if version < 18 {
		set(&e, &n.HighWatermark, raft.HighWatermarkNotSent)
	}
	return finish(&e, m, &n)
}

// appendFetchRequest appends the body of a normalized request.
func appendFetchRequest(dst []byte, m *raft.FetchRequest, version int16) []byte {
	k := kmsg.NewFetchRequest()
	k.Version = version
	k.ClusterID = clusterIDPointer(&m.ClusterID)
	if version < 15 {
		k.ReplicaID = m.ReplicaID
	} else {
		k.ReplicaState.ID, k.ReplicaState.Epoch = m.ReplicaID, m.ReplicaEpoch
	}
	k.MaxWaitMillis, k.MinBytes, k.MaxBytes = m.MaxWaitMs, m.MinBytes, m.MaxBytes
	k.SessionEpoch = -1 // no fetch session (KIP-227)
	if m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.FetchRequestTopicPartition{{
		CurrentLeaderEpoch: m.CurrentLeaderEpoch,
		FetchOffset:        m.FetchOffset,
		LastFetchedEpoch:   m.LastFetchedEpoch,
		LogStartOffset:     -1,
		ReplicaDirectoryID: m.ReplicaDirectoryID,
		HighWatermark:      m.HighWatermark,
	}}
	topics := [1]kmsg.FetchRequestTopic{{TopicID: record.MetadataTopicID, Partitions: partitions[:]}}
	k.Topics = topics[:]
	return k.AppendTo(dst)
}

// decodeFetchRequest reads a body. Below version 13 there is no topic id, so the shape is wrong.
func decodeFetchRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.FetchRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.FetchRequest{
		ClusterID: toClusterID(k.ClusterID), ReplicaID: k.ReplicaID, ReplicaEpoch: -1,
		MaxWaitMs: k.MaxWaitMillis, MinBytes: k.MinBytes, MaxBytes: k.MaxBytes,
	}
	if version >= 15 {
		m.ReplicaID, m.ReplicaEpoch = k.ReplicaState.ID, k.ReplicaState.Epoch
	}
	if len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadataID(k.Topics[0].TopicID, k.Topics[0].Partitions[0].Partition) {
		m.WrongShape = true
		return m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.CurrentLeaderEpoch, m.FetchOffset, m.LastFetchedEpoch = p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch
	m.ReplicaDirectoryID, m.HighWatermark = p.ReplicaDirectoryID, p.HighWatermark
	if version < 17 { // tags of a later version
		m.ReplicaDirectoryID = record.ZeroUUID
	}
	if version < 18 {
		m.HighWatermark = raft.HighWatermarkNotSent
	}
	return m, nil
}

// noPoint stands for no diverging epoch and no snapshot.
var noPoint = raft.OffsetAndEpoch{Offset: -1, Epoch: -1}

// emptyFetchResponse is a response that says nothing of the partition.
func emptyFetchResponse(h raft.Header, code raft.ErrorCode) raft.FetchResponse {
	h.WrongShape = h.WrongShape && code == raft.None
	return raft.FetchResponse{
		Header: h, ErrorCode: code, HighWatermark: -1, LogStartOffset: -1, DivergingEpoch: noPoint, LeaderID: -1,
		LeaderEpoch: -1, SnapshotID: noPoint, Endpoint: noEndpoint,
	}
}

// normalFetchResponse: below version 13 only errors of the whole request can be answered, below 7 not even those. The
// schema has the leader's endpoint from 16 on, raft fills it from 17 on (kraft-protocol 2.3).
func normalFetchResponse(m *raft.FetchResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	if version < 7 && n.ErrorCode != raft.None {
		n.ErrorCode, n.WrongShape, e.changed = raft.None, true, true
	}
	if n.ErrorCode != raft.None || n.WrongShape {
		trim(&e, &n.Records) // of a response that says nothing already
		empty := emptyFetchResponse(n.Header, n.ErrorCode)
		if !sameFetchResponse(&n, &empty) {
			n, e.changed = empty, true
		}
		return finish(&e, m, &n)
	}
	if version < fetchByTopicID {
		return nil, fmt.Errorf("%w: Fetch %d names topics by name only", ErrUnsupportedVersion, version)
	}
	trim(&e, &n.Records)
	e.endpoint(&n.Endpoint, n.LeaderID, version >= 17)
	return finish(&e, m, &n)
}

// sameFetchResponse compares two responses without records.
func sameFetchResponse(a, b *raft.FetchResponse) bool {
	return a.Header == b.Header && a.ErrorCode == b.ErrorCode && a.PartitionError == b.PartitionError &&
		a.HighWatermark == b.HighWatermark && a.LogStartOffset == b.LogStartOffset &&
		a.DivergingEpoch == b.DivergingEpoch && a.LeaderID == b.LeaderID && a.LeaderEpoch == b.LeaderEpoch &&
		a.SnapshotID == b.SnapshotID && a.Records == nil && b.Records == nil && a.Endpoint == b.Endpoint
}

// appendFetchResponse appends the body of a normalized response.
func appendFetchResponse(dst []byte, m *raft.FetchResponse, version int16) []byte {
	k := kmsg.FetchResponse{Version: version, ErrorCode: int16(m.ErrorCode)}
	if m.ErrorCode != raft.None || m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.FetchResponseTopicPartition{kmsg.NewFetchResponseTopicPartition()}
	p := &partitions[0]
	p.ErrorCode, p.HighWatermark, p.LogStartOffset = int16(m.PartitionError), m.HighWatermark, m.LogStartOffset
	p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = m.DivergingEpoch.Epoch, m.DivergingEpoch.Offset
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = m.LeaderID, m.LeaderEpoch
	p.SnapshotID.Epoch, p.SnapshotID.EndOffset = m.SnapshotID.Epoch, m.SnapshotID.Offset
	p.RecordBatches = m.Records
	if p.RecordBatches == nil {
		p.RecordBatches = []byte{} // raft answers empty records, never null ones
	}
	topics := [1]kmsg.FetchResponseTopic{{TopicID: record.MetadataTopicID, Partitions: partitions[:]}}
	k.Topics = topics[:]
	if m.Endpoint.NodeID >= 0 {
		k.Brokers = []kmsg.FetchResponseBroker{
			{NodeID: m.Endpoint.NodeID, Host: m.Endpoint.Host, Port: int32(m.Endpoint.Port)},
		}
	}
	return k.AppendTo(dst)
}

// decodeFetchResponse reads a body. Records are a view of it.
func decodeFetchResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.FetchResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := emptyFetchResponse(raft.Header{Response: true, WrongShape: true}, raft.ErrorCode(k.ErrorCode))
	if m.ErrorCode != raft.None || len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadataID(k.Topics[0].TopicID, k.Topics[0].Partitions[0].Partition) {
		return &m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.WrongShape = false
	m.PartitionError = raft.ErrorCode(p.ErrorCode)
	m.HighWatermark, m.LogStartOffset = p.HighWatermark, p.LogStartOffset
	m.DivergingEpoch = raft.OffsetAndEpoch{Offset: p.DivergingEpoch.EndOffset, Epoch: p.DivergingEpoch.Epoch}
	m.LeaderID, m.LeaderEpoch = p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch
	m.SnapshotID = raft.OffsetAndEpoch{Offset: p.SnapshotID.EndOffset, Epoch: p.SnapshotID.Epoch}
	m.Records = view(p.RecordBatches)
	for i := range k.Brokers {
		b := &k.Brokers[i]
		if m.LeaderID < 0 || b.NodeID != m.LeaderID || version < 16 {
			continue
		}
		p, err := port(b.Port)
		if err != nil {
			return nil, err
		}
		m.Endpoint = raft.NodeEndpoint{NodeID: b.NodeID, Host: b.Host, Port: p}
		break
	}
	return &m, nil
}
