package vdisk

import (
	"encoding/binary"
	"slices"
)

// File returns the bytes of a file as other lanes and checkers see it: with every committed operation and none in flight;
// false when there is no such file. The bytes are good until the next operation, and are not to be changed.
func (v *Volume) File(path string) ([]byte, bool) {
	slot, ok := v.committed(path)
	if !ok || v.inodes[slot].directory {
		return nil, false
	}
	return v.committedBytes(slot), true
}

// DurableFile returns what the platter has under path: the name and the bytes that fsync and SyncDir vouched for, whatever
// of the rest a power loss might keep. false when the platter has no such file. The bytes are good until the next operation.
func (v *Volume) DurableFile(path string) ([]byte, bool) {
	slot, ok := v.durable[path]
	if !ok || v.inodes[slot].directory {
		return nil, false
	}
	return v.inodes[slot].platter(), true
}

// Walk calls f for every file of the committed view, by ascending path.
func (v *Volume) Walk(f func(path string, data []byte)) {
	paths := slices.Clone(v.sortedNames(v.names))
	for id := v.head; id <= v.tail; id++ {
		if op := v.at(id); !op.done && (op.Kind == OpRename || op.Kind == OpRemove) {
			paths = append(paths, op.Path, op.To)
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if data, ok := v.File(path); ok {
			f(path, data)
		}
	}
}

// WalkDurable calls f for every file on the platter, by ascending path.
func (v *Volume) WalkDurable(f func(path string, data []byte)) {
	paths := slices.Clone(v.sortedNames(v.durable))
	for _, path := range paths {
		if data, ok := v.DurableFile(path); ok {
			f(path, data)
		}
	}
}

// Load puts a file there, durable with its directories, outside of all time: the step of an operator. It replaces what
// the path named, and makes all changes of names durable. No operation may be in flight.
func (v *Volume) Load(path string, data []byte) {
	v.prepare(path)
	n := v.inodes[v.place(path, false)]
	v.used += int64(len(data)) - int64(len(n.cache))
	n.replace(data)
}

// LoadDir puts a directory there as Load puts a file.
func (v *Volume) LoadDir(path string) {
	v.prepare(path)
	v.place(path, true)
}

// prepare makes all changes of names durable and makes the directories above a path.
func (v *Volume) prepare(path string) {
	if v.head <= v.tail || !valid(path) || path == root {
		panic("vdisk: Load of " + path + " with operations in flight, or not a clean path")
	}
	v.applyNames(len(v.journal))
	clear(v.journal)
	v.journal = v.journal[:0]
	for end := 1; end < len(path); end++ {
		if path[end] == '/' {
			v.place(path[:end], true)
		}
	}
}

// place returns the inode of a name that is durable from now on.
func (v *Volume) place(path string, directory bool) int32 {
	if slot, ok := v.names[path]; ok {
		if v.inodes[slot].directory != directory {
			panic("vdisk: Load needs " + path + " to be of the other sort")
		}
		return slot
	}
	slot := v.newInode(path, directory)
	v.names[path], v.durable[path] = slot, slot
	v.inodes[slot].refs = 2
	return slot
}

// committed resolves a path without the operations in flight.
func (v *Volume) committed(path string) (int32, bool) {
	slot, ok := v.names[path]
	for id := v.tail; id >= v.head; id-- {
		op := v.at(id)
		if op.done {
			continue
		}
		switch op.Kind {
		case OpMkdir, OpCreate:
			if op.Path == path {
				ok = false
			}
		case OpRename:
			if op.To == path {
				slot, ok = op.replaced, op.replaced >= 0
			} else if op.Path == path {
				slot, ok = op.slot, true
			}
		case OpRemove:
			if op.Path == path {
				slot, ok = op.slot, true
			}
		}
	}
	return slot, ok
}

func (v *Volume) committedBytes(slot int32) []byte {
	n := v.inodes[slot]
	if n.inflight == 0 {
		return n.cache
	}
	b := n.cache
	if n.rewrites > 0 {
		b = slices.Clone(b)
	}
	for id := v.tail; id >= v.head; id-- {
		if op := v.at(id); !op.done && op.slot == slot && (op.Kind == OpWrite || op.Kind == OpTruncate) {
			b = unwrite(b, op)
		}
	}
	return b
}

// AppendState appends canonical bytes for the state of page cache and platter: equal for equal histories, whatever the
// volume held before Reset. Paths and contents enter as 64-bit digests. It goes through the files in the order of their slots, which
// is a matter of the history too, and costs one pass over all bytes that are new since the last call.
func (v *Volume) AppendState(buf []byte) []byte {
	for slot, n := range v.inodes {
		if n.refs == 0 {
			continue
		}
		buf = binary.BigEndian.AppendUint32(buf, uint32(slot))
		buf = binary.BigEndian.AppendUint32(buf, uint32(n.refs))
		buf = binary.BigEndian.AppendUint64(buf, uint64(n.serial))
		buf = binary.BigEndian.AppendUint64(buf, n.pathHash)
		if n.directory {
			continue
		}
		buf = n.cacheSum.append(buf, n.cache)
		buf = n.platterSum.append(buf, n.platter())
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(n.pending)))
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(n.lost)))
	}
	for i := range v.journal { // with the references, what is named now and what the platter names
		c := &v.journal[i]
		buf = append(buf, byte(c.kind))
		buf = appendText(appendText(buf, c.path), c.to)
	}
	buf = binary.BigEndian.AppendUint64(buf, uint64(v.tail))
	return binary.BigEndian.AppendUint64(buf, uint64(v.serials))
}

func appendText(buf []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(buf, uint32(len(s))), s...)
}
