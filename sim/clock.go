package sim

// clock is the pair of clocks of a host. Both run at (1 + drift) of true time; the wall clock has an offset and jumps, the
// monotonic one has neither. A jump moves only the wall clock.
type clock struct {
	driftPpm int64
	wallNs   int64 // wall clock at true time 0, jumps included
}

// wallEpochNs is what a perfect wall clock shows when a run begins: 2024-01-01T00:00:00Z.
const wallEpochNs = 1_704_067_200_000_000_000

const million = 1_000_000

// monotonicNs converts true time to the host's monotonic time.
func (c *clock) monotonicNs(trueNs int64) int64 {
	if c.driftPpm == 0 {
		return trueNs
	}
	return trueNs + trueNs/million*c.driftPpm + trueNs%million*c.driftPpm/million
}

// wall converts true time to the host's wall clock in nanoseconds since 1970.
func (c *clock) wall(trueNs int64) int64 { return c.wallNs + c.monotonicNs(trueNs) }

// trueNs is the first true time at which the monotonic clock shows at least that value: a wake-up is never early.
func (c *clock) trueNs(monotonicNs int64) int64 {
	if c.driftPpm == 0 {
		return monotonicNs
	}
	t := monotonicNs - monotonicNs/(million+c.driftPpm)*c.driftPpm - monotonicNs%(million+c.driftPpm)*c.driftPpm/(million+c.driftPpm)
	for c.monotonicNs(t) < monotonicNs {
		t++
	}
	for t > 0 && c.monotonicNs(t-1) >= monotonicNs {
		t--
	}
	return t
}
