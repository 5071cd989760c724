package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
)

// appendDescribeResponse appends the body of a normalized response.
func appendDescribeResponse(dst []byte, m *raft.DescribeQuorumResponse, version int16) []byte {
	k := kmsg.DescribeQuorumResponse{
		Version: version, ErrorCode: int16(m.ErrorCode), ErrorMessage: messagePointer(&m.ErrorMessage),
	}
	if m.ErrorCode != raft.None {
		return k.AppendTo(dst)
	}
	answered := m.Other
	if !m.WrongShape {
		answered = []raft.TopicPartition{{Topic: metadataTopic}}
	}
	for i := range answered {
		if i == 0 || answered[i].Topic != answered[i-1].Topic {
			k.Topics = append(k.Topics, kmsg.DescribeQuorumResponseTopic{Topic: answered[i].Topic})
		}
		t := &k.Topics[len(k.Topics)-1]
		t.Partitions = append(t.Partitions, kmsg.DescribeQuorumResponseTopicPartition{
			Partition:     answered[i].Partition,
			ErrorCode:     int16(m.PartitionError),
			ErrorMessage:  messagePointer(&m.PartitionMessage),
			LeaderID:      m.LeaderID,
			LeaderEpoch:   m.LeaderEpoch,
			HighWatermark: m.HighWatermark,
			CurrentVoters: toReplicas(m.Voters),
			Observers:     toReplicas(m.Observers),
		})
	}
	for i := range m.Nodes {
		k.Nodes = append(k.Nodes, kmsg.DescribeQuorumResponseNode{
			NodeID:    m.Nodes[i].NodeID,
			Listeners: toListeners[kmsg.DescribeQuorumResponseNodeListener](m.Nodes[i].Listeners),
		})
	}
	return k.AppendTo(dst)
}

// decodeDescribeResponse reads a body. Of several partitions the error of the first counts.
func decodeDescribeResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.DescribeQuorumResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.DescribeQuorumResponse{Header: raft.Header{Response: true}, ErrorCode: raft.ErrorCode(k.ErrorCode)}
	m.ErrorMessage = toMessage(k.ErrorMessage)
	if m.ErrorCode != raft.None {
		return m, nil
	}
	for i := range k.Topics {
		for j := range k.Topics[i].Partitions {
			p := &k.Topics[i].Partitions[j]
			if m.Other == nil {
				m.PartitionError, m.PartitionMessage = raft.ErrorCode(p.ErrorCode), toMessage(p.ErrorMessage)
			}
			m.Other = append(m.Other, raft.TopicPartition{Topic: k.Topics[i].Topic, Partition: p.Partition})
		}
	}
	if len(k.Topics) != 1 || len(m.Other) != 1 || !isMetadata(m.Other[0].Topic, m.Other[0].Partition) {
		m.WrongShape = true
		return m, nil
	}
	m.Other = nil
	p := &k.Topics[0].Partitions[0]
	m.LeaderID, m.LeaderEpoch, m.HighWatermark = p.LeaderID, p.LeaderEpoch, p.HighWatermark
	m.Voters, m.Observers = fromReplicas(p.CurrentVoters), fromReplicas(p.Observers)
	for i := range k.Nodes {
		m.Nodes = append(m.Nodes,
			raft.DescribedNode{NodeID: k.Nodes[i].NodeID, Listeners: fromListeners(k.Nodes[i].Listeners)})
	}
	return m, nil
}
