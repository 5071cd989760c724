package cli

import (
	"fmt"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// runReport is the JSON document of run.
type runReport struct {
	Config  Configuration       `json:"config"`
	Verdict *plan.Verdict       `json:"verdict"`
	Trace   []reports.TraceJSON `json:"trace,omitempty"`
	Capsule string              `json:"capsule,omitempty"`
	Replay  string              `json:"replay,omitempty"`
	Shrunk  *shrunkReport       `json:"shrunk,omitempty"`
}

// shrunkReport tells about a shortened plan.
type shrunkReport struct {
	Target  string       `json:"target"`
	Stats   shrink.Stats `json:"stats"`
	Actions []string     `json:"actions"`
	Capsule string       `json:"capsule,omitempty"`
}

func (a *App) runCommand() *cobra.Command {
	seed := seedFlag(1)
	var file, out string
	var trace, short bool
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "run [SCENARIO]",
		Short: "Run one plan: the one that a seed draws, or one from a file",
		Long: "Run draws the plan of a seed (or reads one) and runs it. A failing run writes a capsule, and the command that\n" +
			"replays it is printed. Exit code 0 for a run without a finding, also when it is legitimately stuck; 1 for a finding.",
		Example: fmt.Sprintf("  %s run %s --seed 17\n  %s run --plan plan.json --trace", program, a.exampleScenario(), program),
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().Var(&seed, "seed", "seed from which the plan is drawn")
	cmd.Flags().StringVar(&file, "plan", "", "run the plan in this file instead of drawing one")
	cmd.Flags().BoolVar(&trace, "trace", false, "print the full trace")
	cmd.Flags().BoolVar(&short, "shrink", false, "shorten the plan of a failing run, or of one that met a declared hazard")
	cmd.Flags().StringVar(&out, "out", defaultOut, "folder for capsules")
	if a.RunHook != nil && a.RunHook.Flags != nil {
		a.RunHook.Flags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.RunHook != nil && a.RunHook.Run != nil {
			if handled, err := a.RunHook.Run(cmd, args); handled || err != nil {
				return err
			}
		}
		p, err := a.planToRun(cmd, args, uint64(seed), file)
		if err != nil {
			return err
		}
		return a.runOne(cmd, args, p, file, out, trace, short)
	}
	return cmd
}

func (a *App) exampleScenario() string {
	if len(a.Catalogue.Scenarios) == 0 {
		return "SCENARIO"
	}
	return a.Catalogue.Scenarios[0].Name()
}

// planToRun draws or reads the plan that a call of run asks for.
func (a *App) planToRun(cmd *cobra.Command, args []string, seed uint64, file string) (*plan.Plan, error) {
	switch {
	case file == "" && len(args) == 0:
		return nil, Usagef("run needs a scenario or --plan FILE; see %s list scenarios", a.Catalogue.Program)
	case file == "":
		return a.drawn(args[0], seed)
	case cmd.Flags().Changed("seed"):
		return nil, Usagef("--seed and --plan exclude each other: the seed stands in the plan")
	}
	// The default seed is not in force.
	cmd.Flags().Lookup("seed").Hidden = true
	p, err := a.readPlan(file)
	if err == nil && len(args) > 0 && args[0] != p.Scenario {
		err = &plan.FieldError{File: file, Field: "scenario",
			Problem: fmt.Sprintf("%q, but the command line asks for %q", p.Scenario, args[0])}
	}
	return p, err
}

func (a *App) runOne(cmd *cobra.Command, args []string, p *plan.Plan, file, out string, trace, short bool) error {
	report := runReport{Config: Configure(cmd, args, p)}
	w, asJSON := cmd.OutOrStdout(), JSON(cmd)
	if !asJSON {
		if err := report.Config.Print(w); err != nil {
			return err
		}
	}
	o := sim.Options{RecordDecisions: true}
	if trace {
		o.Trace = func(l sim.TraceLine) {
			if asJSON {
				report.Trace = append(report.Trace, reports.NewTraceJSON(&l))
				return
			}
			fmt.Fprintln(w, reports.TraceLine(&l))
		}
	}
	result, err := a.runPlan(file, p, o)
	if err != nil {
		return err
	}
	report.Verdict = result.Verdict
	if !asJSON {
		if err := reports.Verdict(w, report.Verdict); err != nil {
			return err
		}
	}
	if report.Verdict.Outcome.Finding() {
		c := plan.NewCapsule(sim.EngineVersion, p, report.Verdict, result.Decisions, "")
		if report.Capsule, err = a.writeCapsule(out, c); err != nil {
			return err
		}
		report.Replay = a.Catalogue.Program + " replay " + shellWord(report.Capsule)
		if !asJSON {
			fmt.Fprintf(w, "capsule: %s\nreplay with: %s\n", report.Capsule, report.Replay)
		}
	}
	if goal := target(report.Verdict); short && goal != "" {
		if report.Shrunk, err = a.shorten(p, goal, shrinkBudget, out, ""); err != nil {
			return err
		}
		if !asJSON {
			report.Shrunk.print(w)
		}
	}
	if asJSON {
		if err := PrintJSON(w, &report); err != nil {
			return err
		}
	}
	if report.Verdict.Outcome.Finding() {
		return ErrFinding
	}
	return nil
}

// shorten shrinks a plan towards a fingerprint and writes the capsule of the result: into file, or into dir under a name made
// of the fingerprint.
func (a *App) shorten(p *plan.Plan, goal string, budget int64, dir, file string) (*shrunkReport, error) {
	runner := campaign.Guard(a.NewRunner)
	small, stats := shrink.Shrink(runner, p, goal, budget, nil)
	report := &shrunkReport{Target: goal, Stats: stats, Actions: []string{}}
	if !stats.Reproduced {
		return report, nil
	}
	for i := range small.Actions {
		report.Actions = append(report.Actions, a.Catalogue.Registry.FormatAction(&small.Actions[i]))
	}
	result, err := runner.Run(small, sim.Options{RecordDecisions: true})
	if err != nil {
		return nil, err
	}
	c := plan.NewCapsule(sim.EngineVersion, small, result.Verdict, result.Decisions, goal)
	if file == "" {
		report.Capsule, err = a.writeCapsule(dir, c)
		return report, err
	}
	data, err := plan.EncodeCapsule(c)
	if err != nil {
		return nil, err
	}
	report.Capsule = file
	return report, plan.WriteFile(file, data)
}
