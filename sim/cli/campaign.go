package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/spf13/cobra"
)

func (a *App) campaignCommand() *cobra.Command {
	cfg := campaign.Config{Catalogue: a.Catalogue, Workers: runtime.NumCPU(), OutDir: a.defaultOut()}.WithDefaults()
	cfg.ShrinkTime = 0 // depends on --seeds
	first := seedFlag(cfg.First)
	var profile string
	memoryMB := int64(1024)
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "campaign [NAME-PREFIX]",
		Short: "Run many seeds in many processes and sum up",
		Long: "Campaign runs seeds of all scenarios whose names start with the prefix. Without --seeds it runs at least --min-runs\n" +
			"seeds, shared over the scenarios by measured cost (each at least 20), and as many more as fit into --time. With\n" +
			"--seeds it runs exactly that many in all, split evenly over the scenarios; then the summary depends on nothing else.\n" +
			"Each worker is a process of its own: one that dies, hangs or outgrows its memory is a finding, and is replaced.\n" +
			"Findings and declared hazards are shrunk and written as capsules. Exit code 1 for a finding, and for a condition or\n" +
			"hazard that so many runs should have met and did not; 130 when SIGINT or SIGTERM ended it, with the summary so far.",
		Example: fmt.Sprintf("  %s campaign\n  %s campaign %s --seeds 50000", program, program, a.exampleScenario()),
		Args:    atMostOne("a prefix of scenario names (several take a call each)"),
	}
	cmd.Flags().Int64Var(&cfg.Seeds, "seeds", 0, "runs in all, split evenly over the scenarios (0: share by cost)")
	cmd.Flags().BoolVar(&cfg.All, "all", false, "the large scenarios too")
	cmd.Flags().Var(&first, "first", "first seed of every scenario")
	a.addProfile(cmd, &profile)
	cmd.Flags().IntVar(&cfg.Workers, "workers", cfg.Workers, "worker processes")
	cmd.Flags().Int64Var(&cfg.MinRuns, "min-runs", cfg.MinRuns, "least number of runs when they are shared by cost")
	cmd.Flags().DurationVar(&cfg.Time, "time", cfg.Time, "time to fill with runs when they are shared by cost")
	cmd.Flags().DurationVar(&cfg.RunLimit, "run-limit", cfg.RunLimit, "processor time after which a run counts as hung; ten times as much by the wall clock")
	cmd.Flags().Int64Var(&memoryMB, "memory", memoryMB, "heap bound of a worker in MiB")
	cmd.Flags().Int64Var(&cfg.ShrinkRuns, "shrink-runs", cfg.ShrinkRuns, "runs to shrink one example (0: do not shrink)")
	cmd.Flags().StringVar(&cfg.OutDir, "out", cfg.OutDir, "folder for capsules")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			cfg.Prefix = args[0]
		}
		var err error
		if cfg.Prefix, err = a.under(cfg.Prefix, profile); err != nil {
			return err
		}
		cfg.First = uint64(first)
		if err := checkCampaign(&cfg, memoryMB); err != nil {
			return err
		}
		if _, err := campaign.Match(a.Catalogue, cfg.Prefix, cfg.All); err != nil {
			return err
		}
		if err := checkOut(cfg.OutDir, cmd.Flags().Changed("out")); err != nil {
			return err
		}
		config := Configure(cmd, args, nil)
		w := cmd.OutOrStdout()
		if !JSON(cmd) {
			if err := config.Print(w); err != nil {
				return err
			}
		}
		cfg.Command = a.workerProcess(memoryMB << 20)
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		bars := newProgress(a.Stderr)
		cfg.Progress, cfg.Log = bars, newLog(bars.log())
		summary, err := campaign.Run(ctx, cfg)
		bars.finish()
		if err != nil {
			return err
		}
		if JSON(cmd) {
			err = PrintJSON(w, struct {
				Config  Configuration     `json:"config"`
				Summary *campaign.Summary `json:"summary"`
			}{config, summary})
		} else {
			err = reports.Campaign(w, summary)
		}
		if n := int64(len(summary.Unwritten)); err == nil && n > 0 {
			return &errUnwritten{reports.Plural(n, "capsule") + " could not be written: " + plain(summary.Unwritten[0])}
		}
		if err == nil && summary.Interrupted {
			return ErrInterrupted
		}
		if err == nil && summary.Failed() {
			err = ErrFinding
		}
		return err
	}
	return cmd
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
	case cfg.Workers < 1 || cfg.Workers > mostWorkers:
		return Usagef("--workers must be at least 1, and at most %d", mostWorkers)
	case cfg.MinRuns < 1:
		return Usagef("--min-runs must be at least 1")
	case cfg.Time < 0:
		return Usagef("--time must not be negative")
	case cfg.ShrinkRuns < 0:
		return Usagef("--shrink-runs must not be negative: 0 does not shrink")
	case memoryMB < 16 || memoryMB > 1<<30:
		return Usagef("--memory must lie between 16 and %d MiB", 1<<30)
	}
	return checkRunLimit(cfg.RunLimit)
}

// workerProcess makes the command that runs this binary as a worker. It keeps the name under which the program was called,
// because a test binary tells by that name which program it is.
func (a *App) workerProcess(memoryBytes int64) campaign.Command {
	return func(progressFile string) *exec.Cmd {
		path, err := os.Executable()
		if err != nil {
			path = os.Args[0]
		}
		c := exec.Command(path, "worker", "--progress", progressFile, "--memory", strconv.FormatInt(memoryBytes, 10))
		c.Args[0] = os.Args[0]
		return c
	}
}

func (a *App) workerCommand() *cobra.Command {
	var file string
	var memory int64
	cmd := &cobra.Command{
		Use:    "worker",
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
		})
	}
	return cmd
}
