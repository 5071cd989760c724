package raftlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestMemoryIsBoundedByRetention: a log that is written for ever, with snapshots and limits, keeps the index of what the limits leave, and
// as many names of snapshots.
func TestMemoryIsBoundedByRetention(t *testing.T) {
	files := memfiles.New()
	cfg := Config{SegmentBytes: 4096, RetentionBytes: 20_000, DeleteDelayMs: 10}
	l, err := Open(files, "/log", cfg)
	require.NoError(t, err)
	var bytes int64
	most, capacity := 0, 0
	for round := range int64(400) {
		for range 40 {
			b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: l.EndOffset(), LeaderEpoch: 1, TimestampMs: round}, []byte("some value"))
			bytes += int64(len(b))
			require.NoError(t, l.AppendLeader(b))
		}
		require.NoError(t, l.Flush())
		id := OffsetAndEpoch{Offset: l.EndOffset(), Epoch: 1}
		w, err := l.CreateSnapshot(id, l.EndOffset(), 1)
		require.NoError(t, err)
		s, err := NewSnapshotRecords(w, &SnapshotHeader{}, 1<<20, round)
		require.NoError(t, err)
		require.NoError(t, s.Append(round, []byte("state")))
		require.NoError(t, s.Freeze(round))
		require.NoError(t, l.RegisterSnapshot(id))
		_, err = l.Clean(round, l.EndOffset())
		require.NoError(t, err)
		if round >= 20 {
			most, capacity = max(most, len(l.index)), max(capacity, cap(l.index))
			require.Less(t, len(l.snapshots), 20)
			require.Less(t, len(l.segments), 10)
		}
	}
	require.Greater(t, bytes, 50*cfg.RetentionBytes)
	perBatch := bytes / (400 * 40)
	require.Less(t, int64(most), 2*cfg.RetentionBytes/perBatch)
	require.Less(t, capacity, 4*most)
}

// TestMemoryComesBack: the index of a log that is over serves the next one, which begins empty.
func TestMemoryComesBack(t *testing.T) {
	var m Memory
	for round := range 3 {
		l, err := Open(memfiles.New(), "/log", Config{Memory: &m})
		require.NoError(t, err)
		require.Empty(t, l.index)
		if round > 0 {
			require.GreaterOrEqual(t, cap(l.index), 50)
		}
		for range 50 {
			require.NoError(t, l.AppendLeader(record.AppendBatch(nil, record.BatchSpec{BaseOffset: l.EndOffset(), LeaderEpoch: 1}, []byte("x"))))
		}
		m.Reset()
	}
}
