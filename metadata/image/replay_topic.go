package image

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image/ordered"
	"github.com/kraftsim/kraftsim/metadata/records"
)

func (d *Delta) putTopic(m *records.TopicRecord) error {
	if old := d.next.TopicByName(m.Name); old != nil {
		return fmt.Errorf("%w: topic %q is created as %s and was there as %s", ErrImpossible, m.Name, m.TopicId, old.ID)
	}
	if old := d.next.TopicByID(m.TopicId); old != nil {
		return fmt.Errorf("%w: topic %s is created as %q and was there as %q", ErrImpossible, m.TopicId, m.Name, old.Name)
	}
	t := Topic{Name: m.Name, ID: m.TopicId}
	if d.edit == nil { // its partitions follow
		d.edit = new(ordered.Edit)
	}
	put(d, &d.next.topicsByID, uuidKey(t.ID), t, hashTopic(&t))
	// The second map says nothing new, so it has no part in the digest.
	d.next.topicsByName, _ = d.next.topicsByName.Set(d.edit, &ordered.Entry[textKey, Topic]{
		Key: textKey(t.Name), Value: t, Hash: hashTopic(&t),
	})
	return nil
}

// removeTopic takes the topic's partitions and configurations with it (metadata-bootstrap 7.6).
func (d *Delta) removeTopic(m *records.RemoveTopicRecord) error {
	t := d.next.TopicByID(m.TopicId)
	if t == nil {
		return fmt.Errorf("%w: topic %s is removed and was not there", ErrImpossible, m.TopicId)
	}
	var partitions []PartitionKey
	for number := range d.next.Partitions(t.ID) {
		partitions = append(partitions, PartitionKey{t.ID, number})
	}
	for _, key := range partitions {
		old := drop(d, &d.next.partitions, key)
		d.index(key, &old.Value, nil)
	}
	var names []string
	for name := range d.next.ConfigsOf(TopicResource, t.Name) {
		names = append(names, name)
	}
	for _, name := range names {
		drop(d, &d.next.configs, ConfigKey{Type: TopicResource, Resource: t.Name, Name: name})
	}
	drop(d, &d.next.topicsByID, uuidKey(t.ID))
	d.next.topicsByName, _ = d.next.topicsByName.Remove(d.edit, textKey(t.Name))
	return nil
}

func (d *Delta) putPartition(m *records.PartitionRecord) error {
	key := PartitionKey{m.TopicId, m.PartitionId}
	if d.next.TopicByID(m.TopicId) == nil {
		return fmt.Errorf("%w: partition %s-%d of an unknown topic", ErrImpossible, m.TopicId, m.PartitionId)
	}
	p, err := partitionOf(m)
	if err != nil {
		return fmt.Errorf("%w: partition %s-%d: %w", ErrImpossible, m.TopicId, m.PartitionId, err)
	}
	d.setPartition(key, d.next.Partition(m.TopicId, m.PartitionId), p)
	return nil
}

func (d *Delta) changePartition(m *records.PartitionChangeRecord) error {
	key := PartitionKey{m.TopicId, m.PartitionId}
	old := d.next.Partition(m.TopicId, m.PartitionId)
	if old == nil {
		return fmt.Errorf("%w: partition %s-%d is changed and was not there", ErrImpossible, m.TopicId, m.PartitionId)
	}
	p, err := old.changed(m)
	if err != nil {
		return fmt.Errorf("%w: partition %s-%d: %w", ErrImpossible, m.TopicId, m.PartitionId, err)
	}
	d.setPartition(key, old, p)
	return nil
}

// clearElr forgets the eligible leader replicas of one topic, or of all (KIP-966).
func (d *Delta) clearElr(m *records.ClearElrRecord) error {
	var keys []PartitionKey
	collect := func(key PartitionKey, p *Partition) {
		if len(p.Elr)+len(p.LastKnownElr) > 0 {
			keys = append(keys, key)
		}
	}
	if m.TopicName == "" {
		for key, p := range d.next.AllPartitions() {
			collect(key, p)
		}
	} else {
		t := d.next.TopicByName(m.TopicName)
		if t == nil {
			return fmt.Errorf("%w: eligible leader replicas of the unknown topic %q are cleared", ErrImpossible, m.TopicName)
		}
		for number, p := range d.next.Partitions(t.ID) {
			collect(PartitionKey{t.ID, number}, p)
		}
	}
	for _, key := range keys {
		old := d.next.Partition(key.TopicID, key.Partition)
		d.setPartition(key, old, old.cleared())
	}
	return nil
}

func (d *Delta) setPartition(key PartitionKey, old *Partition, p Partition) {
	e := put(d, &d.next.partitions, key, p, hashPartition(key, &p))
	d.index(key, old, &e.Value)
}

// index keeps the map of members, which says nothing new and has no part in the digest. It costs what changed of the
// membership: nothing for a change of the leader only. old and now are nil for a partition that was not there, or is not.
func (d *Delta) index(key PartitionKey, old, now *Partition) {
	if d.next.plain {
		return
	}
	if d.edit == nil && (old == nil || now == nil) { // several members, whose paths have the upper nodes in common
		d.edit = new(ordered.Edit)
	}
	for member := range old.members() {
		if !now.hasMember(member) {
			d.next.members, _ = d.next.members.Remove(d.edit, memberKey{member, key})
		}
	}
	for member := range now.members() {
		if !old.hasMember(member) {
			d.next.members, _ = d.next.members.Set(d.edit, &ordered.Entry[memberKey, struct{}]{Key: memberKey{member, key}})
		}
	}
}
