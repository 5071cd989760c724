package invariants

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// imageOf replays records on top of an image.
func imageOf(t *testing.T, base *image.Image, list ...records.Record) *image.Image {
	t.Helper()
	if base == nil {
		base = image.New()
	}
	var d image.Delta
	d.Reset(base)
	for _, r := range list {
		require.NoError(t, d.Replay(r))
	}
	return d.Apply(image.Provenance{Offset: base.Provenance().Offset + int64(len(list)), Epoch: 1})
}

var theTopic = record.UUIDFromHalves(7, 7)

// cluster1 has brokers 1 to 3, the last one fenced, and a topic with one partition on all of them, led by 1.
func cluster1(t *testing.T) *image.Image {
	t.Helper()
	list := []records.Record{&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 22}, &records.FeatureLevelRecord{Name: "group.version", FeatureLevel: 1}}
	for id := int32(1); id <= 3; id++ {
		list = append(list, &records.RegisterBrokerRecord{BrokerId: id, BrokerEpoch: int64(10 * id), Fenced: id == 3, IncarnationId: record.UUIDFromHalves(uint64(id), 1),
			LogDirs: []record.UUID{record.UUIDFromHalves(uint64(id), 9)}, Features: []records.BrokerFeature{{Name: "metadata.version", MinSupportedVersion: 1, MaxSupportedVersion: 25}}})
	}
	dir := record.UUIDFromHalves(1, 9)
	list = append(list, &records.TopicRecord{Name: "a.b", TopicId: record.UUIDFromHalves(6, 6)}, &records.TopicRecord{Name: "t", TopicId: theTopic}, &records.PartitionRecord{TopicId: theTopic, Replicas: []int32{1, 2, 3}, Isr: []int32{1, 2}, Leader: 1,
		LeaderEpoch: 4, PartitionEpoch: 6, Directories: []record.UUID{dir, dir, dir}}, &records.ProducerIdsRecord{NextProducerId: 5000})
	value := "delete"
	list = append(list, &records.ConfigRecord{ResourceType: image.TopicResource, ResourceName: "t", Name: "cleanup.policy", Value: &value})
	return imageOf(t, nil, list...)
}

// partitionChanged is the change that an election or a wish makes.
func partitionChanged(isr []int32, leader int32) *records.PartitionChangeRecord {
	r := records.NewPartitionChangeRecord()
	r.TopicId, r.PartitionId, r.Isr, r.Leader = theTopic, 0, isr, leader
	return r
}

// answersCase is an operation with memory and answer, and what must be said of it, "" for nothing.
type answersCase struct {
	name   string
	op     controller.Op
	change []records.Record // from before to after
	result controller.Result
	want   string
}

func wish(partitionEpoch int32, isr ...controller.InSyncReplica) controller.Op {
	return controller.Op{Kind: controller.AlterPartition, Request: &controller.AlterPartitionRequest{BrokerID: 1, BrokerEpoch: 10, Partitions: []controller.PartitionWish{{
		Key: image.PartitionKey{TopicID: theTopic}, LeaderEpoch: 4, PartitionEpoch: partitionEpoch, Isr: isr}}}}
}

func wishResult(code controller.ErrorCode, epoch int32, isr ...int32) any {
	return []controller.PartitionResult{{Key: image.PartitionKey{TopicID: theTopic}, Code: code, Leader: 1, LeaderEpoch: 4, PartitionEpoch: epoch, Isr: isr}}
}

func topicResult(name string, id record.UUID, code controller.ErrorCode, partitions int32) any {
	return []controller.TopicResult{{Name: name, ID: id, Code: code, Partitions: partitions, ReplicationFactor: 1}}
}

func answersCases() []answersCase {
	one, two, three := controller.InSyncReplica{BrokerID: 1, Epoch: 10}, controller.InSyncReplica{BrokerID: 2, Epoch: 20}, controller.InSyncReplica{BrokerID: 3, Epoch: 30}
	written := func(answer any) controller.Result { return controller.Result{Offset: 5, Answer: answer} }
	said := func(answer any) controller.Result { return controller.Result{Offset: -1, Answer: answer} }
	code := func(c controller.ErrorCode) controller.Result { return controller.Result{Code: c, Offset: -1} }
	create := controller.Op{Kind: controller.CreateTopics, Request: &controller.CreateTopicsRequest{Topics: []controller.NewTopic{{Name: "n", Partitions: 1}}}}
	created := []records.Record{&records.TopicRecord{Name: "n", TopicId: record.UUIDFromHalves(8, 8)}, &records.PartitionRecord{TopicId: record.UUIDFromHalves(8, 8), Replicas: []int32{1}, Isr: []int32{1},
		Leader: 1, Directories: []record.UUID{record.UUIDFromHalves(1, 9)}}}
	like := func(name string) controller.Op {
		return controller.Op{Kind: controller.CreateTopics, Request: &controller.CreateTopicsRequest{Topics: []controller.NewTopic{{Name: name, Partitions: 1}}}}
	}
	likeMade := func(name string) []records.Record {
		return []records.Record{&records.TopicRecord{Name: name, TopicId: record.UUIDFromHalves(8, 8)}, &records.PartitionRecord{TopicId: record.UUIDFromHalves(8, 8), Replicas: []int32{1}, Isr: []int32{1},
			Leader: 1, Directories: []record.UUID{record.UUIDFromHalves(1, 9)}}}
	}
	remove := controller.Op{Kind: controller.DeleteTopics, Request: &controller.DeleteTopicsRequest{Names: []string{"t"}}}
	ids := controller.Op{Kind: controller.AllocateProducerIDs, Request: &controller.AllocateProducerIDsRequest{BrokerID: 1, BrokerEpoch: 10}}
	next := func(n int64) []records.Record { return []records.Record{&records.ProducerIdsRecord{NextProducerId: n}} }
	elect := controller.Op{Kind: controller.ElectLeaders, Request: &controller.ElectLeadersRequest{Partitions: []controller.TopicPartition{{Topic: "t"}}}}
	electResult := func(c controller.ErrorCode) any {
		return []controller.ElectionResult{{TopicPartition: controller.TopicPartition{Topic: "t"}, Code: c}}
	}
	caughtUp := controller.Op{Kind: controller.Heartbeat, Heartbeat: &controller.BrokerHeartbeat{BrokerID: 3, BrokerEpoch: 30, CurrentMetadataOffset: 30}}
	beat := controller.Op{Kind: controller.Heartbeat, Heartbeat: &controller.BrokerHeartbeat{BrokerID: 3, BrokerEpoch: 30}}
	beaten := func(r controller.BrokerReply) controller.Result { return controller.Result{Offset: -1, Broker: r} }
	unfenced := []records.Record{&records.BrokerRegistrationChangeRecord{BrokerId: 3, BrokerEpoch: 30, Fenced: -1}}
	lower := func(feature string, level int16, how int8) controller.Op {
		return controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{{Feature: feature, Level: level, UpgradeType: how}}}
	}
	level := func(feature string, level int16) []records.Record {
		return []records.Record{&records.FeatureLevelRecord{Name: feature, FeatureLevel: level}}
	}
	text := "compact"
	both := "delete,compact"
	add := controller.Op{Kind: controller.IncrementalAlterConfigs, Request: &controller.IncrementalAlterConfigsRequest{Resources: []controller.ResourceChange{{
		Resource: controller.ConfigResource{Type: image.TopicResource, Name: "t"}, Changes: []controller.ConfigChange{{Name: "cleanup.policy", Operation: controller.ConfigAppend, Value: &text}}}}}}
	config := func(v *string) []records.Record {
		return []records.Record{&records.ConfigRecord{ResourceType: image.TopicResource, ResourceName: "t", Name: "cleanup.policy", Value: v}}
	}
	register := controller.Op{Kind: controller.RegisterBroker, Broker: &controller.BrokerRegistration{BrokerID: 4, IncarnationID: record.UUIDFromHalves(4, 1), LogDirs: []record.UUID{theTopic},
		Features: []image.FeatureRange{{Name: "metadata.version", Minimum: 1, Maximum: 25}, {Name: "group.version", Maximum: 1}}}}
	supports := []records.BrokerFeature{{Name: "metadata.version", MinSupportedVersion: 1, MaxSupportedVersion: 25}, {Name: "group.version", MaxSupportedVersion: 1}}
	registered := []records.Record{&records.RegisterBrokerRecord{BrokerId: 4, BrokerEpoch: 40, Fenced: true, IncarnationId: record.UUIDFromHalves(4, 1), LogDirs: []record.UUID{theTopic}, Features: supports}}
	place := func(replicas, isr []int32, leader int32) []records.Record {
		var dirs []record.UUID
		for _, id := range replicas {
			dirs = append(dirs, record.UUIDFromHalves(uint64(id), 9))
		}
		return []records.Record{&records.TopicRecord{Name: "n", TopicId: record.UUIDFromHalves(8, 8)}, &records.PartitionRecord{TopicId: record.UUIDFromHalves(8, 8), Replicas: replicas, Isr: isr,
			Leader: leader, Directories: dirs}}
	}
	byHand := func(broker int32) controller.Op {
		return controller.Op{Kind: controller.CreateTopics, Request: &controller.CreateTopicsRequest{Topics: []controller.NewTopic{{Name: "n", Partitions: -1, ReplicationFactor: -1,
			Assignments: []controller.ReplicaAssignment{{Brokers: []int32{broker}}}}}}}
	}
	minInSync := "1"
	grow := controller.Op{Kind: controller.IncrementalAlterConfigs, Request: &controller.IncrementalAlterConfigsRequest{Resources: []controller.ResourceChange{{
		Resource: controller.ConfigResource{Type: image.TopicResource, Name: "t"}, Changes: []controller.ConfigChange{{Name: "min.insync.replicas", Operation: controller.ConfigAppend, Value: &minInSync}}}}}}
	rack := "r"
	inRack := []records.Record{&records.RegisterBrokerRecord{BrokerId: 4, BrokerEpoch: 40, Fenced: true, IncarnationId: record.UUIDFromHalves(4, 1), LogDirs: []record.UUID{theTopic}, Features: supports, Rack: &rack}}
	unfencedAtOnce := []records.Record{&records.RegisterBrokerRecord{BrokerId: 4, BrokerEpoch: 40, IncarnationId: record.UUIDFromHalves(4, 1), LogDirs: []record.UUID{theTopic}, Features: supports}}
	reply := func(epoch int64) controller.Result {
		return controller.Result{Offset: 5, Broker: controller.BrokerReply{BrokerEpoch: epoch}}
	}
	eligible := lower("eligible.leader.replicas.version", 1, controller.Upgrade)
	minimum := func(broker string) records.Record {
		one := "1"
		return &records.ConfigRecord{ResourceType: image.BrokerResource, ResourceName: broker, Name: "min.insync.replicas", Value: &one}
	}
	return []answersCase{
		{"a wish", wish(6, one), []records.Record{partitionChanged([]int32{1}, -2)}, written(wishResult(controller.None, 7, 1)), ""},
		{"a wish answered with what was", wish(6, one), []records.Record{partitionChanged([]int32{1}, -2)}, written(wishResult(controller.None, 6, 1, 2)), "partition"},
		{"an old partition epoch", wish(5, one), nil, said(wishResult(controller.InvalidUpdateVersion, 0)), ""},
		{"an old partition epoch is taken", wish(5, one), []records.Record{partitionChanged([]int32{1}, -2)}, written(wishResult(controller.None, 7, 1)), "row"},
		{"an epoch ahead", wish(7, one), nil, said(wishResult(controller.InvalidUpdateVersion, 0)), "row"},
		{"a fenced replica", wish(6, one, two, three), nil, said(wishResult(controller.IneligibleReplica, 0)), ""},
		{"a fenced replica is taken", wish(6, one, two, three), []records.Record{partitionChanged([]int32{1, 2, 3}, -2)}, written(wishResult(controller.None, 7, 1, 2, 3)), "row"},
		{"without the leader", wish(6, two), nil, said(wishResult(controller.None, 6, 1, 2)), "row"},
		{"a topic", create, created, written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), ""},
		{"a topic of another size", create, created, written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 2)), "topic"},
		{"a topic that is nowhere", create, nil, written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), "topic"},
		{"a topic that is there without being so", create, nil, said(topicResult("n", record.UUID{}, controller.TopicAlreadyExists, 0)), "reason"},
		{"a refused topic that is there", create, created, written(topicResult("n", record.UUID{}, controller.InvalidPartitions, 0)), "topic"},
		{"a topic that looks like no other", like("a.c"), likeMade("a.c"), written(topicResult("a.c", record.UUIDFromHalves(8, 8), controller.None, 1)), ""},
		{"a topic that looks like another", like("a_b"), likeMade("a_b"), written(topicResult("a_b", record.UUIDFromHalves(8, 8), controller.None, 1)), "collision"},
		{"a topic that looks like another is refused", like("a_b"), nil, said(topicResult("a_b", record.UUID{}, controller.InvalidTopicException, 0)), ""},
		{"a bad name is refused", like("a b"), nil, said(topicResult("a b", record.UUID{}, controller.InvalidTopicException, 0)), ""},
		{"a good name is refused", like("a_c"), nil, said(topicResult("a_c", record.UUID{}, controller.InvalidTopicException, 0)), "reason"},
		{"eligible replicas without a minimum", eligible, level("eligible.leader.replicas.version", 1), written(nil), "eligible"},
		{"eligible replicas beside a broker's own minimum", eligible, append(level("eligible.leader.replicas.version", 1), minimum(""), minimum("2")), written(nil), "eligible"},
		{"eligible replicas below their level", eligible, append(level("eligible.leader.replicas.version", 1), minimum("")), written(nil), "dependency"},
		{"a deletion", remove, []records.Record{&records.RemoveTopicRecord{TopicId: theTopic}}, written(topicResult("t", theTopic, controller.None, 1)), ""},
		{"a deletion that is none", remove, nil, written(topicResult("t", theTopic, controller.None, 1)), "topic"},
		{"a deletion refused", remove, nil, said(topicResult("t", record.UUID{}, controller.UnknownTopicOrPartition, 0)), "reason"},
		{"a block of ids", ids, next(6000), written(controller.ProducerIDBlock{First: 5000, Count: 1000}), ""},
		{"a block that others have", ids, next(6000), written(controller.ProducerIDBlock{First: 4000, Count: 1000}), "producer-ids"},
		{"a block that comes again", ids, next(5500), written(controller.ProducerIDBlock{First: 5000, Count: 1000}), "producer-ids"},
		{"an election", elect, nil, said(electResult(controller.ElectionNotNeeded)), ""},
		{"an election of nobody", elect, nil, said(electResult(controller.None)), "reason"},
		{"unfenced", caughtUp, unfenced, controller.Result{Offset: 5, Broker: controller.BrokerReply{BrokerEpoch: 30}}, ""},
		{"unfenced and told otherwise", beat, unfenced, controller.Result{Offset: 5, Broker: controller.BrokerReply{BrokerEpoch: 30, IsFenced: true}}, "heartbeat"},
		{"let in before it has read its registration", beat, unfenced, controller.Result{Offset: 5, Broker: controller.BrokerReply{BrokerEpoch: 30}}, "heartbeat"},
		{"fenced and told otherwise", beat, nil, beaten(controller.BrokerReply{BrokerEpoch: 30}), "heartbeat"},
		{"told that it has caught up, and has not", beat, nil, beaten(controller.BrokerReply{BrokerEpoch: 30, IsFenced: true, IsCaughtUp: true}), "heartbeat"},
		{"told to go without asking", beat, nil, beaten(controller.BrokerReply{IsFenced: true, ShouldShutDown: true}), "heartbeat"},
		{"a stale heartbeat that is none", beat, nil, code(controller.StaleBrokerEpoch), "reason"},
		{"a level lowered", lower("group.version", 0, controller.SafeDowngrade), level("group.version", 0), written(nil), ""},
		{"a level lowered as an upgrade", lower("group.version", 0, controller.Upgrade), level("group.version", 0), written(nil), "direction"},
		{"another level", lower("group.version", 0, controller.SafeDowngrade), nil, written(nil), "feature"},
		{"down where nothing changed", lower("metadata.version", 18, controller.SafeDowngrade), level("metadata.version", 18), written(nil), ""},
		{"down across a change", lower("metadata.version", 16, controller.SafeDowngrade), level("metadata.version", 16), written(nil), "downgrade"},
		{"down across a change, unsafe", lower("metadata.version", 16, controller.UnsafeDowngrade), level("metadata.version", 16), written(nil), "downgrade"},
		{"an appended configuration", add, config(&both), written([]controller.ConfigResult{{}}), ""},
		{"a configuration that is replaced", add, config(&text), written([]controller.ConfigResult{{}}), "config"},
		{"a registration", register, registered, reply(40), ""},
		{"a registration with another epoch", register, registered, reply(41), "registration"},
		{"a registration in another rack", register, inRack, reply(40), "registration"},
		{"a registration that is unfenced", register, unfencedAtOnce, reply(40), "registration"},
		{"placed on who is fenced", create, place([]int32{3}, nil, -1), written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), "placement"},
		{"placed on nobody", create, place([]int32{9}, []int32{9}, 9), written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), "placement"},
		{"in sync is nobody who is active", create, place([]int32{1}, []int32{}, -1), written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), "placement"},
		{"by hand, as asked for", byHand(2), place([]int32{2}, []int32{2}, 2), written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), ""},
		{"by hand, elsewhere", byHand(2), place([]int32{1}, []int32{1}, 1), written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), "topic"},
		{"by hand, on nobody", byHand(9), place([]int32{1}, []int32{1}, 1), written(topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)), "topic"},
		{"nothing is added to what is no list", grow, nil, code(controller.InvalidConfig), ""},
		{"something is added to what is no list", grow, nil, said([]controller.ConfigResult{{}}), "config"},
		{"a duplicate that is none", register, nil, code(controller.DuplicateBrokerRegistration), "reason"},
		{"unsupported without being so", register, nil, code(controller.UnsupportedVersion), "reason"},
		{"not the controller", create, nil, code(controller.NotController), "not-controller"},
		{"a change that nothing says", beat, unfenced, beaten(controller.BrokerReply{BrokerEpoch: 30}), "changed-unsaid"},
		{"before it is stable", create, created, controller.Result{Offset: 9, Answer: topicResult("n", record.UUIDFromHalves(8, 8), controller.None, 1)}, "unstable"},
		{"a refusal with an offset", create, nil, controller.Result{Code: controller.PolicyViolation, Offset: 5}, "refused-and-written"},
	}
}

// TestAnswersFollowFromTheMemory: each answer beside what the memory was and is.
func TestAnswersFollowFromTheMemory(t *testing.T) {
	for _, x := range answersCases() {
		t.Run(x.name, func(t *testing.T) {
			a, found := answersLab(1)
			before := cluster1(t)
			after := before
			if x.change != nil {
				after = imageOf(t, before, x.change...)
			}
			x.op.ID = 1
			s := &a.at[0]
			s.active, s.stable = true, 5
			s.pending = append(s.pending, pendingOperation{op: x.op, before: before, waits: -1})
			if x.result.Code == controller.None && x.result.Offset >= 0 {
				a.taken("c1", s, &OperationTaken{OpID: 1, Before: before, Image: after})
			} else if x.change != nil {
				s.pending[0].after = after
			}
			a.answered("c1", s, &OperationAnswered{OpID: 1, Offset: x.result.Offset, Result: x.result})
			if x.want == "" {
				require.Empty(t, *found)
				return
			}
			require.Len(t, *found, 1)
			require.Equal(t, x.want, strings.Fields((*found)[0])[0], (*found)[0])
		})
	}
}

// answersLab is a checker with some hosts, and what it reports.
func answersLab(hosts int) (*Answers, *[]string) {
	var found []string
	a := NewAnswers()
	counts := map[string]*int64{}
	a.reset(func(_, evidence, detail string) { found = append(found, evidence+" "+detail) }, func(name string) *int64 {
		counts[name] = new(int64)
		return counts[name]
	}, hosts)
	return a, &found
}

// TestAnswersInTime: once everything that an operation waits for is stable it is answered before anything else happens, and so it is when the
// controller renounces; nothing is answered twice.
func TestAnswersInTime(t *testing.T) {
	img := cluster1(t)
	begin := func(a *Answers) *answering {
		s := &a.at[0]
		a.event("c1", s, &controller.Event{Kind: controller.ControllerClaimed})
		s.pending = append(s.pending, pendingOperation{op: controller.Op{ID: 1, Kind: controller.DeleteTopics, Request: &controller.DeleteTopicsRequest{}}, before: img, waits: -1})
		a.event("c1", s, &controller.Event{Kind: controller.OpAppended, Offset: 8})
		a.taken("c1", s, &OperationTaken{OpID: 1, Before: img, Image: img})
		return s
	}
	answer := &OperationAnswered{OpID: 1, Offset: 8, Result: controller.Result{Offset: 8}}
	t.Run("in time", func(t *testing.T) {
		a, found := answersLab(1)
		s := begin(a)
		a.event("c1", s, &controller.Event{Kind: controller.Committed, Other: 7})
		a.event("c1", s, &controller.Event{Kind: controller.Committed, Other: 8})
		a.event("c1", s, &controller.Event{Kind: controller.OpDone})
		a.answered("c1", s, answer)
		a.event("c1", s, &controller.Event{Kind: controller.NoOpWritten, Offset: 9})
		require.Empty(t, *found)
	})
	t.Run("late", func(t *testing.T) {
		a, found := answersLab(1)
		s := begin(a)
		a.event("c1", s, &controller.Event{Kind: controller.Committed, Other: 8})
		a.event("c1", s, &controller.Event{Kind: controller.NoOpWritten, Offset: 9})
		a.event("c1", s, &controller.Event{Kind: controller.NoOpWritten, Offset: 10})
		require.Len(t, *found, 1)
		require.True(t, strings.HasPrefix((*found)[0], "late "), *found)
	})
	t.Run("left waiting", func(t *testing.T) {
		a, found := answersLab(1)
		s := begin(a)
		a.event("c1", s, &controller.Event{Kind: controller.Renounced})
		a.event("c1", s, &controller.Event{Kind: controller.Committed, Other: 7})
		require.Len(t, *found, 1)
		require.True(t, strings.HasPrefix((*found)[0], "left-waiting "), *found)
	})
	t.Run("refused when it renounces", func(t *testing.T) {
		a, found := answersLab(1)
		s := begin(a)
		a.answered("c1", s, &OperationAnswered{OpID: 1, Offset: -1, Result: controller.Result{Code: controller.NotController, Offset: -1}})
		a.event("c1", s, &controller.Event{Kind: controller.Renounced})
		a.event("c1", s, &controller.Event{Kind: controller.Committed, Other: 8})
		require.Empty(t, *found)
	})
	t.Run("twice", func(t *testing.T) {
		a, found := answersLab(1)
		s := begin(a)
		a.event("c1", s, &controller.Event{Kind: controller.Committed, Other: 8})
		a.answered("c1", s, answer)
		a.answered("c1", s, answer)
		require.Len(t, *found, 1)
		require.True(t, strings.HasPrefix((*found)[0], "unasked "), *found)
	})
	t.Run("a dead controller owes nothing", func(t *testing.T) {
		a, found := answersLab(1)
		begin(a)
		a.forget(0)
		a.event("c1", &a.at[0], &controller.Event{Kind: controller.Committed, Other: 20})
		require.Empty(t, *found)
	})
}

// TestAnswersOfReads: a read shows the last stable value, not one before it, and not one that is only committed.
func TestAnswersOfReads(t *testing.T) {
	for stable, want := range map[int64]string{-1: "", 0: "v0", 1: "v0", 2: "v2", 5: "v2"} {
		for _, value := range []string{"", "v0", "v2", "never"} {
			a, found := answersLab(1)
			for offset := range int64(3) {
				name, v := "x", fmt.Sprintf("v%d", offset)
				if offset == 1 {
					name = "y"
				}
				frame := records.Append(nil, &records.ConfigRecord{ResourceType: image.BrokerResource, Name: name, Value: &v}, 0)
				b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: offset, LeaderEpoch: 1}, frame)
				a.take(&raft.Batch{BaseOffset: offset, LastOffset: offset, Epoch: 1, Bytes: b})
			}
			s := &a.at[0]
			s.stable = stable
			s.pending = append(s.pending, pendingOperation{op: controller.Op{ID: 1, Kind: controller.ReadConfig, Name: "x"}, waits: -1})
			a.answered("c1", s, &OperationAnswered{OpID: 1, Offset: -1, Result: controller.Result{Offset: -1, Value: value, Found: value != ""}})
			require.Equal(t, value == want, len(*found) == 0, "stable %d, read %q: %v", stable, value, *found)
		}
	}
}

// goers is a lab in which broker 1 leaves, which stands at offset 8, and broker 2 is active.
type goers struct {
	a                   *Answers
	found               *[]string
	s                   *answering
	img, leaving, gone  *image.Image
	wants               *controller.BrokerHeartbeat
	next                int64
	fromTwo, goesAtOnce controller.BrokerReply
}

func newGoers(t *testing.T) *goers {
	t.Helper()
	a, found := answersLab(1)
	g := &goers{a: a, found: found, s: &a.at[0], img: imageOf(t, cluster1(t), partitionChanged([]int32{2}, 2))}
	g.leaving = imageOf(t, g.img, &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 10, InControlledShutdown: 1})
	g.gone = imageOf(t, g.leaving, &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 10, Fenced: 1})
	g.wants = &controller.BrokerHeartbeat{BrokerID: 1, BrokerEpoch: 10, CurrentMetadataOffset: 7, WantShutDown: true}
	g.fromTwo = controller.BrokerReply{BrokerEpoch: 20}
	g.goesAtOnce = controller.BrokerReply{BrokerEpoch: 10, IsFenced: true, ShouldShutDown: true}
	a.event("c1", g.s, &controller.Event{Kind: controller.ControllerClaimed})
	g.s.stable = 20
	g.answer(g.ask(g.wants, g.img, g.leaving), 8, controller.BrokerReply{BrokerEpoch: 10, InControlledShutdown: true})
	return g
}

// ask is a heartbeat that the controller works on; after is nil for one that it answers at once.
func (g *goers) ask(h *controller.BrokerHeartbeat, before, after *image.Image) (id int64) {
	g.next++
	g.a.asked(g.s, &OperationAsked{Op: controller.Op{ID: g.next, Kind: controller.Heartbeat, Heartbeat: h}, Image: before})
	if after != nil {
		g.a.taken("c1", g.s, &OperationTaken{OpID: g.next, Before: before, Image: after})
	}
	return g.next
}

func (g *goers) answer(id, offset int64, reply controller.BrokerReply) {
	g.a.answered("c1", g.s, &OperationAnswered{OpID: id, Offset: offset, Result: controller.Result{Offset: offset, Broker: reply}})
}

// two is a heartbeat of broker 2 that is answered at once.
func (g *goers) two(offset int64) {
	g.answer(g.ask(&controller.BrokerHeartbeat{BrokerID: 2, BrokerEpoch: 20, CurrentMetadataOffset: offset}, g.leaving, nil), -1, g.fromTwo)
}

// TestAnswersLetBrokersGo: a broker that had to wait is told to go when all active brokers have told that they saw its leaving, not before.
func TestAnswersLetBrokersGo(t *testing.T) {
	for told, want := range map[int64]bool{7: false, 8: true, 9: true} {
		g := newGoers(t)
		g.two(told)
		g.answer(g.ask(g.wants, g.leaving, g.gone), 9, g.goesAtOnce)
		require.Equal(t, want, len(*g.found) == 0, "told %d: %v", told, *g.found)
		if !want {
			require.True(t, strings.HasPrefix((*g.found)[0], "unseen "), *g.found)
		}
	}
}

// TestWhoGoesIsDecidedByWhatWasTold: what counts is what a broker told last when the controller came to the heartbeat of the one that leaves. The
// answer waits until it is stable, and what is told meanwhile says nothing of it: a broker may be fenced in that time, and its next heartbeat be one
// of a process that starts over.
func TestWhoGoesIsDecidedByWhatWasTold(t *testing.T) {
	t.Run("less behind the decision", func(t *testing.T) {
		g := newGoers(t)
		g.two(9)
		id := g.ask(g.wants, g.leaving, g.gone)
		g.two(3)
		g.answer(id, 9, g.goesAtOnce)
		require.Empty(t, *g.found)
	})
	t.Run("less before the decision", func(t *testing.T) {
		g := newGoers(t)
		g.two(9)
		g.two(3)
		g.answer(g.ask(g.wants, g.leaving, g.gone), 9, g.goesAtOnce)
		require.Len(t, *g.found, 1)
		require.True(t, strings.HasPrefix((*g.found)[0], "unseen "), *g.found)
	})
	t.Run("more behind the decision", func(t *testing.T) {
		g := newGoers(t)
		g.two(3)
		id := g.ask(g.wants, g.leaving, g.gone)
		g.two(9)
		g.answer(id, 9, g.goesAtOnce)
		require.Len(t, *g.found, 1)
	})
	t.Run("who registers again begins anew", func(t *testing.T) {
		g := newGoers(t)
		g.next++
		again := &controller.BrokerRegistration{BrokerID: 1}
		g.a.asked(g.s, &OperationAsked{Op: controller.Op{ID: g.next, Kind: controller.RegisterBroker, Broker: again}, Image: g.leaving})
		g.a.taken("c1", g.s, &OperationTaken{OpID: g.next, Before: g.leaving, Image: g.leaving})
		g.s.pending = g.s.pending[:0]
		g.answer(g.ask(g.wants, g.leaving, g.gone), 9, g.goesAtOnce)
		require.Empty(t, *g.found)
	})
	t.Run("and what it was told before it did is over", func(t *testing.T) {
		g := newGoers(t)
		g.s.reports = nil
		id := g.ask(g.wants, g.img, g.leaving)
		g.next++
		again := &controller.BrokerRegistration{BrokerID: 1}
		g.a.asked(g.s, &OperationAsked{Op: controller.Op{ID: g.next, Kind: controller.RegisterBroker, Broker: again}, Image: g.leaving})
		g.a.taken("c1", g.s, &OperationTaken{OpID: g.next, Before: g.leaving, Image: g.leaving})
		g.answer(id, 8, controller.BrokerReply{BrokerEpoch: 10, InControlledShutdown: true})
		g.answer(g.ask(g.wants, g.leaving, g.gone), 9, g.goesAtOnce)
		require.Empty(t, *g.found)
	})
	t.Run("who was fenced meanwhile has left its shutdown", func(t *testing.T) {
		g := newGoers(t)
		back := &controller.BrokerHeartbeat{BrokerID: 1, BrokerEpoch: 10, CurrentMetadataOffset: 20}
		g.answer(g.ask(back, g.gone, g.leaving), 9, controller.BrokerReply{BrokerEpoch: 10})
		g.answer(g.ask(g.wants, g.leaving, g.gone), 9, g.goesAtOnce)
		require.Empty(t, *g.found)
	})
	t.Run("a heartbeat that waited too long tells nothing", func(t *testing.T) {
		g := newGoers(t)
		g.two(9)
		id := g.ask(&controller.BrokerHeartbeat{BrokerID: 2, BrokerEpoch: 20, CurrentMetadataOffset: 3}, g.leaving, nil)
		g.a.answered("c1", g.s, &OperationAnswered{OpID: id, Offset: -1, Result: controller.Result{Code: controller.RequestTimedOut, Offset: -1}})
		g.answer(g.ask(g.wants, g.leaving, g.gone), 9, g.goesAtOnce)
		require.Empty(t, *g.found)
	})
}
