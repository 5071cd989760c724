package image

import (
	"iter"

	"github.com/kraftsim/kraftsim/metadata/image/ordered"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// valueOf returns where the value of an entry is, nil without one.
func valueOf[K ordered.Key[K], V any](e *ordered.Entry[K, V]) *V {
	if e == nil {
		return nil
	}
	return &e.Value
}

func valuesOf[K ordered.Key[K], V any](m ordered.Map[K, V]) iter.Seq[*V] {
	return func(yield func(*V) bool) {
		for e := range m.All() {
			if !yield(&e.Value) {
				return
			}
		}
	}
}

// Broker returns the registration of a broker, nil if there is none.
func (i *Image) Broker(id int32) *Broker { return valueOf(i.brokers.Get(idKey(id))) }

// Brokers yields the registrations of all brokers, fenced ones too, ascending by id.
func (i *Image) Brokers() iter.Seq[*Broker] { return valuesOf(i.brokers) }

// BrokerCount returns how many brokers are registered.
func (i *Image) BrokerCount() int32 { return i.brokers.Len() }

// Controller returns the registration of a controller, nil if there is none.
func (i *Image) Controller(id int32) *Controller { return valueOf(i.controllers.Get(idKey(id))) }

// Controllers yields the registrations of all controllers, ascending by id.
func (i *Image) Controllers() iter.Seq[*Controller] { return valuesOf(i.controllers) }

// ControllerCount returns how many controllers are registered.
func (i *Image) ControllerCount() int32 { return i.controllers.Len() }

// TopicByName returns the topic of that name, nil if there is none.
func (i *Image) TopicByName(name string) *Topic { return valueOf(i.topicsByName.Get(textKey(name))) }

// TopicByID returns the topic with that id, nil if there is none.
func (i *Image) TopicByID(id record.UUID) *Topic { return valueOf(i.topicsByID.Get(uuidKey(id))) }

// Topics yields all topics, ascending by name.
func (i *Image) Topics() iter.Seq[*Topic] { return valuesOf(i.topicsByName) }

// TopicsByID yields all topics, ascending by id.
func (i *Image) TopicsByID() iter.Seq[*Topic] { return valuesOf(i.topicsByID) }

// TopicCount returns how many topics there are.
func (i *Image) TopicCount() int32 { return i.topicsByID.Len() }

// Partition returns one partition, nil if there is none.
func (i *Image) Partition(topic record.UUID, partition int32) *Partition {
	return valueOf(i.partitions.Get(PartitionKey{topic, partition}))
}

// Partitions yields the partitions of one topic, ascending.
func (i *Image) Partitions(topic record.UUID) iter.Seq2[int32, *Partition] {
	return func(yield func(int32, *Partition) bool) {
		for e := range i.partitions.From(PartitionKey{topic, -1 << 31}) {
			if e.Key.TopicID != topic || !yield(e.Key.Partition, &e.Value) {
				return
			}
		}
	}
}

// PartitionCount returns how many partitions a topic has. Cost: O(log n).
func (i *Image) PartitionCount(topic record.UUID) int32 {
	last := PartitionKey{topic, 1<<31 - 1}
	n := i.partitions.Rank(last) - i.partitions.Rank(PartitionKey{topic, -1 << 31})
	if i.partitions.Get(last) != nil {
		n++
	}
	return n
}

// AllPartitions yields the partitions of all topics, ascending by topic id, partition.
func (i *Image) AllPartitions() iter.Seq2[PartitionKey, *Partition] {
	return func(yield func(PartitionKey, *Partition) bool) {
		for e := range i.partitions.All() {
			if !yield(e.Key, &e.Value) {
				return
			}
		}
	}
}

// TotalPartitions returns how many partitions all topics have.
func (i *Image) TotalPartitions() int32 { return i.partitions.Len() }

// PartitionsIn yields the partitions that have the broker in their ISR or ELR, ascending by topic id, partition; those that it
// leads are among them. Cost: O(log n) for each; a look at all partitions in a plain image.
func (i *Image) PartitionsIn(broker int32) iter.Seq2[PartitionKey, *Partition] {
	return func(yield func(PartitionKey, *Partition) bool) {
		if i.plain {
			for e := range i.partitions.All() {
				if e.Value.hasMember(broker) && !yield(e.Key, &e.Value) {
					return
				}
			}
			return
		}
		for e := range i.members.From(memberKey{broker, PartitionKey{record.UUID{}, -1 << 31}}) {
			if e.Key.broker != broker || !yield(e.Key.PartitionKey, valueOf(i.partitions.Get(e.Key.PartitionKey))) {
				return
			}
		}
	}
}

// Leaderless yields the partitions without leader, ascending by topic id, partition. Cost: O(log n) for each.
func (i *Image) Leaderless() iter.Seq2[PartitionKey, *Partition] { return i.PartitionsIn(noBroker) }

// Config returns the value of one configuration entry.
func (i *Image) Config(key ConfigKey) (value string, found bool) {
	if e := i.configs.Get(key); e != nil {
		return e.Value, true
	}
	return "", false
}

// Configs yields all configuration entries, ascending by type, resource, name.
func (i *Image) Configs() iter.Seq2[ConfigKey, string] {
	return func(yield func(ConfigKey, string) bool) {
		for e := range i.configs.All() {
			if !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// ConfigsOf yields names and values of one resource, ascending by name.
func (i *Image) ConfigsOf(resourceType int8, resource string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for e := range i.configs.From(ConfigKey{Type: resourceType, Resource: resource}) {
			if e.Key.Type != resourceType || e.Key.Resource != resource || !yield(e.Key.Name, e.Value) {
				return
			}
		}
	}
}

// ConfigCount returns how many configuration entries there are.
func (i *Image) ConfigCount() int32 { return i.configs.Len() }

// Quota returns one client quota.
func (i *Image) Quota(key QuotaKey) (value records.Float64Bits, found bool) {
	if e := i.quotas.Get(key); e != nil {
		return e.Value, true
	}
	return 0, false
}

// Quotas yields all client quotas; those of one entity stand together.
func (i *Image) Quotas() iter.Seq2[QuotaKey, records.Float64Bits] {
	return func(yield func(QuotaKey, records.Float64Bits) bool) {
		for e := range i.quotas.All() {
			if !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// ACL returns one access control entry, nil if there is none.
func (i *Image) ACL(id record.UUID) *ACL { return valueOf(i.acls.Get(uuidKey(id))) }

// ACLs yields all access control entries, ascending by id.
func (i *Image) ACLs() iter.Seq[*ACL] { return valuesOf(i.acls) }

// Scram returns one SCRAM credential, nil if there is none.
func (i *Image) Scram(key ScramKey) *ScramCredential { return valueOf(i.scram.Get(key)) }

// Scrams yields all SCRAM credentials, ascending by user, mechanism.
func (i *Image) Scrams() iter.Seq2[ScramKey, *ScramCredential] {
	return func(yield func(ScramKey, *ScramCredential) bool) {
		for e := range i.scram.All() {
			if !yield(e.Key, &e.Value) {
				return
			}
		}
	}
}

// Token returns one delegation token, nil if there is none.
func (i *Image) Token(id string) *Token { return valueOf(i.tokens.Get(textKey(id))) }

// Tokens yields all delegation tokens, ascending by id.
func (i *Image) Tokens() iter.Seq[*Token] { return valuesOf(i.tokens) }
