package raftlog

import (
	"errors"
	"fmt"
)

// ErrSnapshotWriter is for an append to, or a freeze of, a snapshot that is frozen or abandoned already.
var ErrSnapshotWriter = errors.New("raftlog: snapshot is closed")

// SnapshotWriter writes the bytes of one snapshot into a file that no reader takes for a snapshot
// (`<id>-<suffix>.checkpoint.part`) until it is whole. It is independent of the Log that made it: it may live on a lane
// of its own, and the Log learns of the result by RegisterSnapshot.
//
//	w, err := log.CreateSnapshot(id, highWatermark, suffix)
//	err = w.Append(bytes)
//	err = w.Freeze()
//	err = log.RegisterSnapshot(id)
//
// The order of Freeze is what makes a snapshot under its final name complete after any crash (kraft-protocol 4.1): content
// fsync, rename, fsync of the directory. A crash before the rename leaves a partial file, which the next start removes.
type SnapshotWriter struct {
	files  Files
	dir    string
	id     OffsetAndEpoch
	part   string
	fd     int32
	size   int64
	closed bool
	alloc  func(n int) []byte // nil: make
}

// newSnapshotWriter makes the partial file. The suffix keeps two writers of one id apart, and both from what an earlier
// life left behind.
func (l *Log) newSnapshotWriter(id OffsetAndEpoch, suffix uint64) (*SnapshotWriter, error) {
	w := &SnapshotWriter{files: l.files, dir: l.dir, id: id, part: partPath(l.dir, id, suffix), alloc: l.cfg.Alloc}
	fd, err := l.files.Open(w.part, true)
	if err != nil {
		return nil, fmt.Errorf("raftlog: create %s: %w", w.part, err)
	}
	w.fd = fd
	size, err := l.files.Size(fd)
	if err == nil && size > 0 { // the suffix was drawn before
		err = l.files.Truncate(fd, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("raftlog: create %s: %w", w.part, err)
	}
	return w, nil
}

// ID returns the id that the snapshot will have.
func (w *SnapshotWriter) ID() OffsetAndEpoch { return w.id }

// Size returns how many bytes were appended.
func (w *SnapshotWriter) Size() int64 { return w.size }

// Append writes bytes behind those before. They may end anywhere in a batch and are immutable from now on.
func (w *SnapshotWriter) Append(bytes []byte) error {
	if w.closed {
		return fmt.Errorf("%w: append to %s", ErrSnapshotWriter, SnapshotName(w.id))
	}
	if len(bytes) == 0 {
		return nil
	}
	if err := w.files.WriteAt(w.fd, bytes, w.size); err != nil {
		return fmt.Errorf("raftlog: write %s: %w", w.part, err)
	}
	w.size += int64(len(bytes))
	return nil
}

// Freeze makes the content durable, gives the file its final name and makes that durable too. Nothing checks the content.
func (w *SnapshotWriter) Freeze() error {
	if w.closed {
		return fmt.Errorf("%w: freeze of %s", ErrSnapshotWriter, SnapshotName(w.id))
	}
	w.closed = true
	if err := w.files.Sync(w.fd); err != nil {
		return fmt.Errorf("raftlog: sync %s: %w", w.part, err)
	}
	if err := w.files.Close(w.fd); err != nil {
		return fmt.Errorf("raftlog: close %s: %w", w.part, err)
	}
	if err := w.files.Rename(w.part, snapshotPath(w.dir, w.id)); err != nil {
		return fmt.Errorf("raftlog: rename %s: %w", w.part, err)
	}
	if err := w.files.SyncDir(w.dir); err != nil {
		return fmt.Errorf("raftlog: sync directory: %w", err)
	}
	return nil
}

// Abandon removes the partial file. On a frozen or abandoned snapshot it does nothing.
func (w *SnapshotWriter) Abandon() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if err := errors.Join(w.files.Close(w.fd), w.files.Remove(w.part)); err != nil {
		return fmt.Errorf("raftlog: abandon %s: %w", w.part, err)
	}
	return nil
}
