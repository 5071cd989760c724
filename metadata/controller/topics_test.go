package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

type denyX struct{}

func (denyX) CheckTopic(name string, _ int32, _ int16) error {
	if name == "x" {
		return errors.New("no x")
	}
	return nil
}

func text(s string) *string { return &s }

// TestCreateTopicsErrors has a row for each check of metadata-bootstrap 7.6. Brokers 1 to 3 are active, 4 is fenced, 5 shuts down.
func TestCreateTopicsErrors(t *testing.T) {
	manual := func(parts ...ReplicaAssignment) NewTopic {
		return NewTopic{Name: "m", Partitions: -1, ReplicationFactor: -1, Assignments: parts}
	}
	with := func(q NewTopic, f func(*NewTopic)) NewTopic { f(&q); return q }
	for _, c := range []struct {
		topic NewTopic
		code  ErrorCode
	}{
		{NewTopic{Name: "n", Partitions: 2, ReplicationFactor: 3}, None},
		{NewTopic{Name: "n", Partitions: -1, ReplicationFactor: -1}, None},
		{NewTopic{Name: "", Partitions: 0, ReplicationFactor: 0}, InvalidTopicException},
		{NewTopic{Name: "..", Partitions: 1, ReplicationFactor: 1}, InvalidTopicException},
		{NewTopic{Name: "a/b", Partitions: 1, ReplicationFactor: 1}, InvalidTopicException},
		{NewTopic{Name: strings.Repeat("n", 250), Partitions: 1, ReplicationFactor: 1}, InvalidTopicException},
		{NewTopic{Name: strings.Repeat("n", 249), Partitions: 1, ReplicationFactor: 1}, None},
		{NewTopic{Name: "__cluster_metadata", Partitions: 1, ReplicationFactor: 1}, InvalidRequest},
		{NewTopic{Name: "a.b_c", Partitions: 1, ReplicationFactor: 1}, TopicAlreadyExists},
		{NewTopic{Name: "a_b.c", Partitions: 0, ReplicationFactor: 1}, InvalidTopicException},
		{NewTopic{Name: "a.b-c", Partitions: 1, ReplicationFactor: 1}, None},
		{NewTopic{Name: "n", Partitions: 0, ReplicationFactor: 1, Configs: []ConfigEntry{{"k", nil}}}, InvalidConfig},
		{NewTopic{Name: "n", Partitions: 1, ReplicationFactor: 1, Configs: []ConfigEntry{{minInSyncReplicasName, text("0")}}}, InvalidConfig},
		{NewTopic{Name: "n", Partitions: 1, ReplicationFactor: 1, Configs: []ConfigEntry{{"k", text("v")}}}, None},
		{with(manual(ReplicaAssignment{0, ids(1)}), func(q *NewTopic) { q.ReplicationFactor = 1 }), InvalidRequest},
		{with(manual(ReplicaAssignment{0, ids(1)}), func(q *NewTopic) { q.Partitions = 1 }), InvalidRequest},
		{manual(ReplicaAssignment{0, ids(1)}, ReplicaAssignment{0, ids(1)}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{1, ids(1)}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{0, ids()}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{0, ids(1, 1)}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{0, ids(1, 9)}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{0, ids(1, 2)}, ReplicaAssignment{1, ids(1)}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{0, ids(4, 5)}), InvalidReplicaAssignment},
		{manual(ReplicaAssignment{1, ids(4, 3)}, ReplicaAssignment{0, ids(1, 2)}), None},
		{NewTopic{Name: "n", Partitions: 0, ReplicationFactor: 0}, InvalidReplicationFactor},
		{NewTopic{Name: "n", Partitions: 1, ReplicationFactor: -2}, InvalidReplicationFactor},
		{NewTopic{Name: "n", Partitions: 0, ReplicationFactor: 1}, InvalidPartitions},
		{NewTopic{Name: "n", Partitions: -2, ReplicationFactor: 1}, InvalidPartitions},
		{NewTopic{Name: "n", Partitions: 1, ReplicationFactor: 4}, None},
		{NewTopic{Name: "n", Partitions: 1, ReplicationFactor: 5}, InvalidReplicationFactor},
		{NewTopic{Name: "x", Partitions: 1, ReplicationFactor: 1}, PolicyViolation},
		{NewTopic{Name: "n", Partitions: 11, ReplicationFactor: 1}, ThrottlingQuotaExceeded},
	} {
		t.Run(fmt.Sprintf("%.20s %d %d %s", c.topic.Name, c.topic.Partitions, c.topic.ReplicationFactor, c.code), func(t *testing.T) {
			g, n := brokersUp(t, 33, []stand{up, up, up, fencedUp, leavingUp}, &records.TopicRecord{Name: "a.b_c", TopicId: topicT},
				partitionT(0, ids(1), ids(1), 1))
			n.ctl.deps.Policy = denyX{}
			before := n.ctl.Image()
			q := &CreateTopicsRequest{Topics: []NewTopic{c.topic, {Name: "other", Partitions: 1, ReplicationFactor: 1}}, ValidateOnly: true, Quota: &MutationQuota{10}}
			dry := demand(t, g, n, q)
			require.Equal(t, None, dry.Code)
			require.Equal(t, before, n.ctl.Image(), "validateOnly")
			q.ValidateOnly, q.Quota = false, &MutationQuota{10}
			r := demand(t, g, n, q)
			require.Equal(t, None, r.Code, r.Message)
			results := r.Answer.([]TopicResult)
			require.Equal(t, c.code, results[0].Code, results[0].Message)
			require.Equal(t, c.code, dry.Answer.([]TopicResult)[0].Code)
			require.Equal(t, None, results[1].Code, "one that fails does not stop the others")
			topic := n.ctl.Image().TopicByName(c.topic.Name)
			if c.code == None {
				require.Equal(t, results[0].ID, topic.ID)
				require.Equal(t, results[0].Partitions, n.ctl.Image().PartitionCount(topic.ID))
				for _, p := range n.ctl.Image().Partitions(topic.ID) {
					require.Equal(t, p.Isr[0], p.Leader)
					require.Zero(t, p.LeaderEpoch+p.PartitionEpoch)
					require.Len(t, p.Directories, len(p.Replicas))
				}
			} else if c.code != TopicAlreadyExists {
				require.Nil(t, topic)
			}
			require.Empty(t, wrong(n.ctl.Image()))
		})
	}
}

func TestTooManyPartitionsAreRefusedUpFront(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up})
	r := demand(t, g, n, &CreateTopicsRequest{Topics: []NewTopic{{Name: "n", Partitions: 10001, ReplicationFactor: 1}}})
	require.Equal(t, PolicyViolation, r.Code)
	r = demand(t, g, n, &CreateTopicsRequest{Topics: []NewTopic{{Name: "n", Partitions: 10000, ReplicationFactor: 1}}})
	require.Equal(t, UnknownServerError, r.Code, "10001 records")
	require.True(t, n.ctl.Active(), "no failover (KAFKA-14204)")
	r = demand(t, g, n, &CreateTopicsRequest{Topics: []NewTopic{{Name: "n", Partitions: 9999, ReplicationFactor: 1}}})
	require.Equal(t, None, r.Code)
	last := g.committed[len(g.committed)-1]
	require.Equal(t, int64(10000), last.LastOffset-last.BaseOffset+1, "one batch")
	r = demand(t, g, n, &CreatePartitionsRequest{Topics: []MorePartitions{{Name: "n", Count: 30000}}})
	require.Equal(t, InvalidPartitions, r.Answer.([]TopicResult)[0].Code)
}

func TestDeleteTopics(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up}, &records.TopicRecord{Name: "t", TopicId: topicT}, partitionT(0, ids(1), ids(1), 1),
		&records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: "k", Value: text("v")})
	r := demand(t, g, n, &DeleteTopicsRequest{Names: []string{"no"}, IDs: []record.UUID{{5}, topicT}, Quota: &MutationQuota{}})
	require.Equal(t, []ErrorCode{UnknownTopicOrPartition, UnknownTopicID, ThrottlingQuotaExceeded}, codes(r.Answer.([]TopicResult)))
	r = demand(t, g, n, &DeleteTopicsRequest{Names: []string{"t"}, IDs: []record.UUID{topicT}})
	require.Equal(t, []ErrorCode{InvalidRequest, InvalidRequest}, codes(r.Answer.([]TopicResult)))
	r = demand(t, g, n, &DeleteTopicsRequest{IDs: []record.UUID{topicT}})
	require.Equal(t, []ErrorCode{None}, codes(r.Answer.([]TopicResult)))
	img := n.ctl.Image()
	require.Zero(t, img.TopicCount()+img.TotalPartitions()+img.ConfigCount())
}

func codes(results []TopicResult) (list []ErrorCode) {
	for i := range results {
		list = append(list, results[i].Code)
	}
	return list
}

func TestCreatePartitions(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up, up, fencedUp}, &records.TopicRecord{Name: "t", TopicId: topicT},
		partitionT(0, ids(1, 2), ids(1, 2), 1))
	for _, c := range []struct {
		more MorePartitions
		code ErrorCode
	}{
		{MorePartitions{"no", 2, nil}, UnknownTopicOrPartition},
		{MorePartitions{"t", 1, nil}, InvalidPartitions},
		{MorePartitions{"t", 0, nil}, InvalidPartitions},
		{MorePartitions{"t", 3, [][]int32{ids(1, 2)}}, InvalidReplicaAssignment},
		{MorePartitions{"t", 2, [][]int32{ids(1)}}, InvalidReplicaAssignment},
		{MorePartitions{"t", 2, [][]int32{ids(1, 7)}}, InvalidReplicaAssignment},
		{MorePartitions{"t", 9, nil}, ThrottlingQuotaExceeded},
		{MorePartitions{"t", 2, [][]int32{ids(3, 2)}}, None},
		{MorePartitions{"t", 5, nil}, None},
	} {
		r := demand(t, g, n, &CreatePartitionsRequest{Topics: []MorePartitions{c.more}, Quota: &MutationQuota{4}})
		require.Equal(t, c.code, r.Answer.([]TopicResult)[0].Code, "%+v", c.more)
	}
	img := n.ctl.Image()
	require.Equal(t, int32(5), img.PartitionCount(topicT))
	require.Equal(t, ids(2), img.Partition(topicT, 1).Isr, "a fenced replica is not in sync")
	r := demand(t, g, n, &CreatePartitionsRequest{Topics: []MorePartitions{{"t", 7, nil}}, ValidateOnly: true})
	require.Equal(t, []ErrorCode{None}, codes(r.Answer.([]TopicResult)))
	require.Equal(t, int32(5), n.ctl.Image().PartitionCount(topicT), "it was only to be validated")
	r = demand(t, g, n, &CreatePartitionsRequest{Topics: []MorePartitions{{"t", 6, nil}, {"t", 7, nil}}})
	require.Equal(t, []ErrorCode{InvalidRequest, InvalidRequest}, codes(r.Answer.([]TopicResult)))
}

func TestCollidingNames(t *testing.T) {
	rs := []records.Record{}
	for i, name := range []string{"a.b.c", "a", "a_b", "x_.y", "zz"} {
		rs = append(rs, &records.TopicRecord{Name: name, TopicId: record.UUID{byte(i + 1)}})
	}
	img := imageWith(t, rs...)
	for name, other := range map[string]string{
		"a_b_c": "a.b.c", "a_b.c": "a.b.c", "a.b": "a_b", "x._y": "x_.y", "a-b": "", "zz": "", "a.": "", "a.b.c.d": "", "_": "",
	} {
		require.Equal(t, other, collidingTopic(img, name), name)
	}
}
