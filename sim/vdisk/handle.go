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
	v.unlock(h)
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
	if _, known := h.volume.names[path]; !known && !valid(path) {
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
	if h.volume == nil {
		return 0, pathError("open", path, fs.ErrClosed)
	}
	slot, ok := h.volume.names[path]
	if !ok {
		if !valid(path) {
			return 0, pathError("open", path, fs.ErrInvalid)
		}
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
	cost = v.held(Reads, n.path, cost)
	failed := v.readFails(h.host, n.path, key)
	h.host.Issue(v, NoOp, cost)
	if failed {
		return pathError("read", n.path, ErrIO)
	}
	return nil
}
