package vdisk

import "github.com/kraftsim/kraftsim/sim/decide"

// inode is one file or directory, whatever its names.
//
// The bytes on the platter are kept apart from the page cache only when they differ: while shared, they are
// cache[:durableLen]. A log is appended to and synced, so it stays shared and a sync costs no copy. Whatever is about to
// change bytes below durableLen calls unshare first.
type inode struct {
	serial     int64 // identity shown to observers
	path       string
	pathHash   uint64
	begun      decide.StringHash // of a directory: the hash of its path, for those of the names in it; 0: nobody has asked
	directory  bool
	shared     bool
	unsynced   bool   // an operation in progress at a power loss touched it
	rotten     bool   // a bit of the platter flipped under a page that is cached: they are never one again but by a power loss
	cache      []byte // page cache, with operations as issued
	durableLen int64  // when shared
	durable    []byte // when not shared
	pending    []change
	lost       []lostRange
	refs       int32 // names, descriptors, journal entries and operations in flight
	inflight   int32 // operations issued, not committed
	rewrites   int32 // those among them that changed existing bytes
	owner      *Handle

	cacheSum, platterSum prefixSum // of cache and platter
}

// change is one committed write or truncation that no fsync has covered. data == nil means truncation to size.
type change struct {
	offset int64
	data   []byte
	size   int64
}

// lostRange is a run of sectors that is clean in the cache without being on the disk, because fsync number sync failed.
type lostRange struct {
	from, to int64
	sync     OpID
}

// platter returns the durable bytes.
func (n *inode) platter() []byte {
	if n.shared {
		return n.cache[:n.durableLen]
	}
	return n.durable
}

func (n *inode) unshare() {
	if n.shared {
		n.durable = append(n.durable[:0], n.cache[:n.durableLen]...)
		n.shared = false
	}
}

// share makes the cache the durable image.
func (n *inode) share() {
	n.shared = true
	n.platterSum.cut(0)
	n.durableLen = int64(len(n.cache))
	n.durable = n.durable[:0]
}

// replace gives the inode other bytes, in cache and on the platter.
func (n *inode) replace(data []byte) {
	n.cache = append(n.cache[:0], data...)
	n.cacheSum.cut(0)
	n.forgetPending()
	n.lost, n.unsynced, n.rotten = nil, false, false
	n.share()
}

// resize cuts b or extends it by zeros.
func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	if size <= int64(cap(b)) {
		old := len(b)
		b = b[:size]
		clear(b[old:])
		return b
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// put writes data at offset, extending b as needed.
func put(b []byte, data []byte, offset int64) []byte {
	if offset > int64(len(b)) {
		b = resize(b, offset)
	}
	n := copy(b[offset:], data)
	return append(b, data[n:]...)
}

// makeDurable brings everything that is pending to the platter; size is the length that the fsync saw.
func (n *inode) makeDurable(size int64) {
	if n.shared && n.rewrites == 0 {
		n.durableLen = size
		n.forgetPending()
		return
	}
	n.unshare()
	for i := range n.pending {
		c := &n.pending[i]
		if c.data == nil {
			n.platterSum.cut(c.size)
			n.durable = resize(n.durable, c.size)
		} else {
			n.platterSum.cut(c.offset)
			n.durable = put(n.durable, c.data, c.offset)
		}
	}
	n.forgetPending()
	if n.inflight == 0 && len(n.lost) == 0 && !n.rotten {
		n.share()
	}
}

func (n *inode) forgetPending() {
	clear(n.pending)
	n.pending = n.pending[:0]
}

// losePending is a failed fsync: what was written is clean now and will never reach the disk; truncations are the
// metadata journal's and stay.
func (n *inode) losePending() {
	n.unshare()
	kept := n.pending[:0]
	for _, c := range n.pending {
		if c.data == nil {
			kept = append(kept, c)
		}
	}
	clear(n.pending[len(kept):])
	n.pending = kept
}

// markLost notes the sectors of a write under fsync number sync.
func (n *inode) markLost(offset, end int64, sync OpID) {
	n.lost = append(n.lost, lostRange{from: sectorStart(offset), to: sectorEnd(end), sync: sync})
}

// widen returns what a write of data at offset makes dirty when some of its sectors are lost: whole sectors of the page
// cache, in which the write has already happened. nil: just data.
func (n *inode) widen(data []byte, offset int64) []byte {
	from, to := sectorStart(offset), sectorEnd(offset+int64(len(data)))
	for _, l := range n.lost {
		if l.from < to && from < l.to {
			return append([]byte(nil), n.cache[from:min(to, int64(len(n.cache)))]...)
		}
	}
	return nil
}

// rewritten takes the sectors in [from, to), which operation op wrote, out of those that earlier fsyncs lost.
func (n *inode) rewritten(from, to int64, op OpID) {
	var kept []lostRange
	for _, l := range n.lost {
		if l.sync > op {
			kept = append(kept, l)
			continue
		}
		if l.from < from {
			kept = append(kept, lostRange{l.from, min(l.to, from), l.sync})
		}
		if l.to > to {
			kept = append(kept, lostRange{max(l.from, to), l.to, l.sync})
		}
	}
	n.lost = kept
}

// sectorStart rounds an offset down to a sector boundary, sectorEnd rounds it up.
func sectorStart(offset int64) int64 { return offset / SectorSize * SectorSize }
func sectorEnd(offset int64) int64   { return (offset + SectorSize - 1) / SectorSize * SectorSize }
