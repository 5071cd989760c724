package raft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// TestSnapshotHeaders: what a header may say of version and voters (kraft-protocol 4.3). At kraft.version 1 the voters may be
// unknown; at version 0 they are static and no part of a snapshot.
func TestSnapshotHeaders(t *testing.T) {
	set, err := voters.New(voters.Voter{
		ReplicaKey: ReplicaKey{ID: 1, DirectoryID: dirID(1)}, Endpoints: testEndpoints(1), MaxKRaftVersion: 1,
	})
	require.NoError(t, err)
	votersRecord := set.Record()
	for _, c := range []struct {
		name    string
		version int16
		voters  *record.VotersRecord
		refused bool
	}{
		{"version 0", 0, nil, false},
		{"version 0 with voters", 0, &votersRecord, true},
		{"version 1", 1, nil, false},
		{"version 1 with voters", 1, &votersRecord, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := memfiles.New()
			files.WriteFile("/d/x", nil)
			l, err := raftlog.Open(files, "/d", raftlog.Config{})
			require.NoError(t, err)
			id := OffsetAndEpoch{Offset: 3, Epoch: 1}
			raw, err := l.DownloadSnapshot(id, 0)
			require.NoError(t, err)
			header := raftlog.SnapshotHeader{LastContainedTimestampMs: 5, KRaftVersion: c.version, Voters: c.voters}
			w, err := raftlog.NewSnapshotRecords(raw, &header, 8<<20, 5)
			if c.refused {
				require.ErrorIs(t, err, raftlog.ErrSnapshotContent)
				return
			}
			require.NoError(t, err)
			require.NoError(t, w.Freeze(5))
			read, err := CheckSnapshot(files.ReadFile("/d/" + raftlog.SnapshotName(id)))
			require.NoError(t, err)
			require.EqualValues(t, 5, read.LastContainedTimestampMs)
			require.Equal(t, c.version, read.KRaftVersion)
			require.Equal(t, c.voters == nil, read.Voters == nil)
			if c.voters != nil {
				require.Equal(t, c.voters.AppendTo(nil), read.Voters.AppendTo(nil))
			}
		})
	}
}
