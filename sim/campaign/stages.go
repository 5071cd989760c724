package campaign

import (
	"context"
	"time"
)

// stage returns what the n-th stage runs, false behind the last one. What was decided before a kill holds; anything new is kept
// before it is run, since the shares depend on measured costs, which no second try would measure alike.
func (c *campaign) stage(n int) (ranges []Range, more bool) {
	if n < len(c.Past.Stages) {
		ranges, more = c.Past.Stages[n], true
	} else if ranges, more = c.decide(n); more {
		if c.Store != nil {
			c.stored(c.Store.Decide(int64(n), ranges))
		}
	}
	for _, r := range ranges {
		if i, ok := c.index[r.Scenario]; ok {
			c.planned[i] = max(c.planned[i], r.end())
		}
	}
	return ranges, more
}

// decide makes the stages of a campaign. With a number of seeds given they are the pilot and the rest, and a pure function of the
// configuration; else a share by cost for the least number of runs, and one for what is left of the time.
func (c *campaign) decide(n int) (ranges []Range, more bool) {
	switch {
	case c.Seeds > 0:
		return c.fixed(n), n < 2
	case n == 0:
		for _, s := range c.scenarios {
			ranges = append(ranges, Range{Scenario: s.Name(), Count: pilotRuns})
		}
		return ranges, true
	case n == 1:
		return c.byCost(c.MinRuns - c.runs()), true
	case n == 2:
		extra := c.fitting(c.Time - c.active())
		if extra < int64(len(c.scenarios)) {
			extra = 0
		}
		return c.byCost(extra), true
	default:
		return nil, false
	}
}

// fixed is the pilot of a campaign with a number of seeds, or the rest of it. A shard has the same part of every scenario.
func (c *campaign) fixed(stage int) (ranges []Range) {
	for i, n := range evenly(c.Seeds, len(c.scenarios)) {
		part := c.Shard.part(n)
		pilot := min(part.Count, pilotRuns)
		if stage == 0 {
			part.Count = pilot
		} else {
			part.At, part.Count = part.At+pilot, part.Count-pilot
		}
		if part.Count > 0 {
			part.Scenario = c.scenarios[i].Name()
			ranges = append(ranges, part)
		}
	}
	return ranges
}

// byCost shares about n more runs, by cost.
func (c *campaign) byCost(n int64) (ranges []Range) {
	if n <= 0 {
		return nil
	}
	costs := make([]int64, len(c.scenarios))
	for i := range costs {
		costs[i] = c.cost(i)
	}
	for i, more := range byCost(n, 0, costs) {
		ranges = append(ranges, Range{Scenario: c.scenarios[i].Name(), At: c.planned[i], Count: more})
	}
	return ranges
}

// fitting is how many runs fit into a time when all scenarios get as much of it.
func (c *campaign) fitting(left time.Duration) int64 {
	each := left.Seconds() * float64(c.Workers) / float64(len(c.scenarios))
	n := 0.0
	for i := range c.scenarios {
		n += each / (time.Duration(c.cost(i)).Seconds())
	}
	return int64(n)
}

// run runs stage after stage.
func (c *campaign) run(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		ranges, more := c.stage(n)
		if !more {
			return nil
		}
		for i, s := range c.scenarios {
			planned := c.planned[i]
			if c.Seeds > 0 {
				planned = c.fixedRuns(i)
			}
			c.Progress.Planned(s.Name(), planned)
		}
		switch n {
		case 0:
			c.Progress.Phase("pilot")
			c.tellDone()
		case 1:
			c.Progress.Phase("runs")
		}
		if err := c.round(ctx, ranges); err != nil {
			return err
		}
	}
	return nil
}

// fixedRuns is how many runs of a scenario a campaign with a number of seeds, or a shard of it, has in all.
func (c *campaign) fixedRuns(i int) int64 {
	return c.Shard.part(evenly(c.Seeds, len(c.scenarios))[i]).Count
}

// tellDone shows the runs from before a kill.
func (c *campaign) tellDone() {
	for i, s := range c.scenarios {
		if t := c.tallies[i]; t.Runs > 0 {
			c.Progress.Ran(s.Name(), t.Runs, t.findings())
		}
	}
}

// round runs what is still open of the ranges.
func (c *campaign) round(ctx context.Context, ranges []Range) error {
	var lanes []lane
	for _, r := range ranges {
		i, ok := c.index[r.Scenario]
		if !ok {
			continue // a stage of a program that had this scenario; remember refuses its results
		}
		for _, gap := range c.done.open(r) {
			if c.deaths[i] >= maxDeaths {
				c.leaveOut(gap)
				continue
			}
			l := lane{scenario: r.Scenario, next: c.First + uint64(gap.At), end: c.First + uint64(gap.end()), batch: pilotRuns / 2}
			if c.tallies[i].Runs > 0 {
				l.batch = batchRuns(c.cost(i))
			}
			lanes = append(lanes, l)
		}
	}
	err := c.pool.each(ctx, interleave(lanes), c.collect)
	c.keepAll()
	return err
}

// leaveOut gives seeds up for good.
func (c *campaign) leaveOut(r Range) {
	if err := c.done.add(r); err == nil { // what is done already needs no giving up
		c.keep(Batch{Range: r})
	}
}

// cost returns the mean wall time of a run of a scenario in nanoseconds.
func (c *campaign) cost(i int) int64 {
	if t := c.tallies[i]; t.Runs > 0 && t.BusyNs > 0 {
		return max(t.BusyNs/t.Runs, 1)
	}
	return 1_000_000
}
