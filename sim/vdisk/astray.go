package vdisk

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// StrayKind says what becomes of a sector that does not come to where it belongs.
type StrayKind uint8

// The kinds: the drive acknowledges a sector and drops it, or puts it elsewhere.
const (
	LostSector StrayKind = iota + 1
	MisdirectedSector
)

// Stray is a fault of a drive: sectors that an fsync brings to the platter, of files at or below Path ("" is the whole volume) whose
// names end with Suffix, go astray, one with each fsync, Count of them in all. A misdirected one lands on files at or below Path whose names
// end with Onto, or with Suffix where that is "".
type Stray struct {
	Path, Suffix string
	Onto         string
	Kind         StrayKind
	Count        int64
}

// lands is how the names of the files end on which a misdirected sector may land.
func (s *Stray) lands() string {
	if s.Onto != "" {
		return s.Onto
	}
	return s.Suffix
}

// Astray is one sector that went astray: where it belongs, and for a misdirected one where it lands.
type Astray struct {
	Kind    StrayKind
	At      Flipped
	Landing Flipped
}

type strayRule struct {
	id int64
	Stray
}

// Struck counts what the faults of a volume did, since Reset.
type Struck struct {
	SectorsLost, SectorsMisdirected int64
	KeptDirty                       int64 // fsyncs that failed and left their pages dirty (R10)
	ReadOnly                        int64 // operations that a read-only volume refused
	ReadErrors, WriteErrors         int64 // operations that failed, those on names among the writes
	SyncErrors                      int64 // fsyncs that failed, of files and directories
	NoSpace                         int64 // operations that a full volume cut short
	SlowSyncs                       int64 // fsyncs that took SlowSyncNs longer
	NamesOutOfOrder                 int64 // changes of names that survived an earlier one that did not (P1)
	Holes                           int64 // sectors whose length survived without their data (P2)
}

// Struck returns the counts.
func (v *Volume) Struck() Struck { return v.struck }

// SetStray lets sectors go astray from now on; a Count of 0 ends what an earlier call with the same id began. Each that does is a decision
// of its own. Page cache and program do not notice: the sector is acknowledged, and stays readable until a power loss takes the cache,
// or somebody writes it anew.
func (v *Volume) SetStray(id int64, s Stray) {
	v.strays = slices.DeleteFunc(v.strays, func(r strayRule) bool { return r.id == id })
	if s.Count > 0 {
		s.Path = strings.TrimSuffix(s.Path, "/")
		v.strays = append(v.strays, strayRule{id, s})
	}
}

// SetAstray has f asked, when an fsync begins, whether a sector of it may go astray; it then does, unless a crash takes the fsync back.
func (v *Volume) SetAstray(f func(Astray) bool) { v.astray = f }

// SetReadOnly makes the volume one that a kernel remounted read-only after an error of its journal: whatever would change it fails with
// ErrReadOnly, fsync when there is anything to bring to the disk. What is dirty stays dirty.
func (v *Volume) SetReadOnly(on bool) { v.readOnly = on }

func (v *Volume) refusesChange() bool {
	if v.readOnly {
		v.struck.ReadOnly++
	}
	return v.readOnly
}

// goAstray decides at the beginning of an fsync which sectors of it do not come to the platter.
func (v *Volume) goAstray(c Chooser, n *inode, op *Op) {
	if len(v.strays) > 0 {
		v.stray(c, n, op)
	}
}

func (v *Volume) stray(c Chooser, n *inode, op *Op) {
	for i := range v.strays {
		r := &v.strays[i]
		if r.Count == 0 || v.astray == nil || !covers(r.Path, n.path) || !strings.HasSuffix(n.path, r.Suffix) {
			continue
		}
		sectors := v.dirtySectors(n, op)
		if len(sectors) == 0 {
			continue
		}
		key := n.pathHash ^ uint64(r.id)
		at := sectors[c.Choose(siteStray, uint64(r.Kind), key, int64(len(sectors)))]
		a := Astray{Kind: r.Kind, At: Flipped{Path: n.path, Offset: at}}
		if r.Kind == MisdirectedSector {
			landing, ok := v.landing(c, r, key, a.At)
			if !ok {
				continue
			}
			a.Landing = landing
		}
		if !v.astray(a) {
			continue
		}
		r.Count--
		op.astray = append(op.astray, a)
		n.lost = append(n.lost, lostRange{from: at, to: at + SectorSize, sync: op.ID})
	}
}

// dirtySectors lists where the sectors begin that an fsync brings to the platter, ascending.
func (v *Volume) dirtySectors(n *inode, op *Op) (sectors []int64) {
	add := func(from, to int64) {
		for at := sectorStart(from); at < min(to, op.Size); at += SectorSize {
			sectors = append(sectors, at)
		}
	}
	for i := range n.pending {
		if c := &n.pending[i]; c.data != nil {
			add(c.offset, c.offset+int64(len(c.data)))
		}
	}
	for id := v.head; id < op.ID; id++ {
		if o := v.at(id); !o.done && o.slot == op.slot && o.Kind == OpWrite {
			add(o.Offset, o.Offset+int64(len(o.Data)))
		}
	}
	slices.Sort(sectors)
	return slices.Compact(sectors)
}

// landing chooses where a misdirected sector lands: on another sector of the durable files that the rule covers.
func (v *Volume) landing(c Chooser, r *strayRule, key uint64, not Flipped) (Flipped, bool) {
	paths := v.sortedNames(v.durable)
	sectors := func(path string) int64 {
		n := v.inodes[v.durable[path]]
		if n.directory || !covers(r.Path, path) || !strings.HasSuffix(path, r.lands()) {
			return 0
		}
		return (int64(len(n.platter())) + SectorSize - 1) / SectorSize
	}
	total := int64(0)
	for _, path := range paths {
		total += sectors(path)
	}
	if total == 0 {
		return Flipped{}, false
	}
	left := c.Choose(siteStrayTo, uint64(r.Kind), key, total)
	for _, path := range paths {
		if here := sectors(path); left >= here {
			left -= here
			continue
		}
		to := Flipped{Path: path, Offset: left * SectorSize}
		return to, to != not
	}
	panic("vdisk: a sector beyond those that were counted")
}

// makeDurableAstray is an fsync that brings everything to the platter but the sectors that went astray.
func (v *Volume) makeDurableAstray(n *inode, op *Op) {
	n.unshare()
	n.rotten = true
	before := make([][]byte, len(op.astray))
	for i := range op.astray {
		at := op.astray[i].At.Offset
		before[i] = slices.Clone(n.durable[min(at, int64(len(n.durable))):min(at+SectorSize, int64(len(n.durable)))])
	}
	n.makeDurable(op.Size)
	for i := range op.astray {
		a := &op.astray[i]
		from, to := min(a.At.Offset, int64(len(n.durable))), min(a.At.Offset+SectorSize, int64(len(n.durable)))
		sector := slices.Clone(n.durable[from:to])
		n.platterSum.cut(from)
		clear(n.durable[from:to])
		copy(n.durable[from:to], before[i])
		if !slices.ContainsFunc(n.lost, func(l lostRange) bool { return l.sync == op.ID && l.from == a.At.Offset }) {
			n.lost = append(n.lost, lostRange{from: a.At.Offset, to: a.At.Offset + SectorSize, sync: op.ID})
		}
		if a.Kind == LostSector {
			v.struck.SectorsLost++
			continue
		}
		v.struck.SectorsMisdirected++
		if slot, ok := v.durable[a.Landing.Path]; ok {
			v.inodes[slot].hit(sector, a.Landing.Offset)
		}
	}
}

// hit puts a sector of another place on the platter; the page cache keeps what was there.
func (n *inode) hit(sector []byte, offset int64) {
	n.unshare()
	n.rotten = true
	n.platterSum.cut(offset)
	if offset < int64(len(n.durable)) {
		copy(n.durable[offset:], sector)
	}
}

// Which sector goes astray, and where to: without the fault neither is drawn.
var (
	siteStray   = decide.NewSite("disk/stray", "which sector of an fsync goes astray", 0)
	siteStrayTo = decide.NewSite("disk/stray-to", "on which sector a misdirected one lands", 0)
)
