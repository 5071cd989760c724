package invariants

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
)

// request judges the answers to typed requests.
func (j *judgement) request(request controller.Request) {
	switch q := request.(type) {
	case *controller.CreateTopicsRequest:
		j.created(q)
	case *controller.DeleteTopicsRequest:
		j.deleted()
	case *controller.CreatePartitionsRequest:
		j.extended(q)
	case *controller.AlterPartitionRequest:
		j.altered(q)
	case *controller.ElectLeadersRequest:
		j.elected(q)
	case *controller.AlterPartitionReassignmentsRequest:
		j.reassigned(q)
	case *controller.IncrementalAlterConfigsRequest:
		j.configs(q)
	case *controller.AllocateProducerIDsRequest:
		j.allocated(q)
	case *controller.AssignReplicasToDirsRequest:
		j.assigned(q)
	}
}

// assigned is KIP-858: a replica is where its broker says, and one in a directory that is offline is out of sync and leads nothing, unless it
// is the last one in sync, which stays without leading.
func (j *judgement) assigned(q *controller.AssignReplicasToDirsRequest) {
	b := j.before.Broker(q.BrokerID)
	stale := b == nil || b.Epoch != q.BrokerEpoch
	j.wrong(j.ok() && stale, "stale", "broker %d is not registered with epoch %d", q.BrokerID, q.BrokerEpoch)
	j.wrong(j.r.Code == controller.StaleBrokerEpoch && !stale, "reason", "broker %d is registered with epoch %d", q.BrokerID, q.BrokerEpoch)
	results, _ := j.r.Answer.([]controller.DirectoryResult)
	for i := range results {
		x := &results[i]
		old, now := j.before.Partition(x.Key.TopicID, x.Key.Partition), j.after.Partition(x.Key.TopicID, x.Key.Partition)
		at := -1
		if old != nil {
			at = slices.Index(old.Replicas, q.BrokerID)
		}
		switch x.Code {
		case controller.None:
			if j.wrong(at < 0 || now == nil, "reason", "broker %d has no replica", q.BrokerID); j.evidence != "" {
				return
			}
			is := slices.Index(now.Replicas, q.BrokerID) // -1 where the change ended a reassignment that it is no part of any more
			j.wrong(is >= 0 && now.Directories[is] != x.Directory, "directory", "the replica of broker %d is not in %s", q.BrokerID, x.Directory)
			offline := !slices.Contains(b.LogDirs, x.Directory)
			j.wrong(offline && now.Leader == q.BrokerID, "directory", "broker %d leads with a replica in %s, which is offline", q.BrokerID, x.Directory)
			j.wrong(offline && slices.Contains(now.Isr, q.BrokerID) && len(now.Isr) > 1, "directory", "broker %d is in sync with a replica in %s, which is offline", q.BrokerID, x.Directory)
			j.wrong(!offline && !slices.Equal(old.Isr, now.Isr), "directory", "%s is online, and the in-sync replicas have changed", x.Directory)
		case controller.NotLeaderOrFollower:
			j.wrong(at >= 0, "reason", "broker %d has a replica", q.BrokerID)
		case controller.UnknownTopicID, controller.UnknownTopicOrPartition:
			j.wrong(old != nil, "reason", "the partition is there")
		}
	}
}

// created is 7.6: a topic that was refused is not there, unless it was, and one that was made is there as the answer says.
func (j *judgement) created(q *controller.CreateTopicsRequest) {
	results, _ := j.r.Answer.([]controller.TopicResult)
	if q.Quota != nil { // what is left of it
		j.wrong(q.Quota.Partitions < 0, "quota", "%d partitions more than the quota allows are made", -q.Quota.Partitions)
	}
	for i := range results {
		x := &results[i]
		old, now := j.before.TopicByName(x.Name), j.after.TopicByName(x.Name)
		switch {
		case x.Code == controller.TopicAlreadyExists:
			j.wrong(old == nil, "reason", "topic %q was not there", x.Name)
		case x.Code == controller.InvalidTopicException:
			j.wrong(plainName(x.Name) && j.lookalike(x.Name) == "", "reason", "topic %q is a name like others, and no topic looks like it", x.Name)
			j.wrong(old == nil && now != nil, "topic", "topic %q is there, and was refused", x.Name)
		case x.Code == controller.None && (x.Name == "__cluster_metadata" || namedTwice(q.Topics, x.Name) || j.unevenly(&q.Topics[i])):
			j.wrong(true, "topic", "topic %q is made, and nobody may make that", x.Name)
		case x.Code == controller.None && j.lookalike(x.Name) != "":
			j.wrong(true, "collision", "topic %q is made beside %q: metrics show both under one name", x.Name, j.lookalike(x.Name))
		case x.Code == controller.None && q.ValidateOnly:
			j.wrong(old != nil || now != nil, "topic", "topic %q is there, and was only asked about", x.Name)
		case x.Code == controller.None:
			if j.wrong(old != nil || now == nil || now.ID != x.ID, "topic", "before, topic %q %s; now it %s", x.Name, isThere(old != nil), isThere(now != nil)); now == nil {
				return
			}
			count := j.after.PartitionCount(now.ID)
			j.wrong(count != x.Partitions, "topic", "topic %q has %d partitions, the answer says %d", x.Name, count, x.Partitions)
			j.wrong(q.Topics[i].Partitions > 0 && count != q.Topics[i].Partitions, "topic", "topic %q has %d partitions, asked for were %d", x.Name, count, q.Topics[i].Partitions)
			for n, p := range j.after.Partitions(now.ID) {
				j.wrong(len(p.Replicas) != int(x.ReplicationFactor), "topic", "partition %s-%d has %d replicas, the answer says %d", x.Name, n, len(p.Replicas), x.ReplicationFactor)
				j.placed(x.Name, n, p, assignmentOf(&q.Topics[i], n))
			}
			for _, c := range q.Topics[i].Configs {
				value, found := j.after.Config(image.ConfigKey{Type: image.TopicResource, Resource: x.Name, Name: c.Name})
				j.wrong(!found || value != *c.Value, "config", "%s of topic %q is %q, there %t, asked for was %q", c.Name, x.Name, value, found, *c.Value)
			}
		default:
			j.wrong(old == nil && now != nil, "topic", "topic %q is there, and was refused", x.Name)
		}
	}
}

// lookalike is a topic that was there and whose name differs by dots and underscores only, "" for none (metadata-bootstrap 7.6).
func (j *judgement) lookalike(name string) string {
	if !strings.ContainsAny(name, "._") {
		return ""
	}
	inMetrics := strings.ReplaceAll(name, ".", "_")
	for t := range j.before.Topics() {
		if t.Name != name && strings.ReplaceAll(t.Name, ".", "_") == inMetrics {
			return t.Name
		}
	}
	return ""
}

// plainName tells whether nothing is wrong with the name of a topic by itself.
func plainName(name string) bool {
	odd := strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	})
	return odd < 0 && name != "" && name != "." && name != ".." && len(name) <= 249
}

func namedTwice(topics []controller.NewTopic, name string) bool {
	n := 0
	for i := range topics {
		if topics[i].Name == name {
			n++
		}
	}
	return n > 1
}

func hasTwice(list []int32) bool {
	for i, id := range list {
		if slices.Contains(list[:i], id) {
			return true
		}
	}
	return false
}

// deleted: with a topic go its partitions and configurations.
func (j *judgement) deleted() {
	results, _ := j.r.Answer.([]controller.TopicResult)
	for i := range results {
		x := &results[i]
		old, now := j.before.TopicByID(x.ID), j.after.TopicByID(x.ID)
		switch x.Code {
		case controller.None:
			j.wrong(old == nil || now != nil || j.after.PartitionCount(x.ID) > 0, "topic", "before, topic %q %s; now it %s, with %s", x.Name, isThere(old != nil), isThere(now != nil),
				counted(int64(j.after.PartitionCount(x.ID)), "partition"))
			for name := range j.after.ConfigsOf(image.TopicResource, x.Name) {
				j.wrong(true, "config", "topic %q is deleted, and its %s is there", x.Name, name)
			}
		case controller.UnknownTopicID:
			j.wrong(old != nil, "reason", "topic %s is there", x.ID)
		case controller.UnknownTopicOrPartition:
			j.wrong(j.before.TopicByName(x.Name) != nil || x.Name == "", "reason", "topic %q is there, or was asked for by its id", x.Name)
		}
	}
}

func (j *judgement) extended(q *controller.CreatePartitionsRequest) {
	results, _ := j.r.Answer.([]controller.TopicResult)
	for i := range results {
		x := &results[i]
		t := j.before.TopicByName(x.Name)
		switch {
		case x.Code == controller.UnknownTopicOrPartition:
			j.wrong(t != nil, "reason", "topic %q is there", x.Name)
		case t == nil:
			j.wrong(x.Code == controller.None, "topic", "there is no topic %q", x.Name)
		case x.Code == controller.None && !q.ValidateOnly:
			count := j.after.PartitionCount(t.ID)
			j.wrong(count != q.Topics[i].Count, "topic", "topic %q has %d partitions, asked for were %d", x.Name, count, q.Topics[i].Count)
			have, first := j.before.PartitionCount(t.ID), j.before.Partition(t.ID, 0)
			for number := have; number < count; number++ {
				p := j.after.Partition(t.ID, number)
				j.wrong(first != nil && len(p.Replicas) != len(first.Replicas), "topic", "partition %s-%d has %d replicas, the first one %d", x.Name, number, len(p.Replicas),
					len(first.Replicas))
				var by []int32
				if list := q.Topics[i].Assignments; list != nil {
					by = list[number-have]
				}
				j.placed(x.Name, number, p, by)
			}
		default:
			was, is := j.before.PartitionCount(t.ID), j.after.PartitionCount(t.ID)
			j.wrong(was != is, "topic", "topic %q has %d partitions, it had %d", x.Name, is, was)
		}
	}
}

// altered is 7.7: the rows in their order, worked out from what the memory was.
func (j *judgement) altered(q *controller.AlterPartitionRequest) {
	b := j.before.Broker(q.BrokerID)
	stale := b == nil || b.Epoch != q.BrokerEpoch
	j.wrong(j.ok() && stale, "stale", "broker %d is not registered with epoch %d", q.BrokerID, q.BrokerEpoch)
	j.wrong(j.r.Code == controller.StaleBrokerEpoch && !stale, "reason", "broker %d is registered with epoch %d", q.BrokerID, q.BrokerEpoch)
	results, _ := j.r.Answer.([]controller.PartitionResult)
	for i := range results {
		x, w := &results[i], &q.Partitions[i]
		want := j.rowOf(q.BrokerID, w)
		got := x.Code
		if got == controller.NewLeaderElected {
			got = controller.None
		}
		j.wrong(got != want, "row", "partition %s-%d: %v, and by the table %v", w.Key.TopicID, w.Key.Partition, x.Code, want)
		if want != controller.None {
			continue
		}
		p := j.after.Partition(w.Key.TopicID, w.Key.Partition)
		j.wrong(p == nil || p.Leader != x.Leader || p.LeaderEpoch != x.LeaderEpoch || p.PartitionEpoch != x.PartitionEpoch || !slices.Equal(p.Isr, x.Isr) ||
			p.Recovering != x.Recovering, "partition", "partition %s-%d is not as the answer says: %s", w.Key.TopicID, w.Key.Partition, describePartition(p))
		j.wrong(x.Code == controller.NewLeaderElected && x.Leader == q.BrokerID, "partition", "a new leader is told, and it is who asked")
	}
}

// rowOf is the first row of 7.7 that applies to a wish, None when nothing speaks against it.
func (j *judgement) rowOf(sender int32, w *controller.PartitionWish) controller.ErrorCode {
	p := j.before.Partition(w.Key.TopicID, w.Key.Partition)
	switch {
	case j.before.TopicByID(w.Key.TopicID) == nil:
		return controller.UnknownTopicID
	case p == nil:
		return controller.UnknownTopicOrPartition
	case w.LeaderEpoch > p.LeaderEpoch || w.PartitionEpoch > p.PartitionEpoch:
		return controller.NotController
	case w.LeaderEpoch < p.LeaderEpoch:
		return controller.FencedLeaderEpoch
	case sender != p.Leader:
		return controller.InvalidRequest
	case w.PartitionEpoch < p.PartitionEpoch:
		return controller.InvalidUpdateVersion
	}
	var ids []int32
	for _, r := range w.Isr {
		if slices.Contains(ids, r.BrokerID) || !slices.Contains(p.Replicas, r.BrokerID) {
			return controller.InvalidRequest
		}
		ids = append(ids, r.BrokerID)
	}
	if !slices.Contains(ids, p.Leader) || w.Recovering && (len(ids) > 1 || !p.Recovering) {
		return controller.InvalidRequest
	}
	for _, r := range w.Isr {
		if b := j.before.Broker(r.BrokerID); b == nil || !b.Active() || r.Epoch != -1 && r.Epoch != b.Epoch {
			return controller.IneligibleReplica
		}
	}
	return controller.None
}

// elected is 7.8: who is told that an election took place finds a change in the partition. It may be another one than the leader: the change
// that an election makes says whatever else is due, such as who is eligible, and Kafka answers NONE then too.
func (j *judgement) elected(q *controller.ElectLeadersRequest) {
	results, _ := j.r.Answer.([]controller.ElectionResult)
	for i := range results {
		x := &results[i]
		t := j.before.TopicByName(x.Topic)
		if t == nil {
			j.wrong(x.Code != controller.UnknownTopicOrPartition, "reason", "there is no topic %q", x.Topic)
			continue
		}
		old, now := j.before.Partition(t.ID, x.Partition), j.after.Partition(t.ID, x.Partition)
		if old == nil {
			j.wrong(x.Code != controller.UnknownTopicOrPartition, "reason", "there is no partition %s-%d", x.Topic, x.Partition)
			continue
		}
		needed := !old.HasLeader()
		if q.Type == controller.PreferredElection {
			needed = old.Leader != old.Replicas[0]
		}
		j.wrong(needed == (x.Code == controller.ElectionNotNeeded), "reason", "partition %s-%d needs an election: %t", x.Topic, x.Partition, needed)
		j.wrong(x.Code == controller.None && now.PartitionEpoch == old.PartitionEpoch, "election", "partition %s-%d is as it was, led by %d", x.Topic, x.Partition, now.Leader)
		j.wrong(x.Code != controller.None && now.PartitionEpoch != old.PartitionEpoch, "election", "partition %s-%d has changed, and the election was refused", x.Topic, x.Partition)
		clean := slices.Contains(old.Isr, now.Leader) || slices.Contains(old.Elr, now.Leader)
		j.wrong(now.Leader != old.Leader && now.HasLeader() && !clean && !now.Recovering && j.before.MetadataVersion() >= 4, "election",
			"partition %s-%d got leader %d, which was not in sync, and is not recovering", x.Topic, x.Partition, now.Leader)
	}
}

// reassigned is KIP-455: what stays and what comes is what was asked for.
func (j *judgement) reassigned(q *controller.AlterPartitionReassignmentsRequest) {
	results, _ := j.r.Answer.([]controller.ElectionResult)
	for i := range results {
		x, a := &results[i], &q.Partitions[i]
		t := j.before.TopicByName(x.Topic)
		var old, now *image.Partition
		if t != nil {
			old, now = j.before.Partition(t.ID, x.Partition), j.after.Partition(t.ID, x.Partition)
		}
		if old == nil || now == nil {
			j.wrong(x.Code != controller.UnknownTopicOrPartition, "reason", "there is no partition %s-%d", x.Topic, x.Partition)
			continue
		}
		moving := len(old.AddingReplicas)+len(old.RemovingReplicas) > 0
		switch {
		case x.Code == controller.NoReassignmentInProgress:
			j.wrong(moving || a.Replicas != nil, "reason", "partition %s-%d moves: %t", x.Topic, x.Partition, moving)
		case x.Code != controller.None:
			j.wrong(now.PartitionEpoch != old.PartitionEpoch, "reassignment", "partition %s-%d has changed, and the move was refused", x.Topic, x.Partition)
		case a.Replicas == nil:
			j.wrong(!moving || len(now.AddingReplicas)+len(now.RemovingReplicas) > 0, "reassignment", "partition %s-%d moves still", x.Topic, x.Partition)
			j.takenBack(x, t.Name, old, now)
		default:
			stay := slices.DeleteFunc(slices.Clone(now.Replicas), func(id int32) bool { return slices.Contains(now.RemovingReplicas, id) })
			j.wrong(!slices.Equal(stay, a.Replicas), "reassignment", "partition %s-%d goes to %v, asked for was %v", x.Topic, x.Partition, stay, a.Replicas)
			j.wrong(j.impossible(a.Replicas), "reassignment", "partition %s-%d goes to %v: a broker twice, or one that is not registered", x.Topic, x.Partition, a.Replicas)
			j.wrong(len(now.RemovingReplicas) > 0 && !slices.Equal(now.Replicas[:len(stay)], stay), "reassignment", "partition %s-%d is on %v: those to go are not the last", x.Topic,
				x.Partition, now.Replicas)
		}
	}
}

// takenBack: the replicas are those from before the move, in their order. Where nobody of them was in sync, and somebody was, the first one
// counts as such by decree, which takes an unclean election (KIP-455).
func (j *judgement) takenBack(x *controller.ElectionResult, topic string, old, now *image.Partition) {
	stay := slices.DeleteFunc(slices.Clone(old.Replicas), func(id int32) bool { return slices.Contains(old.AddingReplicas, id) })
	j.wrong(!slices.Equal(now.Replicas, stay), "reassignment", "partition %s-%d is on %v, before the move it was on %v", x.Topic, x.Partition, now.Replicas, stay)
	left := slices.ContainsFunc(old.Isr, func(id int32) bool { return !slices.Contains(old.AddingReplicas, id) })
	j.wrong(!left && len(old.Isr) > 0 && !uncleanly(j.before, topic), "reassignment", "partition %s-%d has nobody in sync without the move, and no unclean election is allowed",
		x.Topic, x.Partition)
}

// uncleanly is unclean.leader.election.enable of a topic, else of all brokers. No controller of a run has it in its own configuration.
func uncleanly(img *image.Image, topic string) bool {
	value, found := img.Config(image.ConfigKey{Type: image.TopicResource, Resource: topic, Name: "unclean.leader.election.enable"})
	if !found {
		value, _ = img.Config(image.ConfigKey{Type: image.BrokerResource, Name: "unclean.leader.election.enable"})
	}
	return value == "true"
}

// allocated is KIP-730: a block begins where the one before ended, and nobody else gets it.
func (j *judgement) allocated(q *controller.AllocateProducerIDsRequest) {
	b := j.before.Broker(q.BrokerID)
	stale := b == nil || b.Epoch != q.BrokerEpoch
	j.wrong(j.r.Code == controller.StaleBrokerEpoch && !stale, "reason", "broker %d is registered with epoch %d", q.BrokerID, q.BrokerEpoch)
	block, ok := j.r.Answer.(controller.ProducerIDBlock)
	if !j.ok() || !ok {
		return
	}
	j.wrong(stale, "stale", "broker %d is not registered with epoch %d", q.BrokerID, q.BrokerEpoch)
	first, next := max(0, j.before.NextProducerID()), j.after.NextProducerID()
	j.wrong(block.First != first || next != first+int64(block.Count) || block.Count <= 0, "producer-ids", "%d ids from %d, the next ones were %d and are %d", block.Count, block.First,
		first, next)
}
