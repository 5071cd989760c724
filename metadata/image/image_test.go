package image

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20261130")
	}
	os.Exit(m.Run())
}

func text(s string) *string { return &s }

func genRecord() *rapid.Generator[records.Record] {
	name := rapid.SampledFrom([]string{"a", "b", "c", "metadata.version", "kraft.version", "a.long.name.of.a.feature"})
	value := rapid.SampledFrom([]string{"", "1", "2", "abcdefgh", "abcdefghi", "x=y:z ü"})
	return rapid.Custom(func(t *rapid.T) records.Record {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return &records.FeatureLevelRecord{Name: name.Draw(t, "name"), FeatureLevel: rapid.Int16Range(0, 3).Draw(t, "level")}
		case 1:
			return &records.ClusterIdRecord{ClusterId: rapid.SampledFrom([]string{"X", "Y"}).Draw(t, "id")}
		case 2:
			r := &records.ConfigRecord{
				ResourceType: rapid.SampledFrom([]int8{2, 4}).Draw(t, "type"),
				ResourceName: value.Draw(t, "resource"), Name: name.Draw(t, "name"),
			}
			if rapid.Bool().Draw(t, "set") {
				r.Value = text(value.Draw(t, "value"))
			}
			return r
		case 3:
			return &records.UserScramCredentialRecord{
				Name: value.Draw(t, "user"), Mechanism: rapid.Int8Range(1, 2).Draw(t, "mechanism"),
				Salt: []byte(value.Draw(t, "salt")), StoredKey: []byte{}, ServerKey: []byte(value.Draw(t, "key")),
				Iterations: rapid.Int32Range(4096, 4098).Draw(t, "iterations"),
			}
		case 4:
			return &records.RemoveUserScramCredentialRecord{
				Name: value.Draw(t, "user"), Mechanism: rapid.Int8Range(1, 2).Draw(t, "mechanism"),
			}
		}
		return &records.NoOpRecord{}
	})
}

func applyAll(t require.TestingT, log []records.Record) *Image {
	img := New()
	var d Delta
	for at, r := range log {
		d.Reset()
		require.NoError(t, d.Replay(r))
		img.Apply(&d, Provenance{Offset: int64(at), Epoch: 1})
	}
	return img
}

// Any grouping of a log into deltas gives the same bytes and digest, and the records of the image recreate it.
func TestGroupingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.SliceOfN(genRecord(), 0, 40).Draw(t, "log")
		want := applyAll(t, log)

		img, d := New(), Delta{}
		for at, r := range log {
			require.NoError(t, d.Replay(r))
			if rapid.Bool().Draw(t, "cut") || at == len(log)-1 {
				img.Apply(&d, Provenance{Offset: int64(at), Epoch: 1})
				d.Reset()
			}
		}
		require.Equal(t, want.AppendTo(nil), img.AppendTo(nil))
		require.Equal(t, want.Digest(), img.Digest())
		require.Equal(t, want.Provenance(), img.Provenance())

		var full Delta
		full.FillFull(img)
		again := New()
		again.Apply(&full, img.Provenance())
		require.Equal(t, img.AppendTo(nil), again.AppendTo(nil))
		require.Equal(t, img.Digest(), again.Digest())

		img.Set(&Change{Part: PartFeature, Name: MetadataVersion, Level: 34})
		rs, err := img.AppendRecords(nil)
		require.NoError(t, err)
		require.Equal(t, img.Digest(), applyAll(t, rs).Digest())
		clone := img.Clone()
		require.Equal(t, img.AppendTo(nil), clone.AppendTo(nil))
		require.Equal(t, img.Digest(), clone.Digest())
	})
}

// Every change can be taken back, in reverse order, to exactly the bytes before it; digests are equal exactly when the
// bytes are.
func TestInverseChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.SliceOfN(genRecord(), 1, 40).Draw(t, "log")
		img := New()
		states, digests, undo := [][]byte{img.AppendTo(nil)}, []uint64{img.Digest()}, []Change{}
		for _, r := range log {
			var c Change
			require.NoError(t, ChangeOf(r, &c))
			undo = append(undo, img.Set(&c))
			states, digests = append(states, img.AppendTo(nil)), append(digests, img.Digest())
		}
		for a := range states {
			for b := range states {
				require.Equal(t, string(states[a]) == string(states[b]), digests[a] == digests[b])
			}
		}
		for at := len(undo) - 1; at >= 0; at-- {
			img.Set(&undo[at])
			require.Equal(t, states[at], img.AppendTo(nil))
			require.Equal(t, digests[at], img.Digest())
		}
	})
}

func TestRecordsInSnapshotOrder(t *testing.T) {
	img := applyAll(t, []records.Record{
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 1, Salt: []byte{1}, Iterations: 4096},
		&records.ConfigRecord{ResourceType: 4, Name: "k", Value: text("v")},
		&records.ClusterIdRecord{ClusterId: "X"},
		&records.FeatureLevelRecord{Name: "a.version", FeatureLevel: 1},
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 34},
		&records.FeatureLevelRecord{Name: "kraft.version", FeatureLevel: 1},
	})
	rs, err := img.AppendRecords(nil)
	require.NoError(t, err)
	var names []string
	for _, r := range rs {
		names = append(names, r.RecordName())
	}
	require.Equal(t, []string{
		"FeatureLevelRecord", "FeatureLevelRecord", "ClusterIdRecord", "ConfigRecord", "UserScramCredentialRecord",
	}, names)
	require.Equal(t, "metadata.version", rs[0].(*records.FeatureLevelRecord).Name)
	require.Zero(t, img.FeatureLevel("kraft.version"))

	img.Set(&Change{Part: PartFeature, Name: MetadataVersion, Level: 33})
	_, err = img.AppendRecords(nil)
	require.ErrorIs(t, err, ErrLoss, "a cluster id below its level would be lost")
}

func TestMarkersHaveNoPart(t *testing.T) {
	for _, r := range []records.Record{
		&records.BeginTransactionRecord{}, &records.EndTransactionRecord{}, &records.AbortTransactionRecord{},
		records.NewRegisterBrokerRecord(),
	} {
		var d Delta
		require.ErrorIs(t, d.Replay(r), ErrNoPart, r.RecordName())
		require.Empty(t, d.Changes())
	}
}

// The digest goes into traces, so it may not depend on architecture or Go version. Do not change the number: change the
// engine version together with it.
func TestDigestRegression(t *testing.T) {
	img := applyAll(t, []records.Record{
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 34},
		&records.ClusterIdRecord{ClusterId: "4L6g3nShT-eMCtK--X86sw"},
		&records.ConfigRecord{ResourceType: 4, Name: "min.insync.replicas", Value: text("2")},
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 2, Salt: []byte{1, 2}, ServerKey: []byte{3}, Iterations: 8192},
	})
	require.Equal(t, "74bcfcc3d2063b31", fmt.Sprintf("%016x", img.Digest()))
	require.Zero(t, New().Digest())
}

func BenchmarkApplyConfig(b *testing.B) {
	img, d := New(), Delta{}
	value := "some value"
	rs := []records.Record{
		&records.ConfigRecord{ResourceType: 4, Name: "workload.0", Value: &value},
		&records.ConfigRecord{ResourceType: 4, Name: "workload.1", Value: &value},
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n++ {
		d.Reset()
		_ = d.Replay(rs[n&1])
		img.Apply(&d, Provenance{Offset: int64(n), Epoch: 1})
	}
}

func TestReading(t *testing.T) {
	img := applyAll(t, []records.Record{
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 34},
		&records.FeatureLevelRecord{Name: "a.version", FeatureLevel: 2},
		&records.FeatureLevelRecord{Name: "a.version", FeatureLevel: 1},
		&records.FeatureLevelRecord{Name: "b.version", FeatureLevel: 1},
		&records.FeatureLevelRecord{Name: "b.version", FeatureLevel: 0},
		&records.ClusterIdRecord{ClusterId: "X"},
		&records.ConfigRecord{ResourceType: 4, ResourceName: "2", Name: "k", Value: text("w")},
		&records.ConfigRecord{ResourceType: 4, ResourceName: "1", Name: "k", Value: text("v")},
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 1, Salt: []byte{1}, Iterations: 4096},
	})
	require.Equal(t, []Feature{{"a.version", 1}, {"metadata.version", 34}}, img.Features())
	require.Equal(t, int16(34), img.MetadataVersion())
	require.Equal(t, "X", img.ClusterID())
	value, found := img.Config(ConfigKey{Type: 4, Resource: "1", Name: "k"})
	require.True(t, found)
	require.Equal(t, "v", value)
	require.Equal(t, "1", img.ConfigKeys()[0].Resource)
	require.Equal(t, int32(4096), img.Scram(ScramKey{Mechanism: 1, User: "u"}).Iterations)
	require.Equal(t, Provenance{Offset: 8, Epoch: 1}, img.Provenance())
	img.SetProvenance(Provenance{Offset: 9, Epoch: 2})
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2}, img.Provenance().AppendTo(nil))
	require.Equal(t, Change{}, img.Set(&Change{}))
	require.Panics(t, func() { img.Set(&Change{Part: numParts}) })
	for p := PartNone; p < numParts; p++ {
		require.NotEmpty(t, p.String())
	}
	require.Panics(t, func() { _ = numParts.String() })
}

func TestDelta(t *testing.T) {
	var d Delta
	for _, r := range []records.Record{
		&records.ClusterIdRecord{ClusterId: "X"}, &records.NoOpRecord{}, &records.ZkMigrationStateRecord{},
		&records.ClusterIdRecord{ClusterId: "Y"}, &records.ConfigRecord{Name: "k"},
	} {
		require.NoError(t, d.Replay(r))
	}
	require.Equal(t, int64(5), d.Records())
	require.Len(t, d.Changes(), 3)
	require.True(t, d.Changed(PartConfig))
	require.False(t, d.Changed(PartScram))
	require.Equal(t, "Y", d.ClusterID())
	d.Reset()
	require.Equal(t, "", d.ClusterID())
	require.Zero(t, d.Records())
}

// Canonical bytes of changes tell different changes apart.
func TestChangeBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b Change
		require.NoError(t, ChangeOf(genRecord().Draw(t, "a"), &a))
		require.NoError(t, ChangeOf(genRecord().Draw(t, "b"), &b))
		require.Equal(t, reflect.DeepEqual(a, b), bytes.Equal(a.AppendTo(nil), b.AppendTo(nil)))
	})
}

func FuzzBatchReader(f *testing.F) {
	frame := records.Append(nil, &records.ClusterIdRecord{ClusterId: "X"}, 0)
	f.Add(record.AppendBatch(nil, record.BatchSpec{BaseOffset: 7}, frame, frame))
	f.Add(make([]byte, record.BatchOverhead))
	f.Fuzz(func(t *testing.T, batch []byte) {
		if len(batch) < record.BatchOverhead {
			return
		}
		var r BatchReader
		r.Reset(batch)
		next := record.Batch(batch).BaseOffset()
		for r.Next() {
			require.Equal(t, next, r.Offset)
			require.NotNil(t, r.Record)
			next++
		}
		require.False(t, r.Next())
		if r.Err() == nil {
			require.Equal(t, int64(record.Batch(batch).RecordCount()), next-record.Batch(batch).BaseOffset())
		}
	})
}
