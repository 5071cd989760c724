package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestPartitions shows an active controller's memory after one operation and then after another: the second is what is judged.
func TestPartitions(t *testing.T) {
	topic := record.UUID{1}
	broker := func(id int32, fenced bool) records.Record {
		return &records.RegisterBrokerRecord{BrokerId: id, BrokerEpoch: int64(id), Fenced: fenced}
	}
	change := func(f func(m *records.PartitionChangeRecord)) records.Record {
		m := records.NewPartitionChangeRecord()
		m.TopicId, m.PartitionId = topic, 0
		f(m)
		return m
	}
	dir := func(n uint64) record.UUID { return record.UUIDFromHalves(n, 9) }
	lives := func(id int32, dirs ...record.UUID) records.Record {
		return &records.BrokerRegistrationChangeRecord{BrokerId: id, BrokerEpoch: int64(id), LogDirs: dirs}
	}
	fence := &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 1, Fenced: 1}
	shut := &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 1, InControlledShutdown: 1}
	for _, c := range []struct {
		name     string
		evidence string
		second   []records.Record
	}{
		{name: "nothing"},
		{name: "grown", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Isr = []int32{1, 2} })}},
		{name: "leader fenced, no leader", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Leader = -1 }), fence}},
		{name: "a follower fenced stays in sync", second: []records.Record{
			change(func(m *records.PartitionChangeRecord) { m.Isr, m.Leader = []int32{1, 2}, 2 }), fence}},
		{name: "leader fenced", second: []records.Record{fence}, evidence: "inactive-leader"},
		{name: "leader shuts down", second: []records.Record{shut}, evidence: "inactive-leader"},
		{name: "leader gone", second: []records.Record{&records.UnregisterBrokerRecord{BrokerId: 1, BrokerEpoch: 1}}, evidence: "inactive-leader"},
		{name: "leader out of sync", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Isr = []int32{2} })}, evidence: "leader-out-of-sync"},
		{name: "no replica", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Isr = []int32{1, 4} })}, evidence: "in-sync-outside-replicas"},
		{name: "fenced joins", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Isr = []int32{1, 3} })}, evidence: "inactive-joined"},
		{name: "fenced elected", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Leader, m.Isr = 3, []int32{3} })}, evidence: "inactive-joined"},
		{name: "leader's directory is there", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Directories = []record.UUID{dir(1), dir(2), dir(2)} }), lives(1, dir(1))}},
		{name: "leader's directory is offline", second: []records.Record{change(func(m *records.PartitionChangeRecord) { m.Directories = []record.UUID{dir(1), dir(2), dir(2)} }), lives(1, dir(3))},
			evidence: "offline-leader"},
		{name: "leader's directory is not known", second: []records.Record{change(func(m *records.PartitionChangeRecord) {
			m.Directories = []record.UUID{record.DirectoryUnassigned, dir(2), dir(2)}
		}), lives(1, dir(3))}},
		{name: "elected into a lost directory", second: []records.Record{lives(1, dir(1)), change(func(m *records.PartitionChangeRecord) {
			m.Directories = []record.UUID{record.DirectoryLost, dir(2), dir(2)}
		})}, evidence: "offline-leader"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, 1, Config{})
			delta := image.NewDelta(image.New())
			show := func(kind controller.EventKind, rs ...records.Record) {
				for _, r := range rs {
					require.NoError(t, delta.Replay(r))
				}
				img := delta.Apply(image.Provenance{})
				delta.Reset(img)
				l.core.partitionsEvent(l.nodes[0].r, &controller.Event{Kind: kind, Image: img})
			}
			p := records.NewPartitionRecord()
			p.TopicId, p.PartitionId, p.Replicas, p.Isr, p.Leader, p.LeaderEpoch, p.PartitionEpoch = topic, 0, []int32{1, 2, 3}, []int32{1}, 1, 0, 0
			show(controller.ControllerClaimed)
			show(controller.OpAppended, broker(1, false), broker(2, false), broker(3, true), &records.TopicRecord{Name: "t", TopicId: topic}, p)
			require.Empty(t, l.found)
			show(controller.OpAppended, c.second...)
			if c.evidence == "" {
				require.Empty(t, l.found)
				return
			}
			require.Equal(t, []string{"partitions/" + c.evidence}, l.found)
		})
	}
	t.Run("a leader that shut down under the controller before", func(t *testing.T) {
		l := newLab(t, 1, Config{})
		delta := image.NewDelta(image.New())
		show := func(kind controller.EventKind, rs ...records.Record) {
			for _, r := range rs {
				require.NoError(t, delta.Replay(r))
			}
			img := delta.Apply(image.Provenance{})
			delta.Reset(img)
			l.core.partitionsEvent(l.nodes[0].r, &controller.Event{Kind: kind, Image: img})
		}
		p := records.NewPartitionRecord()
		p.TopicId, p.PartitionId, p.Replicas, p.Isr, p.Leader, p.LeaderEpoch, p.PartitionEpoch = topic, 0, []int32{1, 2, 3}, []int32{1}, 1, 0, 0
		show(controller.ControllerClaimed)
		show(controller.Committed, broker(1, false), broker(2, false), broker(3, true), &records.TopicRecord{Name: "t", TopicId: topic}, p, shut)
		show(controller.OpAppended, change(func(m *records.PartitionChangeRecord) { m.Directories = []record.UUID{dir(1), dir(2), dir(2)} }))
		require.Empty(t, l.found)
		show(controller.OpAppended, change(func(m *records.PartitionChangeRecord) { m.Leader, m.Isr = 2, []int32{1, 2} }),
			&records.BrokerRegistrationChangeRecord{BrokerId: 2, BrokerEpoch: 2, Fenced: 1})
		require.Contains(t, l.found, "partitions/inactive-leader", "this operation made a leader of one that is fenced")
	})
	t.Run("taken back", func(t *testing.T) {
		old := &image.Partition{Replicas: []int32{3, 1, 2}, AddingReplicas: []int32{3}, Isr: []int32{3}, Leader: 3}
		p := &image.Partition{Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: -1, PartitionEpoch: 1, LeaderEpoch: 1}
		require.Empty(t, judgePartition(image.New(), old, p, true), "1 is in sync by decree")
		p.Isr = []int32{2}
		require.Equal(t, "inactive-joined", judgePartition(image.New(), old, p, true))
		p.Isr, p.Leader = []int32{1}, 1
		require.Equal(t, "inactive-joined", judgePartition(image.New(), old, p, true))
	})
	t.Run("inherited", func(t *testing.T) {
		p := &image.Partition{Replicas: []int32{1}, Isr: []int32{1}, Leader: 1}
		require.Empty(t, judgePartition(image.New(), nil, p, false), "the leader before fenced it half")
		require.Equal(t, "inactive-joined", judgePartition(image.New(), nil, p, true))
		p.Isr = nil
		require.Equal(t, "leader-out-of-sync", judgePartition(image.New(), nil, p, false))
	})
	t.Run("epochs", func(t *testing.T) {
		old := &image.Partition{Replicas: []int32{1}, Isr: []int32{1}, Leader: -1, LeaderEpoch: 4, PartitionEpoch: 7}
		back, same := *old, *old
		back.LeaderEpoch, back.PartitionEpoch = 3, 8
		require.Equal(t, "leader-epoch-went-back", judgePartition(image.New(), old, &back, true))
		require.Empty(t, judgePartition(image.New(), old, &back, false), "memory went back, and it is not compared")
		require.Equal(t, "partition-epoch-went-back", judgePartition(image.New(), old, &same, true))
	})
}
