package ordered

// Set returns the map with e in it, and the entry that e takes the place of, nil if there was none. When that one has the
// same hash, nothing changes and it is returned too. edit may be nil.
func (m Map[K, V]) Set(edit *Edit, e *Entry[K, V]) (next Map[K, V], old *Entry[K, V]) {
	if m.root == nil {
		leaf := &node[K, V]{owner: edit}
		leaf.insert(0, e, nil)
		return Map[K, V]{leaf}, nil
	}
	left, right, old := m.root.set(edit, e, e.Key.Prefix())
	if right == nil {
		return Map[K, V]{left}, old
	}
	root := newInner[K, V](edit, left.height)
	root.insert(0, left.entries[0], left)
	root.insert(1, right.entries[0], right)
	return Map[K, V]{root}, old
}

// set returns what takes the place of n: one node, or two when n was full.
func (n *node[K, V]) set(edit *Edit, e *Entry[K, V], prefix uint64) (left, right *node[K, V], old *Entry[K, V]) {
	if n.children == nil {
		return n.setLeaf(edit, e)
	}
	slot := n.slotOf(e.Key, prefix)
	child := n.children.nodes[slot]
	beforeSize, beforeSum := child.size, child.sum
	l, r, old := child.set(edit, e, prefix)
	if l == child && r == nil && (old != nil && old.Hash == e.Hash) {
		return n, nil, old
	}
	left = n.writable(edit)
	left.adopt(slot, l)
	left.size += l.size - beforeSize
	left.sum += l.sum - beforeSum
	if r == nil {
		return left, nil, old
	}
	right = left.insertOrSplit(edit, slot+1, r.entries[0], r)
	return left, right, old
}

func (n *node[K, V]) setLeaf(edit *Edit, e *Entry[K, V]) (left, right *node[K, V], old *Entry[K, V]) {
	at, found := n.find(e.Key)
	if !found {
		left = n.writable(edit)
		return left, left.insertOrSplit(edit, at, e, nil), nil
	}
	old = n.entries[at]
	if old.Hash == e.Hash {
		return n, nil, old
	}
	left = n.writable(edit)
	left.entries[at] = e
	left.sum += e.Hash - old.Hash
	return left, nil, old
}

// insertOrSplit puts a slot into n, which is writable. When n is full its upper half becomes a node of its own, which is
// returned; what comes in ascending order leaves full nodes behind.
func (n *node[K, V]) insertOrSplit(edit *Edit, at int8, e *Entry[K, V], child *node[K, V]) (right *node[K, V]) {
	if n.count < width {
		n.insert(at, e, child)
		return nil
	}
	if n.children != nil {
		right = newInner[K, V](edit, n.height-1)
	} else {
		right = &node[K, V]{owner: edit}
	}
	from := int8(width / 2)
	if at == width {
		from = width
	}
	n.moveTail(from, right)
	if at > from || from == width {
		right.insert(at-from, e, child)
	} else {
		n.insert(at, e, child)
	}
	return right
}

// insert opens slot at in a writable node that has room. child is nil in a leaf.
func (n *node[K, V]) insert(at int8, e *Entry[K, V], child *node[K, V]) {
	copy(n.entries[at+1:n.count+1], n.entries[at:n.count])
	n.entries[at] = e
	if child == nil {
		n.size++
		n.sum += e.Hash
	} else {
		c := n.children
		copy(c.nodes[at+1:n.count+1], c.nodes[at:n.count])
		copy(c.prefixes[at+1:n.count+1], c.prefixes[at:n.count])
		c.nodes[at], c.prefixes[at] = child, e.Key.Prefix()
		n.size += child.size
		n.sum += child.sum
	}
	n.count++
}

// moveTail moves the slots from `from` on to the end of another writable node.
func (n *node[K, V]) moveTail(from int8, to *node[K, V]) {
	for slot := from; slot < n.count; slot++ {
		var child *node[K, V]
		if n.children != nil {
			child = n.children.nodes[slot]
			n.children.nodes[slot], n.children.prefixes[slot] = nil, 0
			n.size -= child.size
			n.sum -= child.sum
		} else {
			n.size--
			n.sum -= n.entries[slot].Hash
		}
		to.insert(to.count, n.entries[slot], child)
		n.entries[slot] = nil
	}
	n.count = from
}
