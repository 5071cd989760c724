package vdisk

import (
	"bytes"
	"slices"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// CrashKind says what a crash takes away.
type CrashKind uint8

// The kinds of crash.
const (
	Kill      CrashKind = iota // the process died; the page cache lives
	PowerLoss                  // the page cache is lost too
)

// evenPpm is one half in millionths.
const evenPpm = 500_000

// Crash cuts the volume: of the operations in flight only those in inProgress can have had an effect, at most one per
// lane, each the oldest of its lane. All handles close, the count of operations starts again, an armed crash is disarmed.
//
// After a kill, the observer hears of the operations in progress that took effect, by the usual kinds. After a power loss
// everything that exists is durable, and the observer hears OpReset for each file that changed or had unsynced changes, and
// OpVanish for each name that is gone. Draws: at most one per operation in progress; for a power loss one for the names,
// one per file with changed length, one per overwritten sector.
func (v *Volume) Crash(kind CrashKind, inProgress []OpID, c Chooser) {
	v.undoInFlight()
	if kind == Kill {
		for id := v.head; id <= v.tail; id++ {
			if op := v.at(id); !op.done && slices.Contains(inProgress, id) {
				v.killAt(op, c)
			}
		}
	} else {
		v.powerLoss(inProgress, c)
	}
	for id := v.head; id <= v.tail; id++ {
		if op := v.at(id); !op.done {
			v.abandon(op)
		}
	}
	v.dropHandles()
	v.opsSinceBoot, v.armedAt, v.armedOp = 0, 0, NoOp
}

// undoInFlight takes all operations in flight out of the page cache, last first. They stay in the ring.
func (v *Volume) undoInFlight() {
	for id := v.tail; id >= v.head; id-- {
		if op := v.at(id); !op.done {
			v.undo(op)
		}
	}
}

func (v *Volume) undo(op *Op) {
	n := v.inodes[op.slot]
	switch op.Kind {
	case OpWrite, OpTruncate:
		v.used -= int64(len(n.cache))
		n.cacheSum.cut(min(op.Offset, op.Size, op.oldSize))
		n.cache = unwrite(n.cache, op)
		v.used += int64(len(n.cache))
	case OpSync, OpSyncFailed:
		n.lost = slices.DeleteFunc(n.lost, func(l lostRange) bool { return l.sync == op.ID })
	case OpMkdir, OpCreate:
		delete(v.names, op.Path)
		n.refs--
	case OpRename:
		delete(v.names, op.To)
		if op.replaced >= 0 {
			v.names[op.To] = op.replaced
			v.inodes[op.replaced].refs++
		}
		v.names[op.Path] = op.slot
		n.setPath(op.Path)
	case OpRemove:
		v.names[op.Path] = op.slot
		n.refs++
	}
}

// unwrite returns b as it was before a write or truncation that is the last one in it.
func unwrite(b []byte, op *Op) []byte {
	if op.Kind == OpWrite {
		copy(b[min(op.Offset, op.oldSize):op.oldSize], op.undo)
		return b[:op.oldSize]
	}
	if op.Size < op.oldSize {
		return append(b[:op.Size], op.undo...)
	}
	return b[:op.oldSize]
}

// abandon forgets an operation that was undone.
func (v *Volume) abandon(op *Op) {
	n := v.inodes[op.slot]
	n.inflight--
	if op.rewrite {
		n.rewrites--
	}
	v.retire(op)
}

// killAt decides what the operation at the cut did to the page cache, after it was undone.
func (v *Volume) killAt(op *Op, c Chooser) {
	n := v.inodes[op.slot]
	key := n.pathHash ^ uint64(op.Offset)
	if op.Kind == OpWrite {
		end := op.Offset + int64(len(op.Data))
		sectors := (sectorEnd(end) - sectorStart(op.Offset)) / SectorSize
		lost := c.Choose(siteCutWrite, uint64(op.Kind), key, sectors+1)
		if lost == sectors {
			return
		}
		if lost > 0 {
			op.Data = op.Data[:sectorEnd(end)-lost*SectorSize-op.Offset]
		}
	} else if c.Chance(siteCutOp, uint64(op.Kind), key, evenPpm) {
		return
	}
	v.redo(n, op)
	v.Commit(op.ID)
}

// redo executes an operation that was undone, on the page cache as it is now.
func (v *Volume) redo(n *inode, op *Op) {
	if op.rewrite {
		n.rewrites--
		op.rewrite = false
	}
	op.undo = op.undo[:0]
	switch op.Kind {
	case OpWrite:
		op.wide = nil
		v.write(n, op)
	case OpTruncate:
		v.truncate(n, op)
	case OpSyncFailed:
		if !op.Kept {
			v.markLost(n, op)
		}
	case OpMkdir, OpCreate:
		v.names[op.Path] = op.slot
		n.refs++
	case OpRename:
		if op.replaced >= 0 {
			v.inodes[op.replaced].refs--
		}
		delete(v.names, op.Path)
		v.names[op.To] = op.slot
		n.setPath(op.To)
	case OpRemove:
		delete(v.names, op.Path)
		n.refs--
	}
}

// powerLoss settles operations in progress as unsynced ones, chooses what survives, and makes it the whole state.
func (v *Volume) powerLoss(inProgress []OpID, c Chooser) {
	for id := v.head; id <= v.tail; id++ {
		op := v.at(id)
		if op.done || !slices.Contains(inProgress, id) {
			continue
		}
		if op.Kind == OpSync || op.Kind == OpSyncFailed || op.Kind == OpSyncDir {
			if c.Chance(siteCutOp, uint64(op.Kind), v.inodes[op.slot].pathHash, evenPpm) {
				continue
			}
		}
		v.inodes[op.slot].unsynced = true
		v.settle(op)
		v.retire(op)
	}
	if v.model.Profile == Posix {
		v.loseSomeNames(c)
	} else {
		v.loseNames(int(c.Choose(siteLostNames, 0, 0, int64(len(v.journal))+1)))
	}
	v.tell(v.loseData(c))
}

// loseNames cuts the last lost changes off the metadata journal and applies the rest.
func (v *Volume) loseNames(lost int) {
	kept := len(v.journal) - lost
	v.applyNames(kept)
	for i := kept; i < len(v.journal); i++ {
		v.forgetName(&v.journal[i])
	}
	clear(v.journal)
	v.journal = v.journal[:0]
}

// loseData chooses the content of every file that still has a name, and makes platter and page cache one.
func (v *Volume) loseData(c Chooser) (notes []Op) {
	for _, path := range v.sortedNames(v.durable) {
		n := v.inodes[v.durable[path]]
		if n.directory {
			continue
		}
		before, known := v.names[path]
		unsynced := n.unsynced || len(n.pending) > 0
		image := v.sampler.sample(n, c, decide.HashString(path), v.model.Profile)
		v.struck.Holes += v.sampler.holes
		if unsynced || !known || before != v.durable[path] || !bytes.Equal(image, n.cache) {
			notes = append(notes, Op{Kind: OpReset, Inode: n.serial, Path: path, Size: int64(len(image))})
		}
		v.used -= int64(len(n.cache))
		n.replace(image)
		v.used += int64(len(n.cache))
		n.setPath(path)
	}
	for _, path := range v.sortedNames(v.names) {
		if _, ok := v.durable[path]; !ok {
			notes = append(notes, Op{Kind: OpVanish, Inode: v.inodes[v.names[path]].serial, Path: path})
		}
	}
	v.adoptDurable()
	return notes
}

// adoptDurable makes the durable names the names of the page cache and frees what has none. Operations that were cut
// keep their references until they are abandoned.
func (v *Volume) adoptDurable() {
	for _, path := range v.sortedNames(v.names) {
		slot := v.names[path]
		delete(v.names, path)
		v.release(slot)
	}
	for _, path := range v.sortedNames(v.durable) {
		slot := v.durable[path]
		v.names[path] = slot
		v.inodes[slot].refs++
	}
}

// tell reports a power loss to the observer, when all of it is over.
func (v *Volume) tell(notes []Op) {
	if v.observer == nil {
		return
	}
	for i := range notes {
		op := &notes[i]
		if op.Kind == OpReset {
			op.Data = v.inodes[v.names[op.Path]].cache
		}
		v.observer(op)
	}
}
