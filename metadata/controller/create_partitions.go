package controller

import (
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// MorePartitions asks for partitions of one topic.
type MorePartitions struct {
	Name        string
	Count       int32     // that it shall have then
	Assignments [][]int32 // of the new ones, in order; nil: the placer says
}

// CreatePartitionsRequest adds partitions to topics. It is answered with []TopicResult, in the order of the request; Partitions
// there says how many were added.
type CreatePartitionsRequest struct {
	Topics       []MorePartitions
	ValidateOnly bool
	Quota        *MutationQuota // nil: none
}

// Kind implements Request.
func (*CreatePartitionsRequest) Kind() OpKind { return CreatePartitions }

func (q *CreatePartitionsRequest) decide(c *Controller, _ int64) error {
	m := topicMaker{c: c, rules: rulesOf(c.timeline.image, &c.cfg.Defaults), random: c.drawSeed()}
	m.placer = newPlacer(m.rules.image, &m.random)
	results := make([]TopicResult, len(q.Topics))
	for i := range q.Topics {
		results[i].Name = q.Topics[i].Name
		before := len(m.records)
		if e := m.extend(q, i, &results[i]); e.failed() {
			m.records = m.records[:before]
			results[i].fail(e)
		}
		if int64(len(m.records)) > int64(c.cfg.MaxAtomicRecords) {
			break // refused as a whole
		}
	}
	c.conclude(m.records, results, q.ValidateOnly)
	return nil
}

func (m *topicMaker) extend(q *CreatePartitionsRequest, at int, result *TopicResult) answerError {
	t := &q.Topics[at]
	for i := range q.Topics {
		if i != at && q.Topics[i].Name == t.Name {
			return refusal(InvalidRequest, "topic %q is in the request more than once", t.Name)
		}
	}
	topic := m.rules.image.TopicByName(t.Name)
	if topic == nil {
		return refusal(UnknownTopicOrPartition, "there is no topic %q", t.Name)
	}
	have := m.rules.image.PartitionCount(topic.ID)
	switch {
	case t.Count == have:
		return refusal(InvalidPartitions, "topic %q has %d partitions already", t.Name, have)
	case t.Count < have:
		return refusal(InvalidPartitions, "topic %q has %d partitions, and %d are fewer", t.Name, have, t.Count)
	case t.Assignments != nil && int64(len(t.Assignments)) != int64(t.Count-have):
		return refusal(InvalidReplicaAssignment, "%d assignments for %d new partitions", len(t.Assignments), t.Count-have)
	case t.Count-have > m.c.cfg.MaxAtomicRecords:
		return refusal(InvalidPartitions, "%d new partitions in one request, the limit is %d", t.Count-have, m.c.cfg.MaxAtomicRecords)
	}
	if e := q.Quota.take(int64(t.Count - have)); e.failed() {
		return e
	}
	factor := 0
	for _, p := range m.rules.image.Partitions(topic.ID) {
		factor = len(p.Replicas)
		break
	}
	if t.Assignments == nil {
		if problem := m.placer.check(int16(factor)); problem != "" {
			return refusal(InvalidReplicationFactor, "no way to place %d replicas: %s", factor, problem)
		}
	}
	for number := have; number < t.Count; number++ {
		p, e := m.extra(t, topic.ID, number, have, factor)
		if e.failed() {
			return e
		}
		m.records = append(m.records, p)
	}
	result.ID, result.Partitions, result.ReplicationFactor = topic.ID, t.Count-have, int16(factor)
	return answerError{}
}

// extra makes one more partition of a topic that has some, with as many replicas as its first one has.
func (m *topicMaker) extra(t *MorePartitions, id record.UUID, number, have int32, factor int) (*records.PartitionRecord, answerError) {
	if t.Assignments == nil {
		return m.rules.newPartition(id, number, m.placer.place(int16(factor))), answerError{}
	}
	replicas := t.Assignments[number-have]
	if e := m.rules.checkReplicas(replicas, factor); e.failed() {
		return nil, e
	}
	p := m.rules.newPartition(id, number, replicas)
	if p == nil {
		return nil, noneActive(number)
	}
	return p, answerError{}
}
