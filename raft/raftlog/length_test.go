package raftlog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// counted counts the bytes that are read.
type counted struct {
	*memfiles.Files
	read int64
}

func (c *counted) ReadAt(fd int32, p []byte, offset int64) (int, error) {
	n, err := c.Files.ReadAt(fd, p, offset)
	c.read += int64(n)
	return n, err
}

// logOf writes a log of so many batches of two records and returns its bytes.
func logOf(t testing.TB, files *memfiles.Files, batches int, cfg raftlog.Config) (bytes int64) {
	t.Helper()
	l := open(t, files, cfg)
	for range batches {
		b := batch(l.EndOffset(), 1, 2)
		bytes += int64(len(b))
		require.NoError(t, l.AppendLeader(b))
	}
	require.NoError(t, l.Close())
	return bytes
}

// TestRecoveryReadsEachByteOnce: what recovery reads grows with the bytes of the log, whatever its segments are, but for the part of a
// batch at the end of each piece of a scan, and the little files beside the log.
func TestRecoveryReadsEachByteOnce(t *testing.T) {
	for _, cfg := range []raftlog.Config{{}, {SegmentBytes: 1 << 16}, {SegmentBytes: 1}} {
		for _, batches := range []int{500, 1_000, 8_000} {
			if cfg.SegmentBytes == 1 && batches > 1_000 {
				continue
			}
			files := &counted{Files: newFiles()}
			size := logOf(t, files.Files, batches, cfg)
			files.read = 0
			l, err := raftlog.Open(files, dir, cfg)
			require.NoError(t, err)
			require.Equal(t, int64(batches)*2, l.EndOffset())
			require.GreaterOrEqual(t, files.read, size)
			require.Less(t, files.read, size+size/100+1024, "%d batches, segments of %d bytes", batches, cfg.SegmentBytes)
		}
	}
}

// TestAFlushSyncsWhatIsNew: with a thousand segments a flush costs the fsync of the last one.
func TestAFlushSyncsWhatIsNew(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1})
	for range 1_000 {
		fill(t, l, 1)
	}
	require.NoError(t, l.Flush())
	before := files.Syncs
	fill(t, l, 1)
	require.NoError(t, l.Flush())
	require.Less(t, files.Syncs-before, int64(5))
}

// BenchmarkRecovery opens logs of several lengths; MB/s shows that the cost goes with the bytes.
func BenchmarkRecovery(b *testing.B) {
	for _, batches := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(batches), func(b *testing.B) {
			files := newFiles()
			b.SetBytes(logOf(b, files, batches, raftlog.Config{}))
			b.ResetTimer()
			for range b.N {
				open(b, files, raftlog.Config{})
			}
		})
	}
}
