package campaign_test

import (
	"math"
	"testing"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// binomial is P(X <= k) for n trials, summed term by term.
func binomial(k, n int64, p float64) (sum float64) {
	ln, _ := math.Lgamma(float64(n + 1))
	for i := range k + 1 {
		li, _ := math.Lgamma(float64(i + 1))
		lr, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(ln - li - lr + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

func TestIntervalsThatBooksHave(t *testing.T) {
	for _, c := range []struct {
		k, n      int64
		low, high float64
	}{
		{4, 20, 0.05733, 0.43661}, {1, 10, 0.00253, 0.44502}, {5, 10, 0.18709, 0.81291},
		{0, 10, 0, 1 - math.Pow(0.05, 0.1)}, {10, 10, math.Pow(0.05, 0.1), 1}, {0, 0, 0, 1},
	} {
		low, high := campaign.Interval(c.k, c.n, 0.95)
		require.InDelta(t, c.low, low, 1e-5, "%d of %d", c.k, c.n)
		require.InDelta(t, c.high, high, 1e-5, "%d of %d", c.k, c.n)
	}
	_, high := campaign.Interval(0, 10_000, 0.95)
	require.InEpsilon(t, 3.0/10_000, high, 0.01, "the rule of three")
}

// The limits are where the binomial tails have what the confidence leaves, and they hold what was observed.
func TestIntervalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(2, 3000).Draw(t, "n")
		k := rapid.Int64Range(1, n-1).Draw(t, "k")
		confidence := rapid.Float64Range(0.5, 0.999).Draw(t, "confidence")
		low, high := campaign.Interval(k, n, confidence)
		left := (1 - confidence) / 2
		require.InDelta(t, left, 1-binomial(k-1, n, low), 1e-7)
		require.InDelta(t, left, binomial(k, n, high), 1e-7)
		require.Less(t, low, float64(k)/float64(n))
		require.Greater(t, high, float64(k)/float64(n))
		wide, wider := campaign.Interval(k, n, confidence+(1-confidence)/2)
		require.Less(t, wide, low)
		require.Greater(t, wider, high)
	})
}

// The number of seeds is the least that is enough, and the confidence that it gives is the one asked for.
func TestSeedsToBelieve(t *testing.T) {
	require.Equal(t, int64(59), campaign.SeedsToBelieve(0.05, 0.95))
	require.Equal(t, int64(2995), campaign.SeedsToBelieve(0.001, 0.95))
	require.Equal(t, int64(1), campaign.SeedsToBelieve(1, 0.95))
	require.Zero(t, campaign.SeedsToBelieve(0, 0.95), "no number is enough")
	require.Zero(t, campaign.SeedsToBelieve(0.5, 1), "no number is enough")
	rapid.Check(t, func(t *rapid.T) {
		p := math.Exp(-rapid.Float64Range(0.001, 16).Draw(t, "exponent"))
		confidence := rapid.Float64Range(0.5, 0.9999).Draw(t, "confidence")
		n := campaign.SeedsToBelieve(p, confidence)
		require.GreaterOrEqual(t, campaign.Believed(p, n), confidence-1e-12)
		if n > 1 {
			require.Less(t, campaign.Believed(p, n-1), confidence+1e-12)
		}
	})
}
