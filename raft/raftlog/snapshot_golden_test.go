package raftlog_test

import (
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// goldenSnapshot is an entry of snapshots/index.json.
type goldenSnapshot struct {
	File                      string
	SnapshotOffset            int64
	SnapshotEpoch             int32
	KRaftVersion              int16
	LastContainedLogTimestamp int64
	MaxBatchSize              int32
	RecordsPerAppendCall      []int
	Batches                   []struct {
		BaseOffset, LastOffset int64
		MaxTimestamp           int64
		IsControl              bool
		Records                []struct{ ValueHex string }
	}
}

// TestGoldenSnapshotsWritten writes every golden snapshot from its records and compares the bytes, and then has it checked
// and downloaded in pieces.
func TestGoldenSnapshotsWritten(t *testing.T) {
	var cases []goldenSnapshot
	golden.JSON(t, "snapshots/index.json", &cases)
	require.NotEmpty(t, cases)
	for i := range cases {
		c := &cases[i]
		t.Run(c.File, func(t *testing.T) {
			whole := golden.Read(t, "snapshots/"+c.File)
			id := raftlog.OffsetAndEpoch{Offset: c.SnapshotOffset, Epoch: c.SnapshotEpoch}
			require.Equal(t, filepath.Base(c.File), raftlog.SnapshotName(id))
			header, err := raftlog.CheckSnapshot(whole)
			require.NoError(t, err)
			require.Equal(t, c.KRaftVersion, header.KRaftVersion)
			require.Equal(t, c.LastContainedLogTimestamp, header.LastContainedTimestampMs)

			files := newFiles()
			l := open(t, files, raftlog.Config{})
			w, err := l.DownloadSnapshot(id, 77)
			require.NoError(t, err)
			last := len(c.Batches) - 1
			s, err := raftlog.NewSnapshotRecords(w, header, c.MaxBatchSize, c.Batches[0].MaxTimestamp)
			require.NoError(t, err)
			values, times := c.data(t)
			for _, n := range c.RecordsPerAppendCall {
				require.NoError(t, s.Append(times[0], values[:n]...))
				values, times = values[n:], times[n:]
			}
			require.Empty(t, values)
			require.NoError(t, s.Freeze(c.Batches[last].MaxTimestamp))
			require.Equal(t, whole, files.ReadFile(dir+"/"+filepath.Base(c.File)))

			require.NoError(t, l.RegisterSnapshot(id))
			var got []byte
			for len(got) < len(whole) {
				part, size, err := l.ReadSnapshotAt(id, int64(len(got)), 100)
				require.NoError(t, err)
				require.EqualValues(t, len(whole), size)
				require.LessOrEqual(t, len(part), 100)
				got = append(got, part...)
			}
			require.Equal(t, whole, got)
		})
	}
}

// data returns the data records of a snapshot and the timestamps of their batches.
func (c *goldenSnapshot) data(t *testing.T) (values [][]byte, times []int64) {
	t.Helper()
	for i := range c.Batches {
		b := &c.Batches[i]
		if b.IsControl {
			continue
		}
		for _, r := range b.Records {
			v, err := hex.DecodeString(r.ValueHex)
			require.NoError(t, err)
			values, times = append(values, v), append(times, b.MaxTimestamp)
		}
	}
	return values, times
}

// TestGoldenSnapshotsDamaged cuts every golden snapshot at each batch boundary and flips a bit in each batch: nothing of that
// passes, although Kafka's reader takes the former (kraft-protocol 4.3).
func TestGoldenSnapshotsDamaged(t *testing.T) {
	var cases []goldenSnapshot
	golden.JSON(t, "snapshots/index.json", &cases)
	require.NotEmpty(t, cases)
	for i := range cases {
		whole := golden.Read(t, "snapshots/"+cases[i].File)
		for at, rest := 0, whole; len(rest) > 0; {
			_, err := raftlog.CheckSnapshot(whole[:at])
			require.ErrorIs(t, err, raftlog.ErrSnapshotContent, "%s cut at %d", cases[i].File, at)
			batch, next, err := record.NextBatch(rest)
			require.NoError(t, err)
			flipped := append([]byte(nil), whole...)
			flipped[at+len(batch)-1] ^= 4
			_, err = raftlog.CheckSnapshot(flipped)
			require.ErrorIs(t, err, raftlog.ErrSnapshotContent, "%s flipped in the batch at %d", cases[i].File, at)
			at, rest = at+len(batch), next
		}
		_, err := raftlog.CheckSnapshot(append(append([]byte(nil), whole...), 0))
		require.ErrorIs(t, err, raftlog.ErrSnapshotContent)
	}
}
