package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// AssignReplicasToDirsRequest tells in which of its log directories a broker keeps its replicas (API key 73, KIP-858). A replica that it puts
// into a directory that is offline is out of sync and leads no more. It is answered with []DirectoryResult, in the order of the request;
// a stale broker epoch refuses all of it, and so does a metadata.version without directories.
type AssignReplicasToDirsRequest struct {
	BrokerID    int32
	BrokerEpoch int64
	Replicas    []ReplicaDirectory
}

// ReplicaDirectory is where a replica of the broker that asks is.
type ReplicaDirectory struct {
	Key       image.PartitionKey
	Directory record.UUID
}

// DirectoryResult is what came of one of them.
type DirectoryResult struct {
	ReplicaDirectory
	Code    ErrorCode
	Message string
}

// Kind implements Request.
func (*AssignReplicasToDirsRequest) Kind() OpKind { return AssignReplicasToDirs }

func (q *AssignReplicasToDirsRequest) decide(c *Controller, _ int64) error {
	rules := rulesOf(c.timeline.image, &c.cfg.Defaults)
	b := rules.image.Broker(q.BrokerID)
	switch {
	case !features.SupportsDirectoryAssignment(rules.version):
		c.outcome.fail(UnsupportedVersion, "this metadata.version has no directories of replicas")
		return nil
	case b == nil || b.Epoch != q.BrokerEpoch:
		c.outcome.fail(StaleBrokerEpoch, "the epoch of the broker is not that of its registration")
		return nil
	}
	c.outcome.atomic = false
	results := make([]DirectoryResult, len(q.Replicas))
	var list []records.Record
	var lost []ReplicaDirectory
	for i := range q.Replicas {
		x, r := &q.Replicas[i], &results[i]
		r.ReplicaDirectory = *x
		p, e := rules.partition(x.Key)
		if !e.failed() && !slices.Contains(p.Replicas, q.BrokerID) {
			e = refusal(NotLeaderOrFollower, "broker %d has no replica of it", q.BrokerID)
		}
		if e.failed() {
			r.Code, r.Message = e.Code, e.Message
			continue
		}
		if m := rules.assign(x, q.BrokerID, p); m != nil {
			list = append(list, m)
		}
		if !slices.Contains(b.LogDirs, x.Directory) {
			lost = append(lost, *x)
		}
	}
	for i := range lost { // as the partition is with the record from above: the change may complete a reassignment, and say all directories
		x := &lost[i]
		p := *rules.image.Partition(x.Key.TopicID, x.Key.Partition)
		p.Directories = slices.Clone(rules.directories(&p, p.Replicas))
		p.Directories[slices.Index(p.Replicas, q.BrokerID)] = x.Directory
		if !rules.elr {
			p.Elr = nil // see assign
		}
		change := rules.changeOf(x.Key, topicName(rules.image, x.Key), &p)
		change.isr, change.leaving = without(p.Isr, q.BrokerID), q.BrokerID
		list = change.appendTo(list)
	}
	c.conclude(list, results, false)
	return nil
}

// assign is the record that puts a replica into a directory, nil when it is there. It leaves eligible replicas alone, as long as there are any by
// the feature: the original makes this record as if the feature were off, and forgets them (KIP-966). Where it is off, the list ends with
// the first change, which this is.
func (r *partitionRules) assign(x *ReplicaDirectory, broker int32, p *image.Partition) *records.PartitionChangeRecord {
	at := slices.Index(p.Replicas, broker)
	if at < len(p.Directories) && p.Directories[at] == x.Directory {
		return nil
	}
	m := records.NewPartitionChangeRecord()
	m.TopicId, m.PartitionId = x.Key.TopicID, x.Key.Partition
	m.Directories = slices.Clone(r.directories(p, p.Replicas))
	m.Directories[at] = x.Directory
	if !r.elr && len(p.Elr) > 0 {
		m.EligibleLeaderReplicas = []int32{}
	}
	return m
}
