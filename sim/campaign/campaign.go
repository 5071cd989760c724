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
	// Shard is the part of the campaign that is run; with Seeds given only.
	Shard Shard
	// Exact takes the scenario whose name is the prefix, and no other.
	Exact bool
	// Stop ends the campaign before its seeds do.
	Stop Stop
	// Store keeps what is done; nil keeps nothing. Past is what a store has of the campaign that is to go on.
	Store    Store
	Past     Past
	Progress Progress
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

// match returns the scenarios of the configuration.
func (c *Config) match() ([]sim.Scenario, error) {
	if c.Seeds == 0 && c.Shard.Of > 1 {
		return nil, errors.New("campaign: a shard needs a number of seeds: shares by measured cost differ from machine to machine")
	}
	if !c.Exact {
		return Match(c.Catalogue, c.Prefix, c.All)
	}
	s := c.Catalogue.Scenario(c.Prefix)
	if s == nil {
		return nil, fmt.Errorf("%w is %q; the nearest are %s", ErrNoScenario, c.Prefix, strings.Join(Nearest(c.Catalogue, c.Prefix), ", "))
	}
	return []sim.Scenario{s}, nil
}

// Nearest returns the names of scenarios that somebody who typed a name that is none may have meant.
func Nearest(c *sim.Catalogue, name string) []string {
	const most = 3
	var all []string
	for _, list := range [][]sim.Scenario{c.Scenarios, c.Large} {
		for _, s := range list {
			all = append(all, s.Name())
		}
	}
	return plan.Nearest(name, all, most)
}

// maxDeaths is how many processes one scenario may take along before the campaign leaves it alone.
const maxDeaths = 5

// campaign is one in progress.
type campaign struct {
	Config
	scenarios []sim.Scenario
	index     map[string]int // of the scenarios, by name
	pool      *pool
	tallies   []*Tally // as scenarios
	planned   []int64  // as scenarios: seeds from the first one
	done      covered
	notes     []string
	deaths    []int
	start     time.Time
	runTime   time.Duration
	canary    *CanaryResult

	unkept    []Batch // not handed to the store yet
	keptAt    time.Time
	unwritten []string // what could not be kept

	stopRuns func() // ends the runs
	stopped  string // the rule that ended them
	newsAt   int64  // how many runs there were when coverage grew last
}

// Run runs a campaign, or goes on with one. When ctx ends it stops and returns the summary so far. An error means that the campaign
// itself could not work, ErrCanary that its results would be worth nothing; whatever the runs come to is in the summary.
func Run(ctx context.Context, cfg Config) (*Summary, error) {
	c, err := open(cfg)
	if err != nil {
		return nil, err
	}
	defer c.pool.close()
	if err := c.sing(ctx); err != nil {
		return nil, err
	}
	runs, stop := context.WithCancel(ctx)
	defer stop()
	c.stopRuns = stop
	defer c.stopLater()()
	c.checkRules()
	if err := c.run(runs); err != nil {
		return nil, err
	}
	if runs.Err() != nil && ctx.Err() == nil && c.stopped == "" { // in the middle of a batch
		c.stopped = outOfTime(c.Stop.After)
	}
	return c.conclude(ctx), nil
}

// open makes a campaign with what was done of it before.
func open(cfg Config) (*campaign, error) {
	cfg = cfg.WithDefaults()
	scenarios, err := cfg.match()
	if err != nil {
		return nil, err
	}
	c := &campaign{
		Config: cfg, scenarios: scenarios, pool: newPool(cfg.Workers, cfg.RunLimit, cfg.Command), deaths: make([]int, len(scenarios)),
		planned: make([]int64, len(scenarios)), index: make(map[string]int), done: make(covered), start: time.Now(),
	}
	for i, s := range scenarios {
		c.tallies = append(c.tallies, newTally(s.Name()))
		c.index[s.Name()] = i
	}
	return c, c.remember()
}

// conclude sums up, shrinks, and keeps what the campaign came to.
func (c *campaign) conclude(ctx context.Context) *Summary {
	c.runTime = c.active()
	summary := c.summarize(ctx.Err() != nil)
	begin := time.Now()
	if err := c.capsules(ctx, summary); err != nil { // what the runs came to is worth more than its capsules
		summary.Unwritten = append(summary.Unwritten, err.Error())
	}
	summary.ShrinkMs = time.Since(begin).Milliseconds()
	summary.ElapsedMs = summary.RunMs + summary.ShrinkMs
	summary.Unwritten = append(summary.Unwritten, c.unwritten...)
	if c.Store != nil {
		if err := c.Store.End(summary); err != nil {
			summary.Unwritten = append(summary.Unwritten, fmt.Sprintf("results: %v", err))
		}
	}
	return summary
}

func (c *campaign) runs() (n int64) {
	for _, t := range c.tallies {
		n += t.Runs
	}
	return n
}

// collect takes one answer. A worker that dies is not yet a finding: its seed is tried once more, alone, since the process may
// have been killed from outside. After that the seeds before and after it are still to be run.
func (c *campaign) collect(req request, res response, d *death) ([]request, error) {
	i, note := c.index[req.Scenario], ""
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
			for _, part := range more {
				c.leaveOut(c.rangeOf(part))
			}
			more = nil
		}
	case tally == nil:
		return nil, fmt.Errorf("campaign: worker answered without a result")
	case req.again != nil:
		note = fmt.Sprintf("a worker was killed from outside, seed %d of %s passed on a second try (%s)", req.First, req.Scenario,
			req.again.first.status)
		c.notes = append(c.notes, note)
		c.Log(note)
	}
	batch := Batch{Range: c.rangeOf(req), Tally: tally, Died: d != nil, Note: note}
	if err := c.done.add(batch.Range); err != nil {
		return nil, err
	}
	c.keep(batch)
	before := c.tallies[i].Coverage.extent()
	c.tallies[i].merge(tally)
	c.noteNews(before != c.tallies[i].Coverage.extent())
	c.Progress.Ran(req.Scenario, tally.Runs, tally.findings())
	c.checkRules()
	return more, nil
}

// rangeOf is where the seeds of a request lie.
func (c *campaign) rangeOf(req request) Range {
	return Range{Scenario: req.Scenario, At: int64(req.First - c.First), Count: req.Count}
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
