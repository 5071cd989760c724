package vdisk

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/kraftsim/kraftsim/sim/decide"
)

var (
	errIsDirectory  = errors.New("is a directory")
	errNotDirectory = errors.New("not a directory")
	errNotEmpty     = errors.New("directory not empty")
)

// chargeNames draws cost and error of a metadata operation, lets do execute it, and issues it.
func (h *Handle) chargeNames(kind Kind, path string, key uint64, do func() OpID) error {
	v := h.volume
	cost := v.held(Names, path, v.model.Names.draw(h.host, kind, key, 0, v.slow.NamesPercent))
	if v.refusesChange() {
		h.host.Issue(v, NoOp, cost)
		return pathError(kind.String(), path, ErrReadOnly)
	}
	if v.writeFails(h.host, kind, path, key) {
		h.host.Issue(v, NoOp, cost)
		return pathError(kind.String(), path, ErrIO)
	}
	h.host.Issue(v, do(), cost)
	return nil
}

// create makes a file or a directory that does not exist.
func (h *Handle) create(kind Kind, path string) error {
	v := h.volume
	dir, err := v.directory(kind.String(), parent(path))
	if err != nil {
		return err
	}
	hash := v.hashIn(dir, path)
	return h.chargeNames(kind, path, hash, func() OpID {
		slot := v.newInodeAt(path, hash, kind == OpMkdir)
		v.names[path] = slot
		v.inodes[slot].refs++
		return v.push(h, kind, slot).ID
	})
}

// Rename gives a file another name, atomically in place of the file that had it. Directories are not renamed:
// fs.ErrInvalid.
func (h *Handle) Rename(from, to string) error {
	if err := h.enter("rename", from); err != nil {
		return err
	}
	if !valid(to) {
		return pathError("rename", to, fs.ErrInvalid)
	}
	v := h.volume
	slot, ok := v.names[from]
	if !ok {
		return pathError("rename", from, fs.ErrNotExist)
	}
	if v.inodes[slot].directory {
		return pathError("rename", from, fs.ErrInvalid)
	}
	dir, err := v.directory("rename", parent(to))
	if err != nil {
		return err
	}
	replaced, exists := v.names[to]
	if !exists {
		replaced = -1
	} else if v.inodes[replaced].directory {
		return pathError("rename", to, errIsDirectory)
	}
	if from == to {
		return nil
	}
	hash := v.hashIn(dir, to)
	return h.chargeNames(OpRename, from, decide.Combine(v.inodes[slot].hashOf(from), hash), func() OpID {
		op := v.push(h, OpRename, slot)
		op.To, op.replaced = to, replaced // the reference of the name passes to the operation
		op.Size = int64(len(v.inodes[slot].cache))
		delete(v.names, from)
		v.names[to] = slot
		v.inodes[slot].path, v.inodes[slot].pathHash = to, hash
		return op.ID
	})
}

// Remove takes away the name of a file, or an empty directory. Open descriptors go on working.
func (h *Handle) Remove(path string) error {
	if err := h.enter("remove", path); err != nil {
		return err
	}
	v := h.volume
	slot, ok := v.names[path]
	if !ok {
		return pathError("remove", path, fs.ErrNotExist)
	}
	if v.inodes[slot].directory && (path == root || v.hasChildren(path)) {
		return pathError("remove", path, errNotEmpty)
	}
	return h.chargeNames(OpRemove, path, v.inodes[slot].hashOf(path), func() OpID {
		op := v.push(h, OpRemove, slot)
		delete(v.names, path)
		v.inodes[slot].refs--
		return op.ID
	})
}

func (v *Volume) hasChildren(dir string) bool {
	for _, path := range v.sortedNames(v.names) {
		if strings.HasPrefix(path, dir) && len(path) > len(dir) && path[len(dir)] == '/' {
			return true
		}
	}
	return false
}

// SyncDir makes the names in dir durable: every change of them so far, and what the journal holds before it (R3).
func (h *Handle) SyncDir(dir string) error {
	if err := h.enter("sync-dir", dir); err != nil {
		return err
	}
	v := h.volume
	slot, err := v.directory("sync-dir", dir)
	if err != nil {
		return err
	}
	key := v.inodes[slot].pathHash
	cost := v.held(Syncs, dir, v.syncCost(h.host, OpSyncDir, key))
	if len(v.journal) > 0 && v.refusesChange() {
		h.host.Issue(v, NoOp, cost)
		return pathError("sync-dir", dir, ErrReadOnly)
	}
	if v.syncFails(h.host, OpSyncDir, dir, key) {
		h.host.Issue(v, NoOp, cost)
		return pathError("sync-dir", dir, ErrIO)
	}
	h.host.Issue(v, v.push(h, OpSyncDir, slot).ID, cost)
	return nil
}
