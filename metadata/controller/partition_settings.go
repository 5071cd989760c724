package controller

import (
	"strconv"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// The configurations that decide about partitions.
const (
	uncleanElectionName = "unclean.leader.election.enable"
	leaderlessUnclean   = "true"
)

// PartitionDefaults are the static configurations of a node that count where the log holds no dynamic ones.
type PartitionDefaults struct {
	MinInSyncReplicas     int32 // min.insync.replicas, at least 1
	UncleanLeaderElection bool  // unclean.leader.election.enable
	Partitions            int32 // num.partitions, at least 1
	ReplicationFactor     int16 // default.replication.factor, at least 1
}

// complete fills fields that nobody set with what Kafka has there.
func (d *PartitionDefaults) complete(minInSyncReplicas string) {
	if d.MinInSyncReplicas == 0 {
		n, err := strconv.ParseInt(minInSyncReplicas, 10, 32)
		if err != nil || n < 1 {
			n = 1
		}
		d.MinInSyncReplicas = int32(n)
	}
	d.Partitions, d.ReplicationFactor = max(1, d.Partitions), max(1, d.ReplicationFactor)
}

// partitionRules is what every decision about the partitions of one image needs. It is made anew for each operation, so no
// failover can leave anything behind (KB-28).
type partitionRules struct {
	image    *image.Image
	defaults *PartitionDefaults
	version  int16 // metadata.version
	elr      bool  // eligible leader replicas are on (KIP-966)
}

func rulesOf(img *image.Image, defaults *PartitionDefaults) partitionRules {
	return partitionRules{
		image: img, defaults: defaults, version: img.MetadataVersion(),
		elr: img.FeatureLevel(features.EligibleLeaderReplicas) > 0,
	}
}

// setting returns a configuration of a topic: its own, else the default of all brokers.
func (r *partitionRules) setting(topic, name string) (value string, found bool) {
	if value, found = r.image.Config(image.ConfigKey{Type: image.TopicResource, Resource: topic, Name: name}); found {
		return value, true
	}
	return r.image.Config(image.ConfigKey{Type: image.BrokerResource, Name: name})
}

// minInSync is min.insync.replicas of a topic; never more than it has replicas.
func (r *partitionRules) minInSync(topic string, replicas int) int {
	minimum := max(1, int(r.defaults.MinInSyncReplicas))
	if text, found := r.setting(topic, minInSyncReplicasName); found {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			minimum = int(n)
		}
	}
	return min(minimum, replicas)
}

// uncleanAllowed is unclean.leader.election.enable of a topic.
func (r *partitionRules) uncleanAllowed(topic string) bool {
	if text, found := r.setting(topic, uncleanElectionName); found {
		return text == leaderlessUnclean
	}
	return r.defaults.UncleanLeaderElection
}

// active tells whether a broker is registered and neither fenced nor shutting down.
func (r *partitionRules) active(broker int32) bool {
	b := r.image.Broker(broker)
	return b != nil && b.Active()
}

// online tells whether a directory of a broker is usable (KIP-858): one that is not known by name counts as such, and so does
// every one of a broker that registered without any.
func online(b *image.Broker, directory record.UUID) bool {
	switch {
	case directory == record.DirectoryUnassigned || directory == record.DirectoryMigrating:
		return true
	case directory == record.DirectoryLost:
		return false
	case len(b.LogDirs) == 0:
		return true
	}
	for _, d := range b.LogDirs {
		if d == directory {
			return true
		}
	}
	return false
}

// defaultDirectory is where a new replica of a broker lies as far as the controller knows: a broker with one directory leaves
// no choice, one with several will say (KIP-858).
func (r *partitionRules) defaultDirectory(broker int32) record.UUID {
	b := r.image.Broker(broker)
	switch {
	case b == nil || len(b.LogDirs) > 1:
		return record.DirectoryUnassigned
	case len(b.LogDirs) == 0:
		return record.DirectoryMigrating
	}
	return b.LogDirs[0]
}

// directories returns the directories of a new list of replicas, of which those of p stay where they are. Nil at levels that
// have none.
func (r *partitionRules) directories(p *image.Partition, replicas []int32) []record.UUID {
	if !features.SupportsDirectoryAssignment(r.version) {
		return nil
	}
	list := make([]record.UUID, len(replicas))
	for i, replica := range replicas {
		list[i] = r.defaultDirectory(replica)
		if p == nil {
			continue
		}
		for k, other := range p.Replicas {
			if other == replica {
				list[i] = p.Directories[k]
			}
		}
	}
	return list
}
