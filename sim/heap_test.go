package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever is pushed and popped in between, Timed gives the first of what is pending.
func TestTimedGivesTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Timed
		var pending []Item
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "push") > 0 || len(pending) == 0 {
				it := Item{At: rapid.Int64Range(0, 9).Draw(t, "at"), Tie: uint64(rapid.Uint32Range(0, 3).Draw(t, "priority"))<<32 | uint64(i), Event: int32(i)}
				h.Push(it)
				pending = append(pending, it)
				continue
			}
			first := slices.MinFunc(pending, func(a, b Item) int { return less(&b, &a) - less(&a, &b) })
			got, ok := h.Pop()
			require.True(t, ok)
			require.Equal(t, first, got)
			pending = slices.DeleteFunc(pending, func(it Item) bool { return it == got })
			require.Equal(t, len(pending), h.Len())
		}
		h.Reset()
		_, ok := h.Pop()
		require.False(t, ok)
	})
}
