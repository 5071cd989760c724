package invariants

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// imageWith is a cluster with brokers 1 to 4 in their first incarnation, and min.insync.replicas of all.
func imageWith(t *testing.T, elr int16, minInSync string, more ...records.Record) *image.Image {
	t.Helper()
	d := image.NewDelta(image.New())
	list := []records.Record{&records.FeatureLevelRecord{Name: features.MetadataVersion, FeatureLevel: 30},
		&records.FeatureLevelRecord{Name: features.EligibleLeaderReplicas, FeatureLevel: elr},
		&records.ConfigRecord{ResourceType: image.BrokerResource, Name: "min.insync.replicas", Value: &minInSync}}
	for id := range int32(4) {
		list = append(list, &records.RegisterBrokerRecord{BrokerId: id + 1, BrokerEpoch: int64(id + 1)})
	}
	for _, r := range append(list, more...) {
		require.NoError(t, d.Replay(r))
	}
	return d.Apply(image.Provenance{})
}

type part = image.Partition

func TestPartitionLists(t *testing.T) {
	again := &records.RegisterBrokerRecord{BrokerId: 2, BrokerEpoch: 90}
	for _, c := range []struct {
		name      string
		elr       int16
		minInSync string
		level     int16          // metadata.version, 0: 30
		more      records.Record // what is there after the operation
		unsettled bool
		old, now  part
		want      string
	}{
		{name: "one leaves, enough are in sync", elr: 1, minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1}, now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1}},
		{name: "one leaves and is eligible", elr: 1, minInSync: "2", old: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Elr: []int32{2}, Leader: 1}},
		{name: "one leaves and is forgotten", elr: 1, minInSync: "2", old: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1}, want: "eligible-forgotten"},
		{name: "min.insync.replicas is at most the replicas", elr: 1, minInSync: "3", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Elr: []int32{2}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1}},
		{name: "an eligible one is forgotten", elr: 1, minInSync: "3", old: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}, Elr: []int32{2}, Leader: 1},
			now: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1}, Elr: []int32{3}, Leader: 1}, want: "eligible-forgotten"},
		{name: "an eligible one registers again", elr: 1, minInSync: "3", more: again, old: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}, Elr: []int32{2}, Leader: 1},
			now: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}, Leader: 1}},
		{name: "configurations changed", elr: 1, minInSync: "3", unsettled: true, old: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}, Elr: []int32{2}, Leader: 1},
			now: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}, Leader: 1}},
		{name: "eligible although enough are in sync", elr: 1, minInSync: "2", old: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1}, Elr: []int32{2}, Leader: 1},
			now: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}, Elr: []int32{2}, Leader: 1}, want: "eligible-without-need"},
		{name: "in sync and eligible", elr: 1, minInSync: "3", old: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1}, Elr: []int32{2}, Leader: 1},
			now: part{Replicas: []int32{1, 2, 3}, Isr: []int32{1, 2}, Elr: []int32{2}, Leader: 1}, want: "eligible-in-sync"},
		{name: "the feature is off, and the list stays as it was", minInSync: "1", old: part{Replicas: []int32{1, 2}, Elr: []int32{2}, LastKnownElr: []int32{2}, Leader: -1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{2}, Elr: []int32{2}, LastKnownElr: []int32{2}, Leader: 2, LeaderEpoch: 1}, want: "eligible-without-the-feature"},
		{name: "the feature is off, and only a directory changes", minInSync: "1", old: part{Replicas: []int32{1, 2}, Elr: []int32{2}, Leader: -1},
			now: part{Replicas: []int32{1, 2}, Elr: []int32{2}, Leader: -1}, want: "eligible-without-the-feature"},
		{name: "one is in sync beside a leader that recovers", minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1, Recovering: true},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1, Recovering: true}, want: "in-sync-while-recovering"},
		{name: "one is in sync beside a leader that has recovered", minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1, Recovering: true},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1}},
		{name: "a reassignment forgets where a replica is", minInSync: "1", old: part{Replicas: []int32{1}, Directories: []record.UUID{{1}}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{2, 1}, Directories: []record.UUID{{}, {}}, AddingReplicas: []int32{2}, Isr: []int32{1}, Leader: 1}, want: "directory-forgotten"},
		{name: "a reassignment keeps where a replica is", minInSync: "1", old: part{Replicas: []int32{1}, Directories: []record.UUID{{1}}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{2, 1}, Directories: []record.UUID{{}, {1}}, AddingReplicas: []int32{2}, Isr: []int32{1}, Leader: 1}},
		{name: "the feature is off, and the list ends", minInSync: "1", old: part{Replicas: []int32{1, 2}, Elr: []int32{2}, LastKnownElr: []int32{2}, Leader: -1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{2}, LastKnownElr: []int32{2}, Leader: 2, LeaderEpoch: 1}},
		{name: "an eligible one is elected uncleanly, others are in sync", elr: 1, minInSync: "2", old: part{Replicas: []int32{2, 1}, Isr: []int32{1}, Elr: []int32{2}, Leader: -1},
			now: part{Replicas: []int32{2, 1}, Isr: []int32{2}, Leader: 2, LeaderEpoch: 1, Recovering: true}},
		{name: "an eligible one is elected as if cleanly, others are in sync", elr: 1, minInSync: "2", old: part{Replicas: []int32{2, 1}, Isr: []int32{1}, Elr: []int32{2}, Leader: -1},
			now: part{Replicas: []int32{2, 1}, Isr: []int32{2}, Leader: 2, LeaderEpoch: 1}, want: "eligible-forgotten"},
		{name: "one leaves, and the epoch stays, below 3.6", level: 11, minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1}, want: "no-leader-epoch-for-a-shrink"},
		{name: "one leaves, and an epoch begins, below 3.6", level: 11, minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1, LeaderEpoch: 1}},
		{name: "one leaves, and an epoch begins, from 3.6 on", level: 12, minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1, LeaderEpoch: 1}, want: "needless-leader-epoch"},
		{name: "the last one goes", elr: 1, minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Elr: []int32{1}, LastKnownElr: []int32{1}, Leader: -1, LeaderEpoch: 1}},
		{name: "the last leader is forgotten", elr: 1, minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{1, 2}, Elr: []int32{1}, Leader: -1, LeaderEpoch: 1}, want: "last-leader-forgotten"},
		{name: "the last leader is named while there is one", elr: 1, minInSync: "1", old: part{Replicas: []int32{1, 2}, Elr: []int32{1}, LastKnownElr: []int32{1}, Leader: -1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, LastKnownElr: []int32{1}, Leader: 1, LeaderEpoch: 1}, want: "last-leader-kept"},
		{name: "the last leader was named before the feature came back, and a directory changes", elr: 1, minInSync: "1",
			old: part{Replicas: []int32{1}, Isr: []int32{1}, LastKnownElr: []int32{1}, Leader: 1, Directories: []record.UUID{{1}}},
			now: part{Replicas: []int32{1}, Isr: []int32{1}, LastKnownElr: []int32{1}, Leader: 1, Directories: []record.UUID{{2}}}},
		{name: "the same, and the in-sync replicas change", elr: 1, minInSync: "1",
			old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, LastKnownElr: []int32{1}, Leader: 1, Directories: []record.UUID{{1}, {1}}},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1, 2}, LastKnownElr: []int32{1}, Leader: 1, Directories: []record.UUID{{1}, {1}}}, want: "last-leader-kept"},
		{name: "reassigned", minInSync: "1", old: part{Replicas: []int32{3, 1}, AddingReplicas: []int32{3}, RemovingReplicas: []int32{1}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{3}, Isr: []int32{3}, Leader: 3, LeaderEpoch: 1}},
		{name: "reassigned without a new leader epoch", minInSync: "1", old: part{Replicas: []int32{2, 3, 1}, AddingReplicas: []int32{3}, RemovingReplicas: []int32{1}, Isr: []int32{1, 2}, Leader: 2},
			now: part{Replicas: []int32{2, 3}, Isr: []int32{2, 3}, Leader: 2}, want: "no-new-leader-epoch"},
		{name: "reassignment ends early", minInSync: "1", old: part{Replicas: []int32{3, 4, 1}, AddingReplicas: []int32{3, 4}, RemovingReplicas: []int32{1}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{3, 4}, Isr: []int32{3}, Leader: 3, LeaderEpoch: 1}, want: "reassignment-ended-early"},
		{name: "reassignment is changed", minInSync: "1", old: part{Replicas: []int32{3, 1}, AddingReplicas: []int32{3}, Isr: []int32{1}, Leader: 1},
			now: part{Replicas: []int32{1, 3}, RemovingReplicas: []int32{3}, Isr: []int32{1}, Leader: 1}},
		{name: "reassignment is taken back, its only replica was in sync", minInSync: "1", old: part{Replicas: []int32{1, 3}, AddingReplicas: []int32{3}, Isr: []int32{3}, Leader: 3},
			now: part{Replicas: []int32{1}, Isr: []int32{1}, Leader: 1, LeaderEpoch: 1}},
		{name: "reassignment is taken back while nobody is in sync, and the last leader leads uncleanly", elr: 1, minInSync: "2",
			old: part{Replicas: []int32{2, 3, 4, 1}, AddingReplicas: []int32{4}, RemovingReplicas: []int32{1}, Elr: []int32{3}, LastKnownElr: []int32{2}, Leader: -1},
			now: part{Replicas: []int32{2, 3, 1}, Isr: []int32{2}, Leader: 2, LeaderEpoch: 1, Recovering: true}},
		{name: "the same as if nothing were lost", elr: 1, minInSync: "2",
			old: part{Replicas: []int32{2, 3, 4, 1}, AddingReplicas: []int32{4}, RemovingReplicas: []int32{1}, Isr: []int32{3}, Leader: -1},
			now: part{Replicas: []int32{2, 3, 1}, Isr: []int32{2}, Elr: []int32{3}, Leader: 2, LeaderEpoch: 1}, want: "not-recovering"},
		{name: "reassignment is taken back by decree, and who was eligible is forgotten", elr: 1, minInSync: "2",
			old: part{Replicas: []int32{2, 1, 4}, AddingReplicas: []int32{4}, Isr: []int32{4}, Elr: []int32{1}, Leader: 4},
			now: part{Replicas: []int32{2, 1}, Isr: []int32{2}, Leader: 2, LeaderEpoch: 1}, want: "eligible-forgotten"},
		{name: "unclean", minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: -1}, now: part{Replicas: []int32{1, 2}, Isr: []int32{2}, Leader: 2, LeaderEpoch: 1, Recovering: true}},
		{name: "unclean, as if nothing were lost", minInSync: "1", old: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: -1},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{2}, Leader: 2, LeaderEpoch: 1}, want: "not-recovering"},
		{name: "unclean, right behind the end of a reassignment", minInSync: "1", old: part{Replicas: []int32{1, 2}, AddingReplicas: []int32{2}, Isr: []int32{2}, Leader: -1, Recovering: true},
			now: part{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1, LeaderEpoch: 1, Recovering: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := imageWith(t, c.elr, c.minInSync)
			if c.level > 0 {
				before = imageWith(t, c.elr, c.minInSync, &records.FeatureLevelRecord{Name: features.MetadataVersion, FeatureLevel: c.level})
			}
			after := before
			if c.more != nil {
				after = imageWith(t, c.elr, c.minInSync, c.more)
			}
			require.Equal(t, c.want, stepOf(before, after, "t", &c.old, &c.now, !c.unsettled).judge())
		})
	}
}

// Who is a member is asked of the partitions themselves, each of which is found once.
func TestMembersOf(t *testing.T) {
	topic := record.UUID{7}
	list := []records.Record{&records.TopicRecord{Name: "t", TopicId: topic}}
	for i, p := range []part{{Isr: []int32{1}, Elr: []int32{2}, Leader: 1}, {Isr: []int32{2, 3}, Leader: 2}, {Elr: []int32{3}, Leader: image.NoLeader}} {
		r := records.NewPartitionRecord()
		r.TopicId, r.PartitionId, r.Replicas, r.Isr, r.EligibleLeaderReplicas, r.Leader = topic, int32(i), []int32{1, 2, 3}, p.Isr, p.Elr, p.Leader
		r.Directories = make([]record.UUID, 3)
		list = append(list, r)
	}
	img := imageWith(t, 1, "2", list...)
	found := func(list iter.Seq2[image.PartitionKey, *image.Partition]) (ids []int32) {
		for key := range list {
			ids = append(ids, key.Partition)
		}
		return ids
	}
	require.Equal(t, []int32{0}, found(membersOf(img, 1)))
	require.Equal(t, []int32{0, 1}, found(membersOf(img, 2)))
	require.Equal(t, []int32{1, 2}, found(membersOf(img, 3)))
	require.Empty(t, found(membersOf(img, 4)))
	require.Equal(t, []int32{2}, found(leaderless(img)))
}
