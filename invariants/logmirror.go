package invariants

import (
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
)

// disk is what the mirrors read of a volume. *vdisk.Volume has it.
type disk interface {
	File(path string) ([]byte, bool)
	DurableFile(path string) ([]byte, bool)
	Walk(f func(path string, data []byte))
}

// logMirror is the metadata log of one volume, as its committed bytes say. It is kept up to date by the operations on the
// disk, so that an append costs the hash of its bytes and nothing else.
type logMirror struct {
	segments []segment // ascending by base offset
	entries  []entry
	start    int64 // log start offset
	end      int64 // log end offset, exclusive
	reloads  int64 // since the start of the run
	durable  int32 // so many entries are on the platter, name and bytes
	// prefix is the batch that ends where the log starts: what snapshots stand for. noBatch at offset 0, or when nobody
	// exposed a batch that ends there.
	prefix batchID
}

// segment is one file of the log.
type segment struct {
	path    string
	base    int64
	size    int64 // bytes in the file
	parsed  int64 // of which so many are whole batches, in entries
	durable int64 // of which so many are durable
	named   bool  // so is the name
	suspect bool  // an fsync failed: ask the disk what is durable
}

// entry is one batch in the log.
type entry struct {
	id      batchID
	segment int32
	endPos  int64 // position in the segment behind the batch
	end     int64 // offset behind the batch
}

// last returns the last batch of the log; that before its start when it is empty.
func (l *logMirror) last() batchID {
	if n := len(l.entries); n > 0 {
		return l.entries[n-1].id
	}
	return l.prefix
}

// endingAt returns the index of the entry that ends at an offset, -1 when there is none. Offsets near the end are found at
// once, which is where all the questions are.
func (l *logMirror) endingAt(end int64) int32 {
	high := int32(len(l.entries)) - 1
	if high >= 0 { // where all batches behind it have one record, its place is known
		if at := int64(high) - (l.entries[high].end - end); at >= 0 && at <= int64(high) && l.entries[at].end == end {
			return int32(at)
		}
	}
	for n := 0; n < 8 && high >= 0; n++ {
		if e := l.entries[high].end; e <= end {
			if e == end {
				return high
			}
			return -1
		}
		high--
	}
	low := int32(0)
	for low <= high {
		mid := (low + high) / 2
		switch e := l.entries[mid].end; {
		case e == end:
			return mid
		case e < end:
			low = mid + 1
		default:
			high = mid - 1
		}
	}
	return -1
}

// batchEndingAt is endingAt for the batch.
func (l *logMirror) batchEndingAt(end int64) batchID {
	if i := l.endingAt(end); i >= 0 {
		return l.entries[i].id
	}
	if end == l.start {
		return l.prefix
	}
	return noBatch
}

// durableEnd is the offset up to which the log is durable.
func (l *logMirror) durableEnd() int64 {
	if l.durable == 0 {
		return l.start
	}
	return l.entries[l.durable-1].end
}

// find returns the index of the segment with that path, -1 when there is none.
func (l *logMirror) find(path string) int32 {
	for i := int32(len(l.segments)) - 1; i >= 0; i-- {
		if l.segments[i].path == path {
			return i
		}
	}
	return -1
}

// advanceDurable moves the durable mark over entries that are on the platter now.
func (l *logMirror) advanceDurable() {
	for int(l.durable) < len(l.entries) {
		e := &l.entries[l.durable]
		s := &l.segments[e.segment]
		if !s.named || e.endPos > s.durable {
			return
		}
		l.durable++
	}
}

// segmentBase returns the base offset in the name of a log segment.
func segmentBase(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	if !ok || len(digits) != 20 {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return base, err == nil && base >= 0
}

// addSegment makes room for a segment file, in order, and returns its index.
func (l *logMirror) addSegment(path string, base int64) int32 {
	if i := l.find(path); i >= 0 {
		return i
	}
	at := len(l.segments)
	for at > 0 && l.segments[at-1].base > base {
		at--
	}
	l.segments = append(l.segments, segment{})
	copy(l.segments[at+1:], l.segments[at:])
	l.segments[at] = segment{path: path, base: base}
	for i := range l.entries {
		if int(l.entries[i].segment) >= at {
			l.entries[i].segment++
		}
	}
	if len(l.entries) == 0 && at == len(l.segments)-1 {
		l.start, l.end = base, base
		if at > 0 {
			l.start = l.segments[0].base
		}
	}
	return int32(at)
}

// dropSegment forgets a segment without entries.
func (l *logMirror) dropSegment(i int32) {
	l.segments = append(l.segments[:i], l.segments[i+1:]...)
	for j := range l.entries {
		if l.entries[j].segment > i {
			l.entries[j].segment--
		}
	}
}

// firstEntry returns the index of the first entry of a segment whose bytes go beyond pos.
func (l *logMirror) firstEntry(segment int32, pos int64) int32 {
	i := int32(len(l.entries))
	for i > 0 {
		e := &l.entries[i-1]
		if e.segment < segment || e.segment == segment && e.endPos <= pos {
			break
		}
		i--
	}
	return i
}

// logWritten follows a committed write to a segment.
func (c *core) logWritten(r *replica, i int32, offset int64, data []byte) {
	s := &r.log.segments[i]
	if offset < s.parsed {
		c.cutLog(r, i, offset)
	}
	s.durable = min(s.durable, offset)
	s.size = max(s.size, offset+int64(len(data)))
	if int(i) != len(r.log.segments)-1 {
		return
	}
	if s.parsed != offset {
		all, ok := r.disk.File(s.path)
		if !ok || int64(len(all)) <= s.parsed {
			return
		}
		data = all[s.parsed:]
	}
	for len(data) > 0 {
		b, rest, err := record.NextBatch(data)
		if err != nil || len(b) == 0 {
			return
		}
		c.appendEntry(r, i, b)
		data = rest
	}
}

// appendEntry adds a batch that a live process wrote.
func (c *core) appendEntry(r *replica, i int32, b record.Batch) {
	before := c.ledger.size()
	id, broken, found := c.ledger.intern(b, r.log.last(), r.host)
	c.rules.logMatching.eval()
	if broken != noConflict {
		c.logMatchingBroken(r, id, found, broken)
	}
	r.log.push(i, id, int64(len(b)), c.ledger.at(id).end)
	c.batchAppended(r, id, c.ledger.size() > before)
}

// push adds an entry behind the last.
func (l *logMirror) push(i int32, id batchID, size, end int64) {
	s := &l.segments[i]
	s.parsed += size
	l.entries = append(l.entries, entry{id: id, segment: i, endPos: s.parsed, end: end})
	l.end = end
}

// cutLog takes all entries behind position pos of segment i out of the mirror.
func (c *core) cutLog(r *replica, i int32, pos int64) {
	first := r.log.firstEntry(i, pos)
	if int(first) < len(r.log.entries) {
		c.batchesCut(r, first)
	}
	r.log.entries = r.log.entries[:first]
	r.log.durable = min(r.log.durable, first)
	r.log.end = r.log.segments[i].base
	if first > 0 {
		r.log.end = r.log.entries[first-1].end
	}
	s := &r.log.segments[i]
	s.parsed = 0
	if first > 0 && r.log.entries[first-1].segment == i {
		s.parsed = r.log.entries[first-1].endPos
	}
}

// logTruncated follows a committed change of a segment's length.
func (c *core) logTruncated(r *replica, i int32, size int64) {
	if r.up && !r.fetched && size < r.log.segments[i].size {
		*c.times.tornTail++
	}
	if size < r.log.segments[i].parsed {
		c.cutLog(r, i, size)
	}
	s := &r.log.segments[i]
	s.size = size
	s.durable = min(s.durable, size)
}

// logRemoved follows the removal of a segment, or its rename to something that is none, which is how a prefix is deleted.
func (c *core) logRemoved(r *replica, i int32, renamed bool) {
	behind := len(r.log.entries) > 0 && r.log.entries[len(r.log.entries)-1].segment > 0
	if i == 0 && len(r.log.segments) > 1 && (renamed || behind) {
		c.dropPrefix(r)
		return
	}
	c.cutLog(r, i, 0)
	r.log.dropSegment(i)
	if len(r.log.segments) == 0 {
		r.log.start, r.log.end, r.log.prefix = 0, 0, noBatch
	}
}

// dropPrefix follows the deletion of the first segment. That is no truncation (invariants, Words).
func (c *core) dropPrefix(r *replica) {
	n := int32(0)
	for int(n) < len(r.log.entries) && r.log.entries[n].segment == 0 {
		n++
	}
	if n > 0 {
		r.log.prefix = r.log.entries[n-1].id
	}
	r.log.entries = append(r.log.entries[:0], r.log.entries[n:]...)
	r.log.durable = max(r.log.durable-n, 0)
	r.log.dropSegment(0)
	r.log.start = r.log.segments[0].base
	c.prefixDeleted(r)
}

// logSynced follows a committed fsync of a segment: its first size bytes are durable.
func (c *core) logSynced(r *replica, i int32, size int64) {
	s := &r.log.segments[i]
	s.durable = max(s.durable, size)
	c.checkName(r, s)
	r.log.advanceDurable()
}

// checkName asks the disk whether the name of a segment is durable, as long as it is not; after a failed fsync it asks for
// the bytes too.
func (c *core) checkName(r *replica, s *segment) {
	if s.named && !s.suspect {
		return
	}
	platter, ok := r.disk.DurableFile(s.path)
	s.named = ok && (s.suspect || int64(len(platter)) >= s.durable) // an old file of that name may be what is durable
	if s.suspect && ok {
		cache, _ := r.disk.File(s.path)
		s.durable = commonPrefix(platter, cache)
	}
}

// namesSynced follows a committed fsync of the partition directory.
func (c *core) namesSynced(r *replica) {
	for i := range r.log.segments {
		c.checkName(r, &r.log.segments[i])
	}
	r.log.advanceDurable()
}

// reloadLog reads the log from the volume: at the start of a run and after a crash. Batches that a recovery scan would cut
// are not taken in.
func (c *core) reloadLog(r *replica) {
	l := &r.log
	l.segments, l.entries, l.durable, l.start, l.end, l.prefix = l.segments[:0], l.entries[:0], 0, 0, 0, noBatch
	r.disk.Walk(func(path string, data []byte) {
		dir, name := r.split(path)
		base, ok := segmentBase(name)
		if !ok || !r.isPartition(dir) {
			return
		}
		s := &l.segments[l.addSegment(path, base)]
		s.size = int64(len(data))
		platter, durable := r.disk.DurableFile(path)
		s.named, s.durable, s.suspect = durable, commonPrefix(platter, data), r.fsyncFailed
	})
	l.prefix = c.prefixAt(l.start)
	for i := range l.segments {
		data, _ := r.disk.File(l.segments[i].path)
		if !c.reloadSegment(r, int32(i), data) {
			break
		}
	}
	l.reloads++
	l.advanceDurable()
}

// reloadSegment takes in the sound batches of a segment; false when something unsound follows them.
func (c *core) reloadSegment(r *replica, i int32, data []byte) bool {
	l := &r.log
	for len(data) > 0 {
		b, rest, err := record.NextFileBatch(data)
		if err != nil || len(b) == 0 || b.Verify() != nil {
			return false
		}
		if len(l.entries) > 0 && b.BaseOffset() != l.end {
			c.holeFound()
			return false
		}
		known := c.ledger.size()
		id, broken, found := c.ledger.intern(b, l.last(), r.host)
		if broken != noConflict || c.ledger.size() > known && r.log.reloads > 0 {
			c.holeFound()
		}
		if broken != noConflict {
			c.logMatchingBroken(r, id, found, broken)
		}
		l.push(i, id, int64(len(b)), c.ledger.at(id).end)
		data = rest
	}
	return true
}

// holeInLog is the evidence of a declared loss on a file system where only fsync orders anything. A power loss may bring back the first
// segment of those that retention has deleted, and not the next; a recovery looks at each segment for itself, and takes both. And it may
// lose a sector that ends with the base offset or the epoch of a batch, which no checksum covers (formats.md 3): the batch is taken, as
// another one than it was.
const holeInLog = "hole-in-log"

// holeFound hears of a batch in a log after a crash that is sound by its checksum, and does not follow on the one before, or was never
// written.
func (c *core) holeFound() {
	if c.cfg.Lawless && c.loss == "" {
		c.loss = holeInLog
	}
}

// commonPrefix is the number of leading bytes that are equal.
func commonPrefix(a, b []byte) int64 {
	n := min(len(a), len(b))
	if string(a[:n]) == string(b[:n]) {
		return int64(n)
	}
	for i := range n {
		if a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(n)
}
