package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// controlBatch writes one control batch; ids nil leaves the voters out.
func controlBatch(t require.TestingT, base int64, version int16, ids []int32) []byte {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: 1, Control: true})
	b.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: version}).AppendTo(nil))
	if ids != nil {
		var entries []voters.Voter
		for _, id := range ids {
			entries = append(entries, voters.Voter{ReplicaKey: ReplicaKey{ID: id, DirectoryID: dirID(byte(id))}})
		}
		set, err := voters.New(entries...)
		require.NoError(t, err)
		r := set.Record()
		b.AddControl(record.KRaftVoters, r.AppendTo(nil))
	}
	return b.Finish()
}

// TestControlStateAgainstModel: after any appends and truncations the set and version in force are those of the last
// control record that is left, or the static ones.
func TestControlStateAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		static, err := voters.New(voters.Voter{ReplicaKey: ReplicaKey{ID: 99}})
		require.NoError(t, err)
		c := controlState{static: static}
		type entry struct {
			first, last int64
			version     int16 // -1: a data batch
			ids         []int32
		}
		var log []entry
		end := int64(0)
		for step := rapid.IntRange(1, 30).Draw(t, "steps"); step > 0; step-- {
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				ids := rapid.SliceOfNDistinct(rapid.Int32Range(0, 9), 1, 4, rapid.ID).Draw(t, "ids")
				version := int16(rapid.IntRange(0, 1).Draw(t, "version"))
				batch := controlBatch(t, end, version, ids)
				log = append(log, entry{end, end + 1, version, ids})
				end += 2
				require.NoError(t, c.readBatches(batch, end))
			case 1:
				batch := record.AppendBatch(nil, record.BatchSpec{BaseOffset: end, LeaderEpoch: 1}, []byte("x"))
				log = append(log, entry{end, end, -1, nil})
				end++
				require.NoError(t, c.readBatches(batch, end))
				require.NoError(t, c.readBatches(batch, end), "what was read is skipped")
			case 2:
				cut := len(log) - rapid.IntRange(0, len(log)).Draw(t, "cut")
				if cut < len(log) {
					end = log[cut].first
					log = log[:cut]
				}
				c.truncate(end)
			}
			wantVersion, wantOffset, wantIDs := int16(0), NoVotersInLog, []int32{99}
			for _, e := range log {
				if e.version >= 0 {
					wantVersion, wantOffset, wantIDs = e.version, e.last, e.ids
				}
			}
			require.Equal(t, wantVersion, c.kraftVersion())
			require.Equal(t, wantOffset, c.votersOffset())
			require.ElementsMatch(t, wantIDs, c.voterIDs())
			require.Equal(t, end, c.nextOffset)
		}
	})
}

// TestControlStateStopsAtTheLogEnd: batches that the log did not take do not count.
func TestControlStateStopsAtTheLogEnd(t *testing.T) {
	var c controlState
	batches := append(controlBatch(t, 0, 1, []int32{1}), controlBatch(t, 2, 1, []int32{1, 2})...)
	require.NoError(t, c.readBatches(batches, 2))
	require.EqualValues(t, 1, c.voters().Len())
	require.NoError(t, c.readBatches(batches, 4))
	require.EqualValues(t, 2, c.voters().Len())
}

func FuzzControlStateSnapshot(f *testing.F) {
	f.Add(controlBatch(f, 0, 1, []int32{1, 2, 3}))
	f.Add(controlBatch(f, 0, 0, nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		var c controlState
		if err := c.readSnapshot(OffsetAndEpoch{}, content); err != nil {
			return
		}
		if set := c.voters(); set.Len() > 0 && c.votersOffset() != -1 {
			t.Fatalf("voters of the bootstrap snapshot at offset %d", c.votersOffset())
		}
	})
}

func FuzzControlStateBatches(f *testing.F) {
	f.Add(controlBatch(f, 0, 1, []int32{1, 2, 3}), int64(2))
	f.Fuzz(func(t *testing.T, batches []byte, end int64) {
		var c controlState
		_ = c.readBatches(batches, end)
		c.truncate(0)
		if len(c.sets) != 0 && c.sets[0].offset >= 0 || len(c.versions) != 0 && c.versions[0].offset >= 0 {
			t.Fatal("truncation to 0 leaves something of the log")
		}
	})
}

// TestVersionAtItsOffset: a kraft.version counts from its own offset on, for the header of a snapshot whose last record it is too, and one
// exactly at the offset of a frozen snapshot does not evict the one before, which a truncation brings back (5.1).
func TestVersionAtItsOffset(t *testing.T) {
	var c controlState
	require.NoError(t, c.readBatches(controlBatch(t, 0, 1, nil), 1))
	require.EqualValues(t, 1, c.headerAt(0).KRaftVersion)
	require.EqualValues(t, 0, c.headerAt(-1).KRaftVersion)

	c.versions = []versionAt{{offset: 0, version: 1}, {offset: 5, version: 2}}
	c.forgetBelow(5)
	require.EqualValues(t, 2, c.kraftVersion())
	c.truncate(5)
	require.EqualValues(t, 1, c.kraftVersion())
}

// TestDamagedCheckpointIsRefused: the voters of a bootstrap checkpoint count for every majority, so its control batches are verified.
func TestDamagedCheckpointIsRefused(t *testing.T) {
	set, err := voters.New(voters.Voter{ReplicaKey: ReplicaKey{ID: 1, DirectoryID: dirID(1)}, Endpoints: testEndpoints(1), MaxKRaftVersion: 1})
	require.NoError(t, err)
	content := checkpoint(t, []voters.Voter{*set.At(0)})
	content[record.BatchOverhead+8] ^= 1
	s := requestScript(t, "replica id=1 bootstrap=1", func(*Config) {})
	s.writeFile("00000000000000000000-0000000000.checkpoint", content)
	require.ErrorIs(t, s.open(), record.ErrCorrupt)
}
