package image

import (
	"iter"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Difference is one field that two images do not have in common.
type Difference struct {
	Entry string // "broker 2", "partition 0 of topic t", "configuration of topic t"
	Field string // "isr"; "" for an entry that one of the images lacks
	// A and B are the field's value in the one and the other image, "absent" where there is none, "present" for a whole entry.
	A, B string
}

// The words for an entry that is only in one image.
const (
	absent  = "absent"
	present = "present"
)

// Differences yields the fields in which two images differ, in the order in which a snapshot has their entries. It is for sentences about
// images that should be equal: the cost is that of what differs, and the texts are allocated.
func Differences(a, b *Image) iter.Seq[Difference] {
	return func(yield func(Difference) bool) {
		d := &Delta{}
		d.Between(a, b)
		c := &comparison{delta: d, yield: yield}
		c.cluster()
		c.topics()
		c.values()
		c.security()
	}
}

// comparison is a walk over the difference of two images. done is set when the caller wants no more.
type comparison struct {
	delta *Delta
	yield func(Difference) bool
	done  bool
}

func (c *comparison) say(entry, field, a, b string) {
	if !c.done && a != b {
		c.done = !c.yield(Difference{Entry: entry, Field: field, A: a, B: b})
	}
}

// entry says that an entry is on one side only, and reports whether it is on both.
func entry[K, V any](c *comparison, name string, change *Change[K, V]) (both bool) {
	switch {
	case change.Old == nil:
		c.say(name, "", absent, present)
	case change.New == nil:
		c.say(name, "", present, absent)
	default:
		return true
	}
	return false
}

// plain says that a value which is an entry by itself differs.
func plain[K, V any](c *comparison, name, field string, change *Change[K, V], text func(V) string) {
	a, b := absent, absent
	if change.Old != nil {
		a = text(*change.Old)
	}
	if change.New != nil {
		b = text(*change.New)
	}
	c.say(name, field, a, b)
}

func (c *comparison) cluster() {
	for f := range c.delta.Features() {
		plain(c, "feature "+f.Key, "level", &f, func(level int16) string { return strconv.FormatInt(int64(level), 10) })
	}
	c.say("the cluster", "id", named(c.delta.base.clusterID), named(c.delta.next.clusterID))
	for f := range c.delta.Brokers() {
		if name := "broker " + number(f.Key); entry(c, name, &f) {
			a, b := f.Old, f.New
			c.say(name, "epoch", long(a.Epoch), long(b.Epoch))
			c.say(name, "fenced", yesNo(a.Fenced), yesNo(b.Fenced))
			c.say(name, "in controlled shutdown", yesNo(a.InControlledShutdown), yesNo(b.InControlledShutdown))
			c.say(name, "incarnation", a.IncarnationID.String(), b.IncarnationID.String())
			c.say(name, "rack", rack(a), rack(b))
			c.say(name, "log directories", uuids(a.LogDirs), uuids(b.LogDirs))
			c.say(name, "cordoned log directories", uuids(a.CordonedLogDirs), uuids(b.CordonedLogDirs))
			c.say(name, "migrating from ZooKeeper", yesNo(a.IsMigratingZkBroker), yesNo(b.IsMigratingZkBroker))
			c.members(name, a.Listeners, b.Listeners, a.Features, b.Features)
		}
	}
	for f := range c.delta.Controllers() {
		if name := "controller " + number(f.Key); entry(c, name, &f) {
			a, b := f.Old, f.New
			c.say(name, "incarnation", a.IncarnationID.String(), b.IncarnationID.String())
			c.say(name, "ready to migrate from ZooKeeper", yesNo(a.ZkMigrationReady), yesNo(b.ZkMigrationReady))
			c.members(name, a.Listeners, b.Listeners, a.Features, b.Features)
		}
	}
}

// members compares what brokers and controllers have in common.
func (c *comparison) members(name string, listenersA, listenersB []Endpoint, featuresA, featuresB []FeatureRange) {
	c.say(name, "listeners", joined(listenersA, endpoint), joined(listenersB, endpoint))
	c.say(name, "features", joined(featuresA, featureRange), joined(featuresB, featureRange))
}

func (c *comparison) topics() {
	for f := range c.delta.Topics() {
		name := f.Key.String()
		if f.Old != nil {
			name = f.Old.Name
		} else if f.New != nil {
			name = f.New.Name
		}
		if entry(c, "topic "+name, &f) {
			c.say("topic "+f.Key.String(), "name", f.Old.Name, f.New.Name)
		}
	}
	for f := range c.delta.Partitions() {
		name := "partition " + number(f.Key.Partition) + " of topic " + c.topicName(f.Key.TopicID)
		if entry(c, name, &f) {
			a, b := f.Old, f.New
			c.say(name, "leader", number(a.Leader), number(b.Leader))
			c.say(name, "leader epoch", number(a.LeaderEpoch), number(b.LeaderEpoch))
			c.say(name, "isr", joined(a.Isr, number), joined(b.Isr, number))
			c.say(name, "replicas", joined(a.Replicas, number), joined(b.Replicas, number))
			c.say(name, "adding replicas", joined(a.AddingReplicas, number), joined(b.AddingReplicas, number))
			c.say(name, "removing replicas", joined(a.RemovingReplicas, number), joined(b.RemovingReplicas, number))
			c.say(name, "eligible leader replicas", joined(a.Elr, number), joined(b.Elr, number))
			c.say(name, "last known eligible leader replicas", joined(a.LastKnownElr, number), joined(b.LastKnownElr, number))
			c.say(name, "recovering", yesNo(a.Recovering), yesNo(b.Recovering))
			c.say(name, "directories", uuids(a.Directories), uuids(b.Directories))
			c.say(name, "partition epoch", number(a.PartitionEpoch), number(b.PartitionEpoch))
		}
	}
}

// topicName is the name of a topic in either image, its id where neither has it.
func (c *comparison) topicName(id record.UUID) string {
	for _, i := range [2]*Image{c.delta.base, &c.delta.next} {
		if t := i.TopicByID(id); t != nil {
			return t.Name
		}
	}
	return id.String()
}

func (c *comparison) values() {
	for f := range c.delta.Configs() {
		plain(c, "configuration of "+f.Key.resource(), f.Key.Name, &f, strconv.Quote)
	}
	for f := range c.delta.Quotas() {
		plain(c, "quota of "+entityText(f.Key.Entity), f.Key.Name, &f,
			func(v records.Float64Bits) string { return "0x" + strconv.FormatUint(uint64(v), 16) })
	}
	c.say("the cluster", "next producer id", producer(c.delta.base.producerID), producer(c.delta.next.producerID))
}

func (c *comparison) security() {
	for f := range c.delta.ACLs() {
		if name := "access control entry " + f.Key.String(); entry(c, name, &f) {
			c.say(name, "resource", aclResource(f.Old), aclResource(f.New))
			c.say(name, "rule", aclRule(f.Old), aclRule(f.New))
		}
	}
	for f := range c.delta.Scrams() { // a credential is not for logs
		if name := "SCRAM credential of " + f.Key.User; entry(c, name, &f) {
			c.say(name, "iterations", number(f.Old.Iterations), number(f.New.Iterations))
			if !sameSecrets(f.Old, f.New) {
				c.say(name, "secrets", "one", "another")
			}
		}
	}
	for f := range c.delta.Tokens() {
		if name := "delegation token " + f.Key; entry(c, name, &f) {
			a, b := f.Old, f.New
			c.say(name, "owner", a.Owner, b.Owner)
			c.say(name, "requester", a.Requester, b.Requester)
			c.say(name, "renewers", strings.Join(a.Renewers, " "), strings.Join(b.Renewers, " "))
			c.say(name, "issue time", long(a.IssueTimestampMs), long(b.IssueTimestampMs))
			c.say(name, "longest time", long(a.MaxTimestampMs), long(b.MaxTimestampMs))
			c.say(name, "expiration time", long(a.ExpirationTimestampMs), long(b.ExpirationTimestampMs))
		}
	}
}
