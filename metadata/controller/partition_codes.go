package controller

// The errors of topics, partitions and configurations.
const (
	UnknownTopicOrPartition     ErrorCode = 3
	NotLeaderOrFollower         ErrorCode = 6
	InvalidTopicException       ErrorCode = 17
	TopicAlreadyExists          ErrorCode = 36
	InvalidPartitions           ErrorCode = 37
	InvalidReplicationFactor    ErrorCode = 38
	InvalidReplicaAssignment    ErrorCode = 39
	PolicyViolation             ErrorCode = 44
	FencedLeaderEpoch           ErrorCode = 74
	PreferredLeaderNotAvailable ErrorCode = 80
	EligibleLeadersNotAvailable ErrorCode = 83
	ElectionNotNeeded           ErrorCode = 84
	NoReassignmentInProgress    ErrorCode = 85
	ThrottlingQuotaExceeded     ErrorCode = 89
	UnknownTopicID              ErrorCode = 100
	IneligibleReplica           ErrorCode = 107
	NewLeaderElected            ErrorCode = 108
)

// partitionName is Kafka's name of the errors that only topics, partitions and configurations have.
func (c ErrorCode) partitionName() string {
	switch c {
	case UnknownTopicOrPartition:
		return "UNKNOWN_TOPIC_OR_PARTITION"
	case NotLeaderOrFollower:
		return "NOT_LEADER_OR_FOLLOWER"
	case InvalidTopicException:
		return "INVALID_TOPIC_EXCEPTION"
	case TopicAlreadyExists:
		return "TOPIC_ALREADY_EXISTS"
	case InvalidPartitions:
		return "INVALID_PARTITIONS"
	case InvalidReplicationFactor:
		return "INVALID_REPLICATION_FACTOR"
	case InvalidReplicaAssignment:
		return "INVALID_REPLICA_ASSIGNMENT"
	case PolicyViolation:
		return "POLICY_VIOLATION"
	case FencedLeaderEpoch:
		return "FENCED_LEADER_EPOCH"
	case PreferredLeaderNotAvailable:
		return "PREFERRED_LEADER_NOT_AVAILABLE"
	case EligibleLeadersNotAvailable:
		return "ELIGIBLE_LEADERS_NOT_AVAILABLE"
	case ElectionNotNeeded:
		return "ELECTION_NOT_NEEDED"
	case NoReassignmentInProgress:
		return "NO_REASSIGNMENT_IN_PROGRESS"
	case ThrottlingQuotaExceeded:
		return "THROTTLING_QUOTA_EXCEEDED"
	case UnknownTopicID:
		return "UNKNOWN_TOPIC_ID"
	case IneligibleReplica:
		return "INELIGIBLE_REPLICA"
	case NewLeaderElected:
		return "NEW_LEADER_ELECTED"
	}
	return ""
}

// The operations on topics, partitions, configurations and producer ids. Each has a typed Request.
const (
	// CreateTopics creates topics (API key 19): *CreateTopicsRequest.
	CreateTopics OpKind = 64 + iota
	// DeleteTopics deletes topics (API key 20): *DeleteTopicsRequest.
	DeleteTopics
	// CreatePartitions adds partitions to topics (API key 37): *CreatePartitionsRequest.
	CreatePartitions
	// AlterPartition changes in-sync replicas, at the wish of leaders (API key 56): *AlterPartitionRequest.
	AlterPartition
	// ElectLeaders elects leaders, preferred ones or uncleanly (API key 43): *ElectLeadersRequest.
	ElectLeaders
	// AlterPartitionReassignments moves replicas (API key 45): *AlterPartitionReassignmentsRequest.
	AlterPartitionReassignments
	// IncrementalAlterConfigs changes configurations (API key 44): *IncrementalAlterConfigsRequest.
	IncrementalAlterConfigs
	// AllocateProducerIDs hands out a block of producer ids (API key 67): *AllocateProducerIDsRequest.
	AllocateProducerIDs
	// AssignReplicasToDirs tells in which directories replicas are (API key 73): *AssignReplicasToDirsRequest.
	AssignReplicasToDirs
	balanceLeaders
	electUnclean
)

// partitionKind is the name of the operations on topics, partitions, configurations and producer ids.
func (k OpKind) partitionKind() string {
	switch k {
	case CreateTopics:
		return "create-topics"
	case DeleteTopics:
		return "delete-topics"
	case CreatePartitions:
		return "create-partitions"
	case AlterPartition:
		return "alter-partition"
	case ElectLeaders:
		return "elect-leaders"
	case AlterPartitionReassignments:
		return "alter-partition-reassignments"
	case IncrementalAlterConfigs:
		return "incremental-alter-configs"
	case AllocateProducerIDs:
		return "allocate-producer-ids"
	case AssignReplicasToDirs:
		return "assign-replicas-to-dirs"
	case balanceLeaders:
		return "balance-leaders"
	case electUnclean:
		return "elect-unclean"
	}
	return ""
}

// periodic tells whether the controller does this by itself, so that nobody waits for an answer.
func (k OpKind) periodic() bool { return k == balanceLeaders || k == electUnclean }
