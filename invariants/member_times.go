package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

// MemberSometimes lists the states of brokers and partitions that campaigns have to reach now and then.
func MemberSometimes() []sim.SometimesDoc {
	doc := func(name, scenario string, due int64, text string) sim.SometimesDoc {
		return sim.SometimesDoc{Name: name, Scenario: scenario, DuePerMillion: due, Doc: text}
	}
	return []sim.SometimesDoc{
		doc("broker-registered", "metadata/brokers", 500_000, "a broker is registered for the first time"),
		doc("broker-registered-again", "metadata/brokers", 300_000, "another incarnation of a registered broker takes its place"),
		doc("broker-unfenced", "metadata/brokers", 500_000, "a broker is unfenced"),
		doc("broker-fenced", "metadata/brokers", 100_000, "a broker that was unfenced is fenced"),
		doc("broker-shuts-down", "metadata/brokers", 50_000, "a broker is in controlled shutdown, and leads something"),
		doc("broker-unregistered", "metadata/brokers", 50_000, "a broker's registration is removed"),
		doc("isr-shrunk-to-one", "metadata/topics", 500_000, "the last in-sync replica of a partition that had several is left alone"),
		doc("partition-without-leader", "metadata/topics", 300_000, "a partition loses its leader and gets none"),
		doc("unclean-election", "metadata/topics", 100_000, "a partition gets a leader that may lack what was acknowledged, and is recovering"),
		doc("eligible-replica-elected", "metadata/topics", 5_000, "an eligible leader replica that is not in sync becomes leader (KIP-966)"),
		doc("log-directory-went-offline", "metadata/brokers", 30_000, "a log directory of a registered broker goes offline (KIP-858)"),
		doc("offline-directory-led", "metadata/topics", 30_000, "a broker led a partition from the log directory that goes offline"),
		doc("shrunk-below-3.6", "metadata/topics", 30_000, "below 3.6-IV0 a leader loses an in-sync replica and leads on, in a new epoch (KAFKA-15021)"),
		doc("eligible-replicas-switched-on", "metadata/topics", 10_000, "a cluster with topics goes to the first level of eligible leader replicas (KIP-966)"),
		doc("directory-told-with-eligible-replicas", "metadata/topics", 5_000, "a broker tells where its replica is while the partition has eligible replicas (KIP-858, KIP-966)"),
		doc("directory-told-without-the-feature", "metadata/topics", 2_000, "the same while eligible leader replicas are switched off, and the list is from before"),
		doc("reassignment-completed", "metadata/topics", 50_000, "all replicas that a reassignment adds are in sync, and those to go are gone"),
	}
}

// MemberTimes counts them, in the committed records that replicas deliver to their listeners, each offset once.
type MemberTimes struct {
	times map[string]*int64
	img   *image.Image
	delta image.Delta
	next  int64
	blind bool
	it    record.Iterator
	raw   record.Record
}

// NewMemberTimes returns a checker for World.Add.
func NewMemberTimes() *MemberTimes { return &MemberTimes{} }

// Attach implements sim.Checker.
func (m *MemberTimes) Attach(w *sim.World) {
	*m = MemberTimes{times: map[string]*int64{}, img: image.New()}
	for _, d := range MemberSometimes() {
		m.times[d.Name] = w.Sometimes(d.Name)
	}
}

// OnProtocol implements sim.ProtocolChecker.
func (m *MemberTimes) OnProtocol(_ *sim.Host, o sim.Observation) {
	if x, ok := o.(*CommitDelivered); ok {
		for i := range x.Batches {
			m.take(&x.Batches[i])
		}
	}
}

func (m *MemberTimes) take(b *raft.Batch) {
	if m.blind || b.LastOffset < m.next {
		return
	}
	if b.BaseOffset != m.next {
		m.blind = true
		return
	}
	if m.next = b.LastOffset + 1; b.Control {
		return
	}
	for m.it.Reset(record.Batch(b.Bytes)); m.it.Next(&m.raw); {
		if !aboutMembers(m.raw.Value) {
			continue
		}
		r, _, err := records.Decode(m.raw.Value)
		if err != nil {
			m.blind = true
			return
		}
		m.record(r)
	}
}

// aboutMembers looks at the key in the frame: one byte for all there are.
func aboutMembers(value []byte) bool {
	if len(value) < 2 {
		return false
	}
	switch int16(value[1]) {
	case records.FeatureLevelRecordKey, records.RegisterBrokerRecordKey, records.UnregisterBrokerRecordKey, records.TopicRecordKey, records.RemoveTopicRecordKey, records.PartitionRecordKey,
		records.PartitionChangeRecordKey, records.FenceBrokerRecordKey, records.UnfenceBrokerRecordKey, records.BrokerRegistrationChangeRecordKey, records.ClearElrRecordKey:
		return true
	}
	return false
}

func (m *MemberTimes) record(r records.Record) {
	before := m.img
	m.delta.Reset(before)
	if m.delta.Replay(r) != nil {
		m.blind = true
		return
	}
	m.img = m.delta.Apply(image.Provenance{})
	switch x := r.(type) {
	case *records.RegisterBrokerRecord:
		switch old := before.Broker(x.BrokerId); {
		case old == nil:
			m.met("broker-registered")
		case old.IncarnationID != x.IncarnationId:
			m.met("broker-registered-again")
		}
	case *records.UnregisterBrokerRecord:
		m.met("broker-unregistered")
	case *records.FenceBrokerRecord:
		m.standing(before.Broker(x.Id), m.img.Broker(x.Id))
	case *records.UnfenceBrokerRecord:
		m.standing(before.Broker(x.Id), m.img.Broker(x.Id))
	case *records.BrokerRegistrationChangeRecord:
		m.standing(before.Broker(x.BrokerId), m.img.Broker(x.BrokerId))
		m.directories(before, before.Broker(x.BrokerId), m.img.Broker(x.BrokerId))
	case *records.FeatureLevelRecord:
		if x.Name == features.EligibleLeaderReplicas && x.FeatureLevel > 0 && before.FeatureLevel(x.Name) == 0 && before.TopicCount() > 0 {
			m.met("eligible-replicas-switched-on")
		}
	case *records.PartitionChangeRecord:
		m.partition(before.Partition(x.TopicId, x.PartitionId), m.img.Partition(x.TopicId, x.PartitionId))
		if old := before.Partition(x.TopicId, x.PartitionId); len(x.Directories) > 0 && x.Replicas == nil && x.Isr == nil && old != nil && len(old.Elr) > 0 {
			if before.FeatureLevel(features.EligibleLeaderReplicas) > 0 {
				m.met("directory-told-with-eligible-replicas")
			} else {
				m.met("directory-told-without-the-feature")
			}
		}
	}
}

func (m *MemberTimes) met(name string) { *m.times[name]++ }

func (m *MemberTimes) standing(old, now *image.Broker) {
	if old == nil || now == nil {
		return
	}
	switch {
	case old.Fenced && !now.Fenced:
		m.met("broker-unfenced")
	case !old.Fenced && now.Fenced:
		m.met("broker-fenced")
	}
	if !old.InControlledShutdown && now.InControlledShutdown {
		m.met("broker-shuts-down")
	}
}

// directories looks at those that a registration has no more, before the partitions in them change.
func (m *MemberTimes) directories(before *image.Image, old, now *image.Broker) {
	if old == nil || now == nil || len(now.LogDirs) >= len(old.LogDirs) {
		return
	}
	m.met("log-directory-went-offline")
	for _, p := range membersOf(before, old.ID) {
		if at := slices.Index(p.Replicas, old.ID); p.Leader == old.ID && at >= 0 && at < len(p.Directories) && slices.Contains(old.LogDirs, p.Directories[at]) &&
			!slices.Contains(now.LogDirs, p.Directories[at]) {
			m.met("offline-directory-led")
			return
		}
	}
}

func (m *MemberTimes) partition(old, now *image.Partition) {
	if old == nil || now == nil {
		return
	}
	if len(old.Isr) > 1 && len(now.Isr) == 1 {
		m.met("isr-shrunk-to-one")
	}
	if m.img.MetadataVersion() < 12 && len(now.Isr) < len(old.Isr) && now.HasLeader() && now.Leader == old.Leader && now.LeaderEpoch > old.LeaderEpoch {
		m.met("shrunk-below-3.6")
	}
	if old.HasLeader() && !now.HasLeader() {
		m.met("partition-without-leader")
	}
	if now.Recovering && now.HasLeader() && now.Leader != old.Leader {
		m.met("unclean-election")
	}
	if now.HasLeader() && now.Leader != old.Leader && slices.Contains(old.Elr, now.Leader) && !slices.Contains(old.Isr, now.Leader) {
		m.met("eligible-replica-elected")
	}
	if len(old.AddingReplicas) > 0 && len(now.AddingReplicas)+len(now.RemovingReplicas) == 0 && slices.Contains(now.Replicas, old.AddingReplicas[0]) {
		m.met("reassignment-completed")
	}
}
