package raftlog

import (
	"errors"
	"fmt"
	"slices"
)

// ErrSnapshotID is for a snapshot that must not be made: not committed, not of this log, or not at the begin of a batch.
var ErrSnapshotID = errors.New("raftlog: invalid snapshot id")

// CreateSnapshot begins a snapshot of the state machine's at id (kraft-protocol 4.2); highWatermark is -1 while it is
// unknown. No writer and no error means that there is nothing to do: id lies below the log start, or is stored already.
// ErrSnapshotID otherwise says that id is above the high watermark, is no point of this log, or lies inside a batch: from
// the middle of a batch no follower could go on.
func (l *Log) CreateSnapshot(id OffsetAndEpoch, highWatermark int64, suffix uint64) (*SnapshotWriter, error) {
	if id.Offset < l.start {
		return nil, nil
	}
	if id.Offset > highWatermark {
		return nil, fmt.Errorf("%w: offset %d is above the high watermark %d", ErrSnapshotID, id.Offset, highWatermark)
	}
	if v, at := l.Validate(id.Offset, id.Epoch); v != Valid {
		return nil, fmt.Errorf("%w: offset %d of epoch %d is %s, see offset %d of epoch %d",
			ErrSnapshotID, id.Offset, id.Epoch, v, at.Offset, at.Epoch)
	}
	if i := l.find(id.Offset); i < int32(len(l.index)) && l.index[i].base != id.Offset {
		return nil, fmt.Errorf("%w: offset %d lies inside the batch that begins at %d",
			ErrSnapshotID, id.Offset, l.index[i].base)
	}
	if l.HasSnapshot(id) {
		return nil, nil
	}
	return l.newSnapshotWriter(id, suffix)
}

// DownloadSnapshot begins a snapshot whose content another replica sends. It is not validated against the log, which it
// is going to replace (kraft-protocol 2.8). No writer and no error: it is stored already.
func (l *Log) DownloadSnapshot(id OffsetAndEpoch, suffix uint64) (*SnapshotWriter, error) {
	if l.HasSnapshot(id) {
		return nil, nil
	}
	return l.newSnapshotWriter(id, suffix)
}

// RegisterSnapshot takes in a snapshot that was frozen. One that lies below the log start by now, because a newer one was
// downloaded or the prefix was deleted meanwhile, has no use any more and is removed.
func (l *Log) RegisterSnapshot(id OffsetAndEpoch) error {
	at, found := slices.BinarySearchFunc(l.snapshots, id, compareIDs)
	if found {
		return nil
	}
	if id.Offset < l.start {
		if err := l.files.Remove(l.path(SnapshotName(id))); err != nil {
			return fmt.Errorf("raftlog: remove %s: %w", SnapshotName(id), err)
		}
		return nil
	}
	l.snapshots = slices.Insert(l.snapshots, at, id)
	return nil
}

// HasSnapshot tells whether a complete snapshot has that id.
func (l *Log) HasSnapshot(id OffsetAndEpoch) bool {
	_, found := slices.BinarySearchFunc(l.snapshots, id, compareIDs)
	return found
}

// TruncateToLatestSnapshot empties the log in favour of the latest snapshot if that is ahead of it: of a newer epoch than
// the log's last, or of the same and beyond its end (kraft-protocol 4.5). Start, end and flushed offset are the snapshot's
// offset then, and the older snapshots are removed. It is durable when it returns.
func (l *Log) TruncateToLatestSnapshot() (truncated bool, err error) {
	latest, ok := l.LatestSnapshot()
	if !ok {
		return false, nil
	}
	truncated, err = l.adoptSnapshot(latest)
	if err != nil {
		return truncated, fmt.Errorf("raftlog: truncate to %s: %w", SnapshotName(latest), err)
	}
	return truncated, nil
}
