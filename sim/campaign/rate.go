package campaign

import "math"

// rateConfidence is that of every interval in a summary.
const rateConfidence = 0.95

// Rate is how often something was seen among independent runs, with the interval in which its probability lies at 95 percent: that of
// Clopper and Pearson, which is exact for small counts, too.
type Rate struct {
	Runs  int64   `json:"runs"`
	OutOf int64   `json:"out_of"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// NewRate computes the interval. Of nothing it is everything.
func NewRate(runs, outOf int64) Rate {
	r := Rate{Runs: runs, OutOf: outOf}
	r.Low, r.High = Interval(runs, outOf, rateConfidence)
	return r
}

// Observed is the share that was seen, 0 of nothing.
func (r Rate) Observed() float64 {
	if r.OutOf == 0 {
		return 0
	}
	return float64(r.Runs) / float64(r.OutOf)
}

// Interval returns the limits of Clopper and Pearson for a probability of which k successes in n trials were seen: the least under
// which k or more have at least half of what the confidence leaves, and the greatest under which k or fewer have. Where only one
// limit is open (k is 0 or n), the other has all of what is left: 0 of n is at most about 3/n at 95 percent, the rule of three.
func Interval(k, n int64, confidence float64) (low, high float64) {
	left := (1 - confidence) / 2
	if k == 0 || k == n {
		left = 1 - confidence
	}
	low, high = 0, 1
	if n <= 0 {
		return low, high
	}
	if k > 0 { // P(X >= k) = I_p(k, n-k+1)
		low = solve(func(p float64) bool { return incompleteBeta(float64(k), float64(n-k+1), p) < left })
	}
	if k < n { // P(X <= k) = 1 - I_p(k+1, n-k)
		high = solve(func(p float64) bool { return 1-incompleteBeta(float64(k+1), float64(n-k), p) > left })
	}
	return low, high
}

// solve returns where a property of probabilities that holds below a point ends to hold.
func solve(holds func(p float64) bool) float64 {
	from, to := 0.0, 1.0
	for range 100 { // more halvings than a float64 has bits of mantissa; small probabilities need those of the exponent, too
		middle := (from + to) / 2
		if holds(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return to
}

// incompleteBeta is the regularized incomplete beta function I_x(a, b), by the continued fraction of Lentz on the side on which it
// converges fast.
func incompleteBeta(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return math.Max(0, math.Min(x, 1))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny, terms = 1e-300, 100_000
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	f := d
	for m := 1.0; m < terms; m++ {
		for _, term := range [2]float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			if d = 1 + term*d; math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + term/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			f *= c * d
		}
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return front * f
}

// SeedsToBelieve returns how many runs without the failure it takes until a failure of this probability would have shown itself with
// the confidence: the least n with (1-p)^n <= 1-confidence. 0 stands for a probability that no number of runs is enough for.
func SeedsToBelieve(probability, confidence float64) int64 {
	if probability <= 0 || confidence >= 1 {
		return 0
	}
	if probability >= 1 {
		return 1
	}
	n := math.Ceil(math.Log1p(-confidence) / math.Log1p(-probability))
	if n > 1e15 {
		return 0
	}
	return max(int64(n), 1)
}

// Believed is the confidence that n runs without the failure give, if it had the probability: 1-(1-p)^n.
func Believed(probability float64, n int64) float64 {
	return -math.Expm1(float64(n) * math.Log1p(-probability))
}
