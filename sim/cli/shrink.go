package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/spf13/cobra"
)

// shrinkBudget is how many runs shrinking takes at most unless told otherwise.
const shrinkBudget = 1000

func (r *shrunkReport) print(w io.Writer) {
	if !r.Stats.Reproduced {
		fmt.Fprintf(w, "not shrunk: the plan does not show %s\n", r.Target)
		return
	}
	fmt.Fprintf(w, "shrunk for %s in %d runs: %d to %d actions, %d to %d hosts\n", r.Target, r.Stats.Runs,
		r.Stats.ActionsBefore, r.Stats.ActionsAfter, r.Stats.HostsBefore, r.Stats.HostsAfter)
	for _, action := range r.Actions {
		fmt.Fprintf(w, "  %s\n", action)
	}
	if r.Capsule != "" {
		fmt.Fprintf(w, "capsule: %s\n", r.Capsule)
	}
}

func (a *App) shrinkCommand() *cobra.Command {
	var goal, out string
	budget := int64(shrinkBudget)
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "shrink CAPSULE|TOKEN",
		Short: "Shorten a failing plan while it fails in the same way",
		Long: "Shrink deletes actions, then hosts, then workloads from the plan as long as the run still shows the target: the\n" +
			"fingerprint of the failure, or hazard/ID for a declared hazard. The result is written as a capsule.",
		Example: fmt.Sprintf("  %s shrink %s:SEED   # a seed that fails, as a campaign prints it\n"+
			"  %s shrink %s/FILE.json --out short.json   # a capsule that a run or a campaign wrote", program, a.exampleScenario(), program, a.defaultOut()),
		Args: oneArgument("a capsule file, or a token such as " + a.exampleScenario() + ":17"),
	}
	cmd.Flags().StringVar(&goal, "target", "", "fingerprint to keep (default: the one that the run shows)")
	cmd.Flags().Int64Var(&budget, "budget", budget, "runs to spend")
	cmd.Flags().StringVar(&out, "out", "", "file for the capsule (default: a name in "+a.defaultOut()+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if budget < 1 {
			return Usagef("--budget must be at least 1")
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
		report, err := a.shorten(src.plan, goal, budget, a.defaultOut(), out)
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
