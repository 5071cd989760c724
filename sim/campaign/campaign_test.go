package campaign_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/internal/fakesim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// workerEnv makes the test binary a worker process: real children, no second program.
const workerEnv = "KRAFTSIM_TEST_WORKER"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(workerEnv); mode {
	case "":
		flag.Parse()
		if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
			_ = flag.Set("rapid.seed", "20265") // repeatable
		}
		os.Exit(m.Run())
	case "register":
		fmt.Fprintln(os.Stderr, serveRegister())
		os.Exit(1)
	case "dies":
		fmt.Fprintln(os.Stderr, "worker: no such library")
		os.Exit(1)
	default:
		out := os.Stdout
		err := campaign.Serve(campaign.WorkerConfig{
			Catalogue: fakesim.Catalogue(), NewRunner: func() campaign.Runner { return new(fakesim.Runner) },
			In: os.Stdin, Out: out, Progress: os.Getenv("KRAFTSIM_TEST_PROGRESS"), MemoryBytes: 256 << 20,
			Explain: explainer(mode),
		})
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func command(mode string) campaign.Command {
	return func(progressFile string) *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), workerEnv+"="+mode, "KRAFTSIM_TEST_PROGRESS="+progressFile)
		return c
	}
}

func config(prefix string, seeds int64) campaign.Config {
	return campaign.Config{
		Catalogue: fakesim.Catalogue(), Command: command("serve"), Prefix: prefix, Seeds: seeds, Workers: 2,
	}
}

func run(t *testing.T, cfg campaign.Config) *campaign.Summary {
	t.Helper()
	s, err := campaign.Run(context.Background(), cfg)
	require.NoError(t, err)
	return s
}

// phases is a campaign.Progress that keeps the names of phases.
type phases struct{ names []string }

func (p *phases) Planned(string, int64)    {}
func (p *phases) Ran(string, int64, int64) {}
func (p *phases) Phase(name string)        { p.names = append(p.names, name) }

func TestCampaignCountsAndShrinks(t *testing.T) {
	cfg := config("toy/", 900)
	cfg.OutDir = t.TempDir()
	phases := &phases{}
	cfg.Progress = phases
	s := run(t, cfg)
	require.Equal(t, []string{"canary", "pilot", "runs", "shrinking, findings: 1, declared hazards: 1", "stories"}, phases.names)
	require.Equal(t, s.ElapsedMs, s.RunMs+s.ShrinkMs)
	require.Positive(t, s.RunMs)
	require.Equal(t, int64(900), s.Runs)
	require.True(t, s.Failed())
	require.Len(t, s.Scenarios, 3)
	for _, line := range s.Scenarios {
		require.Equal(t, int64(300), line.Runs)
		require.Equal(t, int64(6), line.MedianEvents)
		require.Equal(t, int64(2), line.MedianElections)
		require.Positive(t, line.Crashes)
	}
	require.Equal(t, int64(900*5), s.Evaluated["agree"])

	require.Len(t, s.Findings, 1)
	bug := s.Findings[0]
	require.Equal(t, "violation/agree/two values", bug.Fingerprint)
	require.Equal(t, int64(300/7), bug.Runs)
	require.Equal(t, uint64(7), bug.Example.Seed, "the lowest seed")
	require.Equal(t, "n1 and n2 differ", bug.Example.Detail)
	require.Equal(t, []string{"toy/buggy"}, bug.Scenarios)
	require.Equal(t, []int64{300 / 7}, bug.ScenarioRuns)
	require.Equal(t, "simrun", s.Program)
	require.Len(t, bug.Shortest.Actions, 2)
	require.Equal(t, int64(2), bug.Shortest.Hosts)
	c, err := plan.ReadCapsuleFile(bug.Shortest.Capsule, fakesim.Catalogue().Registry)
	require.NoError(t, err)
	require.Equal(t, &plan.FailureRate{Failures: plan.Int64(bug.Runs), Runs: plan.Int64(bug.ScenarioOutOf[0])}, c.Rate)
	require.Equal(t, bug.Fingerprint, c.Fingerprint)
	require.Len(t, c.Plan.Actions, 2)
	require.NotEmpty(t, c.Decisions)
	require.NotEmpty(t, c.Unusual)

	require.Len(t, s.Hazards, 1)
	late := s.Hazards[0]
	require.Equal(t, "late", late.ID)
	require.Empty(t, late.Red)
	require.Equal(t, int64(60), late.Bucket.Runs)
	require.Empty(t, late.Bucket.Shortest.Actions, "it needs no action")
	require.FileExists(t, late.Bucket.Shortest.Capsule)

	require.Len(t, s.Sometimes, 1)
	require.Equal(t, campaign.Condition{Name: "third", Scenario: "toy/", Runs: 300, OutOf: 900, Expected: 270, First: "toy/clean:3", Soonest: 3}, s.Sometimes[0])
}

func TestCampaignDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	var results []*campaign.Summary
	for _, workers := range []int{1, 3} {
		cfg := config("", 700)
		cfg.Prefix = "toy/"
		cfg.Workers = workers
		s := run(t, cfg)
		s.Workers, s.ElapsedMs, s.RunMs, s.ShrinkMs, s.RunsPerSecond, s.EventsPerSecond = 0, 0, 0, 0, 0, 0
		for i := range s.Scenarios {
			s.Scenarios[i].MeanRunUs = 0
		}
		results = append(results, s)
	}
	// Which examples are tried first is private; what is reported must be the same.
	require.Equal(t, fmt.Sprintf("%+v", *results[0].Findings[0].Shortest), fmt.Sprintf("%+v", *results[1].Findings[0].Shortest))
	require.Equal(t, results[0].Scenarios, results[1].Scenarios)
	require.Equal(t, results[0].Sometimes, results[1].Sometimes)
	require.Equal(t, results[0].Findings, results[1].Findings)
	require.Equal(t, results[0].Hazards, results[1].Hazards)
}

func TestColdConditionsAreRed(t *testing.T) {
	s := run(t, config("cold/", 100))
	require.Empty(t, s.Findings)
	require.NotEmpty(t, s.Sometimes[0].Red)
	require.Empty(t, s.Hazards[0].Red, "ten expected are too few to tell")
	require.True(t, s.Failed())

	s = run(t, config("cold/", 30))
	require.Empty(t, s.Sometimes[0].Red, "fifteen expected are too few to tell")
	require.False(t, s.Failed())

	s = run(t, config("cold/", 300))
	require.NotEmpty(t, s.Hazards[0].Red)

	elsewhere := config("cold/", 300)
	elsewhere.Catalogue.Hazards[1].DueIn = "toy/hazard"
	s = run(t, elsewhere)
	require.Empty(t, s.Hazards[0].Red, "it is due in other scenarios, none of which ran")
}

// A rate is that of a family as a whole. A part of the family may meet nothing, and is not red for it.
func TestDueOnlyWhereTheWholeFamilyRan(t *testing.T) {
	narrow := config("toy/clean", 300)
	narrow.Catalogue.Sometimes = []sim.SometimesDoc{
		{Name: "anywhere", DuePerMillion: 500_000}, {Name: "toys", Scenario: "toy/", DuePerMillion: 500_000},
		{Name: "declared", Scenario: "toy/clean", DuePerMillion: 500_000},
		{Name: "two", Scenario: "toy/clean,toy/hazard", DuePerMillion: 500_000},
	}
	narrow.Catalogue.Hazards = []sim.HazardDoc{{ID: "everywhere", DuePerMillion: 500_000}}
	due := func(s *campaign.Summary) (expected []int64) {
		for _, c := range s.Sometimes[:4] {
			expected = append(expected, c.Expected)
			require.Equal(t, c.Expected > 0, c.Red != "", c.Name)
		}
		return expected
	}
	s := run(t, narrow)
	require.Equal(t, []int64{0, 0, 150, 0}, due(s))
	require.Equal(t, int64(300), s.Sometimes[0].OutOf)
	require.Zero(t, s.Hazards[0].Expected)
	require.Empty(t, s.Hazards[0].Red)

	family := narrow
	family.Prefix, family.ShrinkRuns = "toy/", -1
	require.Equal(t, []int64{0, 150, 50, 100}, due(run(t, family)), "a hundred runs of each of three scenarios")
}

func TestBadSeedsAreFindingsAndTheCampaignGoesOn(t *testing.T) {
	for _, c := range []struct{ scenario, fingerprint, detail, tail string }{
		{"bad/panic", "panic/no-panic/runtime error: index out of range [#] with length # in fakesim.misbehave", "index out of range [9]", ""},
		{"bad/exit", "panic/process-lives/exit", "exit status 2: fatal error: all goroutines are asleep", "deadlock!"},
		{"bad/hang", "spin/process-lives/hang", "no end within 1s", ""},
		{"bad/refuse", "panic/plan-is-runnable/refused", "plan: params.colour: is not known", ""},
		{"bad/draw", "panic/plan-is-runnable/drawn", "Draw panics: fakesim: no plan for seed 13 in fakesim.scenario.Draw", ""},
		{"bad/format", "panic/plan-is-runnable/drawn", "plan: format is 0: Draw must set it to plan.Format, 1", ""},
		{"bad/memory", "panic/process-lives/memory", "heap over its bound", "over the bound"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			cfg := config(c.scenario, 40)
			cfg.OutDir = t.TempDir()
			cfg.RunLimit = time.Second
			if c.scenario == "bad/memory" {
				cfg.RunLimit = 20 * time.Second
			}
			s := run(t, cfg)
			require.Equal(t, int64(40), s.Runs, "every other seed ran")
			require.Len(t, s.Findings, 1)
			f := s.Findings[0]
			require.Equal(t, c.fingerprint, f.Fingerprint)
			require.Equal(t, int64(1), f.Runs)
			require.Equal(t, uint64(fakesim.BadSeed), f.Example.Seed)
			require.Contains(t, f.Example.Detail, c.detail)
			require.Contains(t, f.Example.Tail, c.tail)
			data, err := os.ReadFile(f.Shortest.Capsule)
			require.NoError(t, err)
			capsule, err := plan.DecodeCapsule(data)
			require.NoError(t, err)
			require.Equal(t, plan.Uint64(fakesim.BadSeed), capsule.Plan.Seed)
			require.Equal(t, c.scenario, capsule.Plan.Scenario)
			require.Equal(t, c.fingerprint, capsule.Fingerprint)
		})
	}
}

// A worker that somebody else kills is no finding: the seed passes on a second try, and the others of its batch run, too.
func TestAWorkerKilledFromOutside(t *testing.T) {
	t.Setenv(fakesim.OnceEnv, filepath.Join(t.TempDir(), "once"))
	s := run(t, config("bad/once", 40))
	require.Equal(t, int64(40), s.Runs)
	require.Empty(t, s.Findings)
	require.False(t, s.Failed())
	require.Equal(t, []string{"a worker was killed from outside, seed 13 of bad/once passed on a second try (signal: killed)"}, s.Notes)

	t.Setenv(fakesim.OnceEnv, filepath.Join(t.TempDir(), "once"))
	r, err := campaign.Verify(context.Background(), config("bad/once", 40))
	require.NoError(t, err)
	require.Empty(t, r.Differences)
	require.Equal(t, int64(40), r.Runs)
}

// What is set to zero after WithDefaults is zero.
func TestZeroMeansZero(t *testing.T) {
	cfg := config("toy/", 30).WithDefaults()
	require.Equal(t, uint64(1), cfg.First)
	cfg.First, cfg.ShrinkRuns, cfg.Time, cfg.MinRuns = 0, 0, 0, 0
	again := cfg.WithDefaults()
	require.Zero(t, again.First)
	require.Zero(t, again.ShrinkRuns)
	require.Zero(t, again.Time)
	s := run(t, cfg)
	require.Equal(t, uint64(0), s.First)
	require.Equal(t, int64(30), s.Runs)
	require.Equal(t, uint64(0), s.Findings[0].Example.Seed, "toy/buggy fails at seed 0")
	require.Zero(t, s.Findings[0].Shortest.Runs, "not shrunk")
	cfg.First = ^uint64(0) - 3
	require.Equal(t, int64(30), run(t, cfg).Runs, "seeds wrap around")
}

// A folder that can't be written costs the capsules, not the summary.
func TestCapsulesThatCannotBeWritten(t *testing.T) {
	cfg := config("toy/", 90)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cfg.OutDir = filepath.Join(file, "out")
	s := run(t, cfg)
	require.Equal(t, int64(90), s.Runs)
	require.Len(t, s.Findings, 1)
	require.Empty(t, s.Findings[0].Shortest.Capsule)
	require.NotEmpty(t, s.Findings[0].Shortest.Actions)
	require.Len(t, s.Unwritten, 2, "of the finding and of the hazard")
	require.Contains(t, s.Unwritten[0], "not a directory")
}

// A process that stops is no finding by itself, but it must not be overlooked.
func TestStoppedProcessesAreCountedByRun(t *testing.T) {
	s := run(t, config("bad/stops", 40))
	require.Empty(t, s.Findings)
	require.Equal(t, int64(1), s.Scenarios[0].StoppedRuns)
	require.Equal(t, int64(2), s.Scenarios[0].StoppedProcesses)
}

func TestAPanicKeepsItsStack(t *testing.T) {
	cfg := config("bad/panic", 40)
	cfg.OutDir = t.TempDir()
	s := run(t, cfg)
	c, err := plan.ReadCapsuleFile(s.Findings[0].Shortest.Capsule, fakesim.Catalogue().Registry)
	require.NoError(t, err)
	stack := c.Verdict.Broken[0].Stack
	require.Greater(t, len(stack), 1)
	require.Regexp(t, `^fakesim\.misbehave \(fakesim\.go:[0-9]+\)$`, stack[0])
	require.Regexp(t, `^fakesim\.\(\*Runner\)\.Run \(fakesim\.go:[0-9]+\)$`, stack[1])
	require.NotContains(t, strings.Join(stack, "\n"), "campaign.")
}

func TestRubbishOnStandardOutputIsIgnored(t *testing.T) {
	s := run(t, config("bad/rubbish", 40))
	require.Equal(t, int64(40), s.Runs)
	require.Empty(t, s.Findings)
}

func TestWorkersThatNeverStartAreAnError(t *testing.T) {
	cfg := config("toy/", 10)
	cfg.Command = command("dies")
	_, err := campaign.Run(context.Background(), cfg)
	require.ErrorContains(t, err, "workers die before their first run")
	require.ErrorContains(t, err, "no such library")

	cfg.Command = func(string) *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "none")) }
	_, err = campaign.Run(context.Background(), cfg)
	require.ErrorContains(t, err, "start worker")
}

func TestDefaultCampaignSharesByCost(t *testing.T) {
	cfg := config("toy/", 0)
	cfg.MinRuns, cfg.Time, cfg.ShrinkRuns = 500, time.Millisecond, -1
	s := run(t, cfg)
	require.GreaterOrEqual(t, s.Runs, int64(500))
	for _, line := range s.Scenarios {
		require.GreaterOrEqual(t, line.Runs, int64(20))
	}
	require.Equal(t, "toy/buggy:7", s.Findings[0].Shortest.Token)
}

func TestInterruptedCampaignSumsUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	cfg := config("bad/hang", 40)
	s, err := campaign.Run(ctx, cfg)
	require.NoError(t, err)
	require.True(t, s.Interrupted)
	require.Less(t, s.Runs, int64(40))
}

func TestUnknownPrefix(t *testing.T) {
	_, err := campaign.Run(context.Background(), config("nothing", 1))
	require.ErrorIs(t, err, campaign.ErrNoScenario)
	require.ErrorContains(t, err, `no scenario's name starts with "nothing"; the nearest are `)
}

func TestVerifyAgrees(t *testing.T) {
	r, err := campaign.Verify(context.Background(), config("toy/", 100))
	require.NoError(t, err)
	require.Equal(t, int64(100), r.Runs)
	require.Greater(t, r.Scenarios, int64(1))
	require.Empty(t, r.Differences)
	r, err = campaign.Verify(context.Background(), config("toy/", 1))
	require.NoError(t, err)
	require.Equal(t, int64(1), r.Scenarios, "those without a seed did not run")
}

func TestVerifyNamesTheFirstEventThatDiffers(t *testing.T) {
	r, err := campaign.Verify(context.Background(), config("bad/flaky", 20))
	require.NoError(t, err)
	require.Equal(t, int64(20), r.Runs)
	require.Len(t, r.Differences, 1)
	d := r.Differences[0]
	require.Equal(t, uint64(fakesim.BadSeed), d.Seed)
	require.Contains(t, d.What, "trace hash")
	require.Equal(t, int64(3), d.Event)
	require.Len(t, d.Quiet, 3)
	require.Contains(t, d.Loud[2].Text, "tick 3")
}

func TestVerifyReportsADeath(t *testing.T) {
	r, err := campaign.Verify(context.Background(), config("bad/exit", 20))
	require.NoError(t, err)
	require.Len(t, r.Differences, 1)
	require.True(t, strings.Contains(r.Differences[0].What, "process died"), r.Differences[0].What)
}
