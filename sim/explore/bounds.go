package explore

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Bounds say how far a search goes.
type Bounds struct {
	Depth      int64 `json:"depth"`      // choices between events, from the first one after FromUs
	Deviations int64 `json:"deviations"` // choices that are not the earliest event; negative: any number
	Faults     int64 `json:"faults"`     // kills, lost messages, cuts, losses of power
	// Power has losses of power among the faults: between two events, and between the disk operations of a handler. Each takes all that
	// was not flushed, data and names.
	Power bool `json:"power,omitempty"`
	// WindowUs is how much later than the earliest an event may be due to be a choice; 0: any event that is pending.
	WindowUs int64 `json:"window_us"`
	FromUs   int64 `json:"from_us"` // choices begin at that time
	// QuantumUs is how fine time is in states: of two that are equal in all but timers, and less than this apart, one is run. 0 leaves time
	// out, which suits programs without timers.
	QuantumUs int64 `json:"quantum_us"`
	// Tail lets each run go on in order of time to its end, behind the last choice, so that what takes long shows too.
	Tail bool `json:"tail"`
	// Plain switches the reductions of states and sleep sets off.
	Plain bool `json:"plain"`
}

// anyUs is a window that no run is longer than.
const anyUs = 24 * 3600 * 1_000_000

// apply makes the plan of the search.
func (b *Bounds) apply(p *plan.Plan) *plan.Plan {
	c := p.Clone()
	c.Explicit = true
	window := b.WindowUs
	if window == 0 {
		window = anyUs
	}
	c.Scheduler = plan.Scheduler{Policy: "uniform", WindowUs: window, Faults: b.Faults, Power: b.Power, FromUs: plan.Int64(b.FromUs)}
	return c
}

// String says what a complete search has covered.
func (b *Bounds) String() string {
	s := fmt.Sprintf("all schedules to depth %d with at most %d faults", b.Depth, b.Faults)
	if b.Power {
		s += ", losses of power among them"
	}
	if b.Deviations >= 0 {
		s += fmt.Sprintf(" and at most %d deviations from order of time", b.Deviations)
	}
	if b.WindowUs > 0 {
		s += ", events at most " + plan.FormatDurationUs(b.WindowUs) + " late"
	}
	return s + ", from " + plan.FormatDurationUs(b.FromUs)
}

// sleeps reports whether sleep sets are sound under these bounds.
func (b *Bounds) sleeps() bool { return !b.Plain && b.Deviations < 0 }

func (b *Bounds) reductions() []string {
	list := []string{"local steps first"}
	if !b.Plain {
		list = append(list, "states")
	}
	if b.sleeps() {
		list = append(list, "sleep sets")
	}
	return list
}

// Report is how far a search came.
type Report struct {
	Bounds      Bounds    `json:"bounds"`
	Covered     string    `json:"covered"`
	Complete    bool      `json:"complete"` // everything within the bounds
	Reductions  []string  `json:"reductions"`
	Runs        int64     `json:"runs"`
	States      int64     `json:"states"`      // different ones in which there was a choice
	Transitions int64     `json:"transitions"` // options taken from them
	Deepest     int64     `json:"deepest"`     // choices in one run
	Leaves      int64     `json:"leaves"`      // runs that came to the depth, or to their end before it
	Known       int64     `json:"known"`       // runs that ended in a state that was known
	Asleep      int64     `json:"asleep"`      // runs that ended where every option was another order of what was run
	Findings    []Finding `json:"findings"`
}

// Finding is the first schedule that shows a fingerprint.
type Finding struct {
	Fingerprint string     `json:"fingerprint"`
	Run         int64      `json:"run"` // the how manyth, from 1
	Choices     []string   `json:"choices"`
	Plan        *plan.Plan `json:"plan"` // explicit, with the choices as decisions
}

// Text is the report in a few lines.
func (r *Report) Text() string {
	state := "not complete: "
	if r.Complete {
		state = "complete: "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", state, r.Covered)
	fmt.Fprintf(&b, "%d states, %d transitions, deepest %d; %d runs: %d to the end of the bounds, %d into known states, %d asleep\n",
		r.States, r.Transitions, r.Deepest, r.Runs, r.Leaves, r.Known, r.Asleep)
	fmt.Fprintf(&b, "reductions: %s\n", strings.Join(r.Reductions, ", "))
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "finding %s in run %d, after %d choices:\n  %s\n", f.Fingerprint, f.Run, len(f.Choices), strings.Join(f.Choices, "\n  "))
	}
	return b.String()
}
