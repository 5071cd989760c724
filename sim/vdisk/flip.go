package vdisk

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// Spot says where bits may flip: in files at or below Path ("" is the whole volume) whose names end with Suffix, from byte From of
// a file on, in at most Length bytes of it (0: to its end).
type Spot struct {
	Path, Suffix string
	From, Length int64
}

// Flipped is what a bit that flipped was part of.
type Flipped struct {
	Path   string
	Offset int64
}

// Flip turns one bit of what is on the platter: decay of a cell, a write that went astray. The volume says nothing of it: the bit is
// latent until somebody reads it. Whoever reads a page that is clean in the page cache reads the platter's bytes, unless cached is
// true: then the page stays there until a power loss takes the cache, or somebody writes the sector anew. Pages that are not clean
// are always in the cache. Which bit is a decision named after key. false when nothing durable lies there.
func (v *Volume) Flip(c Chooser, at Spot, key uint64, cached bool) (Flipped, bool) {
	prefix := strings.TrimSuffix(at.Path, "/")
	total := int64(0)
	paths := v.sortedNames(v.durable)
	for _, path := range paths {
		from, to := v.flippable(path, prefix, &at)
		total += to - from
	}
	if total == 0 {
		return Flipped{}, false
	}
	bit := c.Choose(siteFlip, 0, key, total*8)
	left := bit / 8
	for _, path := range paths {
		from, to := v.flippable(path, prefix, &at)
		if left >= to-from {
			left -= to - from
			continue
		}
		v.inodes[v.durable[path]].flip(from+left, byte(1)<<(bit%8), cached)
		return Flipped{Path: path, Offset: from + left}, true
	}
	panic("vdisk: a bit beyond the bytes that were counted")
}

// flippable is the range of a durable file that a spot covers.
func (v *Volume) flippable(path, prefix string, at *Spot) (from, to int64) {
	n := v.inodes[v.durable[path]]
	if n.directory || !covers(prefix, path) || !strings.HasSuffix(path, at.Suffix) {
		return 0, 0
	}
	size := int64(len(n.platter()))
	to = size
	if at.Length > 0 {
		to = min(size, at.From+at.Length)
	}
	return min(at.From, to), to
}

// flip turns a bit of the platter, and of the page cache where that is clean and has not been kept.
func (n *inode) flip(offset int64, mask byte, cached bool) {
	n.cacheSum.cut(offset)
	n.platterSum.cut(offset)
	if n.shared && !cached {
		n.cache[offset] ^= mask
		return
	}
	n.unshare()
	n.durable[offset] ^= mask
	n.rotten = true
}

// siteFlip draws the bit of a flip: there is none without the fault, so that no value is more benign than another.
var siteFlip = decide.NewSite("disk/flip", "which bit of the durable bytes flips", 0)
