package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
)

const (
	deletedSuffix = ".deleted"
	headerBytes   = 1 << 20 // more than the first batch of any snapshot takes
)

// doomedFile is a file under its .deleted name and when it is removed.
type doomedFile struct {
	path  string
	dueMs int64
}

// Clean deletes what the retention limits no longer allow (kraft-protocol 4.6): first by size, then by age, the oldest
// snapshot at a time and with it the log below the next one, as long as two snapshots exist. The log start never passes
// highWatermark (-1: unknown) nor the latest snapshot, so everything below the start stays covered (KAFKA-14238). It returns
// whether the log start or the list of snapshots changed. nowMs is wall clock, like the timestamps in the snapshots.
func (l *Log) Clean(nowMs, highWatermark int64) (changed bool, err error) {
	for len(l.snapshots) >= 2 {
		due, err := l.breachesSize()
		if err == nil && !due {
			due, err = l.breachesAge(nowMs)
		}
		if err != nil || !due {
			return changed, err
		}
		deleted, err := l.deleteBefore(l.snapshots[1], nowMs, highWatermark)
		if err != nil || !deleted {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// breachesSize tells whether log and snapshots are larger than the limit.
func (l *Log) breachesSize() (bool, error) {
	if l.cfg.RetentionBytes < 0 {
		return false, nil
	}
	var size int64
	for i := range l.segments {
		size += l.segments[i].size
	}
	for _, id := range l.snapshots {
		n, err := l.SnapshotSize(id)
		if err != nil {
			return false, err
		}
		size += n
	}
	return size > l.cfg.RetentionBytes, nil
}

// breachesAge tells whether the oldest snapshot is older than the limit.
func (l *Log) breachesAge(nowMs int64) (bool, error) {
	if l.cfg.RetentionMs < 0 {
		return false, nil
	}
	content, _, err := l.ReadSnapshotAt(l.snapshots[0], 0, headerBytes)
	if err != nil {
		return false, err
	}
	timestampMs, err := SnapshotTimestampMs(content)
	if err != nil {
		return false, fmt.Errorf("%s: %w", SnapshotName(l.snapshots[0]), err)
	}
	return nowMs-timestampMs > l.cfg.RetentionMs, nil
}

// deleteBefore moves the log start up to the snapshot id, deletes the segments that lie wholly below it, and then the older
// snapshots. Segments go oldest first, and before the snapshots that cover them: whatever a crash leaves is a log without a
// hole that begins at or below a snapshot. A start that was moved into a segment is lower again after a restart
// (formats.md 9.3 rule 2). False when the start cannot move.
func (l *Log) deleteBefore(id OffsetAndEpoch, nowMs, highWatermark int64) (bool, error) {
	if id.Offset <= l.start || id.Offset > highWatermark || id.Offset > l.end {
		return false, nil
	}
	l.start = id.Offset
	l.dropEpochsBelow(id.Offset)
	n := 0
	for n+1 < len(l.segments) && l.segments[n+1].base <= l.start {
		if err := l.files.Close(l.segments[n].fd); err != nil {
			return false, fmt.Errorf("raftlog: close segment %d: %w", l.segments[n].base, err)
		}
		if err := l.doom(segmentName(l.segments[n].base), nowMs); err != nil {
			return false, err
		}
		n++
	}
	if n > 0 {
		kept := 0
		for kept < len(l.index) && l.index[kept].segment < l.segments[n].number {
			kept++
		}
		l.index = append(l.index[:0], l.index[kept:]...)
		l.segments = append(l.segments[:0], l.segments[n:]...)
	}
	kept := 0
	for ; l.snapshots[kept] != id; kept++ {
		if err := l.doom(SnapshotName(l.snapshots[kept]), nowMs); err != nil {
			return false, err
		}
	}
	l.snapshots = append(l.snapshots[:0], l.snapshots[kept:]...)
	if err := l.files.SyncDir(l.dir); err != nil {
		return false, fmt.Errorf("raftlog: sync directory: %w", err)
	}
	return true, l.writeEpochs()
}

// dropEpochsBelow keeps one entry at offset for the epoch that is in force there (formats.md 9.1).
func (l *Log) dropEpochsBelow(offset int64) {
	e := l.epochs.entries
	n := 0
	for n+1 < len(e) && e[n+1].start <= offset {
		n++
	}
	if len(e) > 0 && e[n].start < offset {
		e[n].start = offset
	}
	l.epochs.entries = append(e[:0], e[n:]...)
}

// doom gives a file its .deleted name, under which the next start or RemoveDeleted removes it.
func (l *Log) doom(name string, nowMs int64) error {
	path := l.path(name)
	if err := l.files.Rename(path, path+deletedSuffix); err != nil {
		return fmt.Errorf("raftlog: delete %s: %w", name, err)
	}
	l.doomed = append(l.doomed, doomedFile{path: path + deletedSuffix, dueMs: nowMs + l.cfg.DeleteDelayMs})
	return nil
}

// RemoveDeleted removes the files whose time under a .deleted name is over.
func (l *Log) RemoveDeleted(nowMs int64) error {
	if len(l.doomed) == 0 {
		return nil
	}
	return l.removeDoomed(nowMs)
}

func (l *Log) removeDoomed(nowMs int64) error {
	n := 0
	for ; n < len(l.doomed) && l.doomed[n].dueMs <= nowMs; n++ {
		if err := l.files.Remove(l.doomed[n].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("raftlog: remove %s: %w", l.doomed[n].path, err)
		}
	}
	if n > 0 {
		l.doomed = append(l.doomed[:0], l.doomed[n:]...)
	}
	return nil
}

// DeletionMs is when RemoveDeleted has something to do; ok is false when nothing waits.
func (l *Log) DeletionMs() (ms int64, ok bool) {
	if len(l.doomed) == 0 {
		return 0, false
	}
	return l.doomed[0].dueMs, true
}

// Snapshots returns how many complete snapshots there are.
func (l *Log) Snapshots() int32 { return int32(len(l.snapshots)) }
