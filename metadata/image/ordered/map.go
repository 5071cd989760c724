package ordered

// Key is what a map is ordered by. Compare is negative, zero or positive, as cmp.Compare. Prefix is the beginning of the key as a number:
// of two keys with different prefixes, the one with the lower prefix is the lower one. A search compares numbers, and keys only where their
// prefixes are equal.
type Key[K any] interface {
	Compare(other K) int
	Prefix() uint64
}

// Entry is one entry of a map. It is immutable once a map has it, and so is everything that Value leads to. Hash stands
// for key and value: entries of equal hash are taken for equal.
type Entry[K Key[K], V any] struct {
	Key   K
	Value V
	Hash  uint64
}

// Edit marks the nodes that a run of changes may write to in place, because no map that anybody else has contains them.
// Whoever hands a map out drops the Edit that made it. The zero Edit is ready; it may not be copied.
type Edit struct{ _ int64 } // not of size zero: each must have an address of its own

// Map is a persistent ordered map. The zero Map is empty.
type Map[K Key[K], V any] struct {
	root *node[K, V]
}

const (
	width   = 16
	minFill = 6 // a node that shrinks below this is merged with its neighbour if both fit into one
)

// node is a leaf, whose entries are the map's, or an inner node, where entries[i] is the first entry below children[i].
type node[K Key[K], V any] struct {
	entries  [width]*Entry[K, V]
	children *children[K, V] // nil in a leaf
	owner    *Edit
	sum      uint64 // of the hashes below
	size     int32  // entries below
	count    int8   // slots in use
	height   int8   // 0 for a leaf
}

// children is what an inner node has beside a leaf. The prefixes stand here, since an entry is somewhere else in memory; a leaf does
// without, which is copied with each change.
type children[K Key[K], V any] struct {
	nodes    [width]*node[K, V]
	prefixes [width]uint64 // of the keys of entries
}

// Len returns the number of entries.
func (m Map[K, V]) Len() int32 {
	if m.root == nil {
		return 0
	}
	return m.root.size
}

// Digest returns the sum of the hashes of all entries, 0 for the empty map.
func (m Map[K, V]) Digest() uint64 {
	if m.root == nil {
		return 0
	}
	return m.root.sum
}

// Get returns the entry of a key, nil if there is none.
func (m Map[K, V]) Get(key K) *Entry[K, V] {
	n := m.root
	if n == nil {
		return nil
	}
	if n.children != nil {
		prefix := key.Prefix()
		for n.children != nil {
			n = n.children.nodes[n.slotOf(key, prefix)]
		}
	}
	if at, found := n.find(key); found {
		return n.entries[at]
	}
	return nil
}

// Rank returns how many keys are below the given one: the position that it has or would have.
func (m Map[K, V]) Rank(key K) int32 {
	n, rank := m.root, int32(0)
	if n == nil {
		return 0
	}
	prefix := key.Prefix()
	for n.children != nil {
		slot := n.slotOf(key, prefix)
		for _, before := range n.children.nodes[:slot] {
			rank += before.size
		}
		n = n.children.nodes[slot]
	}
	at, _ := n.find(key)
	return rank + int32(at)
}

// find returns where the first key that is not below the given one stands among the slots in use.
func (n *node[K, V]) find(key K) (at int8, found bool) {
	low, high := int8(0), n.count
	for low < high {
		middle := (low + high) / 2
		switch order := n.entries[middle].Key.Compare(key); {
		case order == 0:
			return middle, true
		case order < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// slotOf returns which child of an inner node has the key, or would have it. prefix is the key's.
func (n *node[K, V]) slotOf(key K, prefix uint64) int8 {
	c := n.children
	low, high := int8(0), n.count // the first key that is above the given one is between them
	for low < high {
		middle := (low + high) / 2
		have := c.prefixes[middle&(width-1)]
		if have < prefix || have == prefix && n.entries[middle].Key.Compare(key) <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return max(low-1, 0)
}

// adopt puts a child, which has entries, into a slot of a writable inner node.
func (n *node[K, V]) adopt(slot int8, child *node[K, V]) {
	first := child.entries[0]
	n.children.nodes[slot] = child
	if n.entries[slot] != first {
		n.entries[slot], n.children.prefixes[slot] = first, first.Key.Prefix()
	}
}

// writable returns n if edit made it, else a copy that edit made.
func (n *node[K, V]) writable(edit *Edit) *node[K, V] {
	if edit != nil && n.owner == edit {
		return n
	}
	if n.children == nil {
		c := *n
		c.owner = edit
		return &c
	}
	c := &inner[K, V]{node: *n, below: *n.children}
	c.owner, c.children = edit, &c.below
	return &c.node
}

// inner is an inner node in one piece of memory with its children.
type inner[K Key[K], V any] struct {
	node[K, V]
	below children[K, V]
}

// newInner returns an inner node without children, over nodes of the given height.
func newInner[K Key[K], V any](edit *Edit, height int8) *node[K, V] {
	c := &inner[K, V]{}
	c.owner, c.children, c.height = edit, &c.below, height+1
	return &c.node
}
