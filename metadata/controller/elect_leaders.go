package controller

import (
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// The election types of ElectLeaders; every other number is answered INVALID_REQUEST.
const (
	PreferredElection int8 = 0
	UncleanElection   int8 = 1
)

// TopicPartition names a partition as clients do.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// ElectLeadersRequest elects leaders for some partitions, or for all (KIP-460). It is answered with []ElectionResult, in the order
// of the request; of all partitions those that needed none are left out.
type ElectLeadersRequest struct {
	Type       int8
	All        bool
	Partitions []TopicPartition
}

// ElectionResult is what came of one partition.
type ElectionResult struct {
	TopicPartition
	Code    ErrorCode
	Message string
}

// Kind implements Request.
func (*ElectLeadersRequest) Kind() OpKind { return ElectLeaders }

func (q *ElectLeadersRequest) decide(c *Controller, _ int64) error {
	if q.Type != PreferredElection && q.Type != UncleanElection {
		c.outcome.fail(InvalidRequest, "the election type is neither 0 (preferred) nor 1 (unclean)")
		return nil
	}
	rules := rulesOf(c.timeline.image, &c.cfg.Defaults)
	var results []ElectionResult
	var list []records.Record
	one := func(tp TopicPartition, t *image.Topic, p *image.Partition) {
		result := ElectionResult{TopicPartition: tp}
		m, e := rules.electFor(q.Type, tp, t, p)
		result.Code, result.Message = e.Code, e.Message
		if m != nil {
			list = append(list, m)
		}
		if !q.All || e.Code != ElectionNotNeeded {
			results = append(results, result)
		}
	}
	c.outcome.atomic = false
	if !q.All {
		for _, tp := range q.Partitions {
			t := rules.image.TopicByName(tp.Topic)
			var p *image.Partition
			if t != nil {
				p = rules.image.Partition(t.ID, tp.Partition)
			}
			one(tp, t, p)
		}
		c.conclude(list, results, false)
		return nil
	}
	for t := range rules.image.Topics() {
		for number, p := range rules.image.Partitions(t.ID) {
			one(TopicPartition{t.Name, number}, t, p)
		}
	}
	c.conclude(list, results, false)
	return nil
}

// electFor makes the record of one election that was asked for.
func (r *partitionRules) electFor(kind int8, tp TopicPartition, t *image.Topic, p *image.Partition) (*records.PartitionChangeRecord, answerError) {
	if p == nil {
		return nil, refusal(UnknownTopicOrPartition, "there is no partition %s-%d", tp.Topic, tp.Partition)
	}
	if kind == PreferredElection && p.Leader == p.Replicas[0] || kind == UncleanElection && p.HasLeader() {
		return nil, answerError{ElectionNotNeeded, "the partition has the leader that it should have"}
	}
	change := r.changeOf(image.PartitionKey{TopicID: t.ID, Partition: tp.Partition}, t.Name, p)
	if change.election = preferredElection; kind == UncleanElection {
		change.election = uncleanElection
	}
	m := change.record()
	switch {
	case m != nil:
		return m, answerError{}
	case kind == PreferredElection:
		return nil, answerError{PreferredLeaderNotAvailable, "the preferred leader is not in sync, or not there"}
	}
	return nil, answerError{EligibleLeadersNotAvailable, "no replica is there to lead"}
}
