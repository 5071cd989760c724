package ordered

import "iter"

// Diff yields what is different in `after`, ascending by key: (old, nil) for an entry that is gone, (nil, new) for one that
// came, (old, new) for one of another hash. Subtrees that both maps share are not read.
func Diff[K Key[K], V any](before, after Map[K, V]) iter.Seq2[*Entry[K, V], *Entry[K, V]] {
	return func(yield func(old, new *Entry[K, V]) bool) {
		if before.root == after.root {
			return
		}
		a, b := newCursor(before), newCursor(after)
		for len(a.stack) > 0 || len(b.stack) > 0 {
			x, y := a.top(), b.top()
			if x == y {
				a.pop()
				b.pop()
				continue
			}
			if x.node != nil || y.node != nil {
				expandTaller(a, b, x.node, y.node)
				continue
			}
			order := 0
			if x.entry != nil && y.entry != nil {
				order = x.entry.Key.Compare(y.entry.Key)
			}
			var goOn bool
			switch {
			case y.entry == nil || order < 0:
				a.pop()
				goOn = yield(x.entry, nil)
			case x.entry == nil || order > 0:
				b.pop()
				goOn = yield(nil, y.entry)
			default:
				a.pop()
				b.pop()
				goOn = x.entry.Hash == y.entry.Hash || yield(x.entry, y.entry)
			}
			if !goOn {
				return
			}
		}
	}
}

// expandTaller goes one level down where the higher subtree is next, on both sides if they are of one height: subtrees of
// one height are the ones that can be shared.
func expandTaller[K Key[K], V any](a, b *cursor[K, V], x, y *node[K, V]) {
	if x != nil && (y == nil || x.height >= y.height) {
		a.expand()
	}
	if y != nil && (x == nil || y.height >= x.height) {
		b.expand()
	}
}

// item is a subtree or an entry that a cursor has not passed; the zero item is the end.
type item[K Key[K], V any] struct {
	node  *node[K, V]
	entry *Entry[K, V]
}

// cursor walks a map as coarsely as it may: its stack holds what is ahead, the next on top.
type cursor[K Key[K], V any] struct {
	stack []item[K, V]
}

func newCursor[K Key[K], V any](m Map[K, V]) *cursor[K, V] {
	c := &cursor[K, V]{}
	if m.root != nil {
		c.stack = append(make([]item[K, V], 0, 2*width), item[K, V]{node: m.root})
	}
	return c
}

func (c *cursor[K, V]) top() item[K, V] {
	if len(c.stack) == 0 {
		return item[K, V]{}
	}
	return c.stack[len(c.stack)-1]
}

func (c *cursor[K, V]) pop() { c.stack = c.stack[:len(c.stack)-1] }

// expand puts the slots of the subtree on top in its place.
func (c *cursor[K, V]) expand() {
	n := c.top().node
	c.pop()
	for slot := n.count - 1; slot >= 0; slot-- {
		if n.children != nil {
			c.stack = append(c.stack, item[K, V]{node: n.children.nodes[slot]})
		} else {
			c.stack = append(c.stack, item[K, V]{entry: n.entries[slot]})
		}
	}
}
