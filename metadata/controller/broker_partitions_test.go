package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// withPartitions is an active controller with brokers 1 to 3 as they stand and partitions of one topic, with sessions that last.
func withPartitions(t *testing.T, stands []stand, partitions ...*records.PartitionRecord) (*group, *node) {
	t.Helper()
	more := []records.Record{level(features.EligibleLeaderReplicas, 1), &records.TopicRecord{Name: "t", TopicId: topicT}}
	for _, p := range partitions {
		more = append(more, p)
	}
	return brokersUp(t, 33, stands, more...)
}

// TestUnregisterMovesPartitions: a broker that is unregistered is out of the in-sync and the eligible replicas of everything before its
// registration goes, fenced or not (metadata-bootstrap 7.5).
func TestUnregisterMovesPartitions(t *testing.T) {
	eligible := partitionT(1, ids(2, 1), ids(2), 2)
	eligible.EligibleLeaderReplicas = ids(1)
	for name, c := range map[string]struct {
		stand stand
		first *records.PartitionRecord
		wrote string
	}{
		"unfenced": {up, partitionT(0, ids(1, 2), ids(1, 2), 1), "PartitionChangeRecord PartitionChangeRecord UnregisterBrokerRecord"},
		"fenced":   {fencedUp, partitionT(0, ids(1, 2), ids(2), 2), "PartitionChangeRecord UnregisterBrokerRecord"},
	} {
		t.Run(name, func(t *testing.T) {
			g, n := withPartitions(t, []stand{c.stand, up, up}, c.first, eligible, partitionT(2, ids(1, 3), ids(3), 3))
			third := *n.ctl.Image().Partition(topicT, 2)
			r, wrote := ask(t, g, n, 0, Op{Kind: UnregisterBroker, NodeID: 1})
			require.Equal(t, None, r.Code, r.Message)
			require.Equal(t, c.wrote, wrote)
			for key, p := range n.ctl.Image().AllPartitions() {
				require.NotContains(t, p.Isr, int32(1), key.Partition)
				require.NotContains(t, p.Elr, int32(1), key.Partition)
				require.Contains(t, p.Replicas, int32(1), "it stays a replica")
				require.True(t, p.HasLeader())
			}
			require.Equal(t, third, *n.ctl.Image().Partition(topicT, 2), "it had no part in that one")
			require.Empty(t, wrong(n.ctl.Image()))
		})
	}
}

// TestUnfencingElects: a broker that comes back leads the partitions that nobody leads and that it may lead, and those alone; the record
// that unfences it comes first (metadata-bootstrap 7.5, 7.8).
func TestUnfencingElects(t *testing.T) {
	led, other := partitionT(2, ids(1, 2), ids(2), 2), partitionT(3, ids(3, 1), ids(3), image.NoLeader)
	last := partitionT(1, ids(2, 1), nil, image.NoLeader)
	last.Isr, last.EligibleLeaderReplicas = ids(), ids(1)
	g, n := withPartitions(t, []stand{fencedUp, up, fencedUp}, partitionT(0, ids(1, 2), ids(1), image.NoLeader), last, led, other)
	before := n.ctl.Image()
	reply, wrote := beatAt(t, g, n, 0, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: 101, CurrentMetadataOffset: g.end()})
	require.False(t, reply.IsFenced)
	require.Equal(t, "BrokerRegistrationChangeRecord PartitionChangeRecord PartitionChangeRecord", wrote)
	img := n.ctl.Image()
	for at := range int32(2) {
		p := img.Partition(topicT, at)
		require.Equal(t, int32(1), p.Leader)
		require.Equal(t, ids(1), p.Isr)
		require.Empty(t, p.Elr)
		require.False(t, p.Recovering, "it has what was committed")
	}
	require.Equal(t, before.Partition(topicT, 2), img.Partition(topicT, 2), "it is led")
	require.Equal(t, before.Partition(topicT, 3), img.Partition(topicT, 3), "who is in sync is still away")
	_, wrote = beatAt(t, g, n, 0, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: 101, CurrentMetadataOffset: g.end()})
	require.Empty(t, wrote)
}
