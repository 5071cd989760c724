package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// Reassignment moves one partition to other replicas, or with nil takes the move that goes on back.
type Reassignment struct {
	TopicPartition
	Replicas []int32 // in the order of preference; nil: cancel
}

// AlterPartitionReassignmentsRequest moves partitions (KIP-455). It is answered with []ElectionResult, in the order of the
// request. A move ends with the AlterPartition that brings the last new replica into sync.
type AlterPartitionReassignmentsRequest struct {
	Partitions []Reassignment
}

// Kind implements Request.
func (*AlterPartitionReassignmentsRequest) Kind() OpKind { return AlterPartitionReassignments }

func (q *AlterPartitionReassignmentsRequest) decide(c *Controller, _ int64) error {
	rules := rulesOf(c.timeline.image, &c.cfg.Defaults)
	results := make([]ElectionResult, len(q.Partitions))
	var list []records.Record
	for i := range q.Partitions {
		a := &q.Partitions[i]
		m, e := rules.reassign(a)
		results[i] = ElectionResult{TopicPartition: a.TopicPartition, Code: e.Code, Message: e.Message}
		if m != nil {
			list = append(list, m)
		}
	}
	c.conclude(list, results, false)
	return nil
}

func (r *partitionRules) reassign(a *Reassignment) (*records.PartitionChangeRecord, answerError) {
	t := r.image.TopicByName(a.Topic)
	if t == nil {
		return nil, refusal(UnknownTopicOrPartition, "there is no topic %q", a.Topic)
	}
	p := r.image.Partition(t.ID, a.Partition)
	if p == nil {
		return nil, refusal(UnknownTopicOrPartition, "topic %q has no partition %d", a.Topic, a.Partition)
	}
	change := r.changeOf(image.PartitionKey{TopicID: t.ID, Partition: a.Partition}, t.Name, p)
	var e answerError
	if a.Replicas == nil {
		e = change.cancelReassignment()
	} else {
		e = change.reassign(a.Replicas)
	}
	if e.failed() {
		return nil, e
	}
	return change.record(), e
}

// reassign wants other replicas: those to come stand first, in the order asked for, then those to go, until the others are in
// sync. A replica that an earlier move adds and this one keeps is still one to come, and one that it does not keep one to go.
func (c *partitionChange) reassign(target []int32) answerError {
	if e := c.rules.checkReplicas(target, 0); e.failed() {
		return e
	}
	p := c.partition
	settled := without(p.Replicas, p.AddingReplicas...)
	c.removing, c.adding = without(p.Replicas, target...), without(target, settled...)
	c.replicas = slices.Concat(target, c.removing)
	return answerError{}
}

// cancelReassignment wants the replicas from before the move.
func (c *partitionChange) cancelReassignment() answerError {
	p := c.partition
	if len(p.AddingReplicas)+len(p.RemovingReplicas) == 0 {
		return answerError{NoReassignmentInProgress, "no reassignment is in progress"}
	}
	c.replicas, c.isr = without(p.Replicas, p.AddingReplicas...), without(p.Isr, p.AddingReplicas...)
	c.removing, c.adding = nil, nil
	switch {
	case len(c.isr) > 0 || len(p.Isr) == 0:
		return answerError{}
	case len(c.replicas) == 0:
		return answerError{InvalidReplicaAssignment, "no replica is left without those that the reassignment adds"}
	case c.election != uncleanElection:
		return answerError{InvalidReplicaAssignment, "the replicas from before the reassignment are out of sync, and no unclean election is allowed"}
	}
	c.isr = c.replicas[:1] // all that were in sync go: the first who stays counts as such, whatever it has
	return answerError{}
}
