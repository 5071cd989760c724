package ordered

// Remove returns the map without key, and the entry that it had, nil if there was none. edit may be nil.
func (m Map[K, V]) Remove(edit *Edit, key K) (next Map[K, V], old *Entry[K, V]) {
	if m.root == nil {
		return m, nil
	}
	root, old := m.root.remove(edit, key, key.Prefix())
	if old == nil {
		return m, nil
	}
	for root.children != nil && root.count == 1 {
		root = root.children.nodes[0]
	}
	if root.count == 0 {
		return Map[K, V]{}, old
	}
	return Map[K, V]{root}, old
}

func (n *node[K, V]) remove(edit *Edit, key K, prefix uint64) (c *node[K, V], old *Entry[K, V]) {
	if n.children == nil {
		at, found := n.find(key)
		if !found {
			return n, nil
		}
		old = n.entries[at]
		c = n.writable(edit)
		c.size--
		c.sum -= old.Hash
		c.close(at)
		return c, old
	}
	slot := n.slotOf(key, prefix)
	child, old := n.children.nodes[slot].remove(edit, key, prefix)
	if old == nil {
		return n, nil
	}
	c = n.writable(edit)
	c.size--
	c.sum -= old.Hash
	if child.count == 0 {
		c.close(slot)
		return c, old
	}
	c.adopt(slot, child)
	if child.count < minFill {
		c.merge(edit, slot)
	}
	return c, old
}

// close takes slot at out of a writable node; size and sum are the caller's.
func (n *node[K, V]) close(at int8) {
	copy(n.entries[at:], n.entries[at+1:n.count])
	n.entries[n.count-1] = nil
	if n.children != nil {
		copy(n.children.nodes[at:], n.children.nodes[at+1:n.count])
		copy(n.children.prefixes[at:], n.children.prefixes[at+1:n.count])
		n.children.nodes[n.count-1], n.children.prefixes[n.count-1] = nil, 0
	}
	n.count--
}

// merge makes one child of the one in slot and a neighbour, if one has room for both. So of two neighbours at least one
// is half full; nothing is moved between them otherwise.
func (n *node[K, V]) merge(edit *Edit, slot int8) {
	for _, at := range [2]int8{slot - 1, slot} {
		if at < 0 || at+1 >= n.count || n.children.nodes[at].count+n.children.nodes[at+1].count > width {
			continue
		}
		left, right := n.children.nodes[at].writable(edit), n.children.nodes[at+1]
		for i := range right.count {
			var child *node[K, V]
			if right.children != nil {
				child = right.children.nodes[i]
			}
			left.insert(left.count, right.entries[i], child)
		}
		n.children.nodes[at] = left
		n.close(at + 1)
		return
	}
}
