package vdisk

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Handle is the volume as one lane of one process sees it: the Files method set of docs/seams.md, section 2. A crash of
// the volume or Drop closes it for good.
//
// Decisions: one for an error and, where the model has jitter, one for the cost of each operation. Reads, listings and
// failed operations are reported to the host as NoOp with their cost; Open of an existing file, Close and Size take no time.
type Handle struct {
	volume *Volume
	host   Host
	fds    []int32 // slot by descriptor-1, -1 when closed
	spare  []int32 // closed descriptors
}

// Handle opens the volume for one lane.
func (v *Volume) Handle(host Host) *Handle {
	h := &Handle{volume: v, host: host}
	v.handles = append(v.handles, h)
	return h
}

// Drop closes all descriptors and the handle itself: the process is gone. What it issued stays in flight.
func (h *Handle) Drop() {
	v := h.volume
	if v == nil {
		return
	}
	if i := slices.Index(v.handles, h); i >= 0 {
		v.handles = slices.Delete(v.handles, i, i+1)
	}
	for _, slot := range h.fds {
		if slot >= 0 {
			v.release(slot)
		}
	}
	h.volume, h.fds, h.spare = nil, nil, nil
}

func (v *Volume) dropHandles() {
	for len(v.handles) > 0 {
		v.handles[len(v.handles)-1].Drop()
	}
}

func pathError(op, path string, err error) error {
	return fmt.Errorf("vdisk: %s %s: %w", op, path, err)
}

// enter checks what every call with a path needs.
func (h *Handle) enter(op, path string) error {
	if h.volume == nil {
		return pathError(op, path, fs.ErrClosed)
	}
	if !valid(path) {
		return pathError(op, path, fs.ErrInvalid)
	}
	return nil
}

// file returns the inode behind a descriptor; an error when there is none.
func (h *Handle) file(fd int32) (*inode, int32, error) {
	if uint32(fd-1) >= uint32(len(h.fds)) || h.fds[fd-1] < 0 {
		return nil, 0, fmt.Errorf("vdisk: descriptor %d: %w", fd, fs.ErrClosed)
	}
	slot := h.fds[fd-1]
	return h.volume.inodes[slot], slot, nil
}

// directory returns the slot of an existing directory.
func (v *Volume) directory(op, path string) (int32, error) {
	slot, ok := v.names[path]
	if !ok {
		return 0, pathError(op, path, fs.ErrNotExist)
	}
	if !v.inodes[slot].directory {
		return 0, pathError(op, path, errNotDirectory)
	}
	return slot, nil
}

// MkdirAll creates a directory with all that is missing above it, one operation each.
func (h *Handle) MkdirAll(dir string) error {
	if err := h.enter("mkdir", dir); err != nil {
		return err
	}
	for end := 1; end <= len(dir); end++ {
		if end < len(dir) && dir[end] != '/' {
			continue
		}
		if slot, ok := h.volume.names[dir[:end]]; ok {
			if !h.volume.inodes[slot].directory {
				return pathError("mkdir", dir[:end], fs.ErrExist)
			}
			continue
		}
		if err := h.create(OpMkdir, dir[:end]); err != nil {
			return err
		}
	}
	return nil
}

// List returns the base names in a directory, ascending.
func (h *Handle) List(dir string) ([]string, error) {
	if err := h.enter("list", dir); err != nil {
		return nil, err
	}
	v := h.volume
	slot, err := v.directory("list", dir)
	if err != nil {
		return nil, err
	}
	if err := h.chargeRead(v.inodes[slot], 0, 0); err != nil {
		return nil, err
	}
	prefix := dir + "/"
	if dir == root {
		prefix = root
	}
	names := []string{}
	for _, path := range v.sortedNames(v.names) { // one directory: base names in the order of paths
		if base, ok := strings.CutPrefix(path, prefix); ok && base != "" && strings.IndexByte(base, '/') < 0 {
			names = append(names, base)
		}
	}
	return names, nil
}

// Open returns a descriptor of a file, which is created when it is missing and create is set.
func (h *Handle) Open(path string, create bool) (int32, error) {
	if err := h.enter("open", path); err != nil {
		return 0, err
	}
	slot, ok := h.volume.names[path]
	if !ok {
		if !create {
			return 0, pathError("open", path, fs.ErrNotExist)
		}
		if err := h.create(OpCreate, path); err != nil {
			return 0, err
		}
		slot = h.volume.names[path]
	}
	if h.volume.inodes[slot].directory {
		return 0, pathError("open", path, errIsDirectory)
	}
	h.volume.inodes[slot].refs++
	if last := len(h.spare) - 1; last >= 0 {
		fd := h.spare[last]
		h.spare = h.spare[:last]
		h.fds[fd-1] = slot
		return fd, nil
	}
	h.fds = append(h.fds, slot)
	return int32(len(h.fds)), nil
}

// Close gives a descriptor back. Nothing becomes durable by it.
func (h *Handle) Close(fd int32) error {
	_, slot, err := h.file(fd)
	if err != nil {
		return err
	}
	h.fds[fd-1] = -1
	h.spare = append(h.spare, fd)
	h.volume.release(slot)
	return nil
}

// Size returns the length of a file in bytes.
func (h *Handle) Size(fd int32) (int64, error) {
	n, _, err := h.file(fd)
	if err != nil {
		return 0, err
	}
	return int64(len(n.cache)), nil
}

// ReadAt fills p from offset on; io.EOF with what there is when the file ends before.
func (h *Handle) ReadAt(fd int32, p []byte, offset int64) (int, error) {
	n, _, err := h.file(fd)
	if err != nil {
		return 0, err
	}
	if offset < 0 {
		return 0, pathError("read", n.path, fs.ErrInvalid)
	}
	if err := h.chargeRead(n, offset, int64(len(p))); err != nil {
		return 0, err
	}
	if offset >= int64(len(n.cache)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	read := copy(p, n.cache[offset:])
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

func (h *Handle) chargeRead(n *inode, offset, bytes int64) error {
	v := h.volume
	key := n.pathHash ^ uint64(offset)
	cost := v.model.Read.draw(h.host, OpRead, key, bytes, v.slow.ReadPercent)
	failed := v.readFails(h.host, n.path, key)
	h.host.Issue(v, NoOp, cost)
	if failed {
		return pathError("read", n.path, ErrIO)
	}
	return nil
}

// WriteAt writes p at offset, past the end with zeros between. p must not change any more: the volume keeps it. On a full
// disk the part of p that fits is written and ErrNoSpace returned.
func (h *Handle) WriteAt(fd int32, p []byte, offset int64) error {
	n, slot, err := h.file(fd)
	if err != nil {
		return err
	}
	if offset < 0 {
		return pathError("write", n.path, fs.ErrInvalid)
	}
	v := h.volume
	key := n.pathHash ^ uint64(offset)
	cost := v.model.Write.draw(h.host, OpWrite, key, int64(len(p)), v.slow.WritePercent)
	if v.writeFails(h.host, OpWrite, n.path, key) {
		h.host.Issue(v, NoOp, cost)
		return pathError("write", n.path, ErrIO)
	}
	size := int64(len(n.cache))
	if v.capacity >= 0 {
		if room := size + max(v.capacity-v.used, 0); offset+int64(len(p)) > room {
			p = p[:max(room-offset, 0)]
			err = pathError("write", n.path, ErrNoSpace)
		}
	}
	if len(p) == 0 {
		h.host.Issue(v, NoOp, cost)
		return err
	}
	op := v.push(h, OpWrite, slot)
	op.Offset, op.Data, op.Err = offset, p, err
	v.write(n, op)
	h.host.Issue(v, op.ID, cost)
	return err
}

// write executes a write on the page cache.
func (v *Volume) write(n *inode, op *Op) {
	op.oldSize = int64(len(n.cache))
	if op.Offset < op.oldSize {
		if op.Offset < n.durableLen {
			n.unshare()
		}
		op.undo = append(op.undo, n.cache[op.Offset:min(op.Offset+int64(len(op.Data)), op.oldSize)]...)
		op.rewrite = true
		n.rewrites++
	}
	n.cache = put(n.cache, op.Data, op.Offset)
	op.Size = int64(len(n.cache))
	v.used += op.Size - op.oldSize
	if len(n.lost) > 0 {
		op.wide = n.widen(op.Data, op.Offset)
	}
}

// Truncate sets the length of a file; growth reads as zeros and never fails for space.
func (h *Handle) Truncate(fd int32, size int64) error {
	n, slot, err := h.file(fd)
	if err != nil {
		return err
	}
	if size < 0 {
		return pathError("truncate", n.path, fs.ErrInvalid)
	}
	v := h.volume
	if err := h.chargeNames(OpTruncate, n.path, n.pathHash^uint64(size), func() OpID {
		op := v.push(h, OpTruncate, slot)
		op.Size = size
		v.truncate(n, op)
		return op.ID
	}); err != nil {
		return err
	}
	return nil
}

// truncate executes a truncation on the page cache.
func (v *Volume) truncate(n *inode, op *Op) {
	op.oldSize = int64(len(n.cache))
	if op.Size < op.oldSize {
		if op.Size < n.durableLen {
			n.unshare()
		}
		op.undo = append(op.undo, n.cache[op.Size:]...)
	}
	op.rewrite = true
	n.rewrites++
	n.cache = resize(n.cache, op.Size)
	v.used += op.Size - op.oldSize
}

// Sync is fsync: all that was written to the file is durable when it is committed, its name not (R3, R6).
func (h *Handle) Sync(fd int32) error {
	n, slot, err := h.file(fd)
	if err != nil {
		return err
	}
	v := h.volume
	cost := v.syncCost(h.host, OpSync, n.pathHash)
	kind := OpSync
	if v.syncFails(h.host, OpSync, n.path, n.pathHash) {
		kind = OpSyncFailed
		err = pathError("sync", n.path, ErrIO)
	}
	op := v.push(h, kind, slot)
	op.Size, op.Err = int64(len(n.cache)), err
	if err != nil {
		v.markLost(n, op)
	}
	h.host.Issue(v, op.ID, cost)
	return err
}

// markLost notes every write that the failed fsync op covers.
func (v *Volume) markLost(n *inode, op *Op) {
	for i := range n.pending {
		if c := &n.pending[i]; c.data != nil {
			n.markLost(c.offset, c.offset+int64(len(c.data)), op.ID)
		}
	}
	for id := v.head; id < op.ID; id++ {
		if o := v.at(id); !o.done && o.slot == op.slot && o.Kind == OpWrite {
			n.markLost(o.Offset, o.Offset+int64(len(o.Data)), op.ID)
		}
	}
}
