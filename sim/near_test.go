package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever is pushed and popped in between, the queue of the world gives what a heap gives, also when it spills and fills again.
func TestNearestGivesWhatTimedGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q nearest
		var h Timed
		i, now := 0, int64(0)
		for range rapid.IntRange(1, 12).Draw(t, "phases") {
			grows, span := rapid.IntRange(1, 9).Draw(t, "pushes of ten"), rapid.Int64Range(1, 1000).Draw(t, "span")
			for range rapid.IntRange(1, 3*mostNear).Draw(t, "steps") {
				if int(uint32(i)*2654435761>>16)%10 < grows {
					at := now + int64(uint32(i)*2246822519>>8)%span
					it := Item{At: at, Tie: uint64(i%3)<<32 | uint64(i), Event: int32(i)}
					q.Push(&it)
					h.Push(it)
				} else {
					want, some := h.Pop()
					first, due := q.First()
					require.Equal(t, some, due)
					if due {
						require.Equal(t, want, *first)
						now = want.At
					}
					got, ok := q.Pop()
					require.Equal(t, some, ok)
					require.Equal(t, want, got)
				}
				i++
				require.Equal(t, h.Len(), q.Len())
			}
		}
		for h.Len() > 0 {
			want, _ := h.Pop()
			got, ok := q.Pop()
			require.True(t, ok)
			require.Equal(t, want, got)
		}
		q.Reset()
		_, ok := q.Pop()
		require.False(t, ok)
	})
}
