package raftlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestSnapshotBatchesKeepTheLimit: a batch takes records as long as it stays within the limit to the byte, the length fields of the
// records included (formats 6), and one byte more begins the next batch.
func TestSnapshotBatchesKeepTheLimit(t *testing.T) {
	value := make([]byte, 20)
	two := record.BatchOverhead + record.RecordSize(0, nil, value) + record.RecordSize(1, nil, value)
	for _, c := range []struct {
		limit   int32
		records []int32 // of the data batches
	}{{two, []int32{2, 2, 1}}, {two - 1, []int32{1, 1, 1, 1, 1}}} {
		files := newFiles()
		l := open(t, files, raftlog.Config{})
		w, err := l.DownloadSnapshot(id(6, 1), 1)
		require.NoError(t, err)
		s, err := raftlog.NewSnapshotRecords(w, &raftlog.SnapshotHeader{}, c.limit, 1)
		require.NoError(t, err)
		for i := 0; i < 5; i++ {
			require.NoError(t, s.Append(1, value))
		}
		require.NoError(t, s.Freeze(1))
		require.NoError(t, l.RegisterSnapshot(id(6, 1)))
		content, err := l.ReadSnapshot(id(6, 1))
		require.NoError(t, err)
		var records []int32
		for rest := content; len(rest) > 0; {
			batch, next, err := record.NextBatch(rest)
			require.NoError(t, err)
			rest = next
			if batch.IsControl() {
				continue
			}
			require.LessOrEqual(t, int32(len(batch)), c.limit)
			records = append(records, batch.RecordCount())
		}
		require.Equal(t, c.records, records, "limit %d", c.limit)
	}
}
