package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestAssignReplicasToDirs: where replicas are, what is refused, and what a directory that is offline costs (KIP-858).
func TestAssignReplicasToDirs(t *testing.T) {
	second := record.UUID{0: 2, 1: 2, 15: 9}
	topic := &records.TopicRecord{Name: "t", TopicId: topicT}
	setUp := func() (*group, *node) {
		both := brokerRecordOf(2, up)
		both.LogDirs = append(both.LogDirs, second)
		return brokersUp(t, 22, []stand{up, up, up}, both, topic, partitionT(0, []int32{2, 1, 3}, []int32{2, 1, 3}, 2), partitionT(1, []int32{1, 3}, []int32{1}, 1))
	}
	ask := func(g *group, n *node, epoch int64, key image.PartitionKey, dir record.UUID) (Result, ErrorCode) {
		r := demand(t, g, n, &AssignReplicasToDirsRequest{BrokerID: 2, BrokerEpoch: epoch, Replicas: []ReplicaDirectory{{Key: key, Directory: dir}}})
		if list, ok := r.Answer.([]DirectoryResult); ok {
			require.Len(t, list, 1)
			return r, list[0].Code
		}
		return r, r.Code
	}
	g, n := setUp()
	partition := func() *image.Partition { return n.ctl.Image().Partition(topicT, 0) }

	r, code := ask(g, n, 102, keyT(0), second)
	require.Equal(t, None, code)
	require.GreaterOrEqual(t, r.Offset, int64(0))
	require.Equal(t, []record.UUID{second, directoryOf(1), directoryOf(3)}, partition().Directories)
	require.EqualValues(t, 2, partition().Leader, "an online directory changes nothing else")
	require.Equal(t, []int32{2, 1, 3}, partition().Isr)

	r, code = ask(g, n, 102, keyT(0), second)
	require.Equal(t, None, code)
	require.EqualValues(t, -1, r.Offset, "it is there already")

	_, code = ask(g, n, 101, keyT(0), second)
	require.Equal(t, StaleBrokerEpoch, code)
	_, code = ask(g, n, 102, keyT(7), second)
	require.Equal(t, UnknownTopicOrPartition, code)
	_, code = ask(g, n, 102, image.PartitionKey{TopicID: record.UUID{0: 1}}, second)
	require.Equal(t, UnknownTopicID, code)
	_, code = ask(g, n, 102, keyT(1), second)
	require.Equal(t, NotLeaderOrFollower, code)

	gone := record.UUID{0: 9, 15: 9}
	_, code = ask(g, n, 102, keyT(0), gone)
	require.Equal(t, None, code)
	require.Equal(t, gone, partition().Directories[0])
	require.EqualValues(t, 1, partition().Leader, "who has its replica in a directory that is offline leads no more")
	require.Equal(t, []int32{1, 3}, partition().Isr)
	require.Empty(t, wrong(n.ctl.Image()))

	g, n = brokersUp(t, 14, nil)
	_, code = ask(g, n, 102, keyT(0), second)
	require.Equal(t, UnsupportedVersion, code)
}

// TestDirectoriesAndEligibleReplicas: a record about a directory leaves eligible replicas alone while the feature is on, and ends a list from before it
// was switched off, as any first change does (KIP-966).
func TestDirectoriesAndEligibleReplicas(t *testing.T) {
	for _, on := range []bool{true, false} {
		second := record.UUID{0: 2, 1: 2, 15: 9}
		both := brokerRecordOf(2, up)
		both.LogDirs = append(both.LogDirs, second)
		p := partitionT(0, []int32{2, 1, 3}, []int32{2}, 2)
		p.EligibleLeaderReplicas = []int32{3}
		list := []records.Record{both, &records.TopicRecord{Name: "t", TopicId: topicT}, p}
		if on {
			list = append(list, &records.FeatureLevelRecord{Name: features.EligibleLeaderReplicas, FeatureLevel: 1})
		}
		g, n := brokersUp(t, 23, []stand{up, up, up}, list...)
		r := demand(t, g, n, &AssignReplicasToDirsRequest{BrokerID: 2, BrokerEpoch: 102, Replicas: []ReplicaDirectory{{Key: keyT(0), Directory: second}}})
		require.Equal(t, None, r.Code)
		now := n.ctl.Image().Partition(topicT, 0)
		require.Equal(t, second, now.Directories[0])
		if on {
			require.Equal(t, []int32{3}, now.Elr)
		} else {
			require.Empty(t, now.Elr)
		}
		require.Equal(t, []int32{2}, now.Isr)
	}
}
