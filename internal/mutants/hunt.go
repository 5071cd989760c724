package mutants

import (
	"context"
	"sync"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Kill is a run that broke an invariant.
type Kill struct {
	Invariant string `json:"invariant"`
	Evidence  string `json:"evidence,omitempty"`
	Detail    string `json:"detail,omitempty"`
	Scenario  string `json:"scenario"`
	Seed      uint64 `json:"seed,string"`
	Runs      int64  `json:"runs"`              // up to and including it, in the order of the hunt
	Capsule   bool   `json:"capsule,omitempty"` // by the mutant's capsule in the corpus, before any hunt
}

// counts reports whether a finding can be a kill: a broken rule or bound, as against a defect or a dead process.
func (r *result) counts() bool {
	switch r.Outcome {
	case plan.Violation, plan.Stuck, plan.Spin:
		return r.Invariants[0] != campaign.ProcessLives
	}
	return false
}

// hunt runs one build over seeds of its scenarios: seed 1 of each, then seed 2 of each, and so on, until an invariant that
// the header names is broken or the limit is reached. Orders are handed out in sequence, and a kill only counts when
// everything before it was run, so the result does not depend on the number of workers.
type hunt struct {
	patch     *Patch
	scenarios []string
	limit     int64    // runs
	without   []string // faults that are taken out of the plans

	mu       sync.Mutex
	next     uint64 // first seed of the next order
	best     *Kill  // by an expected invariant
	other    *Kill  // by another one, before it
	findings int64
	panics   int64
	deaths   int64
	firstBad *Kill // panic or death
	runs     int64
}

// orderSeeds is the size of the order that begins at a seed: small at first, where most kills are.
func orderSeeds(first uint64) int64 { return min(16, max(1, int64(first)/4)) }

// take returns the next order, false when there is none.
func (h *hunt) take() (order, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := int64(len(h.scenarios))
	if left := h.limit/n - int64(h.next) + 1; left > 0 && h.best == nil && h.deaths < maxDeaths {
		o := order{Scenarios: h.scenarios, First: h.next, Count: min(left, orderSeeds(h.next)), Stop: h.patch.Invariants, Without: h.without}
		h.next += uint64(o.Count)
		return o, true
	}
	return order{}, false
}

// maxDeaths ends a hunt whose processes die or hang again and again.
const maxDeaths = 8

// note takes in one result of an order.
func (h *hunt) note(o *order, r *result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs++
	if !r.Outcome.Finding() {
		return
	}
	k := h.kill(o, r)
	if !r.counts() {
		h.panics++
		h.firstBad = earlier(h.firstBad, k)
		return
	}
	h.findings++
	if name := r.brokenAmong(h.patch.Invariants); name != "" {
		k.Invariant = name
		h.best = earlier(h.best, k)
		return
	}
	h.other = earlier(h.other, k)
}

func (h *hunt) kill(o *order, r *result) *Kill {
	scenario, seed := o.at(r.Run)
	k := &Kill{Evidence: r.Evidence, Detail: r.Detail, Scenario: scenario, Seed: seed,
		Runs: (int64(o.First)-1)*int64(len(h.scenarios)) + r.Run + 1}
	if len(r.Invariants) > 0 {
		k.Invariant = r.Invariants[0]
	}
	return k
}

// earlier returns the kill that comes first in the order of the hunt.
func earlier(a, b *Kill) *Kill {
	if a == nil || b.Runs < a.Runs {
		return b
	}
	return a
}

// run hunts with that many processes.
func (h *hunt) run(ctx context.Context, binary string, workers int) error {
	h.next = max(h.next, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			c := child{binary: binary}
			defer c.stop()
			for {
				o, ok := h.take()
				if !ok {
					return
				}
				err := c.serve(ctx, o, func(r *result) { h.note(&o, r) }, func(run int64, how string) {
					h.mu.Lock()
					defer h.mu.Unlock()
					h.deaths++
					h.firstBad = earlier(h.firstBad, h.kill(&o, &result{Run: run, Detail: "the process " + how}))
				})
				if err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if h.other != nil && h.best != nil && h.other.Runs > h.best.Runs {
		h.other = nil
	}
	return context.Cause(ctx)
}
