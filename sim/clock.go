package sim

// clock is the pair of clocks of a host. Both run at (1 + drift) of true time; the wall clock has an offset and jumps, the
// monotonic one has neither. A jump moves only the wall clock.
type clock struct {
	driftPpm int64
	wallNs   int64 // wall clock at true time 0, jumps included
}

const (
	// wallEpochNs is what a perfect wall clock shows when a run begins: 2024-01-01T00:00:00Z.
	wallEpochNs = 1_704_067_200_000_000_000
	million     = 1_000_000
	// maxDriftPpm bounds how wrong a clock may run; within it every conversion below foreverNs stays within 64 bits.
	maxDriftPpm = 500_000
	// foreverNs is 36 years: a deadline beyond it is none.
	foreverNs = 1 << 60
)

// monotonicNs converts true time to the host's monotonic time.
func (c *clock) monotonicNs(trueNs int64) int64 {
	if c.driftPpm == 0 {
		return trueNs
	}
	return trueNs + trueNs/million*c.driftPpm + trueNs%million*c.driftPpm/million
}

// wall converts true time to the host's wall clock in nanoseconds since 1970.
func (c *clock) wall(trueNs int64) int64 { return c.wallNs + c.monotonicNs(trueNs) }

// trueNs is the first true time at which the monotonic clock shows at least that value: a wake-up is never early. The
// value lies between 0 and foreverNs.
func (c *clock) trueNs(monotonicNs int64) int64 {
	if c.driftPpm == 0 {
		return monotonicNs
	}
	return c.drifted(monotonicNs)
}

// drifted is trueNs for a clock that drifts.
func (c *clock) drifted(monotonicNs int64) int64 {
	rate := million + c.driftPpm
	t := monotonicNs - monotonicNs/rate*c.driftPpm - monotonicNs%rate*c.driftPpm/rate
	for c.monotonicNs(t) < monotonicNs { // at most a few steps: the estimate is off by rounding only
		t++
	}
	for t > 0 && c.monotonicNs(t-1) >= monotonicNs {
		t--
	}
	return t
}
