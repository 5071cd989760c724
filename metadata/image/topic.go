package image

import (
	"fmt"
	"iter"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Topic is one topic. Its partitions are the image's, under its id.
type Topic struct {
	Name string
	ID   record.UUID
}

// NoLeader is the Leader of a partition that has none.
const NoLeader int32 = -1

// Partition is the state of one partition. Immutable once an image has it, its lists included.
type Partition struct {
	Replicas         []int32       // in the order of preference
	Directories      []record.UUID // one for each replica
	Isr              []int32
	RemovingReplicas []int32
	AddingReplicas   []int32
	Elr              []int32 // eligible leader replicas (KIP-966)
	LastKnownElr     []int32
	Leader           int32 // NoLeader for none
	LeaderEpoch      int32
	PartitionEpoch   int32 // one more with each change
	Recovering       bool  // LeaderRecoveryState: an unclean election was not worked off yet
}

// HasLeader tells whether the partition has a leader.
func (p *Partition) HasLeader() bool { return p.Leader != NoLeader }

// members yields the brokers of ISR and ELR, and noBroker if the partition has no leader. None may come twice in sound data;
// if one does, no harm is done.
func (p *Partition) members() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if p == nil {
			return
		}
		for _, list := range [2][]int32{p.Isr, p.Elr} {
			for _, broker := range list {
				if !yield(broker) {
					return
				}
			}
		}
		if !p.HasLeader() {
			yield(noBroker)
		}
	}
}

func (p *Partition) hasMember(broker int32) bool {
	return p != nil && (slices.Contains(p.Isr, broker) || slices.Contains(p.Elr, broker) ||
		broker == noBroker && !p.HasLeader())
}

func partitionOf(m *records.PartitionRecord) (Partition, error) {
	p := Partition{
		Replicas: full(m.Replicas), Isr: full(m.Isr), RemovingReplicas: full(m.RemovingReplicas),
		AddingReplicas: full(m.AddingReplicas), Elr: full(m.EligibleLeaderReplicas), LastKnownElr: full(m.LastKnownElr),
		Leader: m.Leader, LeaderEpoch: m.LeaderEpoch, PartitionEpoch: m.PartitionEpoch,
	}
	err := p.setDirectories(m.Directories)
	if err == nil {
		err = p.setRecovery(m.LeaderRecoveryState)
	}
	return p, err
}

// changed returns the partition after a change record: its epoch is one higher, and one that names a leader, the same one
// too, begins a leader epoch (metadata-bootstrap 6.2).
func (p *Partition) changed(m *records.PartitionChangeRecord) (Partition, error) {
	next := *p
	if m.Replicas != nil {
		next.Replicas = full(m.Replicas)
	}
	if m.Isr != nil {
		next.Isr = full(m.Isr)
	}
	if m.RemovingReplicas != nil {
		next.RemovingReplicas = full(m.RemovingReplicas)
	}
	if m.AddingReplicas != nil {
		next.AddingReplicas = full(m.AddingReplicas)
	}
	if m.EligibleLeaderReplicas != nil {
		next.Elr = full(m.EligibleLeaderReplicas)
	}
	if m.LastKnownElr != nil {
		next.LastKnownElr = full(m.LastKnownElr)
	}
	if m.Leader != -2 {
		next.Leader = m.Leader
		next.LeaderEpoch++
	}
	next.PartitionEpoch++
	if m.LeaderRecoveryState != -1 {
		if err := next.setRecovery(m.LeaderRecoveryState); err != nil {
			return next, err
		}
	}
	switch {
	case len(m.Directories) > 0:
		return next, next.setDirectories(m.Directories)
	case len(next.Replicas) != len(next.Directories): // an assignment from before directories had ids
		return next, next.setDirectories(nil)
	}
	return next, nil
}

// cleared returns the partition without eligible leader replicas: a change like any other, so its epoch is one higher.
func (p *Partition) cleared() Partition {
	next := *p
	next.Elr, next.LastKnownElr = nil, nil
	next.PartitionEpoch++
	return next
}

func (p *Partition) setRecovery(state int8) error {
	if state != 0 && state != 1 {
		return fmt.Errorf("leader recovery state %d is neither 0 nor 1", state)
	}
	p.Recovering = state == 1
	return nil
}

// setDirectories assigns the directories of the replicas: one each, or none at all, which stands for replicas that were
// placed before directories had ids (KIP-858).
func (p *Partition) setDirectories(list []record.UUID) error {
	switch len(list) {
	case 0:
		p.Directories = migrating(len(p.Replicas))
	case len(p.Replicas):
		p.Directories = full(list)
	default:
		return fmt.Errorf("%d directories for %d replicas", len(list), len(p.Replicas))
	}
	return nil
}

// migratingDirectories is shared by all partitions that were placed before directories had ids. Read only.
var migratingDirectories = make([]record.UUID, 64) // DirectoryMigrating is the zero uuid

func migrating(n int) []record.UUID {
	switch {
	case n == 0:
		return nil
	case n <= len(migratingDirectories):
		return migratingDirectories[:n:n]
	}
	return make([]record.UUID, n)
}

// toRecord returns the partition as a record of the version that o's level has.
func (p *Partition) toRecord(key PartitionKey, o *WriteOptions) (r *records.PartitionRecord, version int16, err error) {
	version = features.PartitionVersion(o.MetadataVersion)
	r = &records.PartitionRecord{
		PartitionId: key.Partition, TopicId: key.TopicID, Replicas: p.Replicas, Isr: p.Isr,
		RemovingReplicas: p.RemovingReplicas, AddingReplicas: p.AddingReplicas, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
		PartitionEpoch: p.PartitionEpoch,
	}
	if p.Recovering {
		r.LeaderRecoveryState = 1
	}
	if version >= 1 {
		r.Directories = p.Directories
	} else if slices.ContainsFunc(p.Directories, func(d record.UUID) bool { return d != record.DirectoryMigrating }) {
		if err := o.lose(fmt.Sprintf("the directories of partition %s-%d", key.TopicID, key.Partition)); err != nil {
			return nil, 0, err
		}
	}
	if version >= 2 { // tagged fields, absent when there is nothing in them
		r.EligibleLeaderReplicas, r.LastKnownElr = p.Elr, p.LastKnownElr
	} else if p.Elr != nil || p.LastKnownElr != nil {
		if err := o.lose(fmt.Sprintf("the eligible leader replicas of partition %s-%d", key.TopicID, key.Partition)); err != nil {
			return nil, 0, err
		}
	}
	return r, version, nil
}
