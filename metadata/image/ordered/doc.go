// Package ordered is a persistent ordered map: a change makes a new map that shares with the old one everything but the
// path to the changed entry.
//
// The problem: a controller keeps the metadata of many offsets at once, so that it can go back; a loader hands an image to
// publishers who keep it while the next one is made. A copy for each would cost the size of the cluster, a shared mutable
// map would change under its readers.
//
//	var m ordered.Map[name, int32]
//	next, _ := m.Set(nil, &ordered.Entry[name, int32]{Key: "a", Value: 1, Hash: 7})
//	m.Len()          // 0: m is what it was
//	next.Get("a")    // the entry
//
// Guarantees. A Map is a value of one word; the zero Map is empty; no map that was handed out ever changes. Iteration is in
// the order of the keys. Get, Set, Remove and Rank cost O(log n), Diff costs what differs (plus the paths to it), and
// [Map.Digest], the sum of the entries' hashes, costs O(1) and does not depend on the order of the insertions. Nothing here
// draws a random number or hashes a pointer, so cost and shape are the same in each run.
//
// Many changes in a row may share an [Edit]: nodes made under it are changed in place and not copied again, until the Edit
// is dropped. That is the whole of what is mutable here.
//
// The shape is a B+ tree of width 16 whose slots point to immutable entries: a map of up to 16 entries is one node, a
// million entries are five levels, and a changed entry costs a leaf of 160 bytes and an inner node of 416 for each level above. An
// inner node has the prefixes of its keys as numbers ([Key]), so that a search reads entries in the leaf, and elsewhere only where
// prefixes are equal.
//
// Refused: copy-on-write trees such as github.com/google/btree, whose Clone writes into the original, which other lanes may
// be cloning, keeps a free list under a mutex, and can neither count a range, nor add up hashes, nor tell what differs between
// two maps without reading both; tree maps of one entry a node (treaps, AVL trees), which copy and allocate twenty nodes where
// this one copies five; hash tries, which have no order.
package ordered
