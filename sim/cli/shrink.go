package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

func (r *shrunkReport) print(w io.Writer) {
	if !r.Stats.Reproduced {
		fmt.Fprintf(w, "not shrunk: the plan does not show %s\n", r.Target)
		return
	}
	s := &r.Stats
	fmt.Fprintf(w, "shrunk for %s in %d runs: %d to %d actions, %d to %d hosts, %d to %d drawn faults, %d to %d rates and clocks, storm %s to %s\n",
		r.Target, s.Runs, s.ActionsBefore, s.ActionsAfter, s.HostsBefore, s.HostsAfter, s.DecisionsBefore, s.DecisionsAfter,
		s.RatesBefore, s.RatesAfter, plan.FormatDurationUs(int64(s.StormBeforeUs)), plan.FormatDurationUs(int64(s.StormAfterUs)))
	for _, step := range s.TakenBack {
		fmt.Fprintf(w, "not materialised: %s, since the run without does not show the target\n", step)
	}
	if s.Minimal {
		fmt.Fprintln(w, "minimal: no single action, decision, rate, clock, host or workload can go")
	} else {
		fmt.Fprintln(w, "not minimal yet: "+r.ended+" ended the search")
	}
	for _, action := range r.Actions {
		fmt.Fprintf(w, "  %s\n", action)
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(w, "  %s\n", fault)
	}
	if r.Capsule != "" {
		fmt.Fprintf(w, "capsule: %s\n", r.Capsule)
	}
}

func (a *App) shrinkCommand() *cobra.Command {
	var goal, out string
	var bare bool
	var budget searchBudget
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "shrink CAPSULE|TOKEN",
		Short: "Shorten a failing plan while it fails in the same way",
		Long: "Shrink first lists each fault of the run in the plan, as an action or as a decision, and sets the rates that drew them to\n" +
			"zero. Then it deletes actions, hosts, workloads and single decisions, lowers numbers, shortens and rounds times, and takes\n" +
			"models and clocks back to what is usual, as long as the run still shows the target: the fingerprint of the failure, or\n" +
			"hazard/ID for a declared hazard. In the end no single part can go. The result is written as a capsule.",
		Example: fmt.Sprintf("  %s shrink %s:SEED   # a seed that fails, as a campaign prints it\n"+
			"  %s shrink %s/FILE.json --out short.json   # a capsule that a run or a campaign wrote", program, a.exampleScenario(), program, a.defaultOut()),
		Args: oneArgument("a capsule file, or a token such as " + a.exampleScenario() + ":17"),
	}
	cmd.Flags().StringVar(&goal, "target", "", "fingerprint to keep (default: the one that the run shows)")
	budget.flags(cmd)
	cmd.Flags().BoolVar(&bare, "bare", false, "leave out of the capsule what its plan implies: lists of decisions, hashes, counters")
	cmd.Flags().StringVar(&out, "out", "", "file for the capsule (default: a name in "+a.defaultOut()+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := budget.check(); err != nil {
			return err
		}
		src, err := a.locate(args[0])
		if err != nil {
			return err
		}
		if out != "" {
			if err := checkFile(out); err != nil {
				return Usagef("--out %s: cannot be written: %w", shellWord(out), err)
			}
		}
		if goal == "" && src.capsule != nil {
			goal = src.capsule.Fingerprint
		}
		if goal == "" {
			result, _, err := a.runPlan("", src.plan, sim.Options{}, runLimit)
			if err != nil {
				return err
			}
			if goal = target(result.Verdict); goal == "" {
				return Usagef("%s ends with %s: %s", args[0], result.Verdict.Outcome, nothingToShrink)
			}
		}
		if strings.Contains(goal, "/"+campaign.ProcessLives+"/") {
			return Usagef("%s: %s took its process along or never ended, and nothing in a process can shorten such a run", args[0], goal)
		}
		config := Configure(cmd, args, src.plan)
		w := cmd.OutOrStdout()
		if !JSON(cmd) {
			if err := config.Print(w); err != nil {
				return err
			}
		}
		report, err := a.shorten(src.plan, goal, newSearching(cmd.ErrOrStderr(), budget, time.Now), bare, a.defaultOut(), out)
		if report == nil {
			return err
		}
		unwritten := err
		if JSON(cmd) {
			err = PrintJSON(w, struct {
				Config Configuration `json:"config"`
				*shrunkReport
			}{config, report})
		} else {
			report.print(w)
			err = nil
		}
		if err == nil && unwritten != nil {
			return &errUnwritten{notWritten(unwritten)}
		}
		if err == nil && !report.Stats.Reproduced {
			err = Usagef("%s does not show %s", args[0], goal)
		}
		return err
	}
	return cmd
}
