package image

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func TestMarkersHaveNoPart(t *testing.T) {
	for _, r := range []records.Record{
		&records.BeginTransactionRecord{}, &records.EndTransactionRecord{}, &records.AbortTransactionRecord{},
	} {
		d := NewDelta(New())
		require.ErrorIs(t, d.Replay(r), ErrNoPart, r.RecordName())
		require.True(t, d.Unchanged())
	}
}

// Every record that a key stands for has a part, except the three markers.
func TestEveryRecordHasAPart(t *testing.T) {
	markers := 0
	for key := int16(0); key < 64; key++ {
		r := records.New(key)
		if r == nil {
			continue
		}
		switch err := NewDelta(New()).Replay(r); r.(type) {
		case *records.BeginTransactionRecord, *records.EndTransactionRecord, *records.AbortTransactionRecord:
			require.ErrorIs(t, err, ErrNoPart)
			markers++
		default:
			require.NotErrorIs(t, err, ErrNoPart, r.RecordName())
		}
	}
	require.Equal(t, 3, markers)
}

func TestImpossibleRecords(t *testing.T) {
	base := apply(t, New(), everyPart()...)
	change := func(edit func(*records.PartitionChangeRecord)) records.Record {
		r := records.NewPartitionChangeRecord()
		r.PartitionId, r.TopicId = 0, uuid(4)
		edit(r)
		return r
	}
	for name, r := range map[string]records.Record{
		"unknown broker changed":      &records.BrokerRegistrationChangeRecord{BrokerId: 2, BrokerEpoch: 9},
		"broker of another epoch":     &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 8},
		"fencing change":              &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 9, Fenced: 2},
		"shutdown change":             &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 9, InControlledShutdown: -1},
		"unknown broker fenced":       &records.FenceBrokerRecord{Id: 2, Epoch: 9},
		"fenced in another epoch":     &records.FenceBrokerRecord{Id: 1, Epoch: 10},
		"unknown broker unfenced":     &records.UnfenceBrokerRecord{Id: 2, Epoch: 9},
		"unknown broker unregistered": &records.UnregisterBrokerRecord{BrokerId: 2, BrokerEpoch: 9},
		"unregistered, other epoch":   &records.UnregisterBrokerRecord{BrokerId: 1, BrokerEpoch: 8},
		"unknown controller":          &records.UnregisterControllerRecord{ControllerId: 4},
		"name taken":                  &records.TopicRecord{Name: "t", TopicId: uuid(5)},
		"topic id taken":              &records.TopicRecord{Name: "u", TopicId: uuid(4)},
		"unknown topic removed":       &records.RemoveTopicRecord{TopicId: uuid(5)},
		"partition of unknown topic":  &records.PartitionRecord{TopicId: uuid(5)},
		"recovery state":              &records.PartitionRecord{TopicId: uuid(4), LeaderRecoveryState: 2},
		"too few directories":         &records.PartitionRecord{TopicId: uuid(4), Replicas: []int32{1, 2}, Directories: []record.UUID{uuid(1)}},
		"unknown topic changed":       change(func(r *records.PartitionChangeRecord) { r.TopicId = uuid(5) }),
		"unknown partition changed":   change(func(r *records.PartitionChangeRecord) { r.PartitionId = 1 }),
		"changed to recovery state":   change(func(r *records.PartitionChangeRecord) { r.LeaderRecoveryState = 3 }),
		"changed to few directories":  change(func(r *records.PartitionChangeRecord) { r.Directories = []record.UUID{uuid(1)} }),
		"unknown topic cleared":       &records.ClearElrRecord{TopicName: "u"},
		"unknown entry":               &records.RemoveAccessControlEntryRecord{Id: uuid(6)},
	} {
		d := NewDelta(base)
		require.ErrorIs(t, d.Replay(r), ErrImpossible, name)
		require.True(t, d.Image().Equal(base), name)
	}
}

func TestBrokerChanges(t *testing.T) {
	img := apply(t, New(), everyPart()...)
	img = apply(t, img, &records.UnfenceBrokerRecord{Id: 1, Epoch: 9})
	require.True(t, img.Broker(1).Active())
	img = apply(t, img, &records.FenceBrokerRecord{Id: 1, Epoch: 9})
	require.True(t, img.Broker(1).Fenced)
	img = apply(t, img, &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 9, Fenced: -1})
	require.True(t, img.Broker(1).Active())
	require.Equal(t, []record.UUID{uuid(2)}, img.Broker(1).LogDirs, "empty is no change")
	img = apply(t, img, &records.BrokerRegistrationChangeRecord{
		BrokerId: 1, BrokerEpoch: 9, InControlledShutdown: 1, LogDirs: []record.UUID{uuid(1)}, CordonedLogDirs: []record.UUID{uuid(1)},
	})
	b := img.Broker(1)
	require.False(t, b.Active())
	require.True(t, b.InControlledShutdown)
	require.Equal(t, []record.UUID{uuid(1)}, b.LogDirs)
	require.Equal(t, b.LogDirs, b.CordonedLogDirs)
	img = apply(t, img, &records.BrokerRegistrationChangeRecord{BrokerId: 1, BrokerEpoch: 9, CordonedLogDirs: []record.UUID{}})
	require.Empty(t, img.Broker(1).CordonedLogDirs, "empty is a change, null is none")
	require.True(t, img.Broker(1).InControlledShutdown)
	img = apply(t, img, &records.UnregisterBrokerRecord{BrokerId: 1, BrokerEpoch: 9}, &records.UnregisterControllerRecord{ControllerId: 3})
	require.Zero(t, img.BrokerCount()+img.ControllerCount())
}

// Each change record is one partition epoch; one that names a leader is a leader epoch too, the same leader included.
func TestPartitionChanges(t *testing.T) {
	img := apply(t, New(), everyPart()...)
	change := func(edit func(*records.PartitionChangeRecord)) Partition {
		r := records.NewPartitionChangeRecord()
		r.PartitionId, r.TopicId = 0, uuid(4)
		edit(r)
		img = apply(t, img, r)
		return *img.Partition(uuid(4), 0)
	}
	p := change(func(r *records.PartitionChangeRecord) {})
	require.Equal(t, Partition{
		Replicas: []int32{1, 2}, Isr: []int32{1}, Elr: []int32{2}, Leader: 1, PartitionEpoch: 1,
		Directories: []record.UUID{record.DirectoryMigrating, record.DirectoryMigrating},
	}, p)
	p = change(func(r *records.PartitionChangeRecord) { r.Leader = 1 })
	require.Equal(t, []int32{1, 1, 2}, []int32{p.Leader, p.LeaderEpoch, p.PartitionEpoch})
	p = change(func(r *records.PartitionChangeRecord) { r.Leader, r.Isr, r.LeaderRecoveryState = -1, []int32{}, 1 })
	require.Equal(t, []int32{-1, 2, 3}, []int32{p.Leader, p.LeaderEpoch, p.PartitionEpoch})
	require.Nil(t, p.Isr)
	require.True(t, p.Recovering)
	p = change(func(r *records.PartitionChangeRecord) {
		r.Replicas, r.Directories = []int32{4, 5, 6}, []record.UUID{uuid(1), uuid(2), uuid(3)}
		r.AddingReplicas, r.RemovingReplicas, r.LastKnownElr = []int32{4}, []int32{1}, []int32{2}
	})
	require.Equal(t, []record.UUID{uuid(1), uuid(2), uuid(3)}, p.Directories)
	require.Equal(t, []int32{2, 4}, []int32{p.LeaderEpoch, p.PartitionEpoch})
	p = change(func(r *records.PartitionChangeRecord) { r.Replicas = []int32{4, 5} })
	require.Equal(t, []record.UUID{record.DirectoryMigrating, record.DirectoryMigrating}, p.Directories)

	img = apply(t, img, &records.ClearElrRecord{TopicName: "t"})
	p = *img.Partition(uuid(4), 0)
	require.Empty(t, p.Elr)
	require.Empty(t, p.LastKnownElr)
	require.Equal(t, int32(6), p.PartitionEpoch)
	require.Equal(t, img.Digest(), apply(t, img, &records.ClearElrRecord{}).Digest(), "nothing left to clear")
	change(func(r *records.PartitionChangeRecord) { r.LastKnownElr = []int32{5} })
	img = apply(t, img, &records.ClearElrRecord{})
	require.Empty(t, img.Partition(uuid(4), 0).LastKnownElr, "a last leader alone is cleared, too")
}

// A topic takes its partitions and configurations with it, and nothing of its neighbours.
func TestRemoveTopic(t *testing.T) {
	img := New()
	config := func(resource string) records.Record {
		return &records.ConfigRecord{ResourceType: 2, ResourceName: resource, Name: "k", Value: text("v")}
	}
	for n := range int32(3) {
		img = apply(t, img, &records.TopicRecord{Name: string('a' + n), TopicId: uuid(n)}, config(string('a'+n)))
		for p := range int32(40) {
			img = apply(t, img, &records.PartitionRecord{PartitionId: p, TopicId: uuid(n), Replicas: []int32{1}, Isr: []int32{1}})
		}
	}
	img = apply(t, img, &records.ConfigRecord{ResourceType: 4, ResourceName: "b", Name: "k", Value: text("v")})
	before := img
	img = apply(t, img, &records.RemoveTopicRecord{TopicId: uuid(1)})
	requireSound(t, img)
	require.Equal(t, []int32{2, 80, 3}, []int32{img.TopicCount(), img.TotalPartitions(), img.ConfigCount()})
	require.Equal(t, []int32{40, 0, 40}, []int32{img.PartitionCount(uuid(0)), img.PartitionCount(uuid(1)), img.PartitionCount(uuid(2))})
	d := &Delta{}
	d.Between(before, img)
	gone := 0
	for c := range d.Partitions() {
		require.Equal(t, uuid(1), c.Key.TopicID)
		require.Nil(t, c.New)
		gone++
	}
	require.Equal(t, 40, gone)
}

// KAFKA-19497: what was created and removed inside of one delta is in none of its lists. KAFKA-16892: what a snapshot does
// not mention is gone, and the delta says so.
func TestDeltasTellTheDifference(t *testing.T) {
	base := apply(t, New(), everyPart()...)
	d := NewDelta(base)
	require.NoError(t, d.Replay(&records.TopicRecord{Name: "u", TopicId: uuid(5)}))
	require.NoError(t, d.Replay(&records.RemoveTopicRecord{TopicId: uuid(5)}))
	for c := range d.Topics() {
		t.Fatalf("topic %s", c.Key)
	}
	require.True(t, d.Apply(Provenance{}).Equal(base))

	d.ResetToSnapshot(base)
	require.NoError(t, d.Replay(&records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: 20}))
	require.Equal(t, base.Provenance(), d.Image().Provenance())
	img := d.Apply(Provenance{Offset: 50, Epoch: 2})
	requireDifference(t, d, base, img)
	require.Equal(t, int32(0), img.TopicCount())
	topics := 0
	for c := range d.Topics() {
		require.Nil(t, c.New)
		topics++
	}
	require.Equal(t, 1, topics)
	require.True(t, d.MetadataVersionChanged())
	require.True(t, d.ProducerIDsChanged())
	require.Equal(t, int64(1), d.Records())
}

func TestQuotaEntity(t *testing.T) {
	user, client := records.EntityData{EntityType: "user", EntityName: text("u")}, records.EntityData{EntityType: "client-id"}
	e := NewQuotaEntity([]records.EntityData{user, client})
	require.Equal(t, e, NewQuotaEntity([]records.EntityData{client, user}))
	require.Equal(t, []records.EntityData{client, user}, e.Parts())
	require.NotEqual(t, e, NewQuotaEntity([]records.EntityData{user}))
	require.Equal(t, e, NewQuotaEntity([]records.EntityData{{EntityType: "user"}, user, client}), "the later of one type counts")
	require.Empty(t, NewQuotaEntity(nil).Parts())
	rapid.Check(t, func(t *rapid.T) {
		var parts []records.EntityData
		for _, kind := range rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID[string]).Draw(t, "types") {
			part := records.EntityData{EntityType: kind}
			if rapid.Bool().Draw(t, "named") {
				part.EntityName = text(rapid.String().Draw(t, "name"))
			}
			parts = append(parts, part)
		}
		e := NewQuotaEntity(parts)
		require.Len(t, e.Parts(), len(parts))
		require.Equal(t, e, NewQuotaEntity(e.Parts()))
		for _, p := range parts {
			require.Contains(t, e.Parts(), p)
		}
	})
}
