package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// dueRuns is how many hits a campaign must expect before their absence is red.
const dueRuns = 20

// Summary is what a campaign comes to. Everything but the times depends on the seeds alone.
type Summary struct {
	Program     string `json:"program"` // which replays the capsules
	Engine      string `json:"engine"`
	First       uint64 `json:"first_seed"`
	Runs        int64  `json:"runs"`
	Events      int64  `json:"events"`
	Interrupted bool   `json:"interrupted,omitempty"`
	// Stopped is the rule that ended the campaign before its seeds did.
	Stopped string `json:"stopped,omitempty"`
	// Shard is the part of a campaign that this is, as 2/8.
	Shard string `json:"shard,omitempty"`
	// Missing is how many runs a merge had no results of.
	Missing int64 `json:"missing,omitempty"`
	// Canary tells that the planted bug was found.
	Canary *CanaryResult `json:"canary,omitempty"`
	// FindingRuns is how many runs had a finding, and how many of a million that means.
	FindingRuns Rate              `json:"finding_runs"`
	Scenarios   []ScenarioSummary `json:"scenarios"`
	Findings    []Bucket          `json:"findings"`
	Hazards     []HazardSummary   `json:"hazards"`
	Sometimes   []Condition       `json:"sometimes"`
	Dosage      []Site            `json:"dosage,omitempty"` // where crashes struck, by place of the catalogue
	Evaluated   map[string]int64  `json:"evaluated"`        // how often each invariant was evaluated
	// Notes tell of workers that died for reasons outside of the runs.
	Notes []string `json:"notes,omitempty"`
	// Unwritten says which capsules could not be made or written, and why.
	Unwritten []string `json:"unwritten,omitempty"`
	// Coverage is that of all scenarios.
	Coverage *CoverageSummary `json:"coverage,omitempty"`
	// NeverEvaluated lists documented invariants that no run evaluated; only meaningful for a campaign over all scenarios.
	NeverEvaluated []string `json:"never_evaluated,omitempty"`

	// Against tells what changed since the campaign before it that was like it.
	Against *Comparison `json:"against,omitempty"`

	Workers         int     `json:"workers"`
	ElapsedMs       int64   `json:"elapsed_ms"`
	RunMs           int64   `json:"run_ms"`    // without shrinking
	ShrinkMs        int64   `json:"shrink_ms"` // shrinking, and writing capsules
	RunsPerSecond   float64 `json:"runs_per_second"`
	EventsPerSecond float64 `json:"events_per_second"`
}

// ScenarioSummary is one line of the table.
type ScenarioSummary struct {
	Name              string                 `json:"name"`
	Runs              int64                  `json:"runs"`
	Outcomes          map[plan.Outcome]int64 `json:"outcomes"`
	Findings          int64                  `json:"findings"`    // runs
	HazardRuns        int64                  `json:"hazard_runs"` // runs times hazards met in them
	MedianEvents      int64                  `json:"median_events"`
	MedianVirtualUs   int64                  `json:"median_virtual_us"`
	MedianElections   int64                  `json:"median_elections"`
	Crashes           int64                  `json:"crashes"`
	CrashesInHandlers int64                  `json:"crashes_in_handlers"`
	Fsyncs            int64                  `json:"fsyncs"`
	Records           int64                  `json:"records"`
	RefusedActions    int64                  `json:"refused_actions"`
	StoppedProcesses  int64                  `json:"stopped_processes"`
	StoppedRuns       int64                  `json:"stopped_runs"` // in which at least one process ended by itself
	Stats             map[string]int64       `json:"stats"`
	MeanRunUs         int64                  `json:"mean_run_us"` // wall time
	GaveUp            bool                   `json:"gave_up,omitempty"`
	VirtualUs         int64                  `json:"virtual_us"` // of all runs
	Coverage          *CoverageSummary       `json:"coverage,omitempty"`
}

// Bucket is a fingerprint with the runs that showed it.
type Bucket struct {
	Fingerprint string   `json:"fingerprint"`
	Runs        int64    `json:"runs"`
	Rate        Rate     `json:"rate"`    // of the runs of Scenarios
	Example     Example  `json:"example"` // the first seed of the first scenario
	Shortest    *Shrunk  `json:"shortest,omitempty"`
	Scenarios   []string `json:"scenarios"`
	// ScenarioRuns counts the runs of each of Scenarios that showed it, ScenarioOutOf all of its runs, and ScenarioFirst is the first
	// seed that did, each in that order.
	ScenarioRuns  []int64  `json:"scenario_runs"`
	ScenarioOutOf []int64  `json:"scenario_out_of"`
	ScenarioFirst []uint64 `json:"scenario_first"`

	candidates []Example
}

// Shrunk is the shortest plan found for a fingerprint.
type Shrunk struct {
	Token   string   `json:"token"` // scenario:seed from which it was shrunk
	Detail  string   `json:"detail,omitempty"`
	Actions []string `json:"actions"`
	Hosts   int64    `json:"hosts"`
	Runs    int64    `json:"runs"`              // spent on shrinking
	Capsule string   `json:"capsule,omitempty"` // file
	// Explained are files that tell the story of the capsule.
	Explained []string `json:"explained,omitempty"`
}

// HazardSummary is a declared hazard.
type HazardSummary struct {
	ID        string  `json:"id"`
	Invariant string  `json:"invariant"`
	Doc       string  `json:"doc"`
	OutOf     int64   `json:"out_of"`        // runs of the scenarios in which it may be met
	Expected  int64   `json:"expected"`      // 0 also where only a part of the scenarios ran in which it is due
	Red       string  `json:"red,omitempty"` // why this is a failure of the campaign
	Bucket    *Bucket `json:"met,omitempty"`
}

// Condition is a sometimes-condition.
type Condition struct {
	Name     string `json:"name"`
	Scenario string `json:"scenario"`
	Runs     int64  `json:"runs"` // in which it held
	OutOf    int64  `json:"out_of"`
	Expected int64  `json:"expected"` // 0 also where only a part of the family ran
	Red      string `json:"red,omitempty"`
	// First is the run that met it soonest, as scenario:seed, and Soonest how many runs of that scenario it took; "" and 0 for never.
	First   string `json:"first,omitempty"`
	Soonest uint64 `json:"soonest,omitempty"`
}

// Failed reports whether the campaign found something: a finding, or a condition or hazard that should have been met.
func (s *Summary) Failed() bool {
	return len(s.Findings) > 0 || len(s.Unmet()) > 0
}

// Unmet lists what is red, a line each: conditions and hazards that were due and not met, and places that no crash struck.
func (s *Summary) Unmet() (lines []string) {
	for i := range s.Sometimes {
		if c := &s.Sometimes[i]; c.Red != "" {
			lines = append(lines, "condition "+c.Name+": "+c.Red)
		}
	}
	for i := range s.Hazards {
		if h := &s.Hazards[i]; h.Red != "" {
			lines = append(lines, "hazard "+h.ID+": "+h.Red)
		}
	}
	for i := range s.Dosage {
		if d := &s.Dosage[i]; d.Red != "" {
			lines = append(lines, "crashes at "+d.Name+": "+d.Red)
		}
	}
	return lines
}

func (c *campaign) summarize(interrupted bool) *Summary {
	s := &Summary{
		Program: c.Catalogue.Program, Engine: sim.EngineVersion, First: c.First, Interrupted: interrupted, Workers: c.Workers,
		Stopped: c.stopped, Shard: c.Shard.String(), Canary: c.canary, Missing: c.missing(), Notes: c.notes, RunMs: c.runTime.Milliseconds(), Evaluated: make(map[string]int64),
	}
	slices.Sort(s.Notes)
	findings := int64(0)
	for i, t := range c.tallies {
		line := scenarioSummary(t)
		line.GaveUp = c.deaths[i] >= maxDeaths
		s.Scenarios = append(s.Scenarios, line)
		s.Runs += t.Runs
		findings += line.Findings
		for _, events := range t.Events {
			s.Events += events
		}
		addAll(s.Evaluated, t.Evaluated)
	}
	s.FindingRuns = NewRate(findings, s.Runs)
	s.Coverage = sumCoverage(s.Scenarios)
	if seconds := c.runTime.Seconds(); seconds > 0 {
		s.RunsPerSecond, s.EventsPerSecond = float64(s.Runs)/seconds, float64(s.Events)/seconds
	}
	for _, doc := range c.Catalogue.Invariants {
		if c.Prefix == "" && s.Evaluated[doc.Name] == 0 {
			s.NeverEvaluated = append(s.NeverEvaluated, doc.Name)
		}
	}
	s.Sometimes = c.conditions()
	s.Dosage = c.sites(s.Runs)
	c.bucket(s)
	return s
}

func scenarioSummary(t *Tally) ScenarioSummary {
	line := ScenarioSummary{
		Name: t.Scenario, Runs: t.Runs, Outcomes: t.Outcomes, Findings: t.findings(), Stats: t.Stats,
		MedianEvents: median(t.Events), MedianVirtualUs: median(t.VirtualUs), MedianElections: median(t.Elections),
		Crashes: t.Stats["crashes"], CrashesInHandlers: t.Stats["crashes-in-handler"],
		Fsyncs: t.Stats["fsyncs"], Records: t.Stats["records"],
		RefusedActions: t.Refused, StoppedProcesses: t.Stopped, StoppedRuns: t.StoppedRuns,
	}
	line.VirtualUs, line.Coverage = sum(t.VirtualUs), t.Coverage.summary()
	if t.Runs > 0 {
		line.MeanRunUs = t.BusyNs / t.Runs / 1000
	}
	for fingerprint, h := range t.Hits {
		if hazardous(fingerprint) {
			line.HazardRuns += h.Runs
		}
	}
	return line
}

// familyRuns counts the runs of the scenarios of a family.
func (c *campaign) familyRuns(family string) (n int64) {
	for _, t := range c.tallies {
		if sim.InFamily(family, t.Scenario) {
			n += t.Runs
		}
	}
	return n
}

// complete reports whether every scenario of the family ran, the large ones apart. A rate is that of a family as a whole: one part
// of it may meet nothing, and others make up for that.
func (c *campaign) complete(family string) bool {
	ran := make(map[string]bool, len(c.tallies))
	for _, t := range c.tallies {
		ran[t.Scenario] = t.Runs > 0
	}
	return !slices.ContainsFunc(c.Catalogue.Scenarios, func(s sim.Scenario) bool {
		return sim.InFamily(family, s.Name()) && !ran[s.Name()]
	})
}

// overdue says how many hits a family's runs should have, none where only a part of the family ran, and why zero hits are red, or "".
func (c *campaign) overdue(family string, ppm, hits int64) (expected int64, red string) {
	if !c.complete(family) {
		return 0, ""
	}
	expected = c.familyRuns(family) * ppm / 1_000_000
	if expected >= dueRuns && hits == 0 {
		return expected, "never met, though this many runs should meet it"
	}
	return expected, ""
}

// shareRuns is how many runs a share is judged by.
const shareRuns = 200

// shortOf says that a dosage was missed, "" where it was not.
func shortOf(ppm, hits, runs int64) (red string) {
	if due := runs * ppm / 1_000_000; runs >= shareRuns && hits < due {
		return fmt.Sprintf("met in too few runs: it should be %d at least", due)
	}
	return ""
}

// conditions lists the documented conditions of the scenarios that ran, and those met without documentation.
func (c *campaign) conditions() (list []Condition) {
	documented := make(map[string]bool)
	for _, doc := range c.Catalogue.Sometimes {
		documented[doc.Name] = true
		runs := c.familyRuns(doc.Scenario)
		if runs == 0 {
			continue
		}
		hits := int64(0)
		for _, t := range c.tallies {
			if sim.InFamily(doc.Scenario, t.Scenario) {
				hits += t.Sometimes[doc.Name]
			}
		}
		expected, red := c.overdue(doc.Scenario, doc.DuePerMillion, hits)
		if red == "" && c.complete(doc.Scenario) {
			red = shortOf(doc.SharePerMillion, hits, runs)
		}
		met := Condition{Name: doc.Name, Scenario: doc.Scenario, Runs: hits, OutOf: runs, Expected: expected, Red: red}
		c.soonest(&met, doc.Scenario)
		list = append(list, met)
	}
	undocumented := make(map[string]int64)
	for _, t := range c.tallies {
		for name, hits := range t.Sometimes {
			if !documented[name] {
				undocumented[name] += hits
			}
		}
	}
	for _, name := range sortedKeys(undocumented) {
		met := Condition{Name: name, Runs: undocumented[name], OutOf: c.runs()}
		c.soonest(&met, "")
		list = append(list, met)
	}
	return list
}

// soonest finds the scenario of a family that met a condition after the fewest runs.
func (c *campaign) soonest(met *Condition, family string) {
	for _, t := range c.tallies {
		seed, ok := t.FirstMet[met.Name]
		if !ok || !sim.InFamily(family, t.Scenario) {
			continue
		}
		if after := seed - c.First + 1; met.Soonest == 0 || after < met.Soonest {
			met.Soonest, met.First = after, fmt.Sprintf("%s:%d", t.Scenario, seed)
		}
	}
}

// bucket sorts the hits by fingerprint into findings and hazards.
func (c *campaign) bucket(s *Summary) {
	buckets := make(map[string]*Bucket)
	for _, t := range c.tallies { // in catalogue order, so that the first example is well defined
		for _, fingerprint := range sortedKeys(t.Hits) {
			h := t.Hits[fingerprint]
			b := buckets[fingerprint]
			if b == nil {
				b = &Bucket{Fingerprint: fingerprint, Example: h.First}
				buckets[fingerprint] = b
			}
			b.Runs += h.Runs
			b.Scenarios, b.ScenarioRuns = append(b.Scenarios, t.Scenario), append(b.ScenarioRuns, h.Runs)
			b.ScenarioOutOf, b.ScenarioFirst = append(b.ScenarioOutOf, t.Runs), append(b.ScenarioFirst, h.First.Seed)
			b.candidates = append(b.candidates, h.Small...)
		}
	}
	for _, fingerprint := range sortedKeys(buckets) {
		b := buckets[fingerprint]
		slices.SortFunc(b.candidates, smaller)
		b.candidates = b.candidates[:min(keepSmall, len(b.candidates))]
		b.Rate = NewRate(b.Runs, sum(b.ScenarioOutOf))
		if !hazardous(fingerprint) {
			s.Findings = append(s.Findings, *b)
		}
	}
	slices.SortStableFunc(s.Findings, func(a, b Bucket) int { return cmp.Compare(b.Runs, a.Runs) })
	c.hazards(s, buckets)
}

// hazards lists the declarations of the scenarios that ran, then hazards that no declaration covers, which are red.
func (c *campaign) hazards(s *Summary, buckets map[string]*Bucket) {
	declared := make(map[string]bool)
	for _, doc := range c.Catalogue.Hazards {
		b := buckets["hazard/"+doc.ID]
		declared[doc.ID] = true
		runs := c.familyRuns(doc.Scenario)
		if runs == 0 && b == nil {
			continue
		}
		h := HazardSummary{ID: doc.ID, Invariant: doc.Invariant, Doc: doc.Doc, OutOf: runs, Bucket: b}
		hits := int64(0)
		if b != nil {
			hits = b.Runs
			for _, scenario := range b.Scenarios {
				if !sim.InFamily(doc.Scenario, scenario) {
					h.Red = "met in " + scenario + ", where it is not declared"
					h.OutOf = c.runs()
				}
			}
		}
		expected, red := c.overdue(cmp.Or(doc.DueIn, doc.Scenario), doc.DuePerMillion, hits)
		h.Expected, h.Red = expected, cmp.Or(h.Red, red)
		s.Hazards = append(s.Hazards, h)
	}
	for _, fingerprint := range sortedKeys(buckets) {
		id, hazard := strings.CutPrefix(fingerprint, "hazard/")
		if hazard && !declared[id] {
			s.Hazards = append(s.Hazards, HazardSummary{
				ID: id, Bucket: buckets[fingerprint], OutOf: c.runs(), Red: "no declaration of this id in the catalogue"})
		}
	}
}

// hazardous reports whether a fingerprint is that of a declared hazard.
func hazardous(fingerprint string) bool { return strings.HasPrefix(fingerprint, "hazard/") }

func sum(list []int64) (total int64) {
	for _, n := range list {
		total += n
	}
	return total
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
