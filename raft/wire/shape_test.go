package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestShapesOfNamedTopics: exactly one topic and one partition, the metadata partition, or WrongShape (kraft-protocol 2.3).
func TestShapesOfNamedTopics(t *testing.T) {
	type topics []kmsg.VoteRequestTopic
	one := func(topic string, partitions ...int32) kmsg.VoteRequestTopic {
		out := kmsg.VoteRequestTopic{Topic: topic}
		for _, p := range partitions {
			out.Partitions = append(out.Partitions, kmsg.VoteRequestTopicPartition{Partition: p, CandidateEpoch: 7})
		}
		return out
	}
	for name, c := range map[string]struct {
		topics topics
		wrong  bool
	}{
		"right":           {topics{one(metadataTopic, 0)}, false},
		"no topic":        {nil, true},
		"no partition":    {topics{one(metadataTopic)}, true},
		"two partitions":  {topics{one(metadataTopic, 0, 1)}, true},
		"two topics":      {topics{one(metadataTopic, 0), one("other", 0)}, true},
		"other topic":     {topics{one("other", 0)}, true},
		"other partition": {topics{one(metadataTopic, 1)}, true},
	} {
		id := "cluster"
		k := kmsg.VoteRequest{Version: 2, ClusterID: &id, VoterID: 3, Topics: c.topics}
		d, err := Decode(raft.KindVoteRequest, 2, k.AppendTo(nil))
		require.NoError(t, err)
		m := d.(*raft.VoteRequest)
		require.Equal(t, c.wrong, m.WrongShape, name)
		require.Equal(t, raft.ClusterID{ID: "cluster", Known: true}, m.ClusterID, "the cluster id is checked before the shape")
		if !c.wrong {
			require.Equal(t, int32(7), m.ReplicaEpoch)
		}
	}
}

// TestShapeOfFetch: by topic id only, so a version that has only names has the wrong shape whatever the name.
func TestShapeOfFetch(t *testing.T) {
	for version := int16(0); version <= 18; version++ {
		k := kmsg.NewFetchRequest()
		k.Version = version
		p := kmsg.NewFetchRequestTopicPartition()
		k.Topics = []kmsg.FetchRequestTopic{{Topic: metadataTopic, TopicID: record.MetadataTopicID,
			Partitions: []kmsg.FetchRequestTopicPartition{p}}}
		d, err := Decode(raft.KindFetchRequest, version, k.AppendTo(nil))
		require.NoError(t, err)
		require.Equal(t, version < 13, d.(*raft.FetchRequest).WrongShape, "version %d", version)
		k.Topics[0].TopicID = record.UUID{15: 2}
		d, err = Decode(raft.KindFetchRequest, version, k.AppendTo(nil))
		require.NoError(t, err)
		require.True(t, d.(*raft.FetchRequest).WrongShape)
	}
}

// TestOldFetchCanBeRefused: the answer INVALID_REQUEST reaches a client of a version that raft does not serve.
func TestOldFetchCanBeRefused(t *testing.T) {
	m := &raft.FetchResponse{ErrorCode: raft.InvalidRequest}
	for version := int16(0); version <= 18; version++ {
		body, err := Encode(m, version)
		require.NoError(t, err)
		d, err := Decode(m.Kind(), version, body)
		require.NoError(t, err)
		if version < 7 { // the error has no place there
			require.True(t, d.(*raft.FetchResponse).WrongShape)
			continue
		}
		require.Equal(t, raft.InvalidRequest, d.(*raft.FetchResponse).ErrorCode)
	}
	for version := int16(0); version < 13; version++ {
		_, err := Encode(&raft.FetchResponse{}, version)
		require.ErrorIs(t, err, ErrUnsupportedVersion)
		_, err = Encode(&raft.FetchRequest{}, version)
		require.ErrorIs(t, err, ErrUnsupportedVersion)
	}
}

// TestOtherPartitionOfSnapshot: one partition that is not the metadata partition is answered by name, any other wrong
// shape as a whole (kraft-protocol 2.9).
func TestOtherPartitionOfSnapshot(t *testing.T) {
	topic := func(name string, partitions ...int32) kmsg.FetchSnapshotRequestTopic {
		out := kmsg.FetchSnapshotRequestTopic{Topic: name}
		for _, p := range partitions {
			out.Partitions = append(out.Partitions, kmsg.FetchSnapshotRequestTopicPartition{Partition: p})
		}
		return out
	}
	for name, c := range map[string]struct {
		topics []kmsg.FetchSnapshotRequestTopic
		wrong  bool
		other  []raft.TopicPartition
	}{
		"right":           {[]kmsg.FetchSnapshotRequestTopic{topic(metadataTopic, 0)}, false, nil},
		"none":            {nil, true, nil},
		"two":             {[]kmsg.FetchSnapshotRequestTopic{topic(metadataTopic, 0, 1)}, true, nil},
		"other topic":     {[]kmsg.FetchSnapshotRequestTopic{topic("t", 0)}, true, []raft.TopicPartition{{Topic: "t"}}},
		"other partition": {[]kmsg.FetchSnapshotRequestTopic{topic(metadataTopic, 5)}, true, []raft.TopicPartition{{Topic: metadataTopic, Partition: 5}}},
	} {
		k := kmsg.FetchSnapshotRequest{Version: 1, Topics: c.topics}
		d, err := Decode(raft.KindFetchSnapshotRequest, 1, k.AppendTo(nil))
		require.NoError(t, err)
		m := d.(*raft.FetchSnapshotRequest)
		require.Equal(t, c.wrong, m.WrongShape, name)
		require.Equal(t, c.other, m.Other, name)

		answer := &raft.FetchSnapshotResponse{PartitionError: raft.UnknownTopicOrPartition, Other: m.Other}
		answer.Header = raft.Header{Response: true, WrongShape: m.WrongShape}
		body, err := Encode(answer, 1)
		require.NoError(t, err)
		a := kmsg.FetchSnapshotResponse{Version: 1}
		require.NoError(t, a.ReadFrom(body))
		if len(c.other) == 1 {
			require.Equal(t, c.other[0].Topic, a.Topics[0].Topic)
			require.Equal(t, c.other[0].Partition, a.Topics[0].Partitions[0].Partition)
			require.Equal(t, int16(raft.UnknownTopicOrPartition), a.Topics[0].Partitions[0].ErrorCode)
		}
	}
}

// TestDescribeEchoesWhatWasAsked: each partition of each topic gets the error, in the order of the request.
func TestDescribeEchoesWhatWasAsked(t *testing.T) {
	asked := []raft.TopicPartition{{Topic: "a", Partition: 1}, {Topic: "a", Partition: 2}, {Topic: "b"}, {Topic: "a", Partition: 1}}
	request := &raft.DescribeQuorumRequest{Header: raft.Header{WrongShape: true}, Other: asked}
	body, err := Encode(request, 2)
	require.NoError(t, err)
	var k kmsg.DescribeQuorumRequest
	k.Version = 2
	require.NoError(t, k.ReadFrom(body))
	require.Len(t, k.Topics, 3)
	require.Len(t, k.Topics[0].Partitions, 2)
	d, err := Decode(request.Kind(), 2, body)
	require.NoError(t, err)
	require.Equal(t, request, d)

	response := &raft.DescribeQuorumResponse{Header: raft.Header{Response: true, WrongShape: true},
		PartitionError: raft.UnknownTopicOrPartition, Other: asked}
	body, err = Encode(response, 2)
	require.NoError(t, err)
	d, err = Decode(response.Kind(), 2, body)
	require.NoError(t, err)
	require.Equal(t, response, d)
}

// TestEndpointIsTheLeaders: an endpoint of another node, and one of a leader that is not named, do not count.
func TestEndpointIsTheLeaders(t *testing.T) {
	k := kmsg.VoteResponse{Version: 1, NodeEndpoints: []kmsg.VoteResponseNodeEndpoint{
		{NodeID: 2, Host: "b", Port: 2}, {NodeID: 1, Host: "a", Port: 65535}, {NodeID: -1, Host: "c"},
	}}
	for leader, want := range map[int32]raft.NodeEndpoint{
		1: {NodeID: 1, Host: "a", Port: 65535}, 2: {NodeID: 2, Host: "b", Port: 2}, 3: noEndpoint, -1: noEndpoint,
	} {
		k.Topics = []kmsg.VoteResponseTopic{{Topic: metadataTopic, Partitions: []kmsg.VoteResponseTopicPartition{{LeaderID: leader}}}}
		d, err := Decode(raft.KindVoteResponse, 1, k.AppendTo(nil))
		require.NoError(t, err)
		require.Equal(t, want, d.(*raft.VoteResponse).Endpoint, "leader %d", leader)
	}
	m := &raft.VoteResponse{LeaderID: 1, Endpoint: raft.NodeEndpoint{NodeID: 2, Host: "b"}}
	n, err := Normalize(m, 1)
	require.NoError(t, err)
	require.Equal(t, noEndpoint, n.(*raft.VoteResponse).Endpoint)
}

// TestPortsThatAreNone: Fetch and UpdateRaftVoter have ports of 32 bits.
func TestPortsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		port int32
		fine bool
	}{{-1, false}, {0, true}, {65535, true}, {65536, false}} {
		p := kmsg.NewFetchResponseTopicPartition()
		p.CurrentLeader.LeaderID = 1
		fetch := kmsg.FetchResponse{Version: 17, Brokers: []kmsg.FetchResponseBroker{{NodeID: 1, Host: "a", Port: c.port}},
			Topics: []kmsg.FetchResponseTopic{{TopicID: record.MetadataTopicID, Partitions: []kmsg.FetchResponseTopicPartition{p}}}}
		update := kmsg.UpdateRaftVoterResponse{}
		update.CurrentLeader.LeaderID, update.CurrentLeader.Host, update.CurrentLeader.Port = 1, "a", c.port
		for kind, body := range map[uint32][]byte{
			raft.KindFetchResponse: fetch.AppendTo(nil), raft.KindUpdateRaftVoterResponse: update.AppendTo(nil),
		} {
			version := int16(0)
			if kind == raft.KindFetchResponse {
				version = 17
			}
			_, err := Decode(kind, version, body)
			if c.fine {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrMalformed)
			}
		}
	}
}

// TestTopLevelErrorSaysNothingElse: the rest of such a response does not reach the peer.
func TestTopLevelErrorSaysNothingElse(t *testing.T) {
	for _, kind := range []uint32{raft.KindVoteResponse, raft.KindBeginQuorumEpochResponse, raft.KindEndQuorumEpochResponse,
		raft.KindFetchResponse, raft.KindFetchSnapshotResponse, raft.KindDescribeQuorumResponse} {
		key, _ := apiKeyOf(kind)
		m := full(kind)
		at(m, "ErrorCode").SetInt(int64(raft.InconsistentClusterID))
		headerOf(m).WrongShape = true
		n, err := Normalize(m, newest(key))
		require.NoError(t, err)
		require.False(t, headerOf(n).WrongShape)
		require.Equal(t, raft.None, at(n, "PartitionError").Interface())
		require.Equal(t, raft.InconsistentClusterID, at(n, "ErrorCode").Interface())
		require.Less(t, at(n, "LeaderID").Int(), int64(1))
	}
}
