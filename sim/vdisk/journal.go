package vdisk

// The journal of operations in flight is a ring: an operation leaves it when it and all before it are committed or cut.
// What is committed and not durable waits with its inode (data, length) or in the metadata journal (names).

func (v *Volume) at(id OpID) *Op { return &v.ring[int64(id)&int64(len(v.ring)-1)] }

// push takes the next slot of the ring for an operation on one inode.
func (v *Volume) push(h *Handle, kind Kind, slot int32) *Op {
	if int64(v.tail-v.head)+1 >= int64(len(v.ring)) {
		v.growRing()
	}
	v.tail++
	v.opsSinceBoot++
	if v.opsSinceBoot == v.armedAt {
		v.armedOp = v.tail
	}
	n := v.inodes[slot]
	if n.inflight > 0 && n.owner != h && !n.directory {
		panic("vdisk: two lanes change " + n.path + " at one time")
	}
	n.owner = h
	n.inflight++
	n.refs++
	op := v.at(v.tail)
	op.begin(v.tail, kind, n.serial, n.path, slot)
	return op
}

func (v *Volume) growRing() {
	old := v.ring
	v.ring = make([]Op, 2*len(old))
	for id := v.head; id <= v.tail; id++ {
		*v.at(id) = old[int64(id)&int64(len(old)-1)]
	}
}

// Commit is the completion of an operation: its time came, other lanes and the observer may see it. Operations of one
// lane are committed in the order of their issue.
func (v *Volume) Commit(id OpID) {
	op := v.Op(id)
	if op == nil {
		panic("vdisk: Commit of an operation that is not in flight")
	}
	v.settle(op)
	op.done = true
	if v.observer != nil {
		v.observer(op)
	}
	v.retire(op)
}

// settle moves the effect of an operation from in flight to committed.
func (v *Volume) settle(op *Op) {
	n := v.inodes[op.slot]
	n.inflight--
	if op.rewrite {
		n.rewrites--
	}
	switch op.Kind {
	case OpWrite:
		data, offset := op.Data, op.Offset
		if op.wide != nil {
			data, offset = op.wide, sectorStart(offset)
		}
		n.pending = append(n.pending, change{offset: offset, data: data})
		if len(n.lost) > 0 {
			n.rewritten(sectorStart(op.Offset), sectorEnd(op.Offset+int64(len(op.Data))), op.ID)
		}
	case OpTruncate:
		n.pending = append(n.pending, change{size: op.Size})
	case OpSync:
		if len(op.astray) > 0 {
			v.makeDurableAstray(n, op)
		} else {
			n.makeDurable(op.Size)
		}
	case OpSyncFailed:
		if !op.Kept {
			n.losePending()
		}
	case OpMkdir, OpCreate, OpRename, OpRemove:
		n.refs++
		if op.replaced >= 0 {
			v.inodes[op.replaced].refs++
		}
		v.journal = append(v.journal, nameChange{kind: op.Kind, slot: op.slot, replaced: op.replaced, path: op.Path, to: op.To})
	case OpSyncDir:
		v.syncNames(op.Path)
	}
}

// retire gives the references of an operation back and lets the ring go on.
func (v *Volume) retire(op *Op) {
	op.done = true
	if op.replaced >= 0 {
		v.release(op.replaced)
	}
	v.release(op.slot)
	for v.head <= v.tail && v.at(v.head).done {
		v.head++
	}
}

// syncNames makes the journal durable up to its last change in dir; under Posix only the changes in dir and those that they stand on.
func (v *Volume) syncNames(dir string) {
	if v.model.Profile == Posix {
		v.syncNamesAlone(dir)
		return
	}
	last := -1
	for i := len(v.journal) - 1; i >= 0 && last < 0; i-- {
		if v.journal[i].in(dir) {
			last = i
		}
	}
	v.applyNames(last + 1)
	rest := copy(v.journal, v.journal[last+1:])
	clear(v.journal[rest:])
	v.journal = v.journal[:rest]
}

// applyNames brings the first count changes of the journal to the platter. The caller takes them out of the journal.
func (v *Volume) applyNames(count int) {
	for i := range count {
		v.applyName(&v.journal[i])
	}
}

// applyName brings one change of names to the platter and gives its references back.
func (v *Volume) applyName(c *nameChange) {
	switch c.kind {
	case OpMkdir, OpCreate:
		v.durable[c.path] = c.slot
		v.inodes[c.slot].refs++
	case OpRename:
		delete(v.durable, c.path)
		if old, ok := v.durable[c.to]; ok {
			v.release(old)
		}
		v.durable[c.to] = c.slot
	case OpRemove:
		delete(v.durable, c.path)
		v.release(c.slot)
	}
	v.forgetName(c)
}

// forgetName gives the references of a change back.
func (v *Volume) forgetName(c *nameChange) {
	if c.replaced >= 0 {
		v.release(c.replaced)
	}
	v.release(c.slot)
}
