package vdisk

import "io/fs"

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
	cost = v.held(Writes, n.path, cost)
	if v.refusesChange() {
		h.host.Issue(v, NoOp, cost)
		return pathError("write", n.path, ErrReadOnly)
	}
	if v.writeFails(h.host, OpWrite, n.path, key) {
		h.host.Issue(v, NoOp, cost)
		return pathError("write", n.path, ErrIO)
	}
	size := int64(len(n.cache))
	if v.capacity >= 0 {
		if room := size + max(v.capacity-v.used, 0); offset+int64(len(p)) > room {
			p = p[:max(room-offset, 0)]
			err = pathError("write", n.path, ErrNoSpace)
			v.struck.NoSpace++
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
		n.cacheSum.cut(op.Offset)
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
		n.cacheSum.cut(op.Size)
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
	cost := v.held(Syncs, n.path, v.syncCost(h.host, OpSync, n.pathHash))
	kind := OpSync
	if (n.inflight > 0 || len(n.pending) > 0) && v.refusesChange() { // the journal is aborted: what is dirty stays so
		h.host.Issue(v, NoOp, cost)
		return pathError("sync", n.path, ErrReadOnly)
	}
	if v.syncFails(h.host, OpSync, n.path, n.pathHash) {
		kind = OpSyncFailed
		err = pathError("sync", n.path, ErrIO)
	}
	op := v.push(h, kind, slot)
	op.Size, op.Err = int64(len(n.cache)), err
	switch {
	case err == nil:
		v.goAstray(h.host, n, op)
	case v.model.KeepDirty:
		op.Kept = true
		v.struck.KeptDirty++
	default:
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
