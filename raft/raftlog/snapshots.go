package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

const (
	checkpointSuffix = ".checkpoint"
	partSuffix       = ".checkpoint.part"
	epochWidth       = 10
)

// parseSnapshotName returns the id in the name of a complete or partial snapshot; ok is false for other files. A file
// that ends like a snapshot and begins otherwise makes Kafka fail at start (formats.md 6).
func parseSnapshotName(name string) (id OffsetAndEpoch, part, ok bool, err error) {
	part = strings.HasSuffix(name, partSuffix)
	if !part && !strings.HasSuffix(name, checkpointSuffix) {
		return id, false, false, nil
	}
	if len(name) >= offsetWidth+1+epochWidth {
		offset, ok1 := parseDigits(name[:offsetWidth])
		epoch, ok2 := parseDigits(name[offsetWidth+1 : offsetWidth+1+epochWidth])
		if ok1 && ok2 && epoch <= 1<<31-1 {
			id = OffsetAndEpoch{Offset: offset, Epoch: int32(epoch)}
			if part || name == SnapshotName(id) {
				return id, part, true, nil
			}
		}
	}
	return id, part, false, fmt.Errorf("%w: %s is not the name of a snapshot", ErrDirectory, name)
}

func compareIDs(a, b OffsetAndEpoch) int {
	switch {
	case a.Offset < b.Offset || (a.Offset == b.Offset && a.Epoch < b.Epoch):
		return -1
	case a == b:
		return 0
	}
	return 1
}

// reconcileSnapshots brings snapshots and log together at start (kraft-protocol 4.7): partial ones and those below
// the log start are removed, a log that starts above 0 needs one at or above its start, and one that is ahead of the
// log replaces it.
func (l *Log) reconcileSnapshots(names []string) error {
	for _, name := range names {
		id, part, ok, err := parseSnapshotName(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if part || id.Offset < l.start {
			if err := l.files.Remove(l.path(name)); err != nil {
				return err
			}
			continue
		}
		l.snapshots = append(l.snapshots, id)
	}
	slices.SortStableFunc(l.snapshots, compareIDs)
	latest, ok := l.LatestSnapshot()
	if !ok {
		if l.start > 0 {
			return fmt.Errorf("%w: the log starts at %d and no snapshot reaches that far", ErrDirectory, l.start)
		}
		return nil
	}
	truncated, err := l.adoptSnapshot(latest)
	if err != nil {
		return err
	}
	l.recovered.TruncatedToSnapshot = truncated
	if _, ok := l.epochs.latest(); !ok && (latest.Offset != l.start || latest.Offset != l.end) {
		return fmt.Errorf("%w: the log [%d, %d) has no epoch and the snapshot %s does not stand at its end",
			ErrDirectory, l.start, l.end, SnapshotName(latest))
	}
	return nil
}

// adoptSnapshot empties the log if the latest snapshot is ahead of it, and removes the older ones then.
func (l *Log) adoptSnapshot(latest OffsetAndEpoch) (truncated bool, err error) {
	if epoch := l.LastEpoch(); latest.Epoch < epoch || (latest.Epoch == epoch && latest.Offset <= l.end) {
		return false, nil
	}
	if err := l.truncateFully(latest); err != nil {
		return false, err
	}
	for _, id := range l.snapshots[:len(l.snapshots)-1] {
		if err := l.files.Remove(l.path(SnapshotName(id))); err != nil {
			return false, err
		}
	}
	l.snapshots = append(l.snapshots[:0], latest)
	return true, nil
}

// LatestSnapshot returns the id of the newest complete snapshot; the bootstrap checkpoint counts, with the zero id.
func (l *Log) LatestSnapshot() (OffsetAndEpoch, bool) {
	if n := len(l.snapshots); n > 0 {
		return l.snapshots[n-1], true
	}
	return OffsetAndEpoch{}, false
}

// EarliestSnapshot returns the id of the oldest complete snapshot.
func (l *Log) EarliestSnapshot() (OffsetAndEpoch, bool) {
	if len(l.snapshots) > 0 {
		return l.snapshots[0], true
	}
	return OffsetAndEpoch{}, false
}

// ReadSnapshot returns the whole content of a complete snapshot: concatenated batches, unverified.
// ErrSnapshotNotFound when there is none with that id.
func (l *Log) ReadSnapshot(id OffsetAndEpoch) ([]byte, error) {
	var content []byte
	err := l.withSnapshot(id, func(fd int32) (err error) {
		content, err = readAll(l.files, fd, l.alloc)
		return err
	})
	return content, err
}

// SnapshotSize returns the bytes of a complete snapshot. ErrSnapshotNotFound when there is none with that id.
func (l *Log) SnapshotSize(id OffsetAndEpoch) (size int64, err error) {
	err = l.withSnapshot(id, func(fd int32) (err error) {
		size, err = l.files.Size(fd)
		return err
	})
	return size, err
}

// ReadSnapshotAt returns at most maxBytes of a complete snapshot from a byte position on, which may be in the middle of a
// batch, and its whole size. A position at or behind the end gives no bytes. ErrSnapshotNotFound when there is none with
// that id.
func (l *Log) ReadSnapshotAt(id OffsetAndEpoch, position int64, maxBytes int32) (part []byte, size int64, err error) {
	err = l.withSnapshot(id, func(fd int32) (err error) {
		if size, err = l.files.Size(fd); err != nil {
			return err
		}
		n := min(int64(maxBytes), size-position)
		if position < 0 || n <= 0 {
			return nil
		}
		part = l.alloc(n)
		return readFull(l.files, fd, part, position)
	})
	return part, size, err
}

// withSnapshot opens a complete snapshot for the length of a call.
func (l *Log) withSnapshot(id OffsetAndEpoch, use func(fd int32) error) error {
	if !l.HasSnapshot(id) {
		return fmt.Errorf("%w: %s", ErrSnapshotNotFound, SnapshotName(id))
	}
	fd, err := l.files.Open(snapshotPath(l.dir, id), false)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s: %w", ErrSnapshotNotFound, SnapshotName(id), err)
	}
	if err == nil {
		err = errors.Join(use(fd), l.files.Close(fd))
	}
	if err != nil {
		return fmt.Errorf("raftlog: read %s: %w", SnapshotName(id), err)
	}
	return nil
}
