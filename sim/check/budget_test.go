package check

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
		_ = flag.Set("rapid.seed", "20263")
	}
	os.Exit(m.Run())
}

func TestBudgetAllowsAMinority(t *testing.T) {
	for n := 1; n <= 7; n++ {
		var b Budget
		set := []string{}
		for i := range n {
			set = append(set, fmt.Sprint("n", i))
		}
		b.SetVoters(set)
		for i, key := range set {
			refused := b.Allow(key)
			require.Equal(t, i < (n-1)/2, refused == "", "%d voters, damage %d: %s", n, i+1, refused)
			require.Equal(t, i < (n-1)/2, b.Damage(key))
			require.Empty(t, b.Allow(key), "a damaged key may be damaged again")
		}
		b.Repaired(set[0])
		require.False(t, b.Damaged(set[0]))
		require.Equal(t, set[1:], b.Keys())
	}
}

func TestBudgetCountsEachVoterSetInForce(t *testing.T) {
	var b Budget
	require.NotEmpty(t, b.Allow("a"), "no voters yet")
	b.SetVoters([]string{"a", "b", "c"}, []string{"a", "b", "c", "d", "e"})
	require.Empty(t, b.Allow("x"), "not a voter")
	require.True(t, b.Damage("d"))
	require.Empty(t, b.Allow("e"), "two of five, none of three")
	require.Empty(t, b.Allow("a"))
	require.True(t, b.Damage("a"))
	require.Equal(t, "budget: 1 of 3 voters are damaged, b would be one more than the 1 allowed", b.Allow("b"))
	require.Equal(t, "budget: 2 of 5 voters are damaged, e would be one more than the 2 allowed", b.Allow("e"))
	b.SetVoters([]string{"b", "c", "d"})
	require.True(t, b.Within(), "the pending set is committed, a is no voter any more")
	require.NotEmpty(t, b.Allow("b"))
	b.Repaired("d")
	require.Empty(t, b.Allow("b"))
}

func TestUnrestrictedBudgetKeepsTheAccount(t *testing.T) {
	var b Budget
	b.Reset(true)
	b.SetVoters([]string{"a", "b", "c"})
	require.True(t, b.Damage("a"))
	require.Empty(t, b.Allow("b"))
	require.False(t, b.Damage("b"), "beyond the budget")
	b.Reset(false)
	require.Empty(t, b.Keys())
	require.NotEmpty(t, b.Allow("a"))
}

// Who asks before each damage stays within the budget, while the sets of voters stay.
func TestBudgetHoldsForThoseWhoAsk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"})
		var b Budget
		sets := rapid.SliceOfN(rapid.SliceOfNDistinct(keys, 1, 7, rapid.ID), 1, 2).Draw(t, "sets")
		b.SetVoters(sets...)
		for range 20 {
			key := keys.Draw(t, "key")
			if rapid.Bool().Draw(t, "repair") {
				b.Repaired(key)
			} else if b.Allow(key) == "" {
				require.True(t, b.Damage(key))
			}
			for _, set := range sets {
				n := 0
				for _, k := range b.Keys() {
					if slices.Contains(set, k) {
						n++
					}
				}
				require.LessOrEqual(t, n, (len(set)-1)/2)
			}
		}
	})
}
