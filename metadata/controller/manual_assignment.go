package controller

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// answerError is why one part of a request failed; the zero value says that it did not.
type answerError struct {
	Code    ErrorCode
	Message string
}

func (e *answerError) failed() bool { return e.Code != None }

func refusal(code ErrorCode, format string, args ...any) answerError {
	return answerError{code, fmt.Sprintf(format, args...)}
}

// checkReplicas judges a list of replicas that somebody chose by hand. same is how many the other partitions of the topic
// have, 0 for any number.
func (r *partitionRules) checkReplicas(replicas []int32, same int) answerError {
	if len(replicas) == 0 {
		return refusal(InvalidReplicaAssignment, "the manual assignment has a partition without replicas")
	}
	for i, broker := range replicas {
		if r.image.Broker(broker) == nil {
			return refusal(InvalidReplicaAssignment, "the manual assignment names broker %d, which is not registered", broker)
		}
		if slices.Contains(replicas[:i], broker) {
			return refusal(InvalidReplicaAssignment, "the manual assignment names broker %d more than once", broker)
		}
	}
	if same > 0 && len(replicas) != same {
		return refusal(InvalidReplicaAssignment, "the manual assignment has a partition with %d replicas, others have %d",
			len(replicas), same)
	}
	return answerError{}
}

// newPartition returns the record of a new partition: in sync are the active replicas in the order of the assignment, the first
// of them leads. Nil if none is active.
func (r *partitionRules) newPartition(topic record.UUID, number int32, replicas []int32) *records.PartitionRecord {
	isr := make([]int32, 0, len(replicas))
	for _, broker := range replicas {
		if r.active(broker) {
			isr = append(isr, broker)
		}
	}
	if len(isr) == 0 {
		return nil
	}
	m := records.NewPartitionRecord()
	m.TopicId, m.PartitionId, m.Replicas, m.Isr = topic, number, replicas, isr
	m.Leader, m.LeaderEpoch, m.PartitionEpoch = isr[0], 0, 0
	m.Directories = r.directories(nil, replicas)
	return m
}

func noneActive(number int32) answerError {
	return refusal(InvalidReplicaAssignment, "all brokers of the manual assignment of partition %d are fenced or in controlled shutdown",
		number)
}

// conclude makes the outcome of a request: an answer, and unless it is only to be validated the records. A request of a user that
// makes too many is refused and costs nothing else: giving the leadership up would only bring it back (KAFKA-14204).
func (c *Controller) conclude(list []records.Record, answer any, validateOnly bool) {
	if int64(len(list)) > int64(c.cfg.MaxAtomicRecords) {
		c.outcome.fail(UnknownServerError, fmt.Sprintf("the request makes %d records, the limit is %d", len(list), c.cfg.MaxAtomicRecords))
		return
	}
	c.outcome.answer = answer
	if !validateOnly {
		c.outcome.records = append(c.outcome.records, list...)
	}
}

// topicName returns the name of the topic that a partition belongs to.
func topicName(img *image.Image, key image.PartitionKey) string {
	return img.TopicByID(key.TopicID).Name
}
