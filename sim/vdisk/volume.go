package vdisk

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// Volume is one simulated disk with its page cache. It survives the processes that use it. Not safe for concurrent use.
type Volume struct {
	id    string
	model Model

	inodes  []*inode // by slot
	free    []int32  // slots to use again, last first
	serials int64

	names   map[string]int32 // as issued
	durable map[string]int32 // on the platter
	journal []nameChange     // committed changes of names that are not durable yet, in order of commit

	ring       []Op // operations in flight, by id modulo the length
	head, tail OpID // head: oldest not done; tail: last issued

	opsSinceBoot int64
	armedAt      int64
	armedOp      OpID

	rules    []errorRule
	stuck    []stuckRule
	stalls   int64
	strays   []strayRule
	astray   func(Astray) bool // asked before a sector goes astray; nil: never
	readOnly bool
	struck   Struck
	slow     Slow
	used     int64 // bytes in all live files
	capacity int64 // -1: no limit

	handles  []*Handle
	locks    []lock
	observer func(*Op)

	keys    []string // scratch
	marks   []bool   // scratch
	sampler sampler
}

// nameChange is one step of the metadata journal. It holds a reference on its inodes.
type nameChange struct {
	kind           Kind
	slot, replaced int32
	path, to       string
}

const root = "/"

// NewVolume returns an empty volume. id names it in decisions ("n1:/data").
func NewVolume(id string, model Model) *Volume {
	v := &Volume{id: id, names: map[string]int32{}, durable: map[string]int32{}, ring: make([]Op, 64)}
	v.Reset(model)
	return v
}

// ID returns the id given to NewVolume.
func (v *Volume) ID() string { return v.id }

// Entity returns the hash of the id, which is the entity of all decisions about this volume.
func (v *Volume) Entity() uint64 { return decide.HashString(v.id) }

// Reset empties the volume, takes away its faults and its observer, closes its handles, and keeps its memory.
func (v *Volume) Reset(model Model) {
	v.model = model
	v.dropHandles()
	v.free = v.free[:0]
	for slot := len(v.inodes) - 1; slot >= 0; slot-- {
		if n := v.inodes[slot]; n.refs != 0 { // release has cleared the others
			n.clear()
		}
		v.free = append(v.free, int32(slot))
	}
	clear(v.names)
	clear(v.durable)
	clear(v.journal)
	v.journal = v.journal[:0]
	for i := range v.ring {
		v.ring[i] = Op{undo: v.ring[i].undo[:0]}
	}
	v.head, v.tail, v.serials = 1, 0, 0
	v.opsSinceBoot, v.armedAt, v.armedOp = 0, 0, NoOp
	v.rules = v.rules[:0]
	v.stuck, v.stalls = nil, 0
	v.strays, v.astray, v.readOnly, v.struck = nil, nil, false, Struck{}
	v.slow, v.used, v.capacity, v.observer = Slow{}, 0, -1, nil
	slot := v.newInode(root, true)
	v.names[root], v.durable[root] = slot, slot
	v.inodes[slot].refs = 2
}

// SetObserver hands every operation to f when it is committed, and what changed to f after a power loss; nil: to nobody.
func (v *Volume) SetObserver(f func(op *Op)) { v.observer = f }

// Op returns an operation in flight; nil when id is none. The pointer is good until the next operation is issued.
func (v *Volume) Op(id OpID) *Op {
	if id < v.head || id > v.tail {
		return nil
	}
	if op := v.at(id); !op.done {
		return op
	}
	return nil
}

// OpsSinceBoot counts the operations issued since the volume was made or since the last crash. Reads do not count.
func (v *Volume) OpsSinceBoot() int64 { return v.opsSinceBoot }

// OpNumber is the number since boot of an operation that is in flight, as ArmCrash counts.
func (v *Volume) OpNumber(op OpID) int64 { return v.opsSinceBoot - int64(v.tail-op) }

// CutWrite is the name of the decision how many sectors at the end of a write are missing when a kill comes inside it; ok is false for
// what is no write in flight.
func (v *Volume) CutWrite(id OpID) (site *decide.Site, kind, key uint64, ok bool) {
	op := v.Op(id)
	if op == nil || op.Kind != OpWrite {
		return nil, 0, 0, false
	}
	return siteCutWrite, uint64(op.Kind), v.inodes[op.slot].pathHash ^ uint64(op.Offset), true
}

// CutNothing is the name of the decision that an operation in flight had no effect when a kill comes inside it, and the value that says so.
func (v *Volume) CutNothing(id OpID) (site *decide.Site, kind, key uint64, value int64, ok bool) {
	op := v.Op(id)
	if op == nil {
		return nil, 0, 0, 0, false
	}
	if op.Kind == OpWrite {
		site, kind, key, ok = v.CutWrite(id)
		return site, kind, key, 1 << 40, ok // all sectors, however many
	}
	return siteCutOp, uint64(op.Kind), v.inodes[op.slot].pathHash ^ uint64(op.Offset), 1, true
}

// ArmCrash asks for a crash at operation number k since boot, counted from 1. It reports false, and arms nothing, when
// that one has already been issued. The volume only points at the operation (ArmedAt); the world cuts there. A crash of any
// kind disarms.
func (v *Volume) ArmCrash(k int64) bool {
	if k <= v.opsSinceBoot {
		return false
	}
	v.armedAt = k
	return true
}

// ArmedAt reports whether op is the one that ArmCrash asked for.
func (v *Volume) ArmedAt(op OpID) bool { return op != NoOp && op == v.armedOp }

func (v *Volume) newInode(path string, directory bool) int32 {
	return v.newInodeAt(path, decide.HashString(path), directory)
}

// newInodeAt is newInode for who has hashed the path already.
func (v *Volume) newInodeAt(path string, hash uint64, directory bool) int32 {
	var slot int32
	if last := len(v.free) - 1; last >= 0 {
		slot = v.free[last]
		v.free = v.free[:last]
	} else {
		slot = int32(len(v.inodes))
		v.inodes = append(v.inodes, &inode{shared: true})
	}
	v.serials++
	n := v.inodes[slot]
	n.serial, n.directory, n.path, n.pathHash, n.begun = v.serials, directory, path, hash, 0
	return slot
}

// hashOf is the hash of a path that most likely is the inode's.
func (n *inode) hashOf(path string) uint64 {
	if n.path == path {
		return n.pathHash
	}
	return decide.HashString(path)
}

func (n *inode) setPath(path string) {
	n.path = path
	n.pathHash, n.begun = decide.HashString(path), 0
}

// hashIn is the hash of a path in the directory of a slot.
func (v *Volume) hashIn(slot int32, path string) uint64 {
	n := v.inodes[slot]
	if n.begun == 0 {
		n.begun = decide.NewStringHash(n.path)
	}
	if k := len(n.path); k <= len(path) && path[:k] == n.path {
		return n.begun.Add(path[k:]).Sum()
	}
	return decide.HashString(path)
}

// clear makes the inode fit for another file, keeping its buffers.
func (n *inode) clear() {
	n.forgetPending()
	*n = inode{shared: true, cache: n.cache[:0], durable: n.durable[:0], pending: n.pending}
}

func (v *Volume) release(slot int32) {
	n := v.inodes[slot]
	n.refs--
	if n.refs == 0 {
		v.used -= int64(len(n.cache))
		n.clear()
		v.free = append(v.free, slot)
	}
}

// isIn reports whether dir is the parent of an absolute path.
func isIn(path, dir string) bool {
	k := len(dir)
	if dir == root {
		k = 0
	}
	return len(path) > k && path[k] == '/' && path[:k] == dir[:k] && strings.IndexByte(path[k+1:], '/') < 0
}

// parent returns the directory of an absolute path.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return root
}

// valid reports whether path is absolute and clean: no empty, "." or ".." elements, no slash at the end.
func valid(path string) bool {
	if path == root {
		return true
	}
	if path == "" || path[0] != '/' {
		return false
	}
	for rest := path[1:]; ; {
		element, more, found := strings.Cut(rest, "/")
		if element == "" || element == "." || element == ".." {
			return false
		}
		if !found {
			return true
		}
		rest = more
	}
}

// sortedNames returns the keys of m, ascending, in scratch memory.
func (v *Volume) sortedNames(m map[string]int32) []string {
	v.keys = v.keys[:0]
	for path := range m {
		v.keys = append(v.keys, path)
	}
	slices.Sort(v.keys)
	return v.keys
}
