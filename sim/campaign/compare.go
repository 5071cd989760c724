package campaign

import (
	"math"
	"slices"
)

// What may have become of a failure between two campaigns.
const (
	NewFailure     = "new"
	OngoingFailure = "ongoing"
	GoneFailure    = "gone"
)

// Change is what became of one failure.
type Change struct {
	Change string `json:"change"` // new, ongoing, gone
	// Fingerprint is that of a finding, or red/NAME for a condition or hazard that was not met as it should be.
	Fingerprint string `json:"fingerprint"`
	// Before and After count the runs that showed a finding, among those of the scenarios in which either campaign met it.
	Before Rate `json:"before"`
	After  Rate `json:"after"`
	// Chance is how probable it is that one of the two campaigns misses a finding of the rate that the other saw: where it is not
	// small, new and gone mean little. 1 where that cannot be told.
	Chance float64 `json:"chance"`
	Token  string  `json:"token,omitempty"` // a run that showed it: the later campaign's, if there is one
}

// Compared names one of the campaigns.
type Compared struct {
	ID     int64  `json:"id,omitempty"` // in its file of results
	When   string `json:"when,omitempty"`
	Engine string `json:"engine"`
	First  uint64 `json:"first_seed"`
	Runs   int64  `json:"runs"`
}

// Comparison sets two campaigns side by side.
type Comparison struct {
	Before  Compared `json:"before"`
	After   Compared `json:"after"`
	Changes []Change `json:"changes"` // new, then ongoing, then gone; each by fingerprint
}

// Count returns how many failures are new, ongoing, or gone.
func (c *Comparison) Count(change string) (n int64) {
	for i := range c.Changes {
		if c.Changes[i].Change == change {
			n++
		}
	}
	return n
}

// Compare tells what became of the failures of a campaign. IDs and times are the caller's to fill in.
func Compare(before, after *Summary) *Comparison {
	c := &Comparison{Before: compared(before), After: compared(after), Changes: []Change{}}
	old, now := failures(before), failures(after)
	keys := sortedKeys(old)
	for _, key := range sortedKeys(now) {
		if old[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, change := range []string{NewFailure, OngoingFailure, GoneFailure} {
		for _, key := range keys {
			if one := changed(key, old[key], now[key], before, after); one.Change == change {
				c.Changes = append(c.Changes, one)
			}
		}
	}
	return c
}

func compared(s *Summary) Compared { return Compared{Engine: s.Engine, First: s.First, Runs: s.Runs} }

// failure is what fails a campaign: a bucket, or something red, which has none.
type failure struct{ bucket *Bucket }

func failures(s *Summary) map[string]*failure {
	all := make(map[string]*failure)
	for i := range s.Findings {
		all[s.Findings[i].Fingerprint] = &failure{&s.Findings[i]}
	}
	for i := range s.Hazards {
		if h := &s.Hazards[i]; h.Red != "" {
			all["red/hazard/"+h.ID] = &failure{}
		}
	}
	for _, condition := range s.Sometimes {
		if condition.Red != "" {
			all["red/sometimes/"+condition.Name] = &failure{}
		}
	}
	for i := range s.Dosage {
		if d := &s.Dosage[i]; d.Red != "" {
			all["red/crashes-at/"+d.Name] = &failure{}
		}
	}
	return all
}

func changed(key string, old, now *failure, before, after *Summary) Change {
	one := Change{Fingerprint: key, Chance: 1}
	switch {
	case old == nil:
		one.Change = NewFailure
	case now == nil:
		one.Change = GoneFailure
	default:
		one.Change = OngoingFailure
	}
	scenarios := make(map[string]bool)
	for _, f := range []*failure{old, now} {
		if f != nil && f.bucket != nil {
			for _, name := range f.bucket.Scenarios {
				scenarios[name] = true
			}
			one.Token = f.bucket.Example.Token()
		}
	}
	if len(scenarios) == 0 {
		return one
	}
	one.Before, one.After = rateIn(before, old, scenarios), rateIn(after, now, scenarios)
	switch one.Change {
	case NewFailure:
		one.Chance = miss(one.After.Observed(), one.Before.OutOf)
	case GoneFailure:
		one.Chance = miss(one.Before.Observed(), one.After.OutOf)
	}
	return one
}

// miss is the chance that n runs do not show what a run shows with probability p.
func miss(p float64, n int64) float64 {
	if n == 0 {
		return 1
	}
	return math.Exp(float64(n) * math.Log1p(-p))
}

func rateIn(s *Summary, f *failure, scenarios map[string]bool) Rate {
	runs, outOf := int64(0), int64(0)
	if f != nil {
		runs = f.bucket.Runs
	}
	for i := range s.Scenarios {
		if line := &s.Scenarios[i]; scenarios[line.Name] {
			outOf += line.Runs
		}
	}
	return NewRate(runs, outOf)
}
