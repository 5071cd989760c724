package ordered

// Remove returns the map without key, and the entry that it had, nil if there was none. edit may be nil.
func (m Map[K, V]) Remove(edit *Edit, key K) (next Map[K, V], old *Entry[K, V]) {
	if m.root == nil {
		return m, nil
	}
	root, old := m.root.remove(edit, key)
	if old == nil {
		return m, nil
	}
	for root.children != nil && root.count == 1 {
		root = root.children[0]
	}
	if root.count == 0 {
		return Map[K, V]{}, old
	}
	return Map[K, V]{root}, old
}

func (n *node[K, V]) remove(edit *Edit, key K) (c *node[K, V], old *Entry[K, V]) {
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
	slot := n.slotOf(key)
	child, old := n.children[slot].remove(edit, key)
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
	c.children[slot], c.entries[slot] = child, child.entries[0]
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
		copy(n.children[at:], n.children[at+1:n.count])
		n.children[n.count-1] = nil
	}
	n.count--
}

// merge makes one child of the one in slot and a neighbour, if one has room for both. So of two neighbours at least one
// is half full; nothing is moved between them otherwise.
func (n *node[K, V]) merge(edit *Edit, slot int8) {
	for _, at := range [2]int8{slot - 1, slot} {
		if at < 0 || at+1 >= n.count || n.children[at].count+n.children[at+1].count > width {
			continue
		}
		left, right := n.children[at].writable(edit), n.children[at+1]
		for i := range right.count {
			var child *node[K, V]
			if right.children != nil {
				child = right.children[i]
			}
			left.insert(left.count, right.entries[i], child)
		}
		n.children[at] = left
		n.close(at + 1)
		return
	}
}
