package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Range is Count seeds of a scenario, from the one that is At behind the campaign's first. Counted from there, seeds that wrap
// around are no case of their own.
type Range struct {
	Scenario string `json:"scenario"`
	At       int64  `json:"at"`
	Count    int64  `json:"count"`
}

func (r Range) end() int64 { return r.At + r.Count }

// Batch is a range that is done with.
type Batch struct {
	Range
	// Tally is what the runs came to; nil where they were left out, since the scenario ended too many worker processes.
	Tally *Tally
	Died  bool   // its run took the process along, twice
	Note  string // about a worker that died for reasons outside of the runs
}

// Store keeps what a campaign has decided and done, so that it can go on after a kill. Calls come one at a time. What it has
// returned from must still be there when the process is killed the moment after, all of a call or nothing.
type Store interface {
	// Decide keeps what a stage is to run. It comes before the first run of the stage.
	Decide(stage int64, ranges []Range) error
	// Done keeps batches, and for how long the campaign has been running in all.
	Done(batches []Batch, active time.Duration) error
	// End keeps what the campaign came to: it is done, stopped by a rule, or interrupted.
	End(s *Summary) error
}

// Past is what a store has of a campaign that goes on: its totals are then those of one that ran through.
type Past struct {
	Stages  [][]Range // as decided, in order
	Batches []Batch
	Active  time.Duration // for how long it has been running
	Notes   []string      // further ones for the summary
}

// covered is what is done of each scenario: ranges in order, which do not overlap.
type covered map[string][]Range

// add takes ranges in any order. Seeds that are there already are an error: they would be counted twice.
func (c covered) add(r Range) error {
	list := c[r.Scenario]
	at, _ := slices.BinarySearchFunc(list, r, func(a, b Range) int { return cmp.Compare(a.At, b.At) })
	if r.Count <= 0 || r.At < 0 || at > 0 && list[at-1].end() > r.At || at < len(list) && list[at].At < r.end() {
		return fmt.Errorf("campaign: seeds %d to %d of %s, counted from the first, are there twice", r.At, r.end()-1, r.Scenario)
	}
	c[r.Scenario] = slices.Insert(list, at, r)
	return nil
}

// open returns the parts of a range that are not covered, in order.
func (c covered) open(r Range) (gaps []Range) {
	at := r.At
	for _, done := range c[r.Scenario] {
		if done.end() <= at {
			continue
		}
		if done.At >= r.end() {
			break
		}
		if done.At > at {
			gaps = append(gaps, Range{Scenario: r.Scenario, At: at, Count: done.At - at})
		}
		at = done.end()
	}
	if at < r.end() {
		gaps = append(gaps, Range{Scenario: r.Scenario, At: at, Count: r.end() - at})
	}
	return gaps
}

// keepPeriod is how often results go to the store: what a kill costs at most is run again, and a slow disk is not asked more often.
const keepPeriod = 200 * time.Millisecond

// keep hands a batch to the store, together with others. A store that fails ends nothing: the runs go on without it, the summary
// says so, and what the store has is the beginning of the campaign.
func (c *campaign) keep(b Batch) {
	if c.Store == nil {
		return
	}
	c.unkept = append(c.unkept, b)
	if time.Since(c.keptAt) >= keepPeriod {
		c.keepAll()
	}
}

func (c *campaign) keepAll() {
	if c.Store == nil || len(c.unkept) == 0 {
		return
	}
	c.stored(c.Store.Done(c.unkept, c.active()))
	c.unkept, c.keptAt = c.unkept[:0], time.Now()
}

// stored looks at what the store said.
func (c *campaign) stored(err error) {
	if err == nil {
		return
	}
	c.Log("results not written, and no further ones will be", "error", err)
	c.unwritten = append(c.unwritten, "results: "+err.Error())
	c.Store = nil
}

// active is for how long the campaign has been running, with the time before it was resumed.
func (c *campaign) active() time.Duration { return c.Past.Active + time.Since(c.start) }

// remember takes what was done before.
func (c *campaign) remember() error {
	for i := range c.Past.Batches {
		b := &c.Past.Batches[i]
		at, ok := c.index[b.Scenario]
		if !ok {
			return fmt.Errorf("campaign: the results have %s, which this program has not or this campaign does not ask for", b.Scenario)
		}
		if err := c.done.add(b.Range); err != nil {
			return err
		}
		if b.Tally != nil {
			if b.Tally.Runs != b.Count || b.Tally.Scenario != b.Scenario {
				return fmt.Errorf("campaign: the results of %s have a tally of %d runs for %d seeds", b.Scenario, b.Tally.Runs, b.Count)
			}
			c.tallies[at].merge(b.Tally)
		}
		if b.Died {
			c.deaths[at]++
		}
		if b.Note != "" {
			c.notes = append(c.notes, b.Note)
		}
	}
	c.notes = append(c.notes, c.Past.Notes...)
	return nil
}
