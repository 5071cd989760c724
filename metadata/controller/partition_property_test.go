package controller

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// TestPlacement: the laws of the placer, whatever the racks and the brokers.
func TestPlacement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rs := []records.Record{level(features.MetadataVersion, 33)}
		racks := map[int32]string{}
		unfenced, usable := 0, 0
		for id := range rapid.Int32Range(1, 9).Draw(t, "brokers") {
			r := brokerRecordOf(id, rapid.SampledFrom([]stand{up, up, fencedUp, leavingUp}).Draw(t, "stand"))
			if rack := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "rack"); rack != "" {
				r.Rack = &rack
				racks[id] = rack
			}
			rs = append(rs, r)
			if !r.InControlledShutdown {
				usable++
				if !r.Fenced {
					unfenced++
				}
			}
		}
		img := imageWith(t, rs...)
		seed := rapid.Uint64().Draw(t, "seed")
		one, two := generator(seed), generator(seed)
		p, again := newPlacer(img, &one), newPlacer(img, &two)
		factor := int16(rapid.IntRange(-1, 9).Draw(t, "factor"))
		possible := factor > 0 && unfenced > 0 && int(factor) <= usable
		require.Equal(t, possible, p.check(factor) == "", p.check(factor))
		if !possible {
			return
		}
		leads := map[int32]int{}
		for range 4 * usable {
			list := p.place(factor)
			require.Equal(t, list, again.place(factor), "same seed, same place")
			require.Len(t, list, int(factor))
			require.False(t, img.Broker(list[0]).Fenced, "a fenced broker first")
			leads[list[0]]++
			seen, distinct := map[int32]bool{}, map[string]bool{}
			for _, id := range list {
				require.False(t, seen[id], "twice on one broker")
				seen[id] = true
				require.False(t, img.Broker(id).InControlledShutdown)
				distinct[racks[id]] = true
			}
			all := map[string]bool{}
			for b := range img.Brokers() {
				if !b.InControlledShutdown {
					all[racks[b.ID]] = true
				}
			}
			require.Len(t, distinct, min(int(factor), len(all)), "as many racks as there can be")
		}
		if unfenced == usable && len(racks) == 0 {
			require.Len(t, leads, usable, "everybody leads some")
		}
	})
}

// TestOperationsKeepPartitions: any operations, fencings, failovers in any order keep the invariant `partitions` after each, epochs
// never go back within a leadership, and all controllers agree on every stable state (the harness compares them).
func TestOperationsKeepPartitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom([]int16{11, 22, 33}).Draw(t, "version")
		cfg := config(t, Released)
		cfg.Bootstrap = []records.Record{level(features.MetadataVersion, version)}
		g := newGroup(t, 3, cfg)
		require.NoError(t, g.elect(0, 0))
		g.commit(-1)
		m := &mixture{t: t, g: g, n: g.nodes[0]}
		var first []records.Record
		for id := range int32(4) {
			first = append(first, m.registered(id+1, up))
		}
		if version == 33 && rapid.Bool().Draw(t, "elr") {
			first = append(first, level(features.EligibleLeaderReplicas, 1),
				&records.ConfigRecord{ResourceType: 4, Name: minInSyncReplicasName, Value: text("2")})
		}
		m.write(first...)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			before := m.n.ctl.Image()
			m.step()
			after := m.n.ctl.Image()
			require.Empty(t, wrong(after))
			if m.reverted {
				m.reverted = false
				continue
			}
			for key, old := range before.AllPartitions() {
				if p := after.Partition(key.TopicID, key.Partition); p != nil {
					require.GreaterOrEqual(t, p.LeaderEpoch, old.LeaderEpoch)
					require.GreaterOrEqual(t, p.PartitionEpoch, old.PartitionEpoch)
				}
			}
		}
	})
}

// mixture draws operations.
type mixture struct {
	t        *rapid.T
	g        *group
	n        *node
	ops      int64
	epoch    int64
	reverted bool
}

func (m *mixture) registered(id int32, s stand) *records.RegisterBrokerRecord {
	m.epoch++
	r := brokerRecordOf(id, s)
	r.BrokerEpoch = m.epoch
	if m.n.ctl.Image().MetadataVersion() < 17 {
		r.LogDirs = nil
	}
	return r
}

func (m *mixture) write(rs ...records.Record) {
	m.n.ctl.outcome.reset()
	m.n.ctl.outcome.records = append(m.n.ctl.outcome.records, rs...)
	require.NoError(m.t, m.n.ctl.write(&deferredOp{kind: noOp}))
}

func (m *mixture) number(low, high int, what string) int {
	return rapid.IntRange(low, high).Draw(m.t, what)
}

func (m *mixture) step() {
	switch what := m.number(0, 11, "what"); what {
	case 0:
		m.g.commit(m.number(0, 3, "batches"))
	case 1: // a failover, which keeps some of what was not committed
		leader := int32(m.number(0, 2, "leader"))
		require.NoError(m.t, m.g.elect(leader, m.number(0, 5, "kept")))
		m.n, m.reverted = m.g.nodes[leader], true
	case 2, 3, 4:
		m.brokerStep(what)
	default:
		m.ops++
		q := m.request(what)
		require.NoError(m.t, m.n.ctl.Submit(0, &Op{ID: m.ops, Kind: q.Kind(), Request: q}))
	}
}

// brokerStep changes how a broker stands.
func (m *mixture) brokerStep(what int) {
	img := m.n.ctl.Image()
	b := img.Broker(int32(m.number(1, 4, "broker")))
	change := func(t Transition) []records.Record { return AppendTransition(nil, img, &m.n.ctl.cfg.Defaults, b.ID, t) }
	switch {
	case b == nil:
		return
	case what == 2 && !b.Fenced:
		m.write(append(change(BrokerFenced), &records.BrokerRegistrationChangeRecord{BrokerId: b.ID, BrokerEpoch: b.Epoch, Fenced: 1})...)
	case what == 2:
		m.write(append(change(BrokerLostDisk), m.registered(b.ID, fencedUp))...)
	case what == 3 && b.Fenced && !b.InControlledShutdown:
		m.write(append([]records.Record{&records.BrokerRegistrationChangeRecord{BrokerId: b.ID, BrokerEpoch: b.Epoch, Fenced: -1}}, change(BrokerUnfenced)...)...)
	case what == 4 && b.Active():
		m.write(append([]records.Record{&records.BrokerRegistrationChangeRecord{BrokerId: b.ID, BrokerEpoch: b.Epoch, InControlledShutdown: 1}}, change(BrokerShutsDown)...)...)
	}
}

func (m *mixture) request(what int) Request {
	img := m.n.ctl.Image()
	name := fmt.Sprintf("t%d", m.number(0, 2, "topic"))
	topic := img.TopicByName(name)
	at := TopicPartition{name, int32(m.number(0, 2, "partition"))}
	switch {
	case topic == nil || what == 5:
		return &CreateTopicsRequest{Topics: []NewTopic{{Name: name, Partitions: int32(m.number(-1, 3, "n")), ReplicationFactor: int16(m.number(-1, 4, "r"))}}}
	case what == 6 && m.number(0, 3, "rarely") == 0:
		return &DeleteTopicsRequest{Names: []string{name}}
	case what == 7:
		return &CreatePartitionsRequest{Topics: []MorePartitions{{Name: name, Count: int32(m.number(1, 4, "n"))}}}
	case what == 8:
		return &ElectLeadersRequest{Type: int8(m.number(0, 1, "type")), All: m.number(0, 1, "all") == 0, Partitions: []TopicPartition{at}}
	case what == 9:
		var to []int32
		for id := range int32(4) {
			if m.number(0, 1, "replica") == 0 {
				to = append(to, id+1)
			}
		}
		return &AlterPartitionReassignmentsRequest{Partitions: []Reassignment{{at, to}}}
	case what == 10:
		return &IncrementalAlterConfigsRequest{Resources: []ResourceChange{{ConfigResource{2, name}, []ConfigChange{
			{Name: minInSyncReplicasName, Value: text(fmt.Sprint(m.number(1, 3, "min")))},
			{Name: uncleanElectionName, Value: text(fmt.Sprint(m.number(0, 1, "unclean") == 1))}}}}}
	}
	return m.alter(image.PartitionKey{TopicID: topic.ID, Partition: at.Partition})
}

// alter is what the leader of a partition may ask for: with some broker in the in-sync replicas, or without.
func (m *mixture) alter(key image.PartitionKey) Request {
	img := m.n.ctl.Image()
	p := img.Partition(key.TopicID, key.Partition)
	if p == nil || !p.HasLeader() {
		return &AllocateProducerIDsRequest{}
	}
	w := PartitionWish{Key: key, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}
	for _, id := range p.Replicas {
		if id == p.Leader || m.number(0, 1, "in sync") == 0 {
			w.Isr = append(w.Isr, InSyncReplica{id, -1})
		}
	}
	return &AlterPartitionRequest{BrokerID: p.Leader, BrokerEpoch: img.Broker(p.Leader).Epoch, Partitions: []PartitionWish{w}}
}
