package bootstrap

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

func level(name string, level int16) Entry {
	return Entry{Record: &records.FeatureLevelRecord{Name: name, FeatureLevel: level}}
}

func TestMetadata(t *testing.T) {
	entries := []Entry{
		level(features.MetadataVersion, 9), level(features.GroupVersion, 1), level(features.MetadataVersion, 34),
		{Record: &records.ClusterIdRecord{ClusterId: "X"}},
	}
	m, err := New(entries, "here", 7)
	require.NoError(t, err)
	require.Equal(t, int16(34), m.MetadataVersion())
	require.Equal(t, int16(1), m.FeatureLevel(features.GroupVersion))
	require.Zero(t, m.FeatureLevel(features.ShareVersion))
	id, ok := m.ClusterID()
	require.Equal(t, []any{"X", true}, []any{id, ok})
	_, err = New(entries[1:2], "here", 7)
	require.ErrorIs(t, err, ErrNoVersion)
	_, err = New([]Entry{level(features.MetadataVersion, 6)}, "here", 7)
	require.ErrorIs(t, err, ErrOldVersion)
}

func TestLoad(t *testing.T) {
	release, err := features.Find("4.0")
	require.NoError(t, err)
	disk := filestest.NewMemory()
	m, err := Load(disk, "/d", release)
	require.NoError(t, err)
	require.Equal(t, []Entry{level(features.MetadataVersion, 22)}, m.Entries)
	_, ok := m.ClusterID()
	require.False(t, ok)
	_, err = ReadCheckpoint(disk, "/d")
	require.ErrorIs(t, err, fs.ErrNotExist)

	checkpoint := Checkpoint{Entries: []Entry{level(features.MetadataVersion, 21)}}
	disk.Put("/d/x", "")
	require.NoError(t, WriteFile(disk, "/d", checkpoint.AppendTo(nil, Times{})))
	m, err = Load(disk, "/d", release)
	require.NoError(t, err)
	require.Equal(t, checkpoint.Entries, m.Entries)
	require.Equal(t, "/d/bootstrap.checkpoint", m.Source)

	require.NoError(t, WriteCheckpoint(disk, "/d", checkpoint.AppendTo(nil, Times{})))
	c, err := ReadCheckpoint(disk, "/d")
	require.NoError(t, err)
	require.Equal(t, checkpoint.Entries, c.Entries)

	disk.Put(CheckpointPath("/d"), "")
	_, err = ReadCheckpoint(disk, "/d")
	require.ErrorIs(t, err, ErrCheckpoint)
	disk.Put(Path("/d"), "")
	_, err = Load(disk, "/d", release)
	require.ErrorIs(t, err, ErrNoVersion)
	disk.Refuse[Path("/d")] = syscall.EIO
	_, err = Load(disk, "/d", release)
	require.ErrorIs(t, err, syscall.EIO)
}

func TestCheckpointRoundTrip(t *testing.T) {
	voters := &record.VotersRecord{Voters: []record.VoterEntry{{
		VoterID: 1, VoterDirectoryID: record.UUIDFromHalves(7, 7), MaxSupportedVersion: 1,
		Endpoints: []record.VoterEndpoint{{Name: "CONTROLLER", Host: "h", Port: 1}},
	}}}
	for _, c := range []Checkpoint{
		{HasFooter: true},
		{HasFooter: true, HasKRaftVersion: true, LastContainedTimestampMs: 5},
		{HasFooter: true, HasKRaftVersion: true, KRaftVersion: 1, Voters: voters, Entries: []Entry{
			level(features.MetadataVersion, 33), {Record: records.NewRegisterBrokerRecord(), Version: 4},
		}},
	} {
		got, err := ParseCheckpoint(c.AppendTo(nil, Times{1, 2, 3}))
		require.NoError(t, err)
		require.Equal(t, c.Voters, got.Voters)
		require.Equal(t, c.HasKRaftVersion, got.HasKRaftVersion)
		require.Equal(t, c.LastContainedTimestampMs, got.LastContainedTimestampMs)
		require.Len(t, got.Entries, len(c.Entries))
		require.True(t, got.HasFooter)
	}
}

// More than 8 MiB of records take more than one batch.
func TestCheckpointSplitsBatches(t *testing.T) {
	c, blob := Checkpoint{}, make([]byte, 3<<20)
	for range 5 {
		c.Entries = append(c.Entries, Entry{Record: &records.UserScramCredentialRecord{Salt: blob}})
	}
	content := c.AppendTo(nil, Times{})
	got, err := ParseCheckpoint(content)
	require.NoError(t, err)
	require.Len(t, got.Entries, 5)
	batches := 0
	for len(content) > 0 {
		batch, rest, err := record.NextBatch(content)
		require.NoError(t, err)
		require.LessOrEqual(t, len(batch), maxBatchBytes)
		content = rest
		batches++
	}
	require.Equal(t, 5, batches) // header, 2 + 2 + 1 records, footer
}

func TestParseCheckpointRefuses(t *testing.T) {
	data := record.AppendBatch(nil, record.BatchSpec{}, []byte{1, 20, 0, 0})
	_, err := ParseCheckpoint(data)
	require.ErrorContains(t, err, "before the snapshot header")
	control := func(kinds ...record.ControlType) []byte {
		var b record.Builder
		b.Reset(nil, record.BatchSpec{Control: true})
		for _, kind := range kinds {
			b.AddControl(kind, make([]byte, 11))
		}
		return b.Finish()
	}
	for _, kinds := range [][]record.ControlType{
		{record.SnapshotFooter}, {record.SnapshotHeader, record.SnapshotHeader}, {record.SnapshotHeader, record.LeaderChange},
	} {
		_, err := ParseCheckpoint(control(kinds...))
		require.ErrorIs(t, err, ErrCheckpoint, kinds)
	}
	good := (&Checkpoint{Entries: []Entry{level(features.MetadataVersion, 7)}}).AppendTo(nil, Times{})
	_, err = ParseCheckpoint(good)
	require.NoError(t, err)
	for bit := range len(good) * 8 {
		damaged := append([]byte{}, good...)
		damaged[bit/8] ^= 1 << (bit % 8)
		if got, err := ParseCheckpoint(damaged); err == nil { // fields outside of the checksum, or a torn tail
			require.LessOrEqual(t, len(got.Entries), 1)
		}
		_, _ = ParseBatchFile(damaged)
	}
}

func FuzzParse(f *testing.F) {
	f.Add((&Checkpoint{HasKRaftVersion: true, Entries: []Entry{level("x", 7)}}).AppendTo(nil, Times{}))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := ParseCheckpoint(content)
		if err == nil {
			again, err := ParseCheckpoint(c.AppendTo(nil, Times{}))
			require.NoError(t, err)
			require.Equal(t, c.KRaftVersion, again.KRaftVersion)
			require.Len(t, again.Entries, len(c.Entries))
		} else {
			require.ErrorIs(t, err, ErrCheckpoint)
		}
		if _, err := ParseBatchFile(content); err != nil {
			require.ErrorIs(t, err, ErrCheckpoint)
		}
	})
}
