package image

import (
	"cmp"
	"encoding/binary"

	"github.com/kraftsim/kraftsim/raft/record"
)

// ConfigKey names one configuration entry. Resource types are 2 topic, 4 broker, 8 broker logger, 16 client metrics,
// 32 group; the empty resource of type 4 is the default of all brokers.
type ConfigKey struct {
	Type     int8
	Resource string
	Name     string
}

// TopicResource and BrokerResource are the resource types that the image itself looks at.
const (
	TopicResource  int8 = 2
	BrokerResource int8 = 4
)

// Compare orders by type, resource, name.
func (k ConfigKey) Compare(other ConfigKey) int {
	if k.Type != other.Type {
		return cmp.Compare(k.Type, other.Type)
	}
	if k.Resource != other.Resource {
		return cmp.Compare(k.Resource, other.Resource)
	}
	return cmp.Compare(k.Name, other.Name)
}

// Prefix is the type and the beginning of the resource.
func (k ConfigKey) Prefix() uint64 {
	return uint64(uint8(k.Type)^1<<7)<<56 | textPrefix(k.Resource)>>8
}

// ScramKey names one SCRAM credential. Mechanisms are 1 SHA-256, 2 SHA-512.
type ScramKey struct {
	Mechanism int8
	User      string
}

// Compare orders by user, mechanism.
func (k ScramKey) Compare(other ScramKey) int {
	return cmp.Or(cmp.Compare(k.User, other.User), cmp.Compare(k.Mechanism, other.Mechanism))
}

// Prefix is the beginning of the user.
func (k ScramKey) Prefix() uint64 { return textPrefix(k.User) }

// PartitionKey names one partition.
type PartitionKey struct {
	TopicID   record.UUID
	Partition int32
}

// Compare orders by topic id, partition.
func (k PartitionKey) Compare(other PartitionKey) int {
	if order := compareUUID(&k.TopicID, &other.TopicID); order != 0 {
		return order
	}
	return cmp.Compare(k.Partition, other.Partition)
}

// Prefix is the first half of the topic id.
func (k PartitionKey) Prefix() uint64 { return binary.BigEndian.Uint64(k.TopicID[:8]) }

// memberKey names a partition by one of the brokers that stand in its ISR or ELR, or by noBroker while it has no leader.
type memberKey struct {
	broker int32
	PartitionKey
}

const noBroker int32 = -1

func (k memberKey) Compare(other memberKey) int {
	if k.broker != other.broker {
		return cmp.Compare(k.broker, other.broker)
	}
	return k.PartitionKey.Compare(other.PartitionKey)
}

func (k memberKey) Prefix() uint64 {
	return uint64(uint32(k.broker)^1<<31)<<32 | uint64(binary.BigEndian.Uint32(k.TopicID[:4]))
}

// QuotaKey names one quota of an entity.
type QuotaKey struct {
	Entity QuotaEntity
	Name   string
}

// Compare orders by entity, name.
func (k QuotaKey) Compare(other QuotaKey) int {
	if k.Entity != other.Entity {
		return cmp.Compare(k.Entity, other.Entity)
	}
	return cmp.Compare(k.Name, other.Name)
}

// Prefix is the beginning of the entity.
func (k QuotaKey) Prefix() uint64 { return textPrefix(string(k.Entity)) }

// textPrefix is the first eight bytes of a text, zeros where it is shorter.
func textPrefix(s string) (prefix uint64) {
	for at := range min(len(s), 8) {
		prefix |= uint64(s[at]) << (56 - 8*at)
	}
	return prefix
}

// node ids, texts and uuids as keys.
type (
	idKey   int32
	textKey string
	uuidKey record.UUID
)

func (k idKey) Compare(other idKey) int     { return cmp.Compare(k, other) }
func (k textKey) Compare(other textKey) int { return cmp.Compare(k, other) }
func (k uuidKey) Compare(other uuidKey) int {
	return compareUUID((*record.UUID)(&k), (*record.UUID)(&other))
}

func (k idKey) Prefix() uint64   { return uint64(uint32(k) ^ 1<<31) }
func (k textKey) Prefix() uint64 { return textPrefix(string(k)) }
func (k uuidKey) Prefix() uint64 { return binary.BigEndian.Uint64(k[:8]) }

// compareUUID orders by the bytes. (Kafka's order is signed; nothing that leaves a node depends on it.)
func compareUUID(a, b *record.UUID) int {
	if high, other := binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(b[:8]); high != other {
		return cmp.Compare(high, other)
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:]))
}
