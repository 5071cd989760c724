package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// normalDescribeRequest is the same in all versions (kraft-protocol 2.10).
func normalDescribeRequest(m *raft.DescribeQuorumRequest) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	e.partitions(&n.Other, n.WrongShape)
	return finish(&e, m, &n)
}

// appendDescribeRequest appends the body of a normalized request.
func appendDescribeRequest(dst []byte, m *raft.DescribeQuorumRequest, version int16) []byte {
	asked := m.Other
	if !m.WrongShape {
		asked = []raft.TopicPartition{{Topic: metadataTopic}}
	}
	k := kmsg.DescribeQuorumRequest{Version: version}
	for i := range asked {
		if i == 0 || asked[i].Topic != asked[i-1].Topic {
			k.Topics = append(k.Topics, kmsg.DescribeQuorumRequestTopic{Topic: asked[i].Topic})
		}
		t := &k.Topics[len(k.Topics)-1]
		t.Partitions = append(t.Partitions, kmsg.DescribeQuorumRequestTopicPartition{Partition: asked[i].Partition})
	}
	return k.AppendTo(dst)
}

// decodeDescribeRequest reads a body.
func decodeDescribeRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.DescribeQuorumRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.DescribeQuorumRequest{}
	for i := range k.Topics {
		for j := range k.Topics[i].Partitions {
			m.Other = append(m.Other,
				raft.TopicPartition{Topic: k.Topics[i].Topic, Partition: k.Topics[i].Partitions[j].Partition})
		}
	}
	if len(k.Topics) == 1 && len(m.Other) == 1 && isMetadata(m.Other[0].Topic, m.Other[0].Partition) {
		m.Other = nil
		return m, nil
	}
	m.WrongShape = true
	return m, nil
}

// normalDescribeResponse: version 1 adds the times, version 2 messages, directory ids and nodes (kraft-protocol 2.10).
func normalDescribeResponse(m *raft.DescribeQuorumResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	if version < 2 {
		set(&e, &n.ErrorMessage, raft.ErrorMessage{})
		set(&e, &n.PartitionMessage, raft.ErrorMessage{})
		drop(&e, &n.Nodes)
	}
	e.message(&n.ErrorMessage)
	e.message(&n.PartitionMessage)
	if n.ErrorCode != raft.None {
		set(&e, &n.WrongShape, false)
		set(&e, &n.PartitionError, raft.None)
		set(&e, &n.PartitionMessage, raft.ErrorMessage{})
	}
	e.partitions(&n.Other, n.WrongShape)
	if n.WrongShape && n.Other == nil {
		set(&e, &n.PartitionError, raft.None)
		set(&e, &n.PartitionMessage, raft.ErrorMessage{})
	}
	if n.ErrorCode != raft.None || n.WrongShape {
		set(&e, &n.LeaderID, 0)
		set(&e, &n.LeaderEpoch, 0)
		set(&e, &n.HighWatermark, 0)
		drop(&e, &n.Voters)
		drop(&e, &n.Observers)
		drop(&e, &n.Nodes)
	}
	n.Voters = normalReplicas(&e, n.Voters, version)
	n.Observers = normalReplicas(&e, n.Observers, version)
	n.Nodes = normalNodes(&e, n.Nodes)
	return finish(&e, m, &n)
}

// normalReplicas returns the replicas without what the version lacks: the same slice when nothing changes.
func normalReplicas(e *edit, replicas []raft.DescribedReplica, version int16) []raft.DescribedReplica {
	trim(e, &replicas)
	copied := false
	for i := range replicas {
		r := replicas[i]
		if version < 1 {
			r.LastFetchTimeMs, r.LastCaughtUpTimeMs = -1, -1
		}
		if version < 2 {
			r.DirectoryID = record.ZeroUUID
		}
		if r == replicas[i] {
			continue
		}
		if !copied {
			replicas = append([]raft.DescribedReplica(nil), replicas...)
			copied, e.changed = true, true
		}
		replicas[i] = r
	}
	return replicas
}

// normalNodes returns the nodes with their listeners in canonical form: the same slice when nothing changes.
func normalNodes(e *edit, nodes []raft.DescribedNode) []raft.DescribedNode {
	trim(e, &nodes)
	copied := false
	for i := range nodes {
		inner, listeners := edit{}, nodes[i].Listeners
		inner.listeners(&listeners)
		if inner.err != nil && e.err == nil {
			e.err = inner.err
		}
		if !inner.changed {
			continue
		}
		if !copied {
			nodes = append([]raft.DescribedNode(nil), nodes...)
			copied, e.changed = true, true
		}
		nodes[i].Listeners = listeners
	}
	return nodes
}

// kmsgReplica is kmsg's name for one described replica.
type kmsgReplica = kmsg.DescribeQuorumResponseTopicPartitionReplicaState

// toReplicas returns described replicas as kmsg wants them.
func toReplicas(replicas []raft.DescribedReplica) []kmsgReplica {
	out := make([]kmsgReplica, len(replicas))
	for i := range replicas {
		r := &replicas[i]
		out[i] = kmsgReplica{
			ReplicaID: r.ID, ReplicaDirectoryID: r.DirectoryID, LogEndOffset: r.LogEndOffset,
			LastFetchTimestamp: r.LastFetchTimeMs, LastCaughtUpTimestamp: r.LastCaughtUpTimeMs,
		}
	}
	return out
}

// fromReplicas returns kmsg's described replicas as raft wants them.
func fromReplicas(replicas []kmsgReplica) []raft.DescribedReplica {
	if len(replicas) == 0 {
		return nil
	}
	out := make([]raft.DescribedReplica, len(replicas))
	for i := range replicas {
		r := &replicas[i]
		out[i] = raft.DescribedReplica{
			ReplicaKey: raft.ReplicaKey{ID: r.ReplicaID, DirectoryID: r.ReplicaDirectoryID}, LogEndOffset: r.LogEndOffset,
			LastFetchTimeMs: r.LastFetchTimestamp, LastCaughtUpTimeMs: r.LastCaughtUpTimestamp,
		}
	}
	return out
}
