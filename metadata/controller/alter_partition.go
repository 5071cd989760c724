package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// anyEpoch is the broker epoch of an in-sync replica whose leader does not know it: nothing to compare (KIP-903).
const anyEpoch int64 = -1

// AlterPartitionRequest is the wish of a leader to change in-sync replicas (metadata-bootstrap 7.7). It is answered with
// []PartitionResult, in the order of the request. A stale broker epoch refuses all of it.
type AlterPartitionRequest struct {
	BrokerID    int32
	BrokerEpoch int64
	Partitions  []PartitionWish
}

// PartitionWish is what a leader wants of one partition.
type PartitionWish struct {
	Key            image.PartitionKey
	LeaderEpoch    int32
	PartitionEpoch int32
	Isr            []InSyncReplica
	Recovering     bool // the leader has not worked off an unclean election
}

// InSyncReplica is a broker in the incarnation that the leader knows it in; Epoch -1 for any.
type InSyncReplica struct {
	BrokerID int32
	Epoch    int64
}

// PartitionResult is what came of the wish for one partition. The state is that after the change, given without error and with
// NEW_LEADER_ELECTED.
type PartitionResult struct {
	Key            image.PartitionKey
	Code           ErrorCode
	Message        string
	Leader         int32
	LeaderEpoch    int32
	PartitionEpoch int32
	Isr            []int32
	Recovering     bool
}

func (r *PartitionResult) fail(e answerError) { r.Code, r.Message = e.Code, e.Message }

// Kind implements Request.
func (*AlterPartitionRequest) Kind() OpKind { return AlterPartition }

func (q *AlterPartitionRequest) decide(c *Controller, _ int64) error {
	rules := rulesOf(c.timeline.image, &c.cfg.Defaults)
	if b := rules.image.Broker(q.BrokerID); b == nil || b.Epoch != q.BrokerEpoch {
		c.outcome.fail(StaleBrokerEpoch, "the epoch of the broker is not that of its registration")
		return nil
	}
	c.outcome.atomic = false
	results := make([]PartitionResult, len(q.Partitions))
	var list []records.Record
	for i := range q.Partitions {
		w, r := &q.Partitions[i], &results[i]
		r.Key, r.Leader = w.Key, image.NoLeader
		p, e := rules.partition(w.Key)
		if !e.failed() {
			e = rules.checkWish(q.BrokerID, p, w)
		}
		if e.failed() {
			r.fail(e)
			continue
		}
		change := rules.changeOf(w.Key, topicName(rules.image, w.Key), p)
		change.isr, change.recovered = w.brokers(), !w.Recovering
		if m := change.record(); m != nil {
			list = append(list, m)
			r.after(p, m)
			if r.Leader != q.BrokerID { // the change ended a reassignment that the leader is no part of any more
				r.fail(refusal(NewLeaderElected, "the change made broker %d the leader", r.Leader))
			}
			continue
		}
		r.now(p)
	}
	c.conclude(list, results, false)
	return nil
}

// partition looks a partition up by its topic's id.
func (r *partitionRules) partition(key image.PartitionKey) (*image.Partition, answerError) {
	if r.image.TopicByID(key.TopicID) == nil {
		return nil, refusal(UnknownTopicID, "there is no topic with id %s", key.TopicID)
	}
	p := r.image.Partition(key.TopicID, key.Partition)
	if p == nil {
		return nil, refusal(UnknownTopicOrPartition, "topic %s has no partition %d", key.TopicID, key.Partition)
	}
	return p, answerError{}
}

func (w *PartitionWish) brokers() []int32 {
	list := make([]int32, len(w.Isr))
	for i := range w.Isr {
		list[i] = w.Isr[i].BrokerID
	}
	return list
}

// checkWish is rows 3 to 8 of 7.7.
func (r *partitionRules) checkWish(sender int32, p *image.Partition, w *PartitionWish) answerError {
	switch {
	case w.LeaderEpoch > p.LeaderEpoch || w.PartitionEpoch > p.PartitionEpoch:
		return refusal(NotController, "epochs %d and %d are ahead of %d and %d: somebody else is the controller", w.LeaderEpoch,
			w.PartitionEpoch, p.LeaderEpoch, p.PartitionEpoch)
	case w.LeaderEpoch < p.LeaderEpoch:
		return refusal(FencedLeaderEpoch, "leader epoch %d is below %d", w.LeaderEpoch, p.LeaderEpoch)
	case sender != p.Leader:
		return refusal(InvalidRequest, "broker %d asks, the leader is %d", sender, p.Leader)
	case w.PartitionEpoch < p.PartitionEpoch:
		return refusal(InvalidUpdateVersion, "partition epoch %d is below %d", w.PartitionEpoch, p.PartitionEpoch)
	}
	leads := false
	for i := range w.Isr {
		id := w.Isr[i].BrokerID
		leads = leads || id == p.Leader
		again := slices.ContainsFunc(w.Isr[:i], func(other InSyncReplica) bool { return other.BrokerID == id })
		if again || !slices.Contains(p.Replicas, id) {
			return refusal(InvalidRequest, "broker %d is twice in the in-sync replicas, or not a replica", id)
		}
	}
	switch {
	case !leads:
		return refusal(InvalidRequest, "the in-sync replicas lack the leader %d", p.Leader)
	case w.Recovering && len(w.Isr) > 1:
		return refusal(InvalidRequest, "%d in-sync replicas while the leader is recovering", len(w.Isr))
	case w.Recovering && !p.Recovering:
		return refusal(InvalidRequest, "the partition is recovered, and can't be recovering again without an election")
	}
	for i := range w.Isr {
		if problem := r.ineligible(&w.Isr[i]); problem != "" {
			return refusal(IneligibleReplica, "broker %d %s", w.Isr[i].BrokerID, problem)
		}
	}
	return answerError{}
}

// ineligible says why a broker may not be in sync, "" if it may. What counts is its registration now, not the one that the
// leader fetched from (KAFKA-14139).
func (r *partitionRules) ineligible(replica *InSyncReplica) string {
	b := r.image.Broker(replica.BrokerID)
	switch {
	case b == nil:
		return "is not registered"
	case b.InControlledShutdown:
		return "is in controlled shutdown"
	case b.Fenced:
		return "is fenced"
	case replica.Epoch != anyEpoch && replica.Epoch != b.Epoch:
		return "has registered again since"
	}
	return ""
}

// now is the state of a partition as it is.
func (r *PartitionResult) now(p *image.Partition) {
	r.Leader, r.LeaderEpoch, r.PartitionEpoch, r.Isr, r.Recovering = p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.Isr, p.Recovering
}

// after is the state of a partition once m took effect.
func (r *PartitionResult) after(p *image.Partition, m *records.PartitionChangeRecord) {
	r.now(p)
	r.PartitionEpoch++
	if m.Leader != unchangedLeader {
		r.Leader = m.Leader
		r.LeaderEpoch++
	}
	if m.Isr != nil {
		r.Isr = m.Isr
	}
	if m.LeaderRecoveryState >= 0 {
		r.Recovering = m.LeaderRecoveryState == 1
	}
}
