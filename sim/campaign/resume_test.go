package campaign_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/internal/fakesim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// memory is a campaign.Store without a disk. It fails once it has so many batches.
type memory struct {
	past    campaign.Past
	ends    []*campaign.Summary
	full    int
	stopped context.CancelFunc // when it has so many batches
	at      int
}

func (m *memory) Decide(stage int64, ranges []campaign.Range) error {
	if int(stage) != len(m.past.Stages) {
		return errors.New("memory: a stage is missing")
	}
	m.past.Stages = append(m.past.Stages, ranges)
	return nil
}

func (m *memory) Done(batches []campaign.Batch, active time.Duration) error {
	if m.full > 0 && len(m.past.Batches) >= m.full {
		return errors.New("memory: no space left")
	}
	for i := range batches {
		b := batches[i]
		if b.Tally != nil { // what the campaign does to its own must not reach what is kept
			require.Equal(rapidless{}, b.Count, b.Tally.Runs)
		}
		m.past.Batches = append(m.past.Batches, b)
	}
	m.past.Active = active
	if m.stopped != nil && len(m.past.Batches) >= m.at {
		m.stopped()
	}
	return nil
}

func (m *memory) End(s *campaign.Summary) error {
	m.ends = append(m.ends, s)
	return nil
}

// rapidless is a require.TestingT that panics: a store has no test at hand.
type rapidless struct{}

func (rapidless) Errorf(format string, _ ...any) { panic(format) }
func (rapidless) FailNow()                       { panic("failed") }

// timeless takes out of a summary what depends on the machine.
func timeless(s *campaign.Summary) campaign.Summary {
	c := *s
	c.ElapsedMs, c.RunMs, c.ShrinkMs, c.RunsPerSecond, c.EventsPerSecond, c.Workers = 0, 0, 0, 0, 0, 0
	c.Canary = nil
	c.Scenarios = append([]campaign.ScenarioSummary(nil), c.Scenarios...)
	for i := range c.Scenarios {
		c.Scenarios[i].MeanRunUs = 0
	}
	return c
}

// A default campaign decides what it runs by measured costs. Interrupted in the middle, it goes on with what it had decided.
func TestDefaultCampaignGoesOnWithWhatItDecided(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	store := &memory{stopped: cancel, at: 9}
	cfg := config("toy/", 0)
	cfg.MinRuns, cfg.Time, cfg.ShrinkRuns, cfg.Store = 30_000, 100*time.Millisecond, -1, store
	s, err := campaign.Run(ctx, cfg)
	require.NoError(t, err)
	require.True(t, s.Interrupted)
	decided := len(store.past.Stages)
	cfg.Past, store.stopped = store.past, nil
	first := store.past.Stages
	done, err := campaign.Run(context.Background(), cfg)
	require.NoError(t, err)
	require.GreaterOrEqual(t, done.Runs, int64(30_000))
	require.Equal(t, first, store.past.Stages[:decided])
	require.Len(t, store.past.Stages, 3)
	planned := int64(0)
	for _, stage := range store.past.Stages {
		for _, r := range stage {
			planned += r.Count
		}
	}
	require.Equal(t, planned, done.Runs)

	// The same stages without a break come to the same.
	cfg.Past = campaign.Past{Stages: store.past.Stages}
	cfg.Store = nil
	through, err := campaign.Run(context.Background(), cfg)
	require.NoError(t, err)
	require.Equal(t, timeless(through), timeless(done))
}

// A store that fails costs the results, not the campaign, and what it has is the beginning of one.
func TestStoreThatFails(t *testing.T) {
	store := &memory{full: 5}
	cfg := config("toy/", 30_000)
	cfg.ShrinkRuns, cfg.Store = -1, store
	s := run(t, cfg)
	require.Equal(t, int64(30_000), s.Runs)
	require.Equal(t, []string{"results: memory: no space left"}, s.Unwritten)
	require.Empty(t, store.ends, "it has no end")
	whole := *s
	store.full, cfg.Past = 0, store.past
	again := run(t, cfg)
	whole.Unwritten = nil
	require.Equal(t, timeless(&whole), timeless(again))
	require.Len(t, store.ends, 1)
}

// What scenarios that end their processes leave undone counts once, also over an interruption.
func TestDeathsAndNotesAreKept(t *testing.T) {
	t.Setenv(fakesim.OnceEnv, filepath.Join(t.TempDir(), "once"))
	for _, scenario := range []string{"bad/exit", "bad/once"} {
		store := &memory{}
		cfg := config(scenario, 40)
		cfg.Store = store
		s := run(t, cfg)
		require.Equal(t, int64(40), s.Runs)
		cfg.Past, cfg.Store = store.past, nil
		cfg.Command = command("serve")
		again := run(t, cfg)
		require.Equal(t, timeless(s), timeless(again), "nothing is run again")
	}
}

// Results that do not fit are refused: they would be counted twice, or are of something else.
func TestPastThatDoesNotFit(t *testing.T) {
	store := &memory{}
	cfg := config("toy/", 90)
	cfg.ShrinkRuns, cfg.Store = -1, store
	run(t, cfg)
	cfg.Store = nil
	for name, spoil := range map[string]func(*campaign.Past){
		"are there twice": func(p *campaign.Past) { p.Batches = append(p.Batches, p.Batches[0]) },
		"which this program has not": func(p *campaign.Past) {
			b := p.Batches[0]
			b.Scenario = "toy/none"
			p.Batches = append(p.Batches, b)
		},
		"have a tally of 10 runs for 9 seeds": func(p *campaign.Past) { p.Batches[0].Count = 9 },
	} {
		cfg.Past = store.past
		cfg.Past.Batches = append([]campaign.Batch(nil), store.past.Batches...)
		spoil(&cfg.Past)
		_, err := campaign.Run(context.Background(), cfg)
		require.ErrorContains(t, err, name)
	}
}

// Parts are disjoint and make the whole, for every number of seeds and parts.
func TestShardsMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.Int64Range(1, 40).Draw(t, "of")
		seeds := rapid.Int64Range(0, 1<<40).Draw(t, "seeds")
		at, least, most := int64(0), seeds, int64(0)
		for i := range of {
			r := campaign.PartOf(campaign.Shard{Index: i + 1, Of: of}, seeds)
			require.Equal(t, at, r.At)
			at += r.Count
			least, most = min(least, r.Count), max(most, r.Count)
		}
		require.Equal(t, seeds, at)
		require.LessOrEqual(t, most-least, int64(1), "of equal size")
	})
}

// Merged parts come to what the whole comes to, whatever the number of parts.
func TestMergeIsTheWhole(t *testing.T) {
	cfg := config("toy/", 1000)
	cfg.OutDir = t.TempDir()
	whole := run(t, cfg)
	for _, of := range []int64{1, 2, 7} {
		var past campaign.Past
		for i := range of {
			store := &memory{}
			part := config("toy/", 1000)
			part.ShrinkRuns, part.Store, part.Shard = -1, store, campaign.Shard{Index: i + 1, Of: of}
			run(t, part)
			past.Batches = append(past.Batches, store.past.Batches...)
		}
		cfg.Past = past
		merged, err := campaign.Merge(context.Background(), cfg)
		require.NoError(t, err)
		require.Equal(t, timeless(whole), timeless(merged))
		cfg.Past.Batches = past.Batches[1:]
		merged, err = campaign.Merge(context.Background(), cfg)
		require.NoError(t, err)
		require.Equal(t, past.Batches[0].Count, merged.Missing)
	}
	cfg.Seeds = 0
	_, err := campaign.Merge(context.Background(), cfg)
	require.ErrorContains(t, err, "only campaigns with a number of seeds")
}

// Rules end a campaign, say so, and lose nothing of what was done.
func TestRulesEndACampaign(t *testing.T) {
	cfg := config("toy/", 200_000)
	cfg.ShrinkRuns = -1
	cfg.Stop.Fingerprint = "hazard/late"
	s := run(t, cfg)
	require.Equal(t, "a run showed hazard/late", s.Stopped)
	require.Less(t, s.Runs, int64(200_000))
	require.Equal(t, int64(200_000)-s.Runs, s.Missing)
	require.False(t, s.Interrupted)

	cfg.Stop = campaign.Stop{Findings: 30}
	s = run(t, cfg)
	require.GreaterOrEqual(t, s.FindingRuns.Runs, int64(30))
	require.Less(t, s.Runs, int64(200_000))
}

// A campaign whose workers do not find the planted bug says that it is broken itself.
func TestCanaryThatIsNotFound(t *testing.T) {
	s := run(t, config("toy/clean", 10))
	require.Equal(t, &campaign.CanaryResult{
		Scenario: "canary/bug", Fingerprint: "violation/agree/two values", Runs: 2, OutOf: 20, Actions: 2, ElapsedMs: s.Canary.ElapsedMs,
	}, s.Canary)

	for name, spoil := range map[string]func(*campaign.Config){
		"did not show violation/agree/two values in 20 runs": func(*campaign.Config) { t.Setenv(fakesim.FixedEnv, "canary/bug") },
		"was shortened to 2 actions, and 1 are enough":       func(c *campaign.Config) { c.Catalogue.Canary.Actions = 1 },
		"did not show violation/other in 20 runs":            func(c *campaign.Config) { c.Catalogue.Canary.Fingerprint = "violation/other" },
	} {
		t.Setenv(fakesim.FixedEnv, "")
		cfg := config("toy/", 10)
		spoil(&cfg)
		_, err := campaign.Run(context.Background(), cfg)
		require.ErrorIs(t, err, campaign.ErrCanary)
		require.ErrorContains(t, err, name)
	}

	t.Setenv(fakesim.FixedEnv, "")
	cfg := config("toy/", 10)
	cfg.Command = func(string) *exec.Cmd { return exec.Command("true") }
	_, err := campaign.Run(context.Background(), cfg)
	require.ErrorContains(t, err, "workers die before their first run")
}

// Capsules are explained in the workers, whatever the explanation does.
func TestCapsulesAreExplained(t *testing.T) {
	for mode, want := range map[string]int{"explains": 1, "explains-badly": 0, "explains-and-dies": 0} {
		cfg := config("toy/", 90)
		cfg.Command = command(mode)
		cfg.OutDir = t.TempDir()
		s := run(t, cfg)
		require.Len(t, s.Findings[0].Shortest.Explained, want, mode)
		require.FileExists(t, s.Findings[0].Shortest.Capsule)
		require.Empty(t, s.Unwritten)
	}
}

// explainer is what the worker of a mode has.
func explainer(mode string) campaign.Explainer {
	switch mode {
	case "explains":
		return func(file string, c *plan.Capsule) ([]string, error) { return []string{file + "." + c.Fingerprint}, nil }
	case "explains-badly":
		return func(string, *plan.Capsule) ([]string, error) { panic("no story") }
	case "explains-and-dies":
		return func(string, *plan.Capsule) ([]string, error) {
			os.Exit(7)
			return nil, nil
		}
	}
	return nil
}
