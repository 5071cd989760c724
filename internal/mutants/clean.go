package mutants

import (
	"context"
	"maps"
	"slices"
)

// Clean is what the clean build did in one scenario.
type Clean struct {
	Scenario string `json:"scenario"`
	Seeds    int64  `json:"seeds"`
	Findings int64  `json:"findings"`
	First    *Kill  `json:"first,omitempty"`
}

// control runs the clean build over seeds 1 to seeds[scenario] and adds to what it did before.
type control struct {
	binary  string
	workers int
	done    map[string]*Clean
}

func (c *control) extend(ctx context.Context, seeds map[string]int64) error {
	for _, scenario := range slices.Sorted(maps.Keys(seeds)) {
		have := c.done[scenario]
		if have == nil {
			have = &Clean{Scenario: scenario}
			c.done[scenario] = have
		}
		if have.Seeds >= seeds[scenario] {
			continue
		}
		// A hunt for nothing: no invariant ends it, everything it meets is a finding.
		h := &hunt{patch: &Patch{}, scenarios: []string{scenario}, limit: seeds[scenario], next: uint64(have.Seeds) + 1}
		if err := h.run(ctx, c.binary, c.workers); err != nil {
			return err
		}
		have.Seeds = seeds[scenario]
		have.Findings += h.findings + h.panics + h.deaths
		for _, k := range []*Kill{have.First, h.other, h.firstBad} {
			if k != nil {
				have.First = earlier(have.First, k)
			}
		}
	}
	return nil
}

// table returns what was done, ascending by scenario.
func (c *control) table() []*Clean {
	var list []*Clean
	for _, scenario := range slices.Sorted(maps.Keys(c.done)) {
		list = append(list, c.done[scenario])
	}
	return list
}

func (c *control) green() bool {
	for _, r := range c.done {
		if r.Findings > 0 {
			return false
		}
	}
	return true
}
