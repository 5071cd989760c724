package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// ErrNoScenario is returned when no scenario's name starts with the prefix.
var ErrNoScenario = errors.New("campaign: no scenario's name")

// Config says what a campaign runs. Zero values are the defaults, until WithDefaults has filled them in: a zero that is written
// into its result means zero.
type Config struct {
	Catalogue *sim.Catalogue
	Command   Command // makes worker processes
	Prefix    string  // of scenario names; "" is all
	All       bool    // the large scenarios too
	// Seeds is how many runs there are in all, split evenly over the scenarios. 0 asks for the default campaign: at least
	// MinRuns, shared by measured cost, and as many more as fit into Time.
	Seeds   int64
	First   uint64        // first seed; default 1
	Workers int           // default: one per processor
	MinRuns int64         // default 10,000
	Time    time.Duration // of the runs; default 30 s
	// RunLimit is the processor time (where the system does not tell it, and for a process that computes nothing, see watchdog:
	// wall time) after which a single run counts as hung; default 20 s.
	RunLimit   time.Duration
	ShrinkRuns int64         // runs to shrink one example; default 400, after WithDefaults 0: do not shrink
	ShrinkTime time.Duration // after which shrinking ends; default 20 s, with Seeds given 2 min
	OutDir     string        // for capsules; "" writes none
	Progress   Progress
	// Log receives remarks about workers, as a message and pairs of name and value.
	Log    func(message string, pairs ...any)
	filled bool // WithDefaults was here
	_      struct{}
}

// Progress is told how a campaign advances, one call at a time.
type Progress interface {
	// Planned tells how many runs of a scenario are planned in all; it may grow.
	Planned(scenario string, runs int64)
	// Ran tells of further runs and how many of them were findings.
	Ran(scenario string, runs, findings int64)
	// Phase names what the campaign does now.
	Phase(name string)
}

type silent struct{}

func (silent) Planned(string, int64)    {}
func (silent) Ran(string, int64, int64) {}
func (silent) Phase(string)             {}

// WithDefaults returns the configuration with every default filled in, for display, and for a caller who sets some of it to zero
// then. Of a configuration that was filled in before, only what has no zero of its own is.
func (c Config) WithDefaults() Config {
	if !c.filled {
		c.First = orElse(c.First, 1)
		c.MinRuns = orElse(c.MinRuns, 10_000)
		c.Time = orElse(c.Time, 30*time.Second)
		c.ShrinkRuns = orElse(c.ShrinkRuns, 400)
		c.filled = true
	}
	c.Workers = orElse(c.Workers, runtime.NumCPU())
	c.RunLimit = orElse(c.RunLimit, 20*time.Second)
	if c.Seeds > 0 {
		c.ShrinkTime = orElse(c.ShrinkTime, 2*time.Minute)
	}
	c.ShrinkTime = orElse(c.ShrinkTime, 20*time.Second)
	if c.Progress == nil {
		c.Progress = silent{}
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	return c
}

func orElse[T comparable](value, absent T) T {
	var zero T
	if value == zero {
		return absent
	}
	return value
}

// Match returns the scenarios whose names start with the prefix, in catalogue order; then, with all, the large ones. A large one whose
// name is the prefix itself is asked for in any case.
//
// A prefix may end with a profile, as "raft/@disk": then they are the scenarios that draw from one, under that one.
func Match(c *sim.Catalogue, prefix string, all bool) ([]sim.Scenario, error) {
	var found []sim.Scenario
	if base, profile, under := sim.CutProfile(prefix); under {
		return matchUnder(c, base, profile, all)
	}
	for _, s := range c.Scenarios {
		if strings.HasPrefix(s.Name(), prefix) {
			found = append(found, s)
		}
	}
	for _, s := range c.Large {
		if all && strings.HasPrefix(s.Name(), prefix) || s.Name() == prefix {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w starts with %q; the nearest are %s; see %s list scenarios", ErrNoScenario, prefix,
			strings.Join(Nearest(c, prefix), ", "), c.Program)
	}
	return found, nil
}

// matchUnder is Match for a profile.
func matchUnder(c *sim.Catalogue, prefix, profile string, all bool) (found []sim.Scenario, err error) {
	list, err := Match(c, prefix, all)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s = c.Under(s, profile); s != nil {
			found = append(found, s)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	names := make([]string, len(c.Profiles))
	for i, f := range c.Profiles {
		if names[i] = f.Name; f.Name == profile {
			return nil, fmt.Errorf("%w starts with %q and draws its storms from a profile", ErrNoScenario, prefix)
		}
	}
	return nil, fmt.Errorf("%w under profile %q: the nearest profiles are %s; see %s list profiles", ErrNoScenario, profile,
		strings.Join(plan.Nearest(profile, names, 3), ", "), c.Program)
}

// Nearest returns the names of scenarios that somebody who typed a name that is none may have meant.
func Nearest(c *sim.Catalogue, name string) []string {
	const most = 3
	all := make([]string, len(c.Scenarios))
	for i, s := range c.Scenarios {
		all[i] = s.Name()
	}
	return plan.Nearest(name, all, most)
}

// maxDeaths is how many processes one scenario may take along before the campaign leaves it alone.
const maxDeaths = 5

// campaign is one in progress.
type campaign struct {
	Config
	scenarios []sim.Scenario
	pool      *pool
	tallies   []*Tally // as scenarios
	notes     []string
	deaths    []int
	start     time.Time
	runTime   time.Duration
}

// Run runs a campaign. When ctx ends it stops and returns the summary so far. An error means that the campaign itself could
// not work; whatever the runs come to is in the summary.
func Run(ctx context.Context, cfg Config) (*Summary, error) {
	cfg = cfg.WithDefaults()
	scenarios, err := Match(cfg.Catalogue, cfg.Prefix, cfg.All)
	if err != nil {
		return nil, err
	}
	p := newPool(cfg.Workers, cfg.RunLimit, cfg.Command)
	defer p.close()
	c := &campaign{Config: cfg, scenarios: scenarios, pool: p, deaths: make([]int, len(scenarios)), start: time.Now()}
	for _, s := range scenarios {
		c.tallies = append(c.tallies, newTally(s.Name()))
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	c.runTime = time.Since(c.start)
	summary := c.summarize(ctx.Err() != nil)
	if err := c.capsules(ctx, summary); err != nil { // what the runs came to is worth more than its capsules
		summary.Unwritten = append(summary.Unwritten, err.Error())
	}
	summary.ElapsedMs = time.Since(c.start).Milliseconds()
	summary.ShrinkMs = summary.ElapsedMs - summary.RunMs
	return summary, nil
}

// run runs the pilot and then the rest in one or two rounds.
func (c *campaign) run(ctx context.Context) error {
	lanes := make([]lane, len(c.scenarios))
	fixed := evenly(c.Seeds, len(lanes))
	for i, s := range c.scenarios {
		n := int64(pilotRuns)
		if c.Seeds > 0 {
			n = min(n, fixed[i])
		}
		lanes[i] = lane{scenario: s.Name(), next: c.First, end: c.First + uint64(n), batch: pilotRuns / 2}
		c.Progress.Planned(s.Name(), max(n, fixed[i]))
	}
	c.Progress.Phase("pilot")
	if err := c.round(ctx, lanes); err != nil {
		return err
	}
	c.Progress.Phase("runs")
	if c.Seeds > 0 {
		for i := range lanes {
			lanes[i].end = c.First + uint64(fixed[i])
		}
		return c.round(ctx, lanes)
	}
	if err := c.share(ctx, lanes, c.MinRuns-c.runs()); err != nil {
		return err
	}
	// What is left of the time is worth more schedules.
	elapsed := time.Since(c.start)
	extra := int64(float64(c.runs()) / elapsed.Seconds() * (c.Time - elapsed).Seconds())
	if extra < int64(len(lanes)) {
		return nil
	}
	return c.share(ctx, lanes, extra)
}

// share runs about n more runs, by cost.
func (c *campaign) share(ctx context.Context, lanes []lane, n int64) error {
	if n <= 0 || ctx.Err() != nil {
		return nil
	}
	for i, more := range byCost(n, 0, c.costs()) {
		lanes[i].end += uint64(more)
		c.Progress.Planned(lanes[i].scenario, int64(lanes[i].end-c.First))
	}
	return c.round(ctx, lanes)
}

// costs returns the mean wall time of a run of each scenario in nanoseconds.
func (c *campaign) costs() []int64 {
	costs := make([]int64, len(c.tallies))
	for i, t := range c.tallies {
		costs[i] = int64(time.Millisecond)
		if t.Runs > 0 && t.BusyNs > 0 {
			costs[i] = max(t.BusyNs/t.Runs, 1)
		}
	}
	return costs
}

func (c *campaign) runs() (n int64) {
	for _, t := range c.tallies {
		n += t.Runs
	}
	return n
}

// round runs the lanes up to their ends.
func (c *campaign) round(ctx context.Context, lanes []lane) error {
	for i, cost := range c.costs() {
		if c.tallies[i].Runs > 0 {
			lanes[i].batch = batchRuns(cost)
		}
	}
	return c.pool.each(ctx, interleave(lanes), c.collect)
}

// collect takes one answer. A worker that dies is not yet a finding: its seed is tried once more, alone, since the process may
// have been killed from outside. After that the seeds before and after it are still to be run.
func (c *campaign) collect(req request, res response, d *death) ([]request, error) {
	i := 0
	for i < len(c.scenarios)-1 && c.scenarios[i].Name() != req.Scenario {
		i++
	}
	if d != nil && req.again == nil {
		return c.secondTry(req, d)
	}
	tally := res.Batch
	var more []request
	if req.again != nil {
		more = req.again.rest
	}
	switch {
	case d != nil:
		c.deaths[i]++
		c.Log("worker replaced, the second time", "scenario", req.Scenario, "seed", req.First, "reason", d.evidence, "status", d.status)
		tally = newTally(req.Scenario)
		p, _ := draw(c.scenarios[i], req.First)
		tally.add(p, d.verdict(), d.tail)
		tally.markDead(d.verdict())
		if c.deaths[i] >= maxDeaths {
			more = nil
		}
	case tally == nil:
		return nil, fmt.Errorf("campaign: worker answered without a result")
	case req.again != nil:
		note := fmt.Sprintf("a worker was killed from outside, seed %d of %s passed on a second try (%s)", req.First, req.Scenario,
			req.again.first.status)
		c.notes = append(c.notes, note)
		c.Log(note)
	}
	c.tallies[i].merge(tally)
	c.Progress.Ran(req.Scenario, tally.Runs, tally.findings())
	return more, nil
}

// secondTry asks for the seed during which a worker died, and keeps the rest of its batch for later.
func (c *campaign) secondTry(req request, d *death) ([]request, error) {
	at := d.at.Seed - req.First // of the batch, also where seeds wrap around
	if at >= uint64(req.Count) {
		return nil, fmt.Errorf("campaign: worker names seed %d outside of its batch", d.at.Seed)
	}
	c.Log("worker replaced", "scenario", req.Scenario, "seed", d.at.Seed, "reason", d.evidence, "status", d.status)
	before, after, alone := req, req, req
	before.Count = int64(at)
	after.First, after.Count = d.at.Seed+1, req.Count-before.Count-1
	alone.First, alone.Count, alone.again = d.at.Seed, 1, &again{first: d}
	for _, part := range []request{after, before} {
		if part.Count > 0 {
			alone.again.rest = append(alone.again.rest, part)
		}
	}
	return []request{alone}, nil
}

// markDead keeps the verdict with the examples, since no run can produce it again within a process.
func (t *Tally) markDead(v *plan.Verdict) {
	for _, h := range t.Hits {
		h.First.Verdict = v
		for i := range h.Small {
			h.Small[i].Verdict = v
		}
	}
}
