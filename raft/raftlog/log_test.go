package raftlog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

const dir = "/data/dir0/__cluster_metadata-0"

// newFiles returns a file system on which a log directory was formatted.
func newFiles() *memfiles.Files {
	files := memfiles.New()
	files.WriteFile("/data/dir0/meta.properties", nil)
	return files
}

func open(t testing.TB, files *memfiles.Files, cfg raftlog.Config) *raftlog.Log {
	t.Helper()
	l, err := raftlog.Open(files, dir, cfg)
	require.NoError(t, err)
	return l
}

// batch makes a batch of n records that say where they are.
func batch(base int64, epoch int32, n int) []byte {
	values := make([][]byte, n)
	for i := range values {
		values[i] = fmt.Appendf(nil, "record %d of epoch %d", base+int64(i), epoch)
	}
	return record.AppendBatch(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: epoch, TimestampMs: 1000 + base}, values...)
}

// fill appends one batch per epoch given, of two records each.
func fill(t testing.TB, l *raftlog.Log, epochs ...int32) {
	t.Helper()
	for _, e := range epochs {
		require.NoError(t, l.AppendLeader(batch(l.EndOffset(), e, 2)))
	}
}

func segments(t testing.TB, files *memfiles.Files) (names []string) {
	t.Helper()
	all, err := files.List(dir)
	require.NoError(t, err)
	for _, n := range all {
		if len(n) == 24 && n[20:] == ".log" {
			names = append(names, n)
		}
	}
	return names
}

func TestNewLog(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	require.Zero(t, l.StartOffset())
	require.Zero(t, l.EndOffset())
	require.Zero(t, l.FlushedOffset())
	require.Zero(t, l.LastEpoch())
	_, ok := l.LatestSnapshot()
	require.False(t, ok)
	require.Equal(t, raftlog.Recovery{BadSegment: -1, BadPosition: -1, EndBefore: -1, Segments: 1}, l.Recovered())
	require.Equal(t, "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ", string(files.ReadFile(dir+"/partition.metadata")))
	b, err := l.Read(0, 100)
	require.NoError(t, err)
	require.Nil(t, b)
	files.Crash()
	require.Equal(t, []string{"00000000000000000000.log"}, segments(t, files), "the first segment is durable once open")
}

func TestAppendFlushCrash(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{})
	fill(t, l, 1, 1)
	require.NoError(t, l.Flush())
	require.EqualValues(t, 4, l.FlushedOffset())
	fill(t, l, 2)
	require.EqualValues(t, 6, l.EndOffset())
	require.EqualValues(t, 2, l.LastEpoch())
	require.EqualValues(t, 4, l.FlushedOffset())
	files.Crash()
	l = open(t, files, raftlog.Config{})
	require.EqualValues(t, 4, l.EndOffset())
	require.EqualValues(t, 1, l.LastEpoch(), "epoch 2 was durable before its bytes and goes with them")
	require.Equal(t, "0\n1\n1 0\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
}

func TestFlushSyncsOnlyWhatIsDirty(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1})
	fill(t, l, 1, 1, 1)
	before := files.Syncs
	require.NoError(t, l.Flush())
	require.EqualValues(t, 1, files.Syncs-before, "older segments were synced when the log rolled")
	require.NoError(t, l.Flush())
	require.EqualValues(t, 1, files.Syncs-before)
}

// readAll reads the whole log in steps of at most maxBytes.
func readAll(t testing.TB, l *raftlog.Log, maxBytes int32) (all []byte) {
	t.Helper()
	for from := l.StartOffset(); from < l.EndOffset(); {
		b, err := l.Read(from, maxBytes)
		require.NoError(t, err)
		require.NotEmpty(t, b)
		all = append(all, b...)
		for len(b) > 0 {
			var v record.Batch
			v, b, err = record.NextBatch(b)
			require.NoError(t, err)
			from = v.NextOffset()
		}
	}
	return all
}

// TestCrashAnywhere stops a life of the log at every single operation on its files, by power loss and by kill: the
// next start must succeed, find all that was reported flushed, and nothing that was not written.
