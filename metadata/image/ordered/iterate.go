package ordered

import "iter"

// All yields every entry in ascending order.
func (m Map[K, V]) All() iter.Seq[*Entry[K, V]] {
	return func(yield func(*Entry[K, V]) bool) {
		if m.root != nil {
			m.root.walk(yield)
		}
	}
}

// From yields the entries whose key is not below the given one, in ascending order.
func (m Map[K, V]) From(key K) iter.Seq[*Entry[K, V]] {
	return func(yield func(*Entry[K, V]) bool) {
		if m.root != nil {
			m.root.walkFrom(key, key.Prefix(), yield)
		}
	}
}

func (n *node[K, V]) walk(yield func(*Entry[K, V]) bool) bool {
	for slot := range n.count {
		if n.children != nil {
			if !n.children.nodes[slot].walk(yield) {
				return false
			}
		} else if !yield(n.entries[slot]) {
			return false
		}
	}
	return true
}

func (n *node[K, V]) walkFrom(key K, prefix uint64, yield func(*Entry[K, V]) bool) bool {
	if n.children == nil {
		at, _ := n.find(key)
		for ; at < n.count; at++ {
			if !yield(n.entries[at]) {
				return false
			}
		}
		return true
	}
	slot := n.slotOf(key, prefix)
	if !n.children.nodes[slot].walkFrom(key, prefix, yield) {
		return false
	}
	for slot++; slot < n.count; slot++ {
		if !n.children.nodes[slot].walk(yield) {
			return false
		}
	}
	return true
}
