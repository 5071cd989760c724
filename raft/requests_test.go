package raft

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// TestRequestsSayAllTheyShould compares every request of a replica with the facts field by field (kraft-protocol 2.5 to 2.14). The scripts
// print what decides a case; what they leave out is here.
func TestRequestsSayAllTheyShould(t *testing.T) {
	configure := func(c *Config) {
		c.FetchMaxBytes, c.FetchSnapshotMaxBytes, c.FetchMaxWaitMs, c.RequestTimeoutMs = 12_345, 6_789, 321, 1_999
	}
	cluster := ClusterID{ID: "C", Known: true}
	self := dirID(1)

	t.Run("follower", func(t *testing.T) {
		s := requestScript(t, "replica id=1 voters=(1,2,3)", configure, "state epoch=5 leader=2", "open")
		require.Equal(t, &FetchRequest{
			Header: Header{Correlation: 1}, ClusterID: cluster, ReplicaID: 1, ReplicaEpoch: -1, ReplicaDirectoryID: self, MaxWaitMs: 321,
			MaxBytes: 12_345, CurrentLeaderEpoch: 5, HighWatermark: unknown,
		}, s.last["2"])
		s.do("answer peer=2 leader=2 records=(4,4) hw=1")
		require.Equal(t, &FetchRequest{
			Header: Header{Correlation: 2}, ClusterID: cluster, ReplicaID: 1, ReplicaEpoch: -1, ReplicaDirectoryID: self, MaxWaitMs: 321,
			MaxBytes: 12_345, CurrentLeaderEpoch: 5, FetchOffset: 2, LastFetchedEpoch: 4, HighWatermark: 1,
		}, s.last["2"])
		s.do("answer peer=2 leader=2 snapshot=(4,9)")
		require.Equal(t, &FetchSnapshotRequest{
			Header: Header{Correlation: 3}, ClusterID: cluster, ReplicaID: 1, ReplicaDirectoryID: self, MaxBytes: 6_789, CurrentLeaderEpoch: 5,
			SnapshotID: OffsetAndEpoch{Offset: 9, Epoch: 4},
		}, s.last["2"])
		s.do("poll ms=2100")
		require.IsType(t, &VoteRequest{}, s.last["2"])
		require.Equal(t, &VoteRequest{
			Header: Header{Correlation: s.last["2"].(*VoteRequest).Correlation}, ClusterID: cluster, VoterID: 2, ReplicaEpoch: 5, ReplicaID: 1, ReplicaDirectoryID: self,
			LastOffsetEpoch: 4, LastOffset: 2, PreVote: true,
		}, s.last["2"])
	})

	t.Run("leader", func(t *testing.T) {
		s := requestScript(t, "replica id=1 dynamic=(1:1,2:2,3:3) bootstrap=1 listeners=2", configure, "state epoch=5 voted=1:1 version=1", "open")
		require.Equal(t, &VoteRequest{
			Header: Header{Correlation: 1}, ClusterID: cluster, VoterID: 2, VoterDirectoryID: dirID(2), ReplicaEpoch: 5, ReplicaID: 1,
			ReplicaDirectoryID: self,
		}, s.last["2"])
		s.do("answer peer=2 granted")
		require.Equal(t, &BeginQuorumEpochRequest{
			Header: Header{Correlation: 4}, ClusterID: cluster, VoterID: 3, VoterDirectoryID: dirID(3), LeaderID: 1, LeaderEpoch: 5,
			LeaderEndpoints: s.cfg.Listeners,
		}, s.last["3"])
		s.do("resign")
		require.Equal(t, &EndQuorumEpochRequest{
			Header: Header{Correlation: 6}, ClusterID: cluster, LeaderID: 1, LeaderEpoch: 5,
			PreferredCandidates: []ReplicaKey{{ID: 2, DirectoryID: dirID(2)}, {ID: 3, DirectoryID: dirID(3)}},
		}, s.last["3"])
	})

	t.Run("voter that moved", func(t *testing.T) {
		s := requestScript(t, "replica id=1 voters=(1,2,3) listeners=2", configure, "state epoch=5 leader=2", "open")
		for range 5 {
			s.do("poll ms=1000")
			if f, ok := s.last["2"].(*FetchRequest); ok && f.CurrentLeaderEpoch == 5 {
				s.do("answer peer=2 leader=2")
			}
		}
		require.Equal(t, &UpdateRaftVoterRequest{
			Header: Header{Correlation: s.replica.channel.last}, ClusterID: cluster, CurrentLeaderEpoch: 5, VoterID: 1, VoterDirectoryID: self,
			Listeners: s.cfg.Listeners, MaxKRaftVersion: 1,
		}, s.last["2"])
	})

	t.Run("observer that joins", func(t *testing.T) {
		for _, x := range []struct {
			dynamic string
			want    func(Header, []voters.Endpoint) any
		}{
			{"1:9,2:2,3:3", func(h Header, _ []voters.Endpoint) any {
				return &RemoveRaftVoterRequest{Header: h, ClusterID: cluster, VoterID: 1, VoterDirectoryID: dirID(9)}
			}},
			{"2:2,3:3", func(h Header, e []voters.Endpoint) any {
				return &AddRaftVoterRequest{Header: h, ClusterID: cluster, TimeoutMs: 1_999, VoterID: 1, VoterDirectoryID: self, Listeners: e}
			}},
		} {
			s := requestScript(t, "replica id=1 dynamic=("+x.dynamic+") bootstrap=1 listeners=2 auto-join", configure,
				"state epoch=5 leader=2 version=1", "open")
			for range 5 {
				s.do("poll ms=1000")
				if _, ok := s.last["2"].(*FetchRequest); ok {
					s.do("answer peer=2 leader=2")
				}
			}
			require.Equal(t, x.want(Header{Correlation: s.replica.channel.last}, s.cfg.Listeners), s.last["2"])
		}
	})
}

// TestEpochBeginsWithWholeRecords reads the batches that a leader writes of itself (kraft-protocol 3.2, 5.7): every record, its fields, the epoch
// and the time of the batch.
func TestEpochBeginsWithWholeRecords(t *testing.T) {
	s := requestScript(t, "replica id=1 dynamic=(1:1,2:2,3:3) bootstrap=1 listeners=2", func(*Config) {}, "state epoch=5 voted=1:1 version=1", "open",
		"poll ms=77", "answer peer=3 granted")
	atMs := s.nowMs
	bytes, err := s.replica.log.Read(0, 1<<20)
	require.NoError(t, err)
	kinds, values, batch := controlRecords(t, bytes)
	require.Equal(t, []record.ControlType{record.LeaderChange, record.KRaftVersion, record.KRaftVoters}, kinds)
	require.Equal(t, int32(5), batch.LeaderEpoch())
	require.Equal(t, [2]int64{atMs, atMs}, [2]int64{batch.BaseTimestampMs(), batch.MaxTimestampMs()})
	var change record.LeaderChangeMessage
	require.NoError(t, change.Decode(values[0], 0))
	require.Equal(t, record.LeaderChangeMessage{
		LeaderID: 1, Voters: []record.LeaderChangeVoter{{VoterID: 1}, {VoterID: 2}, {VoterID: 3}},
		GrantingVoters: []record.LeaderChangeVoter{{VoterID: 1}, {VoterID: 3}},
	}, change)
	var version record.KRaftVersionRecord
	require.NoError(t, version.Decode(values[1]))
	require.Equal(t, record.KRaftVersionRecord{KRaftVersion: 1}, version)
	var set record.VotersRecord
	require.NoError(t, set.Decode(values[2]))
	require.Len(t, set.Voters, 3)
	require.Len(t, set.Voters[0].Endpoints, 2, "its own entry is as it is now")
	require.Len(t, set.Voters[1].Endpoints, 1)

	s.do("fetch from=2:2 epoch=5 offset=3 last-epoch=5 wait=0")
	s.do("poll ms=33")
	s.do("remove voter=3:3")
	bytes, err = s.replica.log.Read(3, 1<<20)
	require.NoError(t, err)
	kinds, values, batch = controlRecords(t, bytes)
	require.Equal(t, []record.ControlType{record.KRaftVoters}, kinds)
	require.Equal(t, int32(5), batch.LeaderEpoch())
	require.Equal(t, [2]int64{s.nowMs, s.nowMs}, [2]int64{batch.BaseTimestampMs(), batch.MaxTimestampMs()})
	require.NoError(t, set.Decode(values[0]))
	require.Len(t, set.Voters, 2)

	s.do("append values=(a)")
	bytes, err = s.replica.log.Read(4, 1<<20)
	require.NoError(t, err)
	batch, _, err = record.NextBatch(bytes)
	require.NoError(t, err)
	require.Equal(t, [2]int64{s.nowMs, s.nowMs}, [2]int64{batch.BaseTimestampMs(), batch.MaxTimestampMs()})
}

// controlRecords returns the records of the first batch.
func controlRecords(t *testing.T, bytes []byte) (kinds []record.ControlType, values [][]byte, batch record.Batch) {
	t.Helper()
	batch, _, err := record.NextBatch(bytes)
	require.NoError(t, err)
	require.True(t, batch.IsControl())
	var it record.Iterator
	var r record.Record
	for it.Reset(batch); it.Next(&r); {
		kind, err := record.ParseControlKey(r.Key)
		require.NoError(t, err)
		kinds, values = append(kinds, kind), append(values, append([]byte(nil), r.Value...))
	}
	require.NoError(t, it.Err())
	return kinds, values, batch
}

// requestScript runs commands of scripts without expectations.
func requestScript(t *testing.T, replica string, configure func(*Config), commands ...string) *script {
	t.Helper()
	s := &script{t: t}
	s.do(replica)
	configure(&s.cfg)
	for _, command := range commands {
		s.do(command)
	}
	return s
}

// do runs one command of a script.
func (s *script) do(command string) {
	s.t.Helper()
	name, args, err := datadriven.ParseLine(command)
	require.NoError(s.t, err)
	s.run(s.t, &datadriven.TestData{Pos: command, Cmd: name, CmdArgs: args})
	require.NotContains(s.t, s.out.String(), "fatal", command)
}
