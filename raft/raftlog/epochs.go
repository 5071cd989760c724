package raftlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const epochCheckpointName = "leader-epoch-checkpoint"

// epochEntry says that an epoch begins at an offset: that of its first record, or the log end when its leader was
// elected.
type epochEntry struct {
	epoch int32
	start int64
}

// epochCache is the ascending list of epochs of the log (kraft-protocol 3.1). Its methods tell whether they changed it.
type epochCache struct {
	entries []epochEntry
}

// assign says that epoch begins at start. An entry of the same epoch that begins no later stays. Entries that would
// then no longer ascend are dropped.
func (c *epochCache) assign(epoch int32, start int64) bool {
	if epoch < 0 || start < 0 {
		return false
	}
	if n := len(c.entries); n > 0 && c.entries[n-1].epoch == epoch && c.entries[n-1].start <= start {
		return false
	}
	n := len(c.entries)
	for n > 0 && (c.entries[n-1].epoch >= epoch || c.entries[n-1].start >= start) {
		n--
	}
	c.entries = append(c.entries[:n], epochEntry{epoch, start})
	return true
}

// truncateFromEnd drops the entries that begin at offset or behind it.
func (c *epochCache) truncateFromEnd(offset int64) bool {
	n := len(c.entries)
	for n > 0 && c.entries[n-1].start >= offset {
		n--
	}
	changed := n < len(c.entries)
	c.entries = c.entries[:n]
	return changed
}

func (c *epochCache) clear() bool {
	changed := len(c.entries) > 0
	c.entries = c.entries[:0]
	return changed
}

// latest returns the last epoch; ok is false when there is none.
func (c *epochCache) latest() (epoch int32, ok bool) {
	if n := len(c.entries); n > 0 {
		return c.entries[n-1].epoch, true
	}
	return 0, false
}

// endOffset returns the highest epoch that is not above the one asked for and the offset where it ends, given the log
// end. ok is false when the cache cannot tell: it is empty, or the epoch is above all it has.
func (c *epochCache) endOffset(epoch int32, logEnd int64) (o OffsetAndEpoch, ok bool) {
	n := len(c.entries)
	if n == 0 || epoch < 0 || epoch > c.entries[n-1].epoch {
		return OffsetAndEpoch{}, false
	}
	if epoch == c.entries[n-1].epoch {
		return OffsetAndEpoch{Offset: logEnd, Epoch: epoch}, true
	}
	i := n - 1 // the first entry above epoch
	for i > 0 && c.entries[i-1].epoch > epoch {
		i--
	}
	if i == 0 {
		return OffsetAndEpoch{Offset: c.entries[0].start, Epoch: epoch}, true
	}
	return OffsetAndEpoch{Offset: c.entries[i].start, Epoch: c.entries[i-1].epoch}, true
}

// appendTo appends the text of the checkpoint file (formats.md 9.1).
func (c *epochCache) appendTo(dst []byte) []byte {
	dst = append(dst, "0\n"...)
	dst = append(strconv.AppendInt(dst, int64(len(c.entries)), 10), '\n')
	for _, e := range c.entries {
		dst = append(strconv.AppendInt(dst, int64(e.epoch), 10), ' ')
		dst = append(strconv.AppendInt(dst, e.start, 10), '\n')
	}
	return dst
}

// parse reads the text of a checkpoint file. An empty file, or one with a version only, has no entries, as in Kafka.
func (c *epochCache) parse(text string) error {
	c.entries = c.entries[:0]
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) > 0 && lines[0] != "0" {
		return fmt.Errorf("%w: %s: version %q", ErrDirectory, epochCheckpointName, lines[0])
	}
	if len(lines) < 2 {
		return nil
	}
	count, err := strconv.ParseInt(lines[1], 10, 32)
	if err != nil || count != int64(len(lines)-2) {
		return fmt.Errorf("%w: %s: line 2 says %q entries, there are %d",
			ErrDirectory, epochCheckpointName, lines[1], len(lines)-2)
	}
	for i, line := range lines[2:] {
		fields := strings.Fields(line)
		if len(fields) == 2 {
			epoch, err1 := strconv.ParseInt(fields[0], 10, 32)
			start, err2 := strconv.ParseInt(fields[1], 10, 64)
			if err1 == nil && err2 == nil && epoch >= 0 && start >= 0 {
				c.assign(int32(epoch), start)
				continue
			}
		}
		return fmt.Errorf("%w: %s: line %d: %q", ErrDirectory, epochCheckpointName, i+3, line)
	}
	return nil
}

// loadEpochs makes the cache from the batches of the log and brings the checkpoint up to date. Kafka starts from the
// checkpoint and adds what only the log knows. In every log that was written whole both give the same: an entry that
// survives a start has a batch that begins there. After a power loss the checkpoint may be ahead of the bytes, and
// would then give old batches a newer epoch than their own; so here it is only checked, since Kafka refuses one that
// it cannot read.
func (l *Log) loadEpochs(names []string) error {
	stored := ""
	if slices.Contains(names, epochCheckpointName) {
		text, err := readFile(l.files, l.path(epochCheckpointName), func(n int64) []byte { return make([]byte, n) })
		if err != nil {
			return err
		}
		stored = string(text)
		if err := l.epochs.parse(stored); err != nil {
			return err
		}
	}
	l.epochs.clear()
	for i := range l.index {
		e := &l.index[i]
		if latest, ok := l.epochs.latest(); !ok || e.epoch > latest {
			l.epochs.assign(e.epoch, e.base)
		}
	}
	if string(l.epochs.appendTo(nil)) == stored || (stored == "" && len(l.epochs.entries) == 0) {
		return nil
	}
	return l.writeEpochs()
}

func (l *Log) assignEpoch(epoch int32, start int64) error {
	if !l.epochs.assign(epoch, start) {
		return nil
	}
	return l.writeEpochs()
}

func (l *Log) writeEpochs() error {
	if err := l.replaceFile(epochCheckpointName, l.epochs.appendTo(nil)); err != nil {
		return fmt.Errorf("raftlog: write %s: %w", epochCheckpointName, err)
	}
	return nil
}

// LastEpoch is the epoch of the end of the log (lastFetchedEpoch, kraft-protocol 3.1): the last one in the epoch
// cache, which may have been assigned without a record yet, else that of the snapshot the empty log stands on, else
// 0.
func (l *Log) LastEpoch() int32 {
	if epoch, ok := l.epochs.latest(); ok {
		return epoch
	}
	for i := len(l.snapshots) - 1; i >= 0; i-- {
		if l.snapshots[i].Offset == l.end && l.start == l.end {
			return l.snapshots[i].Epoch
		}
	}
	return 0
}

// AssignEpoch says that the local node leads epoch from EndOffset on. It is durable when it returns.
func (l *Log) AssignEpoch(epoch int32) error { return l.assignEpoch(epoch, l.end) }
