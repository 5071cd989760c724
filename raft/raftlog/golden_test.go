package raftlog_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// load copies a golden directory into the partition directory.
func load(t *testing.T, from string) *memfiles.Files {
	t.Helper()
	files := newFiles()
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		require.NoError(t, err)
		files.WriteFile(dir+"/"+e.Name(), b)
	}
	return files
}

func TestGoldenSegmentDirectory(t *testing.T) {
	var index struct {
		File         string
		LogEndOffset int64
		Epochs       []struct {
			Epoch       int32
			StartOffset int64
		}
		Batches []golden.Batch
	}
	golden.JSON(t, "segment/segment.json", &index)
	from := golden.Path(t, "segment/__cluster_metadata-0")
	checkpoint := golden.Read(t, "segment/__cluster_metadata-0/leader-epoch-checkpoint")
	metadata := golden.Read(t, "segment/__cluster_metadata-0/partition.metadata")
	for _, rebuilt := range []bool{false, true} {
		files := load(t, from)
		if rebuilt {
			require.NoError(t, files.Remove(dir+"/leader-epoch-checkpoint"))
			require.NoError(t, files.Remove(dir+"/partition.metadata"))
		}
		l := open(t, files, raftlog.Config{})
		require.Equal(t, index.LogEndOffset, l.EndOffset())
		require.Equal(t, index.Batches[0].BaseOffset, l.StartOffset())
		require.EqualValues(t, len(index.Batches), l.Recovered().Batches)
		require.Zero(t, l.Recovered().BytesCut, l.Recovered().Reason)
		require.Equal(t, string(checkpoint), string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
		require.Equal(t, string(metadata), string(files.ReadFile(dir+"/partition.metadata")))
		for i, e := range index.Epochs {
			end := index.LogEndOffset
			if i+1 < len(index.Epochs) {
				end = index.Epochs[i+1].StartOffset
			}
			require.Equal(t, raftlog.OffsetAndEpoch{Offset: end, Epoch: e.Epoch}, l.EndOffsetForEpoch(e.Epoch))
			v, _ := l.Validate(end, e.Epoch)
			require.Equal(t, raftlog.Valid, v)
		}
		require.Equal(t, index.Epochs[len(index.Epochs)-1].Epoch, l.LastEpoch())
		whole := golden.Read(t, "segment/__cluster_metadata-0/"+index.File)
		require.Equal(t, whole, readAll(t, l, 1000))
		for i := range index.Batches {
			w := &index.Batches[i]
			b, err := l.Read(w.LastOffset, 1)
			require.NoError(t, err)
			require.Equal(t, whole[w.Position:w.Position+int64(w.SizeInBytes)], b)
		}
	}
}

// TestGoldenSegmentWritten appends the golden batches one by one and compares the files.
func TestGoldenSegmentWritten(t *testing.T) {
	var index struct {
		File    string
		Batches []golden.Batch
	}
	golden.JSON(t, "segment/segment.json", &index)
	whole := golden.Read(t, "segment/__cluster_metadata-0/"+index.File)
	leader, follower := newFiles(), newFiles()
	l, f := open(t, leader, raftlog.Config{}), open(t, follower, raftlog.Config{})
	for i := range index.Batches {
		w := &index.Batches[i]
		require.NoError(t, l.AppendLeader(whole[w.Position:w.Position+int64(w.SizeInBytes)]))
	}
	n, err := f.AppendFollower(whole, math.MaxInt32)
	require.NoError(t, err)
	require.EqualValues(t, len(index.Batches), n)
	for _, files := range []*memfiles.Files{leader, follower} {
		require.Equal(t, whole, files.ReadFile(dir+"/"+index.File))
		require.Equal(t, string(golden.Read(t, "segment/__cluster_metadata-0/leader-epoch-checkpoint")),
			string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
	}
}

// TestGoldenCorruptRecovery opens every damaged file as the only segment: the log is cut where Kafka's recovery cuts
// it.
func TestGoldenCorruptRecovery(t *testing.T) {
	var cases []struct {
		File        string
		FileRecords struct {
			ValidBytes int64
			Batches    []struct {
				LastOffset *int64
				Valid      bool
			}
		}
	}
	golden.JSON(t, "corrupt/index.json", &cases)
	require.NotEmpty(t, cases)
	segment := dir + "/00000000000000000000.log"
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			content := golden.Read(t, "corrupt/"+c.File)
			files := newFiles()
			files.WriteFile(segment, content)
			end, valid, inRange := int64(0), int64(0), true
			for _, b := range c.FileRecords.Batches {
				if b.Valid {
					end = *b.LastOffset + 1
					valid++
					inRange = inRange && end > 0 && end <= math.MaxInt32
				}
			}
			l, err := raftlog.Open(files, dir, raftlog.Config{})
			if !inRange {
				require.ErrorIs(t, err, raftlog.ErrDirectory, "a damaged base offset that no segment can hold")
				return
			}
			require.NoError(t, err)
			require.Len(t, files.ReadFile(segment), int(c.FileRecords.ValidBytes))
			r := l.Recovered()
			require.Equal(t, int64(len(content))-c.FileRecords.ValidBytes, r.BytesCut)
			require.Equal(t, valid, r.Batches)
			require.Equal(t, r.BytesCut > 0, r.BadPosition == c.FileRecords.ValidBytes)
			require.Equal(t, r.BytesCut > 0, r.Reason != "")
			require.Equal(t, end, l.EndOffset())
		})
	}
}

func TestGoldenSnapshotFiles(t *testing.T) {
	var cases []struct {
		File           string
		SnapshotOffset int64
		SnapshotEpoch  int32
	}
	golden.JSON(t, "snapshots/index.json", &cases)
	require.NotEmpty(t, cases)
	for _, c := range cases {
		id := raftlog.OffsetAndEpoch{Offset: c.SnapshotOffset, Epoch: c.SnapshotEpoch}
		require.Equal(t, filepath.Base(c.File), raftlog.SnapshotName(id))
		l := open(t, load(t, filepath.Dir(golden.Path(t, "snapshots/"+c.File))), raftlog.Config{})
		latest, ok := l.LatestSnapshot()
		require.True(t, ok)
		require.Equal(t, id, latest)
		require.Equal(t, id.Offset, l.StartOffset())
		require.Equal(t, id.Epoch, l.LastEpoch())
		b, err := l.ReadSnapshot(id)
		require.NoError(t, err)
		require.Equal(t, golden.Read(t, "snapshots/"+c.File), b)
	}
}

// TestGoldenFormattedDirectories opens the partition directories that Kafka's formatter made: an empty log beside the
// bootstrap checkpoint, which must come back whole.
func TestGoldenFormattedDirectories(t *testing.T) {
	dirs, err := filepath.Glob(golden.Path(t, "formatted/*/*/__cluster_metadata-0"))
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, d := range dirs {
		l := open(t, load(t, d), raftlog.Config{})
		require.Zero(t, l.EndOffset())
		b, err := l.ReadSnapshot(raftlog.OffsetAndEpoch{})
		require.NoError(t, err, d)
		want, err := os.ReadFile(filepath.Join(d, fmt.Sprintf("%020d-%010d.checkpoint", 0, 0)))
		require.NoError(t, err)
		require.Equal(t, want, b)
		valid, reason := record.Recover(b)
		require.NoError(t, reason)
		require.EqualValues(t, len(b), valid)
	}
}
