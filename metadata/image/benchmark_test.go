package image

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

const partitionsPerTopic = 4

func spreadUUID(n int32) record.UUID {
	var id record.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(n+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(n+1)*0xd6e8feb86659fd93)
	return id
}

// cluster returns an image of that many partitions, four to a topic.
func cluster(t require.TestingT, partitions int32) *Image {
	d := NewDelta(New())
	require.NoError(t, d.Replay(&records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: 30}))
	for n := range partitions {
		topic := spreadUUID(n / partitionsPerTopic)
		if n%partitionsPerTopic == 0 {
			require.NoError(t, d.Replay(&records.TopicRecord{Name: fmt.Sprintf("topic-%07d", n/partitionsPerTopic), TopicId: topic}))
		}
		require.NoError(t, d.Replay(&records.PartitionRecord{
			PartitionId: n % partitionsPerTopic, TopicId: topic, Replicas: []int32{n % 20, (n + 1) % 20, (n + 2) % 20},
			Isr: []int32{n % 20, (n + 1) % 20, (n + 2) % 20}, Leader: n % 20,
		}))
	}
	return d.Apply(Provenance{Offset: int64(partitions), Epoch: 1})
}

// What BenchmarkApplyOne measures in time, counted in what a change allocates: from a thousand to a hundred thousand
// partitions there are two levels more to copy, whatever the machine does meanwhile.
func TestOneChangeCopiesOnePath(t *testing.T) {
	allocations := func(size int32) float64 {
		img, d, n := cluster(t, size), &Delta{}, int32(0)
		change := records.NewPartitionChangeRecord()
		return testing.AllocsPerRun(100, func() {
			n = (n + 7919) % size
			change.TopicId, change.PartitionId, change.Leader = spreadUUID(n/partitionsPerTopic), n%partitionsPerTopic, 3
			d.Reset(img)
			require.NoError(t, d.Replay(change))
			img = d.Apply(Provenance{})
		})
	}
	small, large := allocations(1_000), allocations(100_000)
	require.LessOrEqual(t, large, 2*small)
	require.LessOrEqual(t, large, 14.0)
}

// BenchmarkApplyOne replays one record on an image and makes the next: a change of a partition's leader and of its ISR, a
// configuration of a topic. A million partitions must not cost more than ten times what a thousand do.
func BenchmarkApplyOne(b *testing.B) {
	for _, size := range []int32{1_000, 1_000_000} {
		img := cluster(b, size)
		change := records.NewPartitionChangeRecord()
		next := img
		current := func(topic record.UUID, n int32) *Partition { return next.Partition(topic, n) }
		one := func(b *testing.B, prepare func(n uint32) records.Record) {
			b.ReportAllocs()
			d, n := &Delta{}, uint32(0)
			next = img
			for i := 0; i < b.N; i++ {
				n = n*1664525 + 1013904223
				d.Reset(next)
				if err := d.Replay(prepare(n % uint32(size))); err != nil {
					b.Fatal(err)
				}
				next = d.Apply(Provenance{Offset: int64(i), Epoch: 1})
			}
		}
		b.Run(fmt.Sprintf("leader/partitions=%d", size), func(b *testing.B) {
			one(b, func(n uint32) records.Record {
				change.TopicId, change.PartitionId = spreadUUID(int32(n)/partitionsPerTopic), int32(n)%partitionsPerTopic
				change.Leader, change.Isr = int32(n+1)%20, nil
				return change
			})
		})
		b.Run(fmt.Sprintf("isr/partitions=%d", size), func(b *testing.B) {
			var isr [20][3]int32
			for n := range isr {
				isr[n] = [3]int32{int32(n) % 20, int32(n+1) % 20, int32(n+2) % 20}
			}
			one(b, func(n uint32) records.Record {
				change.TopicId, change.PartitionId = spreadUUID(int32(n)/partitionsPerTopic), int32(n)%partitionsPerTopic
				p := current(change.TopicId, change.PartitionId)
				change.Leader, change.Isr = -2, isr[n%20][:5-len(p.Isr)] // one out, one in
				return change
			})
		})
		value := "some value"
		config := &records.ConfigRecord{ResourceType: TopicResource, Name: "retention.ms", Value: &value}
		names := make([]string, 1000)
		for n := range names {
			names[n] = fmt.Sprintf("topic-%07d", n*int(size)/4/1000)
		}
		b.Run(fmt.Sprintf("config/partitions=%d", size), func(b *testing.B) {
			one(b, func(n uint32) records.Record {
				config.ResourceName = names[n%1000]
				return config
			})
		})
	}
}

// BenchmarkLoad is the load of a snapshot: 2,000 topics of three partitions on 20 brokers take a small part of the second
// that they may.
func BenchmarkLoad(b *testing.B) {
	frames, err := cluster(b, 6000).AppendFrames(nil)
	require.NoError(b, err)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		load(b, New(), frames)
	}
}

// BenchmarkConfigStorm is what a storm does: a few brokers' defaults, again and again.
func BenchmarkConfigStorm(b *testing.B) {
	values := []string{"some value", "another value"}
	rs := []records.Record{
		&records.ConfigRecord{ResourceType: 4, Name: "workload.0", Value: &values[0]},
		&records.ConfigRecord{ResourceType: 4, Name: "workload.0", Value: &values[1]},
	}
	b.ReportAllocs()
	d, img := &Delta{}, New()
	for n := 0; n < b.N; n++ {
		d.Reset(img)
		_ = d.Replay(rs[n&1])
		img = d.Apply(Provenance{Offset: int64(n), Epoch: 1})
	}
}
