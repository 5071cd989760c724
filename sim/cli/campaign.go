package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/spf13/cobra"
)

// campaignCall is one call of campaign, or of a command that goes on with what campaigns left.
type campaignCall struct {
	app      *App
	cfg      campaign.Config
	first    seedFlag
	memoryMB int64
	prefix   string // as typed, without the profile
	profile  string
	shard    string
	results  results
	files    campaignFiles
}

func (a *App) newCampaignCall() *campaignCall {
	c := &campaignCall{app: a, memoryMB: 1024}
	c.cfg = campaign.Config{Catalogue: a.Catalogue, Workers: runtime.NumCPU(), OutDir: a.defaultOut()}.WithDefaults()
	c.cfg.ShrinkTime = 0 // depends on --seeds
	c.first = seedFlag(c.cfg.First)
	return c
}

// flags declares what says which seeds run, and how. What is here is kept with the results and holds when the campaign goes on; a
// flag that may differ then has to be in freeFlags.
func (c *campaignCall) flags(cmd *cobra.Command) {
	f, cfg := cmd.Flags(), &c.cfg
	c.app.addProfile(cmd, &c.profile)
	f.Int64Var(&cfg.Seeds, "seeds", 0, "runs in all, split evenly over the scenarios (0: share by cost)")
	f.BoolVar(&cfg.All, "all", false, "the large scenarios too")
	f.Var(&c.first, "first", "first seed of every scenario")
	f.IntVar(&cfg.Workers, "workers", cfg.Workers, "worker processes")
	f.Int64Var(&cfg.MinRuns, "min-runs", cfg.MinRuns, "least number of runs when they are shared by cost; 1 with --time alone")
	f.DurationVar(&cfg.Time, "time", cfg.Time, "time to fill with runs when they are shared by cost")
	f.DurationVar(&cfg.RunLimit, "run-limit", cfg.RunLimit, "processor time after which a run counts as hung; ten times as much by the wall clock")
	f.Int64Var(&c.memoryMB, "memory", c.memoryMB, "heap bound of a worker in MiB")
	f.Int64Var(&cfg.ShrinkRuns, "shrink-runs", cfg.ShrinkRuns, "runs to shrink one example (0: do not shrink)")
	f.StringVar(&cfg.OutDir, "out", cfg.OutDir, "folder for capsules")
	f.StringVar(&c.shard, "shard", "", "run one of several parts: 2/8, or auto/8 for the one that JOB_COMPLETION_INDEX names, from 0")
	f.Int64Var(&cfg.Stop.Findings, "stop-findings", 0, "end after so many runs with a finding (0: never)")
	f.Int64Var(&cfg.Stop.Buckets, "stop-buckets", 0, "end after so many different findings (0: never)")
	f.Int64Var(&cfg.Stop.Quiet, "stop-quiet", 0, "end when so many runs in a row bring no new combination of state, fault and workload (0: never)")
	f.DurationVar(&cfg.Stop.After, "stop-after", 0, "end after so much time of runs (0: never)")
}

func (a *App) campaignCommand() *cobra.Command {
	c := a.newCampaignCall()
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "campaign [NAME-PREFIX]",
		Short: "Run many seeds in many processes and sum up",
		Long: "Campaign runs seeds of all scenarios whose names start with the prefix. Without --seeds it runs at least --min-runs\n" +
			"seeds, shared over the scenarios by measured cost (each at least 20), and as many more as fit into --time; with --time\n" +
			"given and --min-runs not, 20 of each scenario and what fits. Shrinking comes after that; --stop-after ends runs on the\n" +
			"dot. With --seeds it runs exactly that many in all, split evenly over the scenarios; then the summary depends on\n" +
			"nothing else.\n" +
			"Each worker is a process of its own: one that dies, hangs or outgrows its memory is a finding, and is replaced.\n" +
			"Findings and declared hazards are shrunk and written as capsules. What is done is kept in --db: a campaign that was\n" +
			"killed goes on with --resume and comes to the same totals. Exit code 1 for a finding, and for a condition or\n" +
			"hazard that so many runs should have met and did not; 3 when the planted bug was not found or something could not be\n" +
			"written; 130 when SIGINT or SIGTERM ended it, with the summary so far.",
		Example: fmt.Sprintf("  %s campaign\n  %s campaign %s --seeds 50000\n  %s campaign --resume last   # after a kill\n"+
			"  %s campaign --seeds 200000 --shard 2/8 --db shard2.db   # see %s merge --help\n  %s campaign --stop-findings 1 --stop-after 10m",
			program, program, a.exampleScenario(), program, program, program, program),
		Args: atMostOne("a prefix of scenario names (several take a call each)"),
	}
	c.flags(cmd)
	c.results.flags(cmd.Flags(), a)
	c.files.flags(cmd.Flags())
	cmd.Flags().StringVar(&c.results.resume, "resume", "", "go on with the campaign of this number in --db, or with the last one;\n"+
		"auto: with the one of exactly this configuration, or start it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) }
	return cmd
}

// run runs the campaign, or goes on with one.
func (c *campaignCall) run(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		c.prefix = args[0]
	}
	c.boundByTime(cmd)
	if c.results.resume == autoResume {
		if err := c.findOwn(cmd); err != nil {
			return err
		}
	}
	if c.results.resume != "" {
		ended, err := c.restore(cmd, args)
		if err != nil {
			return err
		}
		if ended != nil {
			if !JSON(cmd) {
				err = c.head(cmd, args)
			}
			return errors.Join(err, c.report(cmd, args, ended))
		}
	}
	if err := c.check(cmd); err != nil {
		return err
	}
	if err := c.files.check(); err != nil {
		return err
	}
	if err := c.begin(cmd, args); err != nil {
		return err
	}
	defer c.results.close()
	if !JSON(cmd) {
		if err := c.head(cmd, args); err != nil {
			return err
		}
	}
	summary, err := c.work(campaign.Run)
	if err != nil {
		return err
	}
	c.against(summary)
	return c.report(cmd, args, summary)
}

// boundByTime lets --time bound a campaign: who gives it, and no --min-runs, wants no more runs than fit. One that goes on by its number
// has both from its file.
func (c *campaignCall) boundByTime(cmd *cobra.Command) {
	f := cmd.Flags()
	if goesOn := c.results.resume != "" && c.results.resume != autoResume; !goesOn && f.Changed("time") && !f.Changed("min-runs") {
		c.cfg.MinRuns = 1
	}
}

// work runs f with workers and live bars, until a signal ends it.
func (c *campaignCall) work(f func(context.Context, campaign.Config) (*campaign.Summary, error)) (*campaign.Summary, error) {
	c.cfg.Command = c.app.workerProcess(c.memoryMB << 20)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bars := newProgress(c.app.Stderr)
	defer bars.finish()
	c.cfg.Progress, c.cfg.Log = bars, newLog(bars.log())
	return f(ctx, c.cfg)
}

// check looks at everything before the first run.
func (c *campaignCall) check(cmd *cobra.Command) (err error) {
	if c.cfg.Prefix, err = c.app.under(c.prefix, c.profile); err != nil {
		return err
	}
	c.cfg.First = uint64(c.first)
	if err := checkCampaign(&c.cfg, c.memoryMB); err != nil {
		return err
	}
	if c.cfg.Shard, err = campaign.ParseShard(c.shard, os.Getenv); err != nil {
		return Usagef("--shard: %w", err)
	}
	if c.cfg.Shard.Of > 1 && c.cfg.Seeds == 0 {
		return Usagef("--shard needs --seeds: shares by measured cost differ from machine to machine")
	}
	if _, err := campaign.Match(c.app.Catalogue, c.cfg.Prefix, c.cfg.All); err != nil {
		return err
	}
	return checkOut(c.cfg.OutDir, cmd.Flags().Changed("out"))
}

// head prints the configuration and where the results go.
func (c *campaignCall) head(cmd *cobra.Command, args []string) error {
	if err := Configure(cmd, args, nil).Print(cmd.OutOrStdout()); err != nil {
		return err
	}
	if c.results.journal == nil {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "campaign %d in %s\n", c.results.journal.ID(), c.results.db)
	return err
}

// campaignDocument is what campaign and merge print with --json.
type campaignDocument struct {
	Config Configuration `json:"config"`
	// Campaign is its number in Results.
	Campaign int64             `json:"campaign,omitempty"`
	Results  string            `json:"results,omitempty"`
	Summary  *campaign.Summary `json:"summary"`
}

// report prints the summary and says how the program ends.
func (c *campaignCall) report(cmd *cobra.Command, args []string, s *campaign.Summary) error {
	var err error
	if JSON(cmd) {
		document := campaignDocument{Config: Configure(cmd, args, nil), Summary: s}
		if c.results.journal != nil {
			document.Campaign, document.Results = c.results.journal.ID(), c.results.db
		}
		err = PrintJSON(cmd.OutOrStdout(), document)
	} else {
		err = reports.Campaign(cmd.OutOrStdout(), s)
		if again := c.onward(s); again != "" && err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "go on with: %s\n", again)
		}
	}
	if err == nil {
		err = c.files.write(c.app, cmd, s, Configure(cmd, args, nil).Command)
	}
	if n := int64(len(s.Unwritten)); err == nil && n > 0 {
		return &errUnwritten{reports.Plural(n, "file") + " could not be written: " + plain(s.Unwritten[0])}
	}
	if err == nil && s.Interrupted {
		return ErrInterrupted
	}
	if err == nil && s.Failed() {
		err = ErrFinding
	}
	return err
}

// onward is the command that runs what is left, "" where nothing is or nobody kept what was done.
func (c *campaignCall) onward(s *campaign.Summary) string {
	if c.results.journal == nil || !s.Interrupted && (s.Missing == 0 || s.Stopped != "") {
		return ""
	}
	again := fmt.Sprintf("%s campaign --resume %d", c.app.Catalogue.Program, c.results.journal.ID())
	if c.results.db != c.app.defaultResults() {
		again += " --db " + shellWord(c.results.db)
	}
	return again
}

// The largest campaign: its requests are a list in memory.
const (
	mostRuns    = 1_000_000_000
	mostWorkers = 1024
)

func checkCampaign(cfg *campaign.Config, memoryMB int64) error {
	switch {
	case cfg.Seeds < 0:
		return Usagef("--seeds must not be negative")
	case cfg.Seeds > mostRuns || cfg.MinRuns > mostRuns:
		return Usagef("--seeds and --min-runs must be at most %d", int64(mostRuns))
	case cfg.First > math.MaxUint64-seedsBehind(cfg):
		return Usagef("--first must be at most %d here: there are no seeds behind %d", math.MaxUint64-seedsBehind(cfg), uint64(math.MaxUint64))
	case cfg.Workers < 1 || cfg.Workers > mostWorkers:
		return Usagef("--workers must be at least 1, and at most %d", mostWorkers)
	case cfg.MinRuns < 1:
		return Usagef("--min-runs must be at least 1")
	case cfg.Time < 0:
		return Usagef("--time must not be negative")
	case cfg.Stop.After < 0:
		return Usagef("--stop-after must not be negative: 0 does not stop")
	case cfg.Stop.Findings < 0 || cfg.Stop.Buckets < 0 || cfg.Stop.Quiet < 0:
		return Usagef("--stop-findings, --stop-buckets and --stop-quiet must not be negative: 0 does not stop")
	case cfg.ShrinkRuns < 0:
		return Usagef("--shrink-runs must not be negative: 0 does not shrink")
	case memoryMB < 16 || memoryMB > 1<<30:
		return Usagef("--memory must lie between 16 and %d MiB", 1<<30)
	}
	return checkRunLimit(cfg.RunLimit)
}

// seedsBehind is how many seeds behind the first one a campaign may come to; one that is bounded by time is given the most.
func seedsBehind(cfg *campaign.Config) uint64 {
	if cfg.Seeds > 0 {
		return uint64(cfg.Seeds) - 1
	}
	return mostRuns
}

// workerProcess makes the command that runs this binary as a worker. It keeps the name under which the program was called,
// because a test binary tells by that name which program it is.
func (a *App) workerProcess(memoryBytes int64) campaign.Command {
	return func(progressFile string) *exec.Cmd {
		path, err := os.Executable()
		if err != nil {
			path = os.Args[0]
		}
		c := exec.Command(path, workerName, "--progress", progressFile, "--memory", strconv.FormatInt(memoryBytes, 10))
		c.Args[0] = os.Args[0]
		return c
	}
}

func (a *App) workerCommand() *cobra.Command {
	var file string
	var memory int64
	cmd := &cobra.Command{
		Use:    workerName,
		Short:  "Answer requests of a campaign on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
	}
	cmd.Flags().StringVar(&file, "progress", "", "file that names the run in progress")
	cmd.Flags().Int64Var(&memory, "memory", 0, "heap bound in bytes")
	cmd.RunE = func(*cobra.Command, []string) error {
		// An interrupt from the terminal reaches the whole group: the parent decides what becomes of the workers.
		signal.Ignore(os.Interrupt)
		answers := os.Stdout
		os.Stdout = os.Stderr // what a scenario prints is no answer
		return campaign.Serve(campaign.WorkerConfig{
			Catalogue: a.Catalogue, NewRunner: a.NewRunner, In: os.Stdin, Out: answers, Progress: file, MemoryBytes: memory,
			Explain: a.Explain,
		})
	}
	return cmd
}

// since tells a duration for people.
func since(d time.Duration) string { return d.Round(time.Second).String() }
