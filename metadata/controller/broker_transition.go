package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Transition is what happens to a broker, as far as the partitions are concerned.
type Transition uint8

// The transitions. Where the records of the partitions stand beside that of the registration is said with each (metadata-bootstrap
// 7.5).
const (
	// BrokerFenced: before the record that fences it.
	BrokerFenced Transition = iota
	// BrokerUnfenced: after the record that unfences it.
	BrokerUnfenced
	// BrokerShutsDown: after the record that says so.
	BrokerShutsDown
	// BrokerUnregistered: before the record that unregisters it.
	BrokerUnregistered
	// BrokerLostDisk: a broker that comes back without a clean shutdown is in no in-sync or eligible set any more (KIP-966). Before
	// its new registration.
	BrokerLostDisk
)

// AppendTransition appends the changes of partitions that a transition of a broker causes: it leaves the in-sync replicas, and
// leadership goes to somebody else or to nobody; or it comes back, and partitions without leader may get one. It is a pure
// function of the image, which has the broker as it was before. Cost: the partitions with the broker in their in-sync or eligible
// replicas, or those without leader.
func AppendTransition(dst []records.Record, img *image.Image, defaults *PartitionDefaults, broker int32, t Transition) []records.Record {
	if t == BrokerUnfenced {
		return appendUnfenced(dst, img, defaults, broker, nil)
	}
	rules := rulesOf(img, defaults)
	for key, p := range img.PartitionsIn(broker) {
		lost := t == BrokerUnregistered || t == BrokerLostDisk
		if !lost && !slices.Contains(p.Isr, broker) {
			continue
		}
		change := rules.changeOf(key, topicName(img, key), p)
		change.isr, change.leaving = without(p.Isr, broker), broker
		if lost {
			change.unclean = broker
		}
		dst = change.appendTo(dst)
	}
	return dst
}

// appendUnfenced gives a broker that comes back the partitions that nobody leads, as far as its replicas are not in directories that are offline.
func appendUnfenced(dst []records.Record, img *image.Image, defaults *PartitionDefaults, broker int32, offline []record.UUID) []records.Record {
	rules := rulesOf(img, defaults)
	for key, p := range img.Leaderless() {
		change := rules.changeOf(key, topicName(img, key), p)
		change.coming, change.offline = broker, offline
		dst = change.appendTo(dst)
	}
	return dst
}

func (c *partitionChange) appendTo(dst []records.Record) []records.Record {
	if r := c.record(); r != nil {
		dst = append(dst, r)
	}
	return dst
}

// appendOffline appends the changes of partitions whose replica on a broker lies in a directory that went offline: it is out of
// sync and leads no more (KIP-858).
func appendOffline(dst []records.Record, img *image.Image, defaults *PartitionDefaults, broker int32, offline []record.UUID) []records.Record {
	rules := rulesOf(img, defaults)
	for key, p := range img.PartitionsIn(broker) {
		at := slices.Index(p.Replicas, broker)
		if at < 0 || !slices.Contains(offline, p.Directories[at]) || !slices.Contains(p.Isr, broker) {
			continue
		}
		change := rules.changeOf(key, topicName(img, key), p)
		change.isr, change.leaving = without(p.Isr, broker), broker
		dst = change.appendTo(dst)
	}
	return dst
}
