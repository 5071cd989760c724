package vdisk

import (
	"fmt"
	"strings"
	"syscall"
)

// SectorSize is the unit that a disk writes as a whole, in bytes.
const SectorSize = 512

// Profile names the rules by which a power loss chooses what survives.
type Profile uint8

// The profiles. See the rules in the package comment.
const (
	// Ordered is like ext4 with data=ordered and delayed allocation, without auto_da_alloc.
	Ordered Profile = iota
	// Posix promises what POSIX does and nothing more: only fsync orders anything. It is the adversary of programs that rely on one file
	// system without saying so.
	Posix
)

// ErrIO, ErrNoSpace and ErrReadOnly are what operations wrap when the disk fails; errors.Is also matches syscall.EIO, ENOSPC and
// EROFS, so programs that do not import the simulator can tell them apart.
var (
	ErrIO      = fmt.Errorf("vdisk: %w", syscall.EIO)
	ErrNoSpace = fmt.Errorf("vdisk: %w", syscall.ENOSPC)
	// ErrReadOnly is what whatever would change a volume wraps after SetReadOnly(true).
	ErrReadOnly = fmt.Errorf("vdisk: %w", syscall.EROFS)
)

// Cost is what one operation takes, in nanoseconds: Base, PerKiB for each 1024 bytes it moves, and a uniform draw of
// [0, Jitter] on top.
type Cost struct {
	BaseNs, PerKiBNs, JitterNs int64
}

// Model is what a plan says about a volume: its profile, its costs, and the rates of its faults in millionths. The zero
// value is a disk that never fails and takes no time.
type Model struct {
	Profile Profile

	Read, Write, Sync, Names Cost // Names: mkdir, create, rename, remove, truncate; Sync: fsync of files and directories

	ReadErrorPpm, WriteErrorPpm, SyncErrorPpm int64

	// KeepDirty is what the kernel does with pages whose fsync failed: false marks them clean, which loses them with the power (R9); true
	// keeps them dirty, so that a later fsync may bring them to the platter (R10).
	KeepDirty bool

	SlowSyncPpm int64 // rate of fsyncs that take SlowSyncNs more
	SlowSyncNs  int64
}

// Errors is a fault on all paths under a prefix: forced errors, or rates in millionths beside those of the model.
type Errors struct {
	Read, Write, Sync          bool // every operation of the class fails
	ReadPpm, WritePpm, SyncPpm int64
}

// Slow multiplies costs: 100 is as usual, 1000 ten times as slow, 0 stands for 100.
type Slow struct {
	ReadPercent, WritePercent, SyncPercent, NamesPercent int64
}

// Class is a set of kinds of operation, for SetStuck.
type Class uint8

// The classes: reads and listings, writes, fsyncs of files and directories, changes of names and truncations.
const (
	Reads Class = 1 << iota
	Writes
	Syncs
	Names
)

// stuckRule lets operations that begin now take until some time.
type stuckRule struct {
	prefix string
	class  Class
	left   func() int64
}

// SetStuck lets operations of a class on paths under prefix take no less than left says when they begin, in nanoseconds: a device
// that answers again at a known time and not before. It replaces an earlier call with the same prefix; class 0 takes it away.
func (v *Volume) SetStuck(prefix string, class Class, left func() int64) {
	prefix = strings.TrimSuffix(prefix, "/")
	for i := range v.stuck {
		if v.stuck[i].prefix == prefix {
			v.stuck = append(v.stuck[:i], v.stuck[i+1:]...)
			break
		}
	}
	if class != 0 {
		v.stuck = append(v.stuck, stuckRule{prefix, class, left})
	}
}

// held is the cost of an operation on a device that may be stuck.
func (v *Volume) held(class Class, path string, costNs int64) int64 {
	if len(v.stuck) == 0 {
		return costNs
	}
	return v.heldBy(class, path, costNs)
}

func (v *Volume) heldBy(class Class, path string, costNs int64) int64 {
	for i := range v.stuck {
		if r := &v.stuck[i]; r.class&class != 0 && covers(r.prefix, path) {
			costNs = max(costNs, r.left())
			v.stalls++
		}
	}
	return costNs
}

// Stalls counts the operations that SetStuck held up since Reset.
func (v *Volume) Stalls() int64 { return v.stalls }

type errorRule struct {
	prefix string
	errors Errors
}

// SetErrors sets the errors of all paths under prefix ("" is the whole volume, "/data/dir0" covers "/data/dir0/x" but
// not "/data/dir01"), in place of an earlier call with the same prefix. The zero value takes the fault away.
func (v *Volume) SetErrors(prefix string, e Errors) {
	prefix = strings.TrimSuffix(prefix, "/")
	for i := range v.rules {
		if v.rules[i].prefix == prefix {
			v.rules = append(v.rules[:i], v.rules[i+1:]...)
			break
		}
	}
	if e != (Errors{}) {
		v.rules = append(v.rules, errorRule{prefix: prefix, errors: e})
	}
}

// SetFull leaves bytesFree bytes of space: what grows files by more fails with ErrNoSpace after the part that fits.
// Truncating gives space back at once; removing and replacing do when SyncDir has made them durable and nobody has the file
// open. A negative number takes the limit away.
func (v *Volume) SetFull(bytesFree int64) {
	v.capacity = -1
	if bytesFree >= 0 {
		v.capacity = v.used + bytesFree
	}
}

// SetSlow multiplies the costs from now on; the zero value is the usual speed.
func (v *Volume) SetSlow(s Slow) { v.slow = s }

func covers(prefix, path string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

func (v *Volume) readFails(c Chooser, path string, key uint64) bool {
	ppm, forced := v.model.ReadErrorPpm, false
	for i := range v.rules {
		if r := &v.rules[i]; covers(r.prefix, path) {
			ppm, forced = ppm+r.errors.ReadPpm, forced || r.errors.Read
		}
	}
	return count(&v.struck.ReadErrors, forced || c.Chance(siteReadError, uint64(OpRead), key, ppm))
}

func (v *Volume) writeFails(c Chooser, kind Kind, path string, key uint64) bool {
	ppm, forced := v.model.WriteErrorPpm, false
	for i := range v.rules {
		if r := &v.rules[i]; covers(r.prefix, path) {
			ppm, forced = ppm+r.errors.WritePpm, forced || r.errors.Write
		}
	}
	return count(&v.struck.WriteErrors, forced || c.Chance(siteWriteError, uint64(kind), key, ppm))
}

func (v *Volume) syncFails(c Chooser, kind Kind, path string, key uint64) bool {
	ppm, forced := v.model.SyncErrorPpm, false
	for i := range v.rules {
		if r := &v.rules[i]; covers(r.prefix, path) {
			ppm, forced = ppm+r.errors.SyncPpm, forced || r.errors.Sync
		}
	}
	return count(&v.struck.SyncErrors, forced || c.Chance(siteSyncError, uint64(kind), key, ppm))
}

// count adds one to a counter where something happened, and hands on whether it did.
func count(n *int64, happened bool) bool {
	if happened {
		*n++
	}
	return happened
}

// cost draws the jitter of one operation and applies the slowness.
func (c *Cost) draw(ch Chooser, kind Kind, key uint64, bytes, percent int64) int64 {
	ns := c.BaseNs
	if c.PerKiBNs != 0 {
		ns += c.PerKiBNs * bytes / 1024
	}
	if c.JitterNs > 0 {
		ns += ch.Choose(siteJitter, uint64(kind), key, c.JitterNs+1)
	}
	if percent > 0 {
		ns = ns * percent / 100
	}
	return ns
}

func (v *Volume) syncCost(c Chooser, kind Kind, key uint64) int64 {
	ns := v.model.Sync.draw(c, kind, key, 0, v.slow.SyncPercent)
	if v.model.SlowSyncNs > 0 && c.Chance(siteSlowSync, uint64(kind), key, v.model.SlowSyncPpm) {
		ns += v.model.SlowSyncNs
		v.struck.SlowSyncs++
	}
	return ns
}
