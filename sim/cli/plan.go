package cli

import (
	"fmt"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

func (a *App) planCommand() *cobra.Command {
	seed := seedFlag(1)
	var file string
	var text bool
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO]",
		Short: "Show the plan that a seed draws, or check a plan file",
		Long: "Plan prints the plan of a seed as the JSON document that run --plan reads, or with --text as lines for people. The\n" +
			"configuration goes to standard error, so that the document can be sent to a file. With --check it validates a file.",
		Example: fmt.Sprintf("  %s plan %s --seed 17 > plan.json\n  %s plan --check plan.json", program, a.exampleScenario(), program),
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().Var(&seed, "seed", "seed from which the plan is drawn")
	cmd.Flags().StringVar(&file, "check", "", "validate this plan file")
	cmd.Flags().BoolVar(&text, "text", false, "print lines for people")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w := cmd.OutOrStdout()
		if file != "" {
			return a.checkPlan(cmd, args, file)
		}
		if len(args) == 0 {
			return Usagef("plan needs a scenario or --check FILE; see %s list scenarios", program)
		}
		p, err := a.drawn(args[0], uint64(seed))
		if err != nil {
			return err
		}
		if err := Configure(cmd, args, p).Print(cmd.ErrOrStderr()); err != nil {
			return err
		}
		if text && !JSON(cmd) {
			return reports.Plan(w, p, a.Catalogue.Registry)
		}
		data, err := plan.Encode(p)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	return cmd
}

// checkPlan validates a file as far as that goes without running it.
func (a *App) checkPlan(cmd *cobra.Command, args []string, file string) error {
	if len(args) > 0 || cmd.Flags().Changed("seed") {
		return Usagef("--check takes a file only, no scenario and no seed")
	}
	cmd.Flags().Lookup("seed").Hidden = true
	p, err := a.readPlan(file)
	if err != nil {
		return err
	}
	config := Configure(cmd, args, p)
	if JSON(cmd) {
		return PrintJSON(cmd.OutOrStdout(), struct {
			Config Configuration `json:"config"`
			File   string        `json:"file"`
			Valid  bool          `json:"valid"`
		}{config, file, true})
	}
	if err := config.Print(cmd.OutOrStdout()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid plan\n", file)
	return err
}
