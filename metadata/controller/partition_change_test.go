package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func ids(list ...int32) []int32 { return append([]int32{}, list...) }

// TestPartitionChange has a row for each rule of metadata-bootstrap 7.8: brokers 1 to 4, and a partition with replicas 1 2 3 unless
// it says otherwise.
func TestPartitionChange(t *testing.T) {
	unclean := &records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: uncleanElectionName, Value: new(string)}
	*unclean.Value = "true"
	two := "2"
	minimum := &records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: minInSyncReplicasName, Value: &two}
	elr := level(features.EligibleLeaderReplicas, 1)
	for _, c := range []struct {
		name    string
		version int16
		up      []stand
		isr     []int32
		leader  int32
		edit    func(p *records.PartitionRecord)
		more    []records.Record
		want    func(c *partitionChange)
		say     func(r *records.PartitionChangeRecord) // nil: no record
	}{
		{name: "nothing wanted", isr: ids(1, 2), leader: 1},
		{name: "rule 1: the leader stays", isr: ids(1, 2, 3), leader: 2, want: func(c *partitionChange) { c.isr = ids(2, 3) },
			say: func(r *records.PartitionChangeRecord) { r.Isr = ids(2, 3) }},
		{name: "rule 2: the first that may", isr: ids(2, 3), leader: 3, want: func(c *partitionChange) { c.isr, c.leaving = ids(2), 3 },
			say: func(r *records.PartitionChangeRecord) { r.Isr, r.Leader = ids(2), 2 }},
		{name: "rule 2: a fenced one may not", up: []stand{up, fencedUp, up, up}, isr: ids(1, 2, 3), leader: 1,
			want: func(c *partitionChange) { c.isr, c.leaving = ids(2, 3), 1 },
			say:  func(r *records.PartitionChangeRecord) { r.Isr, r.Leader = ids(2, 3), 3 }},
		{name: "rule 2: nor one whose directory is gone", isr: ids(1, 2, 3), leader: 1,
			edit: func(p *records.PartitionRecord) { p.Directories[1] = record.DirectoryLost },
			want: func(c *partitionChange) { c.isr, c.leaving = ids(2, 3), 1 },
			say:  func(r *records.PartitionChangeRecord) { r.Isr, r.Leader = ids(2, 3), 3 }},
		{name: "rule 5: the last member stays without elr", isr: ids(1), leader: 1,
			want: func(c *partitionChange) { c.isr, c.leaving = nil, 1 },
			say:  func(r *records.PartitionChangeRecord) { r.Leader = -1 }},
		{name: "rule 4: unclean", more: []records.Record{unclean}, isr: ids(1), leader: 1,
			want: func(c *partitionChange) { c.isr, c.leaving = nil, 1 },
			say: func(r *records.PartitionChangeRecord) {
				r.Isr, r.Leader, r.LeaderRecoveryState = ids(2), 2, 1
			}},
		{name: "back: the last member leads again", isr: ids(1), leader: -1, want: func(c *partitionChange) { c.coming = 1 },
			up: []stand{fencedUp, up, up, up}, say: func(r *records.PartitionChangeRecord) { r.Leader = 1 }},
		{name: "back: not into a directory that is offline", isr: ids(1), leader: -1, up: []stand{fencedUp, up, up, up},
			want: func(c *partitionChange) { c.coming, c.offline = 1, c.partition.Directories[:1] }},
		{name: "back: not while it shuts down", isr: ids(1), leader: -1, want: func(c *partitionChange) { c.coming = 1 },
			up: []stand{leavingUp, up, up, up}},
		{name: "recovered", isr: ids(1), leader: 1, edit: func(p *records.PartitionRecord) { p.LeaderRecoveryState = 1 },
			want: func(c *partitionChange) { c.recovered = true },
			say:  func(r *records.PartitionChangeRecord) { r.LeaderRecoveryState = 0 }},
		{name: "elr: who leaves is eligible below the minimum", more: []records.Record{elr, minimum}, isr: ids(1, 2), leader: 1,
			want: func(c *partitionChange) { c.isr, c.leaving = ids(1), 2 },
			say:  func(r *records.PartitionChangeRecord) { r.Isr, r.EligibleLeaderReplicas = ids(1), ids(2) }},
		{name: "elr: nobody at the minimum", more: []records.Record{elr, minimum}, isr: ids(1, 2, 3), leader: 1,
			want: func(c *partitionChange) { c.isr, c.leaving = ids(1, 2), 3 },
			say:  func(r *records.PartitionChangeRecord) { r.Isr = ids(1, 2) }},
		{name: "elr: empty, and the last leader remembered", more: []records.Record{elr, minimum}, isr: ids(1), leader: 1,
			edit: func(p *records.PartitionRecord) { p.EligibleLeaderReplicas = ids(2) },
			up:   []stand{up, fencedUp, up, up},
			want: func(c *partitionChange) { c.isr, c.leaving = nil, 1 },
			say: func(r *records.PartitionChangeRecord) {
				r.Isr, r.Leader, r.EligibleLeaderReplicas, r.LastKnownElr = ids(), -1, ids(2, 1), ids(1)
			}},
		{name: "elr: an eligible one leads", more: []records.Record{elr, minimum}, isr: ids(1), leader: 1,
			edit: func(p *records.PartitionRecord) { p.EligibleLeaderReplicas = ids(2) },
			want: func(c *partitionChange) { c.isr, c.leaving = nil, 1 },
			say: func(r *records.PartitionChangeRecord) {
				r.Isr, r.Leader, r.EligibleLeaderReplicas = ids(2), 2, ids(1)
			}},
		{name: "elr is off: the list ends with the first change", more: []records.Record{minimum}, isr: ids(1, 2), leader: 1,
			edit: func(p *records.PartitionRecord) { p.EligibleLeaderReplicas = ids(3) },
			want: func(c *partitionChange) { c.isr = ids(1) },
			say: func(r *records.PartitionChangeRecord) {
				r.Isr, r.EligibleLeaderReplicas = ids(1), ids()
			}},
		{name: "elr: not the one that lost its disk", more: []records.Record{elr, minimum}, isr: ids(1), leader: 1,
			edit: func(p *records.PartitionRecord) { p.EligibleLeaderReplicas = ids(2) },
			want: func(c *partitionChange) { c.leaving, c.unclean = 2, 2 },
			say:  func(r *records.PartitionChangeRecord) { r.EligibleLeaderReplicas = ids() }},
		{name: "rule 3: the last known leader", more: []records.Record{elr}, isr: nil, leader: -1,
			edit: func(p *records.PartitionRecord) { p.LastKnownElr = ids(3) }, want: func(c *partitionChange) { c.coming = 3 },
			say: func(r *records.PartitionChangeRecord) {
				r.Isr, r.Leader, r.LastKnownElr, r.LeaderRecoveryState = ids(3), 3, ids(), 1
			}},
		{name: "rule 3: not while fenced (KAFKA-19522)", more: []records.Record{elr}, isr: nil, leader: -1,
			up: []stand{up, up, fencedUp, up}, edit: func(p *records.PartitionRecord) { p.LastKnownElr = ids(3) }},
		{name: "rule 3: not while an eligible one is to come back", more: []records.Record{elr, minimum}, isr: nil, leader: -1, up: []stand{up, fencedUp, up, up},
			edit: func(p *records.PartitionRecord) { p.EligibleLeaderReplicas, p.LastKnownElr = ids(2), ids(3) },
			want: func(c *partitionChange) { c.coming = 3 }},
		{name: "rule 3: not one that is no replica any more", more: []records.Record{elr}, isr: nil, leader: -1,
			edit: func(p *records.PartitionRecord) { p.LastKnownElr = ids(3) }, want: func(c *partitionChange) { c.replicas = ids(1, 2) },
			say: func(r *records.PartitionChangeRecord) {
				r.Replicas, r.Leader = ids(1, 2), -1
				r.Directories = []record.UUID{directoryOf(1), directoryOf(2)}
			}},
		{name: "preferred", isr: ids(1, 2), leader: 2, want: func(c *partitionChange) { c.election = preferredElection },
			say: func(r *records.PartitionChangeRecord) { r.Leader = 1 }},
		{name: "shrink begins an epoch before 3.6", version: 11, isr: ids(1, 2), leader: 1,
			want: func(c *partitionChange) { c.isr = ids(1) },
			say:  func(r *records.PartitionChangeRecord) { r.Isr, r.Leader = ids(1), 1 }},
		{name: "reassignment completes", isr: ids(1, 2), leader: 1,
			edit: func(p *records.PartitionRecord) { p.AddingReplicas, p.RemovingReplicas = ids(2), ids(3) },
			want: func(c *partitionChange) { c.isr = ids(1, 2) },
			say: func(r *records.PartitionChangeRecord) {
				r.Replicas, r.AddingReplicas, r.RemovingReplicas, r.Leader = ids(1, 2), ids(), ids(), 1
				r.Directories = []record.UUID{directoryOf(1), directoryOf(2)}
			}},
		{name: "reassignment moves the leader", isr: ids(1, 2, 3), leader: 3,
			edit: func(p *records.PartitionRecord) { p.AddingReplicas, p.RemovingReplicas = ids(2), ids(3) },
			say: func(r *records.PartitionChangeRecord) {
				r.Isr, r.Replicas, r.AddingReplicas, r.RemovingReplicas, r.Leader = ids(1, 2), ids(1, 2), ids(), ids(), 1
				r.Directories = []record.UUID{directoryOf(1), directoryOf(2)}
			}},
		{name: "reassignment waits for the new one", isr: ids(1, 3), leader: 1,
			edit: func(p *records.PartitionRecord) { p.AddingReplicas, p.RemovingReplicas = ids(2), ids(3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.up == nil {
				c.up = []stand{up, up, up, up}
			}
			if c.version == 0 {
				c.version = 33
			}
			rs := []records.Record{level(features.MetadataVersion, c.version)}
			for i, s := range c.up {
				rs = append(rs, brokerRecordOf(int32(i+1), s))
			}
			m := partitionT(0, ids(1, 2, 3), c.isr, c.leader)
			if c.edit != nil {
				c.edit(m)
			}
			rs = append(append(rs, &records.TopicRecord{Name: "t", TopicId: topicT}, m), c.more...)
			img := imageWith(t, rs...)
			rules := rulesOf(img, &PartitionDefaults{MinInSyncReplicas: 1})
			change := rules.changeOf(keyT(0), "t", img.Partition(topicT, 0))
			if c.want != nil {
				c.want(&change)
			}
			got := change.record()
			if c.say == nil {
				require.Nil(t, got)
				return
			}
			expected := records.NewPartitionChangeRecord()
			expected.TopicId, expected.PartitionId = topicT, 0
			c.say(expected)
			require.Equal(t, expected, got)
			replayOn(t, img, got)
		})
	}
}

func TestTransitions(t *testing.T) {
	rs := []records.Record{level(features.MetadataVersion, 33), brokerRecordOf(1, up), brokerRecordOf(2, up), brokerRecordOf(3, up),
		&records.TopicRecord{Name: "t", TopicId: topicT}, partitionT(0, ids(1, 2, 3), ids(1, 2), 1), partitionT(1, ids(2, 1, 3), ids(2), 2),
		partitionT(2, ids(3, 1, 2), ids(3), 3)}
	img := imageWith(t, rs...)
	defaults := &PartitionDefaults{MinInSyncReplicas: 1}
	for _, transition := range []Transition{BrokerFenced, BrokerShutsDown, BrokerUnregistered, BrokerLostDisk} {
		next := replayOn(t, img, AppendTransition(nil, img, defaults, 1, transition)...)
		require.Equal(t, int32(2), next.Partition(topicT, 0).Leader, "transition %d", transition)
		require.Equal(t, ids(2), next.Partition(topicT, 0).Isr)
		require.Equal(t, int32(10), next.Partition(topicT, 0).PartitionEpoch)
		require.Equal(t, img.Partition(topicT, 1), next.Partition(topicT, 1), "broker 1 has no part in it")
	}
	next := replayOn(t, img, AppendTransition(nil, img, defaults, 2, BrokerFenced)...)
	next = replayOn(t, next, &records.BrokerRegistrationChangeRecord{BrokerId: 2, BrokerEpoch: 102, Fenced: 1})
	require.Equal(t, image.NoLeader, next.Partition(topicT, 1).Leader)
	require.Equal(t, ids(2), next.Partition(topicT, 1).Isr)
	require.Empty(t, wrong(next))
	back := AppendTransition(nil, next, defaults, 2, BrokerUnfenced)
	require.Len(t, back, 1)
	require.Equal(t, int32(2), replayOn(t, next, back...).Partition(topicT, 1).Leader)
	require.Len(t, appendOffline(nil, img, defaults, 3, []record.UUID{directoryOf(3)}), 1)
	require.Empty(t, appendOffline(nil, img, defaults, 3, []record.UUID{directoryOf(1)}))
}
