package vdisk

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBeginLeavesNothing: whatever a slot of the ring held before, a new operation is as one of a fresh slot.
func TestBeginLeavesNothing(t *testing.T) {
	used := Op{ID: 1, Inode: 2, Path: "/a", To: "/b", Offset: 3, Size: 4, Data: []byte{5}, Err: errors.New("6"), Kind: OpWrite, Kept: true,
		done: true, rewrite: true, slot: 7, replaced: 8, oldSize: 9, undo: []byte{}, astray: []Astray{{}}, wide: []byte{10}}
	fresh := Op{undo: []byte{}}
	used.begin(11, OpSync, 12, "/c", 13)
	fresh.begin(11, OpSync, 12, "/c", 13)
	require.Equal(t, fresh, used)
	require.Equal(t, Op{ID: 11, Inode: 12, Path: "/c", Kind: OpSync, slot: 13, replaced: -1, undo: []byte{}}, used)
}
