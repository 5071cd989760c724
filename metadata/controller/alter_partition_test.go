package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func sync(list ...int32) (out []InSyncReplica) {
	for _, id := range list {
		out = append(out, InSyncReplica{BrokerID: id, Epoch: int64(100 + id)})
	}
	return out
}

// TestAlterPartition has a row for each one of metadata-bootstrap 7.7. Partition 0 has replicas 1 to 6, 1 and 2 in sync, 1 leads;
// 4 is fenced, 5 shuts down, 6 is not registered. Each row breaks the later rules too, where it can.
func TestAlterPartition(t *testing.T) {
	stale := sync(1, 2, 3)
	stale[2].Epoch = 7
	unknownEpoch := sync(1, 2, 3)
	unknownEpoch[2].Epoch = -1
	for _, c := range []struct {
		name   string
		wish   PartitionWish
		sender int32
		edit   func(p *records.PartitionRecord)
		code   ErrorCode
		isr    []int32
		leader int32
	}{
		{name: "row 1", wish: PartitionWish{Key: image.PartitionKey{TopicID: record.UUID{1}, Partition: 8}, LeaderEpoch: 9}, code: UnknownTopicID},
		{name: "row 2", wish: PartitionWish{Key: keyT(7), LeaderEpoch: 9}, code: UnknownTopicOrPartition},
		{name: "row 3 leader epoch", wish: PartitionWish{LeaderEpoch: 6, PartitionEpoch: 1}, sender: 2, code: NotController},
		{name: "row 3 partition epoch", wish: PartitionWish{LeaderEpoch: 1, PartitionEpoch: 10}, sender: 2, code: NotController},
		{name: "row 4", wish: PartitionWish{LeaderEpoch: 4, PartitionEpoch: 8}, sender: 2, code: FencedLeaderEpoch},
		{name: "row 5", wish: PartitionWish{LeaderEpoch: 5, PartitionEpoch: 8}, sender: 2, code: InvalidRequest},
		{name: "row 6", wish: PartitionWish{LeaderEpoch: 5, PartitionEpoch: 8, Isr: sync(9)}, code: InvalidUpdateVersion},
		{name: "row 7 no replica", wish: PartitionWish{Isr: sync(1, 9)}, code: InvalidRequest},
		{name: "row 7 twice", wish: PartitionWish{Isr: sync(1, 2, 2)}, code: InvalidRequest},
		{name: "row 7 without the leader", wish: PartitionWish{Isr: sync(2)}, code: InvalidRequest},
		{name: "row 7 recovering with two", wish: PartitionWish{Isr: sync(1, 2), Recovering: true}, code: InvalidRequest,
			edit: func(p *records.PartitionRecord) { p.LeaderRecoveryState = 1 }},
		{name: "row 7 recovered to recovering", wish: PartitionWish{Isr: sync(1), Recovering: true}, code: InvalidRequest},
		{name: "row 8 unregistered", wish: PartitionWish{Isr: sync(1, 6)}, code: IneligibleReplica},
		{name: "row 8 shutting down", wish: PartitionWish{Isr: sync(1, 5)}, code: IneligibleReplica},
		{name: "row 8 fenced", wish: PartitionWish{Isr: sync(1, 4)}, code: IneligibleReplica},
		{name: "row 8 another incarnation (KAFKA-14139)", wish: PartitionWish{Isr: stale}, code: IneligibleReplica},
		{name: "row 8 epoch unknown", wish: PartitionWish{Isr: unknownEpoch}, isr: ids(1, 2, 3), leader: 1},
		{name: "row 9", wish: PartitionWish{Isr: sync(1, 2, 3)}, code: NewLeaderElected, isr: ids(2, 3), leader: 2,
			edit: func(p *records.PartitionRecord) { p.AddingReplicas, p.RemovingReplicas = ids(3), ids(1) }},
		{name: "grows", wish: PartitionWish{Isr: sync(1, 2, 3)}, isr: ids(1, 2, 3), leader: 1},
		{name: "shrinks", wish: PartitionWish{Isr: sync(1)}, isr: ids(1), leader: 1},
		{name: "stays", wish: PartitionWish{Isr: sync(1, 2)}, isr: ids(1, 2), leader: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := partitionT(0, ids(1, 2, 3, 4, 5, 6), ids(1, 2), 1)
			if c.edit != nil {
				c.edit(m)
			}
			g, n := brokersUp(t, 33, []stand{up, up, up, fencedUp, leavingUp}, &records.TopicRecord{Name: "t", TopicId: topicT}, m)
			if c.wish.Key.TopicID.IsZero() {
				c.wish.Key = keyT(0)
			}
			if c.wish.LeaderEpoch == 0 {
				c.wish.LeaderEpoch, c.wish.PartitionEpoch = 5, 9
			}
			sender := max(1, c.sender)
			before := n.ctl.Image().Partition(topicT, 0)
			r := demand(t, g, n, &AlterPartitionRequest{BrokerID: sender, BrokerEpoch: int64(99 + sender), Partitions: []PartitionWish{c.wish}})
			require.Equal(t, StaleBrokerEpoch, r.Code)
			r = demand(t, g, n, &AlterPartitionRequest{BrokerID: sender, BrokerEpoch: int64(100 + sender), Partitions: []PartitionWish{c.wish}})
			require.Equal(t, None, r.Code, r.Message)
			result := r.Answer.([]PartitionResult)[0]
			require.Equal(t, c.code, result.Code, result.Message)
			after := n.ctl.Image().Partition(topicT, 0)
			if c.isr == nil {
				require.Equal(t, before, after)
				return
			}
			require.Equal(t, c.isr, after.Isr)
			require.Equal(t, c.leader, after.Leader)
			require.Equal(t, []any{after.Isr, after.Leader, after.LeaderEpoch, after.PartitionEpoch, after.Recovering},
				[]any{result.Isr, result.Leader, result.LeaderEpoch, result.PartitionEpoch, result.Recovering})
			require.Empty(t, wrong(n.ctl.Image()))
		})
	}
}

func TestElectLeaders(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up, up, fencedUp}, &records.TopicRecord{Name: "t", TopicId: topicT},
		partitionT(0, ids(1, 2, 3), ids(1, 2), 2), partitionT(1, ids(1, 2, 3), ids(1), 1), partitionT(2, ids(1, 2, 3), ids(2), 2),
		partitionT(3, ids(1, 2, 3), ids(3), -1), partitionT(4, ids(3), ids(3), -1))
	at := func(list ...int32) (out []TopicPartition) {
		for _, p := range list {
			out = append(out, TopicPartition{"t", p})
		}
		return out
	}
	require.Equal(t, InvalidRequest, demand(t, g, n, &ElectLeadersRequest{Type: 2}).Code)
	answer := func(q *ElectLeadersRequest) (list []ErrorCode) {
		for _, r := range demand(t, g, n, q).Answer.([]ElectionResult) {
			list = append(list, r.Code)
		}
		return list
	}
	require.Equal(t, []ErrorCode{UnknownTopicOrPartition, ElectionNotNeeded, PreferredLeaderNotAvailable, PreferredLeaderNotAvailable},
		answer(&ElectLeadersRequest{Partitions: at(9, 1, 2, 3)}))
	require.Equal(t, []ErrorCode{None, PreferredLeaderNotAvailable, PreferredLeaderNotAvailable, PreferredLeaderNotAvailable},
		answer(&ElectLeadersRequest{All: true}), "1 needs none and is left out")
	require.Equal(t, int32(1), n.ctl.Image().Partition(topicT, 0).Leader)
	require.Equal(t, []ErrorCode{ElectionNotNeeded, None, EligibleLeadersNotAvailable},
		answer(&ElectLeadersRequest{Type: UncleanElection, Partitions: at(0, 3, 4)}))
	p := n.ctl.Image().Partition(topicT, 3)
	require.Equal(t, ids(1), p.Isr)
	require.True(t, p.Recovering)
}

func TestReassignment(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up, up, up, up}, &records.TopicRecord{Name: "t", TopicId: topicT},
		partitionT(0, ids(1, 2), ids(1, 2), 1), partitionT(1, ids(1, 2), ids(1, 2), 1))
	move := func(p int32, to []int32) ErrorCode {
		r := demand(t, g, n, &AlterPartitionReassignmentsRequest{Partitions: []Reassignment{{TopicPartition{"t", p}, to}}})
		return r.Answer.([]ElectionResult)[0].Code
	}
	require.Equal(t, UnknownTopicOrPartition, move(9, ids(1)))
	require.Equal(t, InvalidReplicaAssignment, move(0, ids(9)))
	require.Equal(t, InvalidReplicaAssignment, move(0, ids()))
	require.Equal(t, NoReassignmentInProgress, move(0, nil))
	require.Equal(t, None, move(0, ids(3, 2)))
	p := n.ctl.Image().Partition(topicT, 0)
	require.Equal(t, [][]int32{ids(3, 2, 1), ids(1), ids(3)}, [][]int32{p.Replicas, p.RemovingReplicas, p.AddingReplicas})
	require.Equal(t, None, move(0, nil), "back")
	p = n.ctl.Image().Partition(topicT, 0)
	require.Equal(t, [][]int32{ids(2, 1), nil, nil}, [][]int32{p.Replicas, p.RemovingReplicas, p.AddingReplicas})
	require.Equal(t, None, move(1, ids(3, 4)))
	require.Equal(t, None, move(1, ids(4, 2)), "another one before the first is through")
	p = n.ctl.Image().Partition(topicT, 1)
	require.Equal(t, [][]int32{ids(4, 2, 3, 1), ids(3, 1), ids(4)}, [][]int32{p.Replicas, p.RemovingReplicas, p.AddingReplicas})
	r := demand(t, g, n, &AlterPartitionRequest{BrokerID: 1, BrokerEpoch: 101, Partitions: []PartitionWish{{
		Key: keyT(1), LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch, Isr: sync(1, 2, 4)}}})
	require.Equal(t, NewLeaderElected, r.Answer.([]PartitionResult)[0].Code)
	p = n.ctl.Image().Partition(topicT, 1)
	require.Equal(t, [][]int32{ids(4, 2), ids(2, 4), nil, nil}, [][]int32{p.Replicas, p.Isr, p.RemovingReplicas, p.AddingReplicas})
	require.Equal(t, int32(4), p.Leader)
}

// TestCancelReassignmentOfAllInSync: what is left is out of sync, so only a topic that allows unclean elections can go back, with its first
// replica in sync by decree.
func TestCancelReassignmentOfAllInSync(t *testing.T) {
	for _, c := range []struct {
		name    string
		up      []stand
		unclean string
		code    ErrorCode
		isr     []int32
		leader  int32
	}{
		{"refused", []stand{up, up, up}, "false", InvalidReplicaAssignment, ids(3), 3},
		{"the first leads", []stand{up, up, up}, "true", None, ids(1), 1},
		{"another leads", []stand{fencedUp, up, up}, "true", None, ids(2), 2},
		{"nobody is there", []stand{fencedUp, fencedUp, up}, "true", None, ids(1), -1},
	} {
		m := partitionT(0, ids(3, 1, 2), ids(3), 3)
		m.AddingReplicas = ids(3)
		g, n := brokersUp(t, 22, c.up, &records.TopicRecord{Name: "t", TopicId: topicT}, m,
			&records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: uncleanElectionName, Value: &c.unclean})
		r := demand(t, g, n, &AlterPartitionReassignmentsRequest{Partitions: []Reassignment{{TopicPartition{"t", 0}, nil}}})
		require.Equal(t, c.code, r.Answer.([]ElectionResult)[0].Code, c.name)
		p := n.ctl.Image().Partition(topicT, 0)
		require.Equal(t, c.isr, p.Isr, c.name)
		require.Equal(t, c.leader, p.Leader, c.name)
		require.Empty(t, wrong(n.ctl.Image()))
	}
}

func TestIncrementalAlterConfigs(t *testing.T) {
	topic, broker, all := ConfigResource{2, "t"}, ConfigResource{4, "1"}, ConfigResource{4, ""}
	set := func(r ConfigResource, name string, op int8, value *string) ResourceChange {
		return ResourceChange{r, []ConfigChange{{name, op, value}}}
	}
	for _, c := range []struct {
		change ResourceChange
		elr    int16
		code   ErrorCode
		wrote  string
	}{
		{change: set(topic, "k", ConfigSet, text("v")), wrote: "config:k=v"},
		{change: set(topic, "old", ConfigSet, text("a,b"))},
		{change: set(topic, "old", ConfigDelete, nil), wrote: "unset:t/old"},
		{change: set(topic, "k", ConfigDelete, nil)},
		{change: set(broker, "k", ConfigDelete, nil), wrote: "unset:1/k"},
		{change: set(topic, "old", ConfigAppend, text("c")), code: InvalidConfig},
		{change: set(topic, "cleanup.policy", ConfigAppend, text("b,c")), wrote: "config:cleanup.policy=a,b,c"},
		{change: set(topic, "cleanup.policy", ConfigSubtract, text("a,x")), wrote: "config:cleanup.policy=b"},
		{change: set(topic, "k", 4, text("v")), code: InvalidRequest},
		{change: set(topic, "k", ConfigSet, nil), code: InvalidRequest},
		{change: set(topic, minInSyncReplicasName, ConfigSet, text("none")), code: InvalidConfig},
		{change: set(topic, uncleanElectionName, ConfigSet, text("yes")), code: InvalidConfig},
		{change: set(ConfigResource{2, "no"}, "k", ConfigSet, text("v")), code: UnknownTopicOrPartition},
		{change: set(ConfigResource{4, "9"}, "k", ConfigSet, text("v")), code: BrokerIDNotRegistered},
		{change: set(ConfigResource{4, "x"}, "k", ConfigSet, text("v")), code: InvalidRequest},
		{change: set(ConfigResource{8, "1"}, "k", ConfigSet, text("v")), code: InvalidRequest},
		{change: set(ConfigResource{32, "g"}, "k", ConfigSet, text("v")), wrote: "config:k=v"},
		{change: ResourceChange{topic, []ConfigChange{{"k", ConfigSet, text("v")}, {"k", ConfigSet, text("w")}}}, code: InvalidRequest},
		{change: set(topic, minInSyncReplicasName, ConfigSet, text("2")), wrote: "config:min.insync.replicas=2"},
		{change: set(topic, minInSyncReplicasName, ConfigSet, text("2")), elr: 1, wrote: "config:min.insync.replicas=2 ClearElrRecord"},
		{change: set(broker, minInSyncReplicasName, ConfigSet, text("2")), elr: 1, code: InvalidConfig},
		{change: set(all, minInSyncReplicasName, ConfigDelete, nil), elr: 1, code: InvalidConfig},
		{change: set(all, minInSyncReplicasName, ConfigSet, text("3")), elr: 1, wrote: "config:min.insync.replicas=3 ClearElrRecord"},
	} {
		more := []records.Record{&records.TopicRecord{Name: "t", TopicId: topicT}, partitionT(0, ids(1), ids(1), 1),
			&records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: "old", Value: text("a,b")},
			&records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: "cleanup.policy", Value: text("a,b")}}
		if c.elr > 0 {
			more = append(more, level(features.EligibleLeaderReplicas, c.elr))
		}
		g, n := brokersUp(t, 33, []stand{up}, more...)
		q := &IncrementalAlterConfigsRequest{Resources: []ResourceChange{c.change}, ValidateOnly: true}
		end := g.end()
		require.Equal(t, c.code, demand(t, g, n, q).Answer.([]ConfigResult)[0].Code)
		require.Equal(t, end, g.end(), "validateOnly")
		q.ValidateOnly = false
		at := len(g.committed)
		require.Equal(t, c.code, demand(t, g, n, q).Answer.([]ConfigResult)[0].Code)
		wrote := ""
		for i, s := range spell(t, g.committed[at:]) {
			if i > 0 {
				wrote += " "
			}
			wrote += s
		}
		require.Equal(t, c.wrote, wrote, "%+v", c.change)
	}
}

func TestAllocateProducerIDs(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up})
	require.Equal(t, StaleBrokerEpoch, demand(t, g, n, &AllocateProducerIDsRequest{BrokerID: 1, BrokerEpoch: 1}).Code)
	for want := int64(0); want < 3000; want += 1000 {
		r := demand(t, g, n, &AllocateProducerIDsRequest{BrokerID: 1, BrokerEpoch: 101})
		require.Equal(t, ProducerIDBlock{First: want, Count: 1000}, r.Answer)
	}
	g, n = brokersUp(t, 33, []stand{up}, &records.ProducerIdsRecord{BrokerId: 1, NextProducerId: 1<<63 - 1000})
	require.Equal(t, UnknownServerError, demand(t, g, n, &AllocateProducerIDsRequest{BrokerID: 1, BrokerEpoch: 101}).Code)
}

func TestPeriodicElections(t *testing.T) {
	g, n := brokersUp(t, 33, []stand{up, up, fencedUp}, &records.TopicRecord{Name: "t", TopicId: topicT},
		partitionT(0, ids(1, 2, 3), ids(1, 2), 2), partitionT(1, ids(1, 2, 3), ids(2), 2), partitionT(2, ids(1, 2, 3), ids(3), -1),
		&records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: uncleanElectionName, Value: text("true")})
	n.ctl.cfg.ImbalanceCheckNs, n.ctl.cfg.UncleanCheckNs = 300, 400
	n.ctl.scheduleElections(0)
	require.Equal(t, int64(300), n.ctl.elections.deadlineNs())
	require.NoError(t, n.ctl.Poll(299))
	require.Empty(t, g.uncommitted)
	require.NoError(t, n.ctl.Poll(300))
	g.commit(-1)
	require.Equal(t, int32(1), n.ctl.Image().Partition(topicT, 0).Leader)
	require.Equal(t, int32(2), n.ctl.Image().Partition(topicT, 1).Leader, "1 is not in sync")
	require.False(t, n.ctl.Image().Partition(topicT, 2).HasLeader())
	require.NoError(t, n.ctl.Poll(400))
	g.commit(-1)
	require.Equal(t, int32(1), n.ctl.Image().Partition(topicT, 2).Leader)
	require.Equal(t, int64(600), n.ctl.DeadlineNs())
	require.Equal(t, electionDeadlines{600, 800}, n.ctl.elections, "both come again")
	require.NoError(t, g.elect(1, 0))
	require.Equal(t, noDeadline, n.ctl.DeadlineNs())
	require.NoError(t, g.elect(0, 0))
	require.Equal(t, int64(300), n.ctl.elections.deadlineNs(), "with each activation the intervals begin anew")
}
