package image

import (
	"iter"

	"github.com/kraftsim/kraftsim/metadata/image/ordered"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Change is one entry that is not the same on both sides of a delta: Old is nil for one that came, New for one that is gone.
type Change[K, V any] struct {
	Key      K
	Old, New *V
}

// changes turns the difference of two maps into Changes, with keys in the form that callers know.
func changes[K ordered.Key[K], V, P any](before, after ordered.Map[K, V], public func(K) P) iter.Seq[Change[P, V]] {
	return func(yield func(Change[P, V]) bool) {
		for old, now := range ordered.Diff(before, after) {
			c := Change[P, V]{Old: valueOf(old), New: valueOf(now)}
			if now != nil {
				c.Key = public(now.Key)
			} else {
				c.Key = public(old.Key)
			}
			if !yield(c) {
				return
			}
		}
	}
}

func sameKey[K any](k K) K             { return k }
func publicID(k idKey) int32           { return int32(k) }
func publicText(k textKey) string      { return string(k) }
func publicUUID(k uuidKey) record.UUID { return record.UUID(k) }

// Features yields the features whose level changed, ascending by name; level 0 is never in an image, so Old or New is nil
// for it.
func (d *Delta) Features() iter.Seq[Change[string, int16]] {
	return func(yield func(Change[string, int16]) bool) {
		a, b := d.base.features, d.next.features
		for len(a) > 0 || len(b) > 0 {
			var c Change[string, int16]
			switch {
			case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
				c, a = Change[string, int16]{Key: a[0].Name, Old: &a[0].Level}, a[1:]
			case len(a) == 0 || b[0].Name < a[0].Name:
				c, b = Change[string, int16]{Key: b[0].Name, New: &b[0].Level}, b[1:]
			default:
				c = Change[string, int16]{Key: a[0].Name, Old: &a[0].Level, New: &b[0].Level}
				a, b = a[1:], b[1:]
			}
			if (c.Old == nil || c.New == nil || *c.Old != *c.New) && !yield(c) {
				return
			}
		}
	}
}

// MetadataVersionChanged tells whether the two sides have different levels of metadata.version.
func (d *Delta) MetadataVersionChanged() bool { return d.base.mv != d.next.mv }

// ClusterIDChanged tells whether the two sides have different cluster ids.
func (d *Delta) ClusterIDChanged() bool { return d.base.clusterID != d.next.clusterID }

// Brokers yields the registrations that changed, ascending by broker id.
func (d *Delta) Brokers() iter.Seq[Change[int32, Broker]] {
	return changes(d.base.brokers, d.next.brokers, publicID)
}

// Controllers yields the registrations that changed, ascending by controller id.
func (d *Delta) Controllers() iter.Seq[Change[int32, Controller]] {
	return changes(d.base.controllers, d.next.controllers, publicID)
}

// Topics yields the topics that came or went, ascending by id; what changes in a topic are its partitions. A topic that was
// deleted and created again has another id and is there twice.
func (d *Delta) Topics() iter.Seq[Change[record.UUID, Topic]] {
	return changes(d.base.topicsByID, d.next.topicsByID, publicUUID)
}

// Partitions yields the partitions that changed, ascending by topic id, partition; those of topics that came or went too.
func (d *Delta) Partitions() iter.Seq[Change[PartitionKey, Partition]] {
	return changes(d.base.partitions, d.next.partitions, sameKey[PartitionKey])
}

// Configs yields the configuration entries that changed, ascending by type, resource, name.
func (d *Delta) Configs() iter.Seq[Change[ConfigKey, string]] {
	return changes(d.base.configs, d.next.configs, sameKey[ConfigKey])
}

// Quotas yields the client quotas that changed.
func (d *Delta) Quotas() iter.Seq[Change[QuotaKey, records.Float64Bits]] {
	return changes(d.base.quotas, d.next.quotas, sameKey[QuotaKey])
}

// ProducerIDsChanged tells whether the two sides have different next producer ids.
func (d *Delta) ProducerIDsChanged() bool { return d.base.producerID != d.next.producerID }

// ACLs yields the access control entries that changed, ascending by id.
func (d *Delta) ACLs() iter.Seq[Change[record.UUID, ACL]] {
	return changes(d.base.acls, d.next.acls, publicUUID)
}

// Scrams yields the SCRAM credentials that changed, ascending by user, mechanism.
func (d *Delta) Scrams() iter.Seq[Change[ScramKey, ScramCredential]] {
	return changes(d.base.scram, d.next.scram, sameKey[ScramKey])
}

// Tokens yields the delegation tokens that changed, ascending by id.
func (d *Delta) Tokens() iter.Seq[Change[string, Token]] {
	return changes(d.base.tokens, d.next.tokens, publicText)
}
