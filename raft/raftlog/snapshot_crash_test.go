package raftlog_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// snapshotLife appends, makes snapshots, cleans, and gives way to a downloaded one; durable is what a restart must still
// have: everything below that offset, as log or under a snapshot. stored is the newest snapshot that was registered.
func snapshotLife(files *memfiles.Files, durable *int64, stored *raftlog.OffsetAndEpoch) error {
	l, err := raftlog.Open(files, dir, raftlog.Config{SegmentBytes: 200, RetentionBytes: 1, DeleteDelayMs: 5})
	if err != nil {
		return err
	}
	for base := int64(0); base < 12; base += 2 {
		if err := l.AppendLeader(batch(base, 1, 2)); err != nil {
			return err
		}
		if err := l.Flush(); err != nil {
			return err
		}
		*durable = l.FlushedOffset()
		if base%4 != 2 {
			continue
		}
		id := raftlog.OffsetAndEpoch{Offset: base + 2, Epoch: 1}
		if err := writeSnapshot(l, id, l.CreateSnapshot); err != nil {
			return err
		}
		*stored = id
		if _, err := l.Clean(base, l.EndOffset()); err != nil {
			return err
		}
		if err := l.RemoveDeleted(base); err != nil {
			return err
		}
	}
	id := raftlog.OffsetAndEpoch{Offset: 40, Epoch: 3}
	download := func(id raftlog.OffsetAndEpoch, _ int64, suffix uint64) (*raftlog.SnapshotWriter, error) {
		return l.DownloadSnapshot(id, suffix)
	}
	if err := writeSnapshot(l, id, download); err != nil {
		return err
	}
	*stored = id
	if truncated, err := l.TruncateToLatestSnapshot(); err != nil || !truncated {
		return errors.Join(err, errNotTruncated(truncated))
	}
	*durable = 40
	if err := l.AppendLeader(batch(40, 4, 2)); err != nil {
		return err
	}
	if err := l.Flush(); err != nil {
		return err
	}
	*durable = 42
	w, err := l.DownloadSnapshot(raftlog.OffsetAndEpoch{Offset: 50, Epoch: 4}, 9)
	if err != nil {
		return err
	}
	if err := w.Append([]byte("half of it")); err != nil {
		return err
	}
	if err := w.Abandon(); err != nil {
		return err
	}
	return l.Close()
}

func errNotTruncated(truncated bool) error {
	if truncated {
		return nil
	}
	return errors.New("test: the log did not give way")
}

// writeSnapshot writes a whole snapshot that says where it is.
func writeSnapshot(l *raftlog.Log, id raftlog.OffsetAndEpoch,
	create func(raftlog.OffsetAndEpoch, int64, uint64) (*raftlog.SnapshotWriter, error),
) error {
	w, err := create(id, l.EndOffset(), 7)
	if err != nil {
		return err
	}
	s, err := raftlog.NewSnapshotRecords(w, &raftlog.SnapshotHeader{LastContainedTimestampMs: id.Offset}, 100, 1)
	if err != nil {
		return err
	}
	for i := int64(0); i < 3; i++ {
		if err := s.Append(1, batch(id.Offset+i, id.Epoch, 1)[61:]); err != nil {
			return err
		}
	}
	if err := s.Freeze(1); err != nil {
		return err
	}
	return l.RegisterSnapshot(id)
}

// TestSnapshotCrashAnywhere stops that life at every single operation on its files, by power loss and by kill, and once more
// in the life that follows: each start must succeed and find everything durable, a log without holes that its snapshots
// cover, and no leftovers.
func TestSnapshotCrashAnywhere(t *testing.T) {
	stop := errors.New("stop")
	for _, power := range []bool{true, false} {
		for k := 1; ; k++ {
			files := newFiles()
			n := 0
			files.Hook = func(string, string) error {
				if n++; n >= k {
					return stop
				}
				return nil
			}
			durable, stored := int64(0), raftlog.OffsetAndEpoch{}
			err := snapshotLife(files, &durable, &stored)
			files.Hook = nil
			if err == nil {
				require.Greater(t, k, 150)
				break
			}
			require.ErrorIs(t, err, stop)
			lose(files, power)
			// The start itself is cut short, too.
			m := 0
			files.Hook = func(string, string) error {
				if m++; m >= 1+k%13 {
					return stop
				}
				return nil
			}
			if _, err := raftlog.Open(files, dir, raftlog.Config{SegmentBytes: 200}); err != nil {
				require.ErrorIs(t, err, stop)
			}
			files.Hook = nil
			lose(files, power)
			checkAfterCrash(t, files, durable, stored, k)
		}
	}
}

func lose(files *memfiles.Files, power bool) {
	if power {
		files.Crash()
	} else {
		files.Kill()
	}
}

func checkAfterCrash(t *testing.T, files *memfiles.Files, durable int64, stored raftlog.OffsetAndEpoch, k int) {
	t.Helper()
	l := open(t, files, raftlog.Config{SegmentBytes: 200})
	require.GreaterOrEqual(t, l.EndOffset(), durable, "operation %d", k)
	latest, found := l.LatestSnapshot()
	if stored.Offset > 0 {
		require.True(t, found, "operation %d: a registered snapshot is durable", k)
		require.GreaterOrEqual(t, latest.Offset, stored.Offset, "operation %d", k)
	}
	if l.StartOffset() > 0 {
		require.GreaterOrEqual(t, latest.Offset, l.StartOffset(), "operation %d", k)
	}
	if found {
		content, err := l.ReadSnapshot(latest)
		require.NoError(t, err)
		header, err := raftlog.CheckSnapshot(content)
		require.NoError(t, err, "operation %d: under its final name a snapshot is whole", k)
		require.Equal(t, latest.Offset, header.LastContainedTimestampMs)
	}
	next := l.StartOffset()
	for rest := readAll(t, l, 1); len(rest) > 0; {
		var b record.Batch
		var err error
		b, rest, err = record.NextBatch(rest)
		require.NoError(t, err)
		require.NoError(t, b.Verify())
		require.Equal(t, next, b.BaseOffset(), "operation %d", k)
		next = b.NextOffset()
	}
	require.Equal(t, l.EndOffset(), next)
	names, err := files.List(dir)
	require.NoError(t, err)
	for _, name := range names {
		require.NotContains(t, name, ".part")
		require.NotContains(t, name, ".deleted")
	}
}
