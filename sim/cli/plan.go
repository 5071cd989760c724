package cli

import (
	"fmt"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

func (a *App) planCommand() *cobra.Command {
	seed := seedFlag(1)
	var file, profile string
	var text bool
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO|TOKEN]",
		Short: "Show the plan that a seed draws, or check a plan file",
		Long: "Plan prints the plan of a seed as the JSON document that run --plan reads, or with --text as lines for people. The\n" +
			"configuration goes to standard error, so that the document can be sent to a file. With --check it validates a file,\n" +
			"a plan or the plan in a capsule.",
		Example: fmt.Sprintf("  %s plan %s --seed 17 > plan.json\n  %s plan %s:17 --text\n  %s plan --check plan.json", program, a.exampleScenario(), program, a.exampleScenario(), program),
		Args:    atMostOne("a scenario or a token"),
	}
	cmd.Flags().Var(&seed, "seed", "seed from which the plan is drawn")
	a.addProfile(cmd, &profile)
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
		named, err := a.firstUnder(args, profile)
		if err != nil {
			return err
		}
		p, err := a.planToRun(cmd, named, uint64(seed), "")
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
	p, kind, err := a.readEither(file)
	if err != nil {
		return err
	}
	config := Configure(cmd, args, p)
	if JSON(cmd) {
		return PrintJSON(cmd.OutOrStdout(), struct {
			Config Configuration `json:"config"`
			File   string        `json:"file"`
			Kind   string        `json:"kind"`
			Valid  bool          `json:"valid"`
		}{config, file, kind, true})
	}
	if err := config.Print(cmd.OutOrStdout()); err != nil {
		return err
	}
	text := file + " is a valid plan\n"
	if kind == "capsule" {
		text = fmt.Sprintf("%s is a capsule, not a plan; the plan in it is valid: `%s replay %s` runs it\n", file,
			a.Catalogue.Program, shellWord(file))
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// readEither reads a plan, or the plan in a capsule.
func (a *App) readEither(file string) (p *plan.Plan, kind string, err error) {
	if documentOf(file) != capsuleDocument {
		p, err = a.readPlan(file)
		return p, "plan", err
	}
	c, err := plan.ReadCapsuleFile(file, a.Catalogue.Registry)
	if err != nil {
		return nil, "", err
	}
	return c.Plan, "capsule", a.knows(file, c.Plan)
}
