package campaign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// keepSmall is how many small examples of a fingerprint a tally keeps: the shortest shrunk plan seldom comes from the first.
const keepSmall = 3

// Example is a run that showed a fingerprint.
type Example struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	Actions  int64  `json:"actions"`
	Events   int64  `json:"events"`
	Detail   string `json:"detail,omitempty"`
	// Tail is what the process wrote to standard error before it died; "" when it lives.
	Tail string `json:"tail,omitempty"`
	// Verdict is set where the run cannot be repeated inside a process: it hung, died, or ate all memory.
	Verdict *plan.Verdict `json:"verdict,omitempty"`
}

// Token names the run: scenario:seed.
func (e *Example) Token() string { return fmt.Sprintf("%s:%d", e.Scenario, e.Seed) }

// Hit counts the runs that showed a fingerprint.
type Hit struct {
	Runs  int64     `json:"runs"`
	First Example   `json:"first"` // the lowest seed
	Small []Example `json:"small"` // the fewest actions, then events, then seed
}

// Tally sums runs of one scenario. Merging tallies of disjoint seeds gives the same result in any order.
type Tally struct {
	Scenario string `json:"scenario"`
	Runs     int64  `json:"runs"`
	BusyNs   int64  `json:"busy_ns"` // wall time inside the workers: the only thing here that differs from run to run

	Outcomes  map[plan.Outcome]int64 `json:"outcomes"`
	Stats     map[string]int64       `json:"stats,omitempty"`     // sums
	Sometimes map[string]int64       `json:"sometimes,omitempty"` // runs in which the condition held
	Evaluated map[string]int64       `json:"evaluated,omitempty"` // sums
	Refused   int64                  `json:"refused"`             // actions
	Stopped   int64                  `json:"stopped"`             // processes that ended by themselves
	// StoppedRuns counts the runs with such a process.
	StoppedRuns int64           `json:"stopped_runs"`
	Hits        map[string]*Hit `json:"hits,omitempty"` // by fingerprint, declared hazards as hazard/<id>

	Events    []int64 `json:"events"` // one value a run, for the medians
	VirtualUs []int64 `json:"virtual_us"`
	Elections []int64 `json:"elections"`

	Coverage Coverage          `json:"coverage"`
	FirstMet map[string]uint64 `json:"first_met,omitempty"` // lowest seed of each condition of Sometimes
}

func newTally(scenario string) *Tally {
	return &Tally{
		Scenario: scenario, Outcomes: make(map[plan.Outcome]int64), Stats: make(map[string]int64),
		Sometimes: make(map[string]int64), Evaluated: make(map[string]int64), Hits: make(map[string]*Hit),
		FirstMet: make(map[string]uint64),
	}
}

// add counts one run.
func (t *Tally) add(p *plan.Plan, v *plan.Verdict, tail string) {
	t.Runs++
	t.Outcomes[v.Outcome]++
	for name, n := range v.Stats {
		t.Stats[name] += n
	}
	for name, n := range v.Evaluated {
		t.Evaluated[name] += n
	}
	for name, n := range v.Sometimes {
		if n > 0 {
			t.Sometimes[name]++
			t.met(name, uint64(p.Seed))
		}
	}
	t.Refused += int64(len(v.Refused))
	t.Stopped += int64(len(v.Stopped))
	if len(v.Stopped) > 0 {
		t.StoppedRuns++
	}
	t.Events = append(t.Events, int64(v.Events))
	t.VirtualUs = append(t.VirtualUs, int64(v.VirtualUs))
	t.Elections = append(t.Elections, v.Stats["elections"])

	example := Example{
		Scenario: t.Scenario, Seed: uint64(p.Seed), Actions: int64(len(p.Actions)), Events: int64(v.Events), Tail: tail,
	}
	if f := v.Fingerprint(); f != "" {
		example.Detail = detail(v, "")
		t.hit(f, example)
	}
	for _, f := range v.HazardFingerprints() {
		example.Detail = detail(v, f)
		t.hit(f, example)
	}
}

// met keeps the lowest seed in which a condition held.
func (t *Tally) met(name string, seed uint64) {
	if have, ok := t.FirstMet[name]; !ok || seed < have {
		t.FirstMet[name] = seed
	}
}

// detail is the sentence of the first break that belongs to the fingerprint; who waits for whom where there is none.
func detail(v *plan.Verdict, hazard string) string {
	for i := range v.Broken {
		if b := &v.Broken[i]; hazard == "" && b.Hazard == "" || hazard != "" && "hazard/"+b.Hazard == hazard {
			return b.Detail
		}
	}
	if len(v.Waiting) > 0 {
		return v.Waiting[0]
	}
	return ""
}

func (t *Tally) hit(fingerprint string, e Example) {
	h := &Hit{Runs: 1, First: e, Small: []Example{e}}
	if have := t.Hits[fingerprint]; have != nil {
		have.merge(h)
		return
	}
	t.Hits[fingerprint] = h
}

func (h *Hit) merge(o *Hit) {
	h.Runs += o.Runs
	if o.First.Seed < h.First.Seed {
		h.First = o.First
	}
	h.Small = append(h.Small, o.Small...)
	slices.SortFunc(h.Small, smaller)
	h.Small = h.Small[:min(keepSmall, len(h.Small))]
}

// smaller orders examples by how short a plan they promise.
func smaller(a, b Example) int {
	return cmp.Or(cmp.Compare(a.Actions, b.Actions), cmp.Compare(a.Events, b.Events), cmp.Compare(a.Scenario, b.Scenario),
		cmp.Compare(a.Seed, b.Seed))
}

// merge adds the runs of another tally of the same scenario.
func (t *Tally) merge(o *Tally) {
	t.Runs += o.Runs
	t.BusyNs += o.BusyNs
	t.Refused += o.Refused
	t.Stopped += o.Stopped
	t.StoppedRuns += o.StoppedRuns
	addAll(t.Outcomes, o.Outcomes)
	addAll(t.Stats, o.Stats)
	addAll(t.Sometimes, o.Sometimes)
	addAll(t.Evaluated, o.Evaluated)
	for name, seed := range o.FirstMet {
		t.met(name, seed)
	}
	t.Coverage.merge(&o.Coverage)
	t.Events = append(t.Events, o.Events...)
	t.VirtualUs = append(t.VirtualUs, o.VirtualUs...)
	t.Elections = append(t.Elections, o.Elections...)
	for fingerprint, h := range o.Hits {
		if have := t.Hits[fingerprint]; have != nil {
			have.merge(h)
		} else { // a copy: the other tally may still have to be written, and must not grow with this one
			own := *h
			own.Small = slices.Clone(h.Small)
			t.Hits[fingerprint] = &own
		}
	}
}

func addAll[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}

// median returns the lower median, 0 of nothing. It sorts its argument.
func median(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// findings counts the runs whose outcome is a finding.
func (t *Tally) findings() (n int64) {
	for outcome, runs := range t.Outcomes {
		if outcome.Finding() {
			n += runs
		}
	}
	return n
}
