package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Defaults of Config.
const (
	DefaultSegmentBytes = 1 << 30
	DefaultSegmentMs    = 7 * 24 * 60 * 60 * 1000

	DefaultRetentionBytes = 100 << 20
	DefaultRetentionMs    = 7 * 24 * 60 * 60 * 1000
	DefaultDeleteDelayMs  = 60 * 1000
)

// Log is a segmented metadata log. It belongs to one lane: no method may run while another does.
type Log struct {
	files     Files
	dir       string
	cfg       Config
	segments  []segment // ascending; the last one is active; never empty once open
	index     []entry   // all batches, in file order
	epochs    epochCache
	snapshots []OffsetAndEpoch // complete ones, ascending
	doomed    []doomedFile     // renamed to .deleted, in the order in which they are due
	start     int64
	end       int64
	flushed   int64
	dirDirty  bool // a directory entry was made that is not synced
	recovered Recovery
}

// Open makes the directory if it is missing, scans every segment, cuts the log at the first bad batch, reconciles the
// snapshots with it, and syncs what it kept. A directory that Kafka refuses to start from gives ErrDirectory; errors
// of Files come back wrapped.
func Open(files Files, dir string, cfg Config) (*Log, error) {
	if cfg.SegmentBytes <= 0 {
		cfg.SegmentBytes = DefaultSegmentBytes
	}
	if cfg.SegmentMs <= 0 {
		cfg.SegmentMs = DefaultSegmentMs
	}
	if cfg.RetentionBytes == 0 {
		cfg.RetentionBytes = DefaultRetentionBytes
	}
	if cfg.RetentionMs == 0 {
		cfg.RetentionMs = DefaultRetentionMs
	}
	if cfg.DeleteDelayMs <= 0 {
		cfg.DeleteDelayMs = DefaultDeleteDelayMs
	}
	l := &Log{files: files, dir: path.Clean(dir), cfg: cfg}
	if cfg.Memory != nil {
		cfg.Memory.lend(l)
	}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("raftlog: open %s: %w", l.dir, err)
	}
	return l, nil
}

func (l *Log) open() error {
	names, err := l.list()
	if err != nil {
		return err
	}
	if err := l.checkPartitionMetadata(names); err != nil {
		return err
	}
	if err := l.recover(names); err != nil {
		return err
	}
	if err := l.loadEpochs(names); err != nil {
		return err
	}
	if err := l.reconcileSnapshots(names); err != nil {
		return err
	}
	for i := range l.segments {
		l.segments[i].dirty = true // what a scan has read may be in the page cache only
	}
	l.dirDirty = true
	l.recovered.EndAfter = l.end
	return l.Flush()
}

// list returns the names in the directory, which it makes when it is missing, and removes what earlier lives left to
// be removed.
func (l *Log) list() ([]string, error) {
	names, err := l.files.List(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.files.MkdirAll(l.dir); err != nil {
			return nil, err
		}
		return nil, l.files.SyncDir(path.Dir(l.dir))
	}
	if err != nil {
		return nil, err
	}
	kept := names[:0:0]
	for _, name := range names {
		if isLeftover(name) {
			if err := l.files.Remove(l.path(name)); err != nil {
				return nil, err
			}
			continue
		}
		kept = append(kept, name)
	}
	return kept, nil
}

// isLeftover tells whether Kafka removes such a file at start. Only a log cleaner makes the last two, and no cleaner works on
// a metadata log.
func isLeftover(name string) bool {
	return strings.HasSuffix(name, ".deleted") || strings.HasSuffix(name, ".cleaned") || strings.HasSuffix(name, ".swap")
}

func (l *Log) path(name string) string { return l.dir + "/" + name }

// StartOffset returns the first offset of the log; what lies below is covered by a snapshot.
func (l *Log) StartOffset() int64 { return l.start }

// EndOffset returns the offset that the next record will get.
func (l *Log) EndOffset() int64 { return l.end }

// FlushedOffset returns the offset below which everything is durable.
func (l *Log) FlushedOffset() int64 { return l.flushed }

// Recovered tells what Open found and cut.
func (l *Log) Recovered() Recovery { return l.recovered }

// Flush makes everything below EndOffset durable: it syncs the segments that have unsynced bytes, in order, then the
// directory if a file appeared in it. Nothing to do costs nothing.
func (l *Log) Flush() error {
	first := len(l.segments) // segments are flushed before the next one begins, so what is dirty are the last ones
	for first > 0 && l.segments[first-1].dirty {
		first--
	}
	for i := first; i < len(l.segments); i++ {
		s := &l.segments[i]
		if err := l.files.Sync(s.fd); err != nil {
			return fmt.Errorf("raftlog: sync segment %d: %w", s.base, err)
		}
		s.dirty = false
	}
	if err := l.syncDir(); err != nil {
		return err
	}
	l.flushed = l.end
	return nil
}

func (l *Log) syncDir() error {
	if !l.dirDirty {
		return nil
	}
	if err := l.files.SyncDir(l.dir); err != nil {
		return fmt.Errorf("raftlog: sync directory: %w", err)
	}
	l.dirDirty = false
	return nil
}

// Close flushes and closes every segment. A Log that crashes is simply dropped.
func (l *Log) Close() error {
	if err := l.Flush(); err != nil {
		return err
	}
	for i := range l.segments {
		if err := l.files.Close(l.segments[i].fd); err != nil {
			return fmt.Errorf("raftlog: close segment %d: %w", l.segments[i].base, err)
		}
	}
	l.segments = nil
	return nil
}
