package ordered

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20261130")
	}
	os.Exit(m.Run())
}

type number int32

func (n number) Compare(other number) int { return int(n) - int(other) }

// Prefix has four keys in common, and one more bit that says below or above 0.
func (n number) Prefix() uint64 { return uint64(uint32(n)^1<<31) >> 2 }

func entry(key, value int32) *Entry[number, int32] {
	h := uint64(uint32(key))<<32 + uint64(uint32(value)) + 1
	h *= 0xd6e8feb86659fd93
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	return &Entry[number, int32]{Key: number(key), Value: value, Hash: h ^ h>>29}
}

type model map[int32]int32

func (m model) keys() []int32 {
	keys := make([]int32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// requireTree checks every rule of the shape, and that the tree holds what the model does.
func requireTree(t require.TestingT, want model, m Map[number, int32]) {
	keys := want.keys()
	require.Equal(t, int32(len(keys)), m.Len())
	at := 0
	for e := range m.All() {
		require.Less(t, at, len(keys))
		require.Equal(t, keys[at], int32(e.Key))
		require.Equal(t, want[keys[at]], e.Value)
		at++
	}
	require.Equal(t, len(keys), at)
	if m.root == nil {
		require.Empty(t, keys)
		return
	}
	requireNode(t, m.root)
	require.True(t, m.root.children == nil || m.root.count > 1, "a root with one child")
}

func requireNode(t require.TestingT, n *node[number, int32]) {
	require.Positive(t, n.count)
	var size int32
	var sum uint64
	for slot := range n.entries {
		if slot >= int(n.count) {
			require.Nil(t, n.entries[slot], "a dead slot keeps memory alive")
			require.True(t, n.children == nil || n.children.nodes[slot] == nil && n.children.prefixes[slot] == 0)
			continue
		}
		if n.children == nil {
			size, sum = size+1, sum+n.entries[slot].Hash
			continue
		}
		child := n.children.nodes[slot]
		require.Equal(t, n.entries[slot].Key.Prefix(), n.children.prefixes[slot])
		require.Equal(t, n.height-1, child.height)
		require.Same(t, child.entries[0], n.entries[slot])
		requireNode(t, child)
		size, sum = size+child.size, sum+child.sum
	}
	require.Equal(t, n.children == nil, n.height == 0)
	require.Equal(t, size, n.size)
	require.Equal(t, sum, n.sum)
}

type version struct {
	model model
	m     Map[number, int32]
}

// Every version keeps its content whatever is made of it, with edits and without; lookups, ranks and ranges agree with a
// sorted list; and Diff of any two versions is the difference of their models.
func TestMapAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Int32Range(4, 600).Draw(t, "span")
		versions := []version{{model: model{}}}
		rounds := rapid.IntRange(1, 6).Draw(t, "rounds")
		for range rounds {
			from := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "from")]
			next := version{model: model{}, m: from.m}
			for _, k := range from.model.keys() {
				next.model[k] = from.model[k]
			}
			var edit *Edit
			if rapid.Bool().Draw(t, "edit") {
				edit = new(Edit)
			}
			mutate(t, &next, edit, span)
			versions = append(versions, next)
		}
		for i := range versions {
			requireTree(t, versions[i].model, versions[i].m)
			for k := rapid.Int32Range(-1, span).Draw(t, "start"); k <= span; k += 1 + span/7 {
				requireQueries(t, &versions[i], k)
			}
			for j := range versions {
				requireDiff(t, &versions[i], &versions[j])
			}
		}
	})
}

func mutate(t *rapid.T, v *version, edit *Edit, span int32) {
	steps := rapid.IntRange(0, 300).Draw(t, "steps")
	remove := rapid.IntRange(0, 9).Draw(t, "remove") // of ten
	stride := rapid.Int32Range(1, 7).Draw(t, "stride")
	k := rapid.Int32Range(0, span-1).Draw(t, "first")
	for s := range steps {
		k = (k + stride) % span
		value := int32(s % 3)
		before, had := v.model[k]
		var old *Entry[number, int32]
		if (s*7)%10 < remove {
			v.m, old = v.m.Remove(edit, number(k))
			delete(v.model, k)
		} else {
			v.m, old = v.m.Set(edit, entry(k, value))
			v.model[k] = value
		}
		require.Equal(t, had, old != nil)
		if had {
			require.Equal(t, before, old.Value)
		}
	}
}

func requireQueries(t *rapid.T, v *version, k int32) {
	keys := v.model.keys()
	rank, found := slices.BinarySearch(keys, k)
	require.Equal(t, int32(rank), v.m.Rank(number(k)))
	e := v.m.Get(number(k))
	require.Equal(t, found, e != nil)
	at := rank
	for e := range v.m.From(number(k)) {
		require.Equal(t, keys[at], int32(e.Key))
		if at++; at == rank+20 {
			return
		}
	}
	require.Equal(t, len(keys), at)
}

func requireDiff(t *rapid.T, a, b *version) {
	want := map[int32][2]int32{} // value before and after, -1 for none
	for _, k := range a.model.keys() {
		want[k] = [2]int32{a.model[k], -1}
	}
	for _, k := range b.model.keys() {
		pair, ok := want[k]
		if !ok {
			pair[0] = -1
		}
		want[k] = [2]int32{pair[0], b.model[k]}
		if pair[0] == b.model[k] {
			delete(want, k)
		}
	}
	last := int32(-1)
	for old, now := range Diff(a.m, b.m) {
		pair := [2]int32{-1, -1}
		k := int32(0)
		if old != nil {
			k, pair[0] = int32(old.Key), old.Value
		}
		if now != nil {
			k, pair[1] = int32(now.Key), now.Value
		}
		require.Greater(t, k, last)
		last = k
		require.Equal(t, want[k], pair, "key %d", k)
		delete(want, k)
	}
	require.Empty(t, want)
	require.Equal(t, a.m.Digest() == b.m.Digest(), fmt.Sprint(a.model) == fmt.Sprint(b.model))
}

func fill(n int32) Map[number, int32] {
	var m Map[number, int32]
	edit := new(Edit)
	for k := range n {
		m, _ = m.Set(edit, entry(int32(uint32(k)*2654435761%uint32(n)), 0)) // no order, some twice
	}
	return m
}

// What two maps share is not read: a difference of one in a hundred thousand looks at a few nodes.
func TestDiffReadsWhatDiffers(t *testing.T) {
	m := fill(100_000)
	next, _ := m.Set(nil, entry(50_000, 1))
	next, _ = next.Remove(nil, 7)
	allocations := testing.AllocsPerRun(10, func() {
		count := 0
		for range Diff(m, next) {
			count++
		}
		require.Equal(t, 2, count)
	})
	require.Less(t, allocations, 20.0)
}

// The same entry again changes nothing, not even a node.
func TestSetOfTheSame(t *testing.T) {
	m := fill(1000)
	next, old := m.Set(nil, entry(500, 0))
	require.NotNil(t, old)
	require.Same(t, m.root, next.root)
	next, old = m.Remove(nil, 5000)
	require.Nil(t, old)
	require.Same(t, m.root, next.root)
	for range (Map[number, int32]{}).From(1) {
		t.Fatal("an entry in the empty map")
	}
}

// Loops may end early.
func TestEarlyEnd(t *testing.T) {
	m, count := fill(1000), 0
	for range m.All() {
		if count++; count == 3 {
			break
		}
	}
	for range m.From(900) {
		if count++; count == 6 {
			break
		}
	}
	for range m.From(3) {
		if count++; count == 900 {
			break
		}
	}
	for range Diff(m, Map[number, int32]{}) {
		if count++; count == 903 {
			break
		}
	}
	require.Equal(t, 903, count)
}

func BenchmarkSet(b *testing.B) {
	for _, n := range []int32{10, 1000, 1_000_000} {
		m := fill(n)
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			next, k := m, uint32(0)
			for i := 0; i < b.N; i++ {
				k = (k*1664525 + 1013904223)
				next, _ = next.Set(nil, entry(int32(k%uint32(n)), int32(i)))
			}
		})
	}
}
