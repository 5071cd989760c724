package image

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/image/imagetest"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// imageOf replays records; those that are impossible where they stand are left out.
func imageOf(list ...records.Record) *Image {
	d := NewDelta(New())
	for _, r := range list {
		_ = d.Replay(r)
	}
	return d.Apply(Provenance{Offset: 7, Epoch: 1})
}

func TestDifferencesNameTheField(t *testing.T) {
	one, two := "1", "2"
	partition := func(isr ...int32) *records.PartitionRecord {
		r := records.NewPartitionRecord()
		r.PartitionId, r.TopicId, r.Replicas, r.Isr, r.Leader = 0, imagetest.UUID(1), []int32{1, 2}, isr, 1
		return r
	}
	topic := &records.TopicRecord{Name: "t", TopicId: imagetest.UUID(1)}
	config := func(value *string) *records.ConfigRecord {
		return &records.ConfigRecord{ResourceType: TopicResource, ResourceName: "t", Name: "retention.ms", Value: value}
	}
	level := func(n int16) *records.FeatureLevelRecord {
		return &records.FeatureLevelRecord{Name: "group.version", FeatureLevel: n}
	}
	for _, c := range []struct {
		name string
		a, b *Image
		want []Difference
	}{
		{"nothing", imageOf(topic, partition(1, 2)), imageOf(topic, partition(1, 2)), nil},
		{"a field of a partition", imageOf(topic, partition(1, 2)), imageOf(topic, partition(1)),
			[]Difference{{Entry: "partition 0 of topic t", Field: "isr", A: "1 2", B: "1"}}},
		{"a partition that is not there", imageOf(topic, partition(1)), imageOf(topic),
			[]Difference{{Entry: "partition 0 of topic t", A: "present", B: "absent"}}},
		{"a configuration", imageOf(config(&one)), imageOf(config(&two)),
			[]Difference{{Entry: "configuration of topic t", Field: "retention.ms", A: `"1"`, B: `"2"`}}},
		{"a configuration that is not there", imageOf(), imageOf(config(&two)),
			[]Difference{{Entry: "configuration of topic t", Field: "retention.ms", A: "absent", B: `"2"`}}},
		{"a level", imageOf(level(1)), imageOf(), []Difference{{Entry: "feature group.version", Field: "level", A: "1", B: "absent"}}},
		{"the cluster id", imageOf(), imageOf(&records.ClusterIdRecord{ClusterId: "X"}),
			[]Difference{{Entry: "the cluster", Field: "id", A: "absent", B: "X"}}},
		{"two things", imageOf(topic, config(&one)), imageOf(config(&two)), []Difference{
			{Entry: "topic t", A: "present", B: "absent"},
			{Entry: "configuration of topic t", Field: "retention.ms", A: `"1"`, B: `"2"`}}},
	} {
		if got := slices.Collect(Differences(c.a, c.b)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Images differ exactly where their digests do, and what one lacks the other has.
func TestDifferencesAgreeWithTheDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int32) int32 { return rapid.Int32Range(0, n-1).Draw(t, "pick") }
		list := func() (list []records.Record) {
			for range pick(12) {
				list = append(list, imagetest.Record(pick))
			}
			return list
		}
		common := list()
		a, b := imageOf(append(common, list()...)...), imageOf(append(slices.Clone(common), list()...)...)
		there, back := slices.Collect(Differences(a, b)), slices.Collect(Differences(b, a))
		if (len(there) > 0) != (a.Digest() != b.Digest()) {
			t.Fatalf("digests %x and %x, differences %+v", a.Digest(), b.Digest(), there)
		}
		if len(there) != len(back) {
			t.Fatalf("%+v, and the other way round %+v", there, back)
		}
		for _, d := range there {
			if !slices.Contains(back, Difference{Entry: d.Entry, Field: d.Field, A: d.B, B: d.A}) && d.Field != "secrets" {
				t.Fatalf("%+v has no counterpart in %+v", d, back)
			}
		}
	})
}
