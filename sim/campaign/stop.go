package campaign

import (
	"fmt"
	"time"
)

// Stop ends a campaign before its seeds do. What is zero ends nothing. Batches in progress are given up, so which seeds ran
// depends on the machine; what they come to does not.
type Stop struct {
	Findings int64         // runs with a finding
	Buckets  int64         // fingerprints of findings
	After    time.Duration // of runs
	// Quiet is how many runs in a row may bring no new combination of state, fault and workload. Of scenarios that came to many, the
	// coverage is a sample, and so is what counts as new.
	Quiet int64
	// Fingerprint is of a failure or hazard whose first run ends the campaign.
	Fingerprint string
	_           struct{}
}

// noteNews is told of every tally that is merged, whether it brought something new.
func (c *campaign) noteNews(grew bool) {
	if grew || c.newsAt == 0 {
		c.newsAt = c.runs()
	}
}

// checkRules ends the runs when a rule says so. It is called after every batch.
func (c *campaign) checkRules() {
	if c.stopped != "" || c.Stop == (Stop{}) {
		return
	}
	findings, buckets, shown := int64(0), make(map[string]bool), false
	for _, t := range c.tallies {
		findings += t.findings()
		for fingerprint := range t.Hits {
			shown = shown || fingerprint == c.Stop.Fingerprint
			if !hazardous(fingerprint) {
				buckets[fingerprint] = true
			}
		}
	}
	switch s := &c.Stop; {
	case s.Findings > 0 && findings >= s.Findings:
		c.end(fmt.Sprintf("runs with a finding: %d", findings))
	case s.Buckets > 0 && int64(len(buckets)) >= s.Buckets:
		c.end(fmt.Sprintf("different findings: %d", len(buckets)))
	case s.Fingerprint != "" && shown:
		c.end("a run showed " + s.Fingerprint)
	case s.Quiet > 0 && c.runs()-c.newsAt >= s.Quiet:
		c.end(fmt.Sprintf("no new state in %d runs", c.runs()-c.newsAt))
	case s.After > 0 && c.active() >= s.After:
		c.end(outOfTime(s.After))
	}
}

func outOfTime(after time.Duration) string { return fmt.Sprintf("time: %v", after) }

// end ends the runs for a reason.
func (c *campaign) end(reason string) {
	c.stopped = reason
	c.stopRuns()
}

// stopLater ends the runs when their time is over, also in the middle of a batch. It returns what takes that back.
func (c *campaign) stopLater() (cancel func()) {
	if c.Stop.After <= 0 {
		return func() {}
	}
	timer := time.AfterFunc(max(c.Stop.After-c.active(), 0), c.stopRuns)
	return func() { timer.Stop() }
}
