package ordered

// Key is what a map is ordered by. Compare is negative, zero or positive, as cmp.Compare.
type Key[K any] interface {
	Compare(other K) int
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
	children *[width]*node[K, V] // nil in a leaf
	owner    *Edit
	sum      uint64 // of the hashes below
	size     int32  // entries below
	count    int8   // slots in use
	height   int8   // 0 for a leaf
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
	for n.children != nil {
		n = n.children[n.slotOf(key)]
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
	for n.children != nil {
		slot := n.slotOf(key)
		for _, before := range n.children[:slot] {
			rank += before.size
		}
		n = n.children[slot]
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

// slotOf returns which child of an inner node has the key, or would have it.
func (n *node[K, V]) slotOf(key K) int8 {
	at, found := n.find(key)
	if found || at == 0 {
		return at
	}
	return at - 1
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
	c := &inner[K, V]{node: *n, slots: *n.children}
	c.owner, c.children = edit, &c.slots
	return &c.node
}

// inner is an inner node in one piece of memory with its children.
type inner[K Key[K], V any] struct {
	node[K, V]
	slots [width]*node[K, V]
}
