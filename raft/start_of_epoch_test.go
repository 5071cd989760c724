package raft

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// batchOfControls is a batch of control records at offset base.
func batchOfControls(base int64, epoch int32, add func(b *record.Builder)) []byte {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: epoch, TimestampMs: 5, Control: true})
	add(&b)
	return b.Finish()
}

// addVersion adds a KRaftVersionRecord of version 1.
func addVersion(b *record.Builder) {
	b.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: 1}).AppendTo(nil))
}

// open runs the command open and returns its error.
func (s *script) open() error {
	return s.cmdOpen(&datadriven.TestData{Cmd: "open"})
}

// TestVersionWithoutVotersIsFatal: at kraft.version 1 the voters are in log or snapshot; who is to begin an epoch and finds none there
// stops (kraft-protocol 3.2), whatever the static voters are. The same replica starts at kraft.version 0.
func TestVersionWithoutVotersIsFatal(t *testing.T) {
	set, err := voters.New(voters.Voter{ReplicaKey: ReplicaKey{ID: 1, DirectoryID: dirID(1)}, Endpoints: testEndpoints(1), MaxKRaftVersion: 1})
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		add   func(b *record.Builder)
		fatal bool
	}{
		{"version 0", nil, false},
		{"version 1 alone", addVersion, true},
		{"version 1 with voters", func(b *record.Builder) {
			addVersion(b)
			votersRecord := set.Record()
			b.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := requestScript(t, "replica id=1 voters=(1)", func(*Config) {})
			if c.add != nil {
				s.writeFile("00000000000000000000-0000000000.checkpoint", batchOfControls(0, 0, func(b *record.Builder) {
					b.AddControl(record.SnapshotHeader, (&record.SnapshotHeaderRecord{}).AppendTo(nil))
					c.add(b)
				}))
			}
			err := s.open()
			if c.fatal {
				require.ErrorIs(t, err, ErrQuorumState)
				require.ErrorContains(t, err, "kraft.version 1 without a voter set")
				require.Zero(t, s.replica.LogEndOffset(), "nothing of the epoch was written")
				return
			}
			require.NoError(t, err)
			require.Equal(t, Leader, s.replica.Role())
		})
	}
}

// TestVotersRecordNamesAnIDOnce: no Kafka writes a VotersRecord that has an id twice, since its voter sets are maps by id; whoever reads
// one there keeps the last entry. Here it is refused, by a follower that fetches it and at every start after that.
func TestVotersRecordNamesAnIDOnce(t *testing.T) {
	entry := func(id int32, dir byte) record.VoterEntry {
		return record.VoterEntry{
			VoterID: id, VoterDirectoryID: dirID(dir), MaxSupportedVersion: 1,
			Endpoints: []record.VoterEndpoint{{Name: "CONTROLLER", Host: "h", Port: 9}},
		}
	}
	s := requestScript(t, "replica id=1 voters=(1,2,3)", func(*Config) {}, "state epoch=5 leader=2", "open")
	q := s.last["2"].(*FetchRequest)
	answer := &FetchResponse{
		Header: Header{Correlation: q.Correlation, Response: true}, LeaderID: 2, LeaderEpoch: 5, HighWatermark: 0,
		DivergingEpoch: noOffset, SnapshotID: noOffset, Endpoint: NodeEndpoint{NodeID: -1},
		Records: batchOfControls(0, 5, func(b *record.Builder) {
			addVersion(b)
			twice := record.VotersRecord{Voters: []record.VoterEntry{entry(1, 1), entry(2, 2), entry(2, 3)}}
			b.AddControl(record.KRaftVoters, twice.AppendTo(nil))
		}),
	}
	err := s.replica.Receive(s.nowMs, s.lastConn["2"], answer)
	require.ErrorIs(t, err, voters.ErrDuplicateVoter)
	require.ErrorContains(t, err, "voters record at 1")
	s.do("kill")
	require.ErrorIs(t, s.open(), voters.ErrDuplicateVoter)
}
