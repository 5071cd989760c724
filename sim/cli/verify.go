package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"syscall"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/spf13/cobra"
)

func (a *App) verifyCommand() *cobra.Command {
	cfg := campaign.Config{Catalogue: a.Catalogue, Seeds: 500}.WithDefaults()
	first := seedFlag(cfg.First)
	var profile string
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "verify [NAME-PREFIX]",
		Short: "Run each seed in two processes and compare to the last bit",
		Long: "Verify runs seeds of all scenarios whose names start with the prefix, each in a quiet process with GOMAXPROCS=1 and\n" +
			"again in a loud one with GOMAXPROCS=4, in the opposite order, with poisoned buffers, full trace and recorded decisions.\n" +
			"Hashes and verdicts must be equal. Where they are not, both run again and the first event that differs is named. The\n" +
			"seeds are split evenly over the scenarios. Exit code 1 if any seed differs.",
		Example: fmt.Sprintf("  %s verify --seeds 500\n  %s verify %s --first 1000", program, program, a.exampleScenario()),
		Args:    atMostOne("a prefix of scenario names (several take a call each)"),
	}
	cmd.Flags().Int64Var(&cfg.Seeds, "seeds", cfg.Seeds, "seeds in all, split evenly over the scenarios")
	cmd.Flags().Var(&first, "first", "first seed of every scenario")
	a.addProfile(cmd, &profile)
	cmd.Flags().DurationVar(&cfg.RunLimit, "run-limit", cfg.RunLimit, "processor time after which a run counts as hung; ten times as much by the wall clock")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cfg.Seeds < 1 {
			return Usagef("--seeds must be at least 1")
		}
		if cfg.Seeds > mostRuns {
			return Usagef("--seeds must be at most %d", int64(mostRuns))
		}
		if last := math.MaxUint64 - uint64(cfg.Seeds-1); uint64(first) > last {
			return Usagef("--first must be at most %d here: there are no seeds behind %d", last, uint64(math.MaxUint64))
		}
		if err := checkRunLimit(cfg.RunLimit); err != nil {
			return err
		}
		if len(args) > 0 {
			cfg.Prefix = args[0]
		}
		var err error
		if cfg.Prefix, err = a.under(cfg.Prefix, profile); err != nil {
			return err
		}
		if _, err := campaign.Match(a.Catalogue, cfg.Prefix, cfg.All); err != nil {
			return err
		}
		cfg.First = uint64(first)
		cfg.Command = a.workerProcess(0)
		config := Configure(cmd, args, nil)
		w := cmd.OutOrStdout()
		if !JSON(cmd) {
			if err := config.Print(w); err != nil {
				return err
			}
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		bars := newProgress(a.Stderr)
		cfg.Progress, cfg.Log = bars, newLog(bars.log())
		report, err := campaign.Verify(ctx, cfg)
		bars.finish()
		if err != nil {
			return err
		}
		if JSON(cmd) {
			err = PrintJSON(w, struct {
				Config Configuration      `json:"config"`
				Report reports.VerifyJSON `json:"report"`
			}{config, reports.NewVerifyJSON(report)})
		} else {
			err = reports.Verify(w, report)
		}
		if err == nil && report.Interrupted {
			return ErrInterrupted
		}
		if err == nil && len(report.Differences) > 0 {
			err = ErrFinding
		}
		return err
	}
	return cmd
}
