package image

import (
	"math/bits"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Each entry contributes one well mixed 64-bit hash, and the digest is their sum: order does not matter and an entry
// can be taken out again by subtraction. The mixing is one 64x64 multiplication for eight bytes of text. The values
// are compared between nodes of one run and pinned by a test; they are never persisted.

const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xd6e8feb86659fd93
)

// The seeds keep entries of different parts apart.
const (
	seedFeature uint64 = iota + 1
	seedClusterID
	seedConfig
	seedScram
	seedBroker
	seedController
	seedTopic
	seedPartition
	seedQuota
	seedProducerID
	seedACL
	seedToken
)

func mix(h, v uint64) uint64 {
	high, low := bits.Mul64(h^v^mixA, mixB)
	return high ^ low + h
}

func seal(h uint64) uint64 {
	h ^= h >> 32
	h *= mixA
	return h ^ h>>29
}

// hashText folds a length and then the text in, so that no two lists of texts share a stream of bytes.
func hashText[T string | []byte](h uint64, s T) uint64 {
	h = mix(h, uint64(len(s)))
	for len(s) >= 8 {
		h = mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
		s = s[8:]
	}
	if len(s) > 0 {
		var tail uint64
		for at := 0; at < len(s); at++ {
			tail |= uint64(s[at]) << (8 * at)
		}
		h = mix(h, tail)
	}
	return h
}

func hashUUID(h uint64, u *record.UUID) uint64 {
	high, low := u.Halves()
	return mix(mix(h, high), low)
}

func hashUUIDs(h uint64, list []record.UUID) uint64 {
	h = mix(h, uint64(len(list)))
	for at := range list {
		h = hashUUID(h, &list[at])
	}
	return h
}

// hashIDs takes two ids at a time.
func hashIDs(h uint64, list []int32) uint64 {
	h = mix(h, uint64(len(list)))
	for ; len(list) > 1; list = list[2:] {
		h = mix(h, uint64(uint32(list[0]))<<32|uint64(uint32(list[1])))
	}
	if len(list) == 1 {
		h = mix(h, uint64(uint32(list[0])))
	}
	return h
}

func hashFlags(h uint64, flags ...bool) uint64 {
	var v uint64
	for at, set := range flags {
		if set {
			v |= 1 << at
		}
	}
	return mix(h, v)
}

func hashFeature(name string, level int16) uint64 {
	return seal(mix(hashText(seedFeature, name), uint64(uint16(level))))
}

func hashClusterID(id string) uint64 { return seal(hashText(seedClusterID, id)) }

func hashProducerID(next int64) uint64 { return seal(mix(seedProducerID, uint64(next))) }

func hashConfig(key ConfigKey, value string) uint64 {
	h := mix(seedConfig, uint64(uint8(key.Type)))
	return seal(hashText(hashText(hashText(h, key.Resource), key.Name), value))
}

func hashScram(key ScramKey, c *ScramCredential) uint64 {
	h := mix(seedScram, uint64(uint8(key.Mechanism)))
	h = hashText(hashText(hashText(hashText(h, key.User), c.Salt), c.StoredKey), c.ServerKey)
	return seal(mix(h, uint64(uint32(c.Iterations))))
}

func hashListeners(h uint64, listeners []Endpoint, ranges []FeatureRange) uint64 {
	h = mix(h, uint64(len(listeners)))
	for at := range listeners {
		e := &listeners[at]
		h = mix(hashText(hashText(h, e.Name), e.Host), uint64(e.Port)<<16|uint64(uint16(e.SecurityProtocol)))
	}
	h = mix(h, uint64(len(ranges)))
	for at := range ranges {
		f := &ranges[at]
		h = mix(hashText(h, f.Name), uint64(uint16(f.Minimum))<<16|uint64(uint16(f.Maximum)))
	}
	return h
}

func hashBroker(b *Broker) uint64 {
	h := mix(mix(seedBroker, uint64(uint32(b.ID))), uint64(b.Epoch))
	h = hashListeners(hashUUID(h, &b.IncarnationID), b.Listeners, b.Features)
	h = hashFlags(h, b.HasRack, b.Fenced, b.InControlledShutdown, b.IsMigratingZkBroker)
	return seal(hashUUIDs(hashUUIDs(hashText(h, b.Rack), b.LogDirs), b.CordonedLogDirs))
}

func hashController(c *Controller) uint64 {
	h := hashUUID(mix(seedController, uint64(uint32(c.ID))), &c.IncarnationID)
	return seal(hashFlags(hashListeners(h, c.Listeners, c.Features), c.ZkMigrationReady))
}

func hashTopic(t *Topic) uint64 { return seal(hashText(hashUUID(seedTopic, &t.ID), t.Name)) }

func hashPartition(key PartitionKey, p *Partition) uint64 {
	h := mix(hashUUID(seedPartition, &key.TopicID), uint64(uint32(key.Partition)))
	h = hashUUIDs(hashIDs(hashIDs(h, p.Replicas), p.Isr), p.Directories)
	h = hashIDs(hashIDs(h, p.RemovingReplicas), p.AddingReplicas)
	h = hashIDs(hashIDs(h, p.Elr), p.LastKnownElr)
	h = mix(h, uint64(uint32(p.Leader))<<32|uint64(uint32(p.LeaderEpoch)))
	return seal(hashFlags(mix(h, uint64(uint32(p.PartitionEpoch))), p.Recovering))
}

func hashQuota(key QuotaKey, value records.Float64Bits) uint64 {
	return seal(mix(hashText(hashText(seedQuota, string(key.Entity)), key.Name), uint64(value)))
}

func hashACL(a *ACL) uint64 {
	h := hashUUID(seedACL, &a.ID)
	h = mix(h, uint64(uint8(a.ResourceType))|uint64(uint8(a.PatternType))<<8|uint64(uint8(a.Operation))<<16|
		uint64(uint8(a.PermissionType))<<24)
	return seal(hashText(hashText(hashText(h, a.ResourceName), a.Principal), a.Host))
}

func hashToken(t *Token) uint64 {
	h := hashText(hashText(hashText(seedToken, t.ID), t.Owner), t.Requester)
	h = mix(h, uint64(len(t.Renewers)))
	for _, renewer := range t.Renewers {
		h = hashText(h, renewer)
	}
	return seal(mix(mix(mix(h, uint64(t.IssueTimestampMs)), uint64(t.MaxTimestampMs)), uint64(t.ExpirationTimestampMs)))
}
