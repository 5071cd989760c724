package controller

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// maxPartitionsPerRequest bounds what one CreateTopics asks for (KAFKA-14204).
const maxPartitionsPerRequest = 10000

// MutationQuota is what controller_mutation_rate still allows somebody. The nil quota allows everything.
type MutationQuota struct {
	Partitions int64 // to be created or deleted
}

// take says why so many mutations may not be, and takes them off otherwise.
func (q *MutationQuota) take(n int64) (e answerError) {
	if q == nil {
		return e
	}
	if n > q.Partitions {
		return refusal(ThrottlingQuotaExceeded, "the quota of partition mutations is exceeded")
	}
	q.Partitions -= n
	return e
}

// TopicPolicy is the operator's create.topic.policy.class.name.
type TopicPolicy interface {
	// CheckTopic returns why a topic may not be made, nil for nothing. It decides by its arguments alone.
	CheckTopic(name string, partitions int32, replicationFactor int16) error
}

// ReplicaAssignment is where an operator wants one partition.
type ReplicaAssignment struct {
	Partition int32
	Brokers   []int32
}

// NewTopic asks for one topic.
type NewTopic struct {
	Name              string
	Partitions        int32 // -1: the default, or the assignments say
	ReplicationFactor int16 // -1: the same
	Assignments       []ReplicaAssignment
	Configs           []ConfigEntry
}

// ConfigEntry is one configuration of a new topic.
type ConfigEntry struct {
	Name  string
	Value *string
}

// CreateTopicsRequest creates topics (metadata-bootstrap 7.6). Those that are refused do not stop the others. It is answered
// with []TopicResult, in the order of the request.
type CreateTopicsRequest struct {
	Topics       []NewTopic
	ValidateOnly bool
	Quota        *MutationQuota // nil: none
}

// Kind implements Request.
func (*CreateTopicsRequest) Kind() OpKind { return CreateTopics }

// TopicResult is what came of one topic.
type TopicResult struct {
	Name              string
	ID                record.UUID
	Code              ErrorCode
	Message           string
	Partitions        int32 // created ones
	ReplicationFactor int16
}

func (r *TopicResult) fail(e answerError) { r.Code, r.Message = e.Code, e.Message }

// topicMaker makes the records of the topics of one request.
type topicMaker struct {
	c       *Controller
	request *CreateTopicsRequest
	rules   partitionRules
	random  generator
	placer  placer
	records []records.Record
}

func (q *CreateTopicsRequest) decide(c *Controller, _ int64) error {
	total := int64(0)
	for i := range q.Topics {
		t := &q.Topics[i]
		switch {
		case len(t.Assignments) > 0:
			total += int64(len(t.Assignments))
		case t.Partitions == -1:
			total += int64(c.cfg.Defaults.Partitions)
		default:
			total += max(0, int64(t.Partitions))
		}
	}
	if total > maxPartitionsPerRequest {
		c.outcome.fail(PolicyViolation, fmt.Sprintf("%d partitions in one request, the limit is %d", total, maxPartitionsPerRequest))
		return nil
	}
	m := topicMaker{c: c, request: q, rules: rulesOf(c.timeline.image, &c.cfg.Defaults), random: c.drawSeed()}
	m.placer = newPlacer(m.rules.image, &m.random)
	results := make([]TopicResult, len(q.Topics))
	for i := range q.Topics {
		results[i].Name = q.Topics[i].Name
		if e := m.checkName(i); e.failed() {
			results[i].fail(e)
			continue
		}
		before := len(m.records)
		if e := m.make(&q.Topics[i], &results[i]); e.failed() {
			m.records = m.records[:before]
			results[i] = TopicResult{Name: q.Topics[i].Name, Code: e.Code, Message: e.Message}
		}
	}
	c.conclude(m.records, results, q.ValidateOnly)
	return nil
}

// checkName is the first part of 7.6: the name itself, one that looks the same, one that is there.
func (m *topicMaker) checkName(at int) answerError {
	name := m.request.Topics[at].Name
	for i := range m.request.Topics {
		if i != at && m.request.Topics[i].Name == name {
			return refusal(InvalidRequest, "topic %q is in the request more than once", name)
		}
	}
	if name == clusterMetadataTopic {
		return refusal(InvalidRequest, "no client may create topic %q", name)
	}
	if problem := checkTopicName(name); problem != "" {
		return answerError{InvalidTopicException, problem}
	}
	if m.rules.image.TopicByName(name) != nil {
		return refusal(TopicAlreadyExists, "topic %q is there already", name)
	}
	if other := collidingTopic(m.rules.image, name); other != "" {
		return refusal(InvalidTopicException, "topic %q can't be told from the existing %q in metrics", name, other)
	}
	return answerError{}
}

// make is the second part of 7.6: one TopicRecord, its configurations, its partitions.
func (m *topicMaker) make(t *NewTopic, result *TopicResult) answerError {
	for i := range t.Configs {
		if t.Configs[i].Value == nil {
			return refusal(InvalidConfig, "configuration %q of a new topic has no value", t.Configs[i].Name)
		}
	}
	for i := range t.Configs {
		if problem := checkSetting(t.Configs[i].Name, t.Configs[i].Value); problem != "" {
			return answerError{InvalidConfig, problem}
		}
	}
	id := m.newID()
	partitions, e := m.assign(t, id)
	if e.failed() {
		return e
	}
	count, factor := int32(len(partitions)), int16(len(partitions[0].Replicas))
	if policy := m.c.deps.Policy; policy != nil {
		if err := policy.CheckTopic(t.Name, count, factor); err != nil {
			return answerError{PolicyViolation, err.Error()}
		}
	}
	if e := m.request.Quota.take(int64(count)); e.failed() {
		return e
	}
	m.records = append(m.records, &records.TopicRecord{Name: t.Name, TopicId: id})
	for i := range t.Configs {
		m.records = append(m.records, &records.ConfigRecord{
			ResourceType: image.TopicResource, ResourceName: t.Name, Name: t.Configs[i].Name, Value: t.Configs[i].Value,
		})
	}
	for _, p := range partitions {
		m.records = append(m.records, p)
	}
	result.ID, result.Partitions, result.ReplicationFactor = id, count, factor
	return answerError{}
}

func (m *topicMaker) newID() record.UUID {
	for {
		if id := m.random.uuid(); m.rules.image.TopicByID(id) == nil {
			return id
		}
	}
}

// assign places the partitions of a topic: as the operator says, else where the placer says.
func (m *topicMaker) assign(t *NewTopic, id record.UUID) ([]*records.PartitionRecord, answerError) {
	switch {
	case len(t.Assignments) > 0:
		return m.assignManually(t, id)
	case t.ReplicationFactor == 0 || t.ReplicationFactor < -1:
		return nil, refusal(InvalidReplicationFactor, "replication factor %d is neither positive nor -1", t.ReplicationFactor)
	case t.Partitions == 0 || t.Partitions < -1:
		return nil, refusal(InvalidPartitions, "number of partitions %d is neither positive nor -1", t.Partitions)
	}
	count, factor := t.Partitions, t.ReplicationFactor
	if count == -1 {
		count = m.c.cfg.Defaults.Partitions
	}
	if factor == -1 {
		factor = m.c.cfg.Defaults.ReplicationFactor
	}
	if problem := m.placer.check(factor); problem != "" {
		return nil, refusal(InvalidReplicationFactor, "no way to place %d replicas: %s", factor, problem)
	}
	list := make([]*records.PartitionRecord, 0, count)
	for number := range count {
		list = append(list, m.rules.newPartition(id, number, m.placer.place(factor)))
	}
	return list, answerError{}
}

func (m *topicMaker) assignManually(t *NewTopic, id record.UUID) ([]*records.PartitionRecord, answerError) {
	if t.ReplicationFactor != -1 {
		return nil, refusal(InvalidRequest, "a manual assignment and replication factor %d, which must be -1 then", t.ReplicationFactor)
	}
	if t.Partitions != -1 {
		return nil, refusal(InvalidRequest, "a manual assignment and %d partitions, which must be -1 then", t.Partitions)
	}
	list, same := make([]*records.PartitionRecord, len(t.Assignments)), 0
	for i := range t.Assignments {
		a := &t.Assignments[i]
		if a.Partition < 0 || int(a.Partition) >= len(list) || list[a.Partition] != nil {
			return nil, refusal(InvalidReplicaAssignment, "the manual assignment must have each partition from 0 to %d once, and has %d",
				len(list)-1, a.Partition)
		}
		if e := m.rules.checkReplicas(a.Brokers, same); e.failed() {
			return nil, e
		}
		same = len(a.Brokers)
		if list[a.Partition] = m.rules.newPartition(id, a.Partition, a.Brokers); list[a.Partition] == nil {
			return nil, noneActive(a.Partition)
		}
	}
	return list, answerError{}
}
