package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

const featuresHelp = `Features runs kafka-features against the active controller of a simulated cluster: the plan of a scenario and seed, with this call
as one more action at a time of the run. The answer is the controller's; the tool asks again when the controller changes. Without
--scenario the cluster is a calm one of three controllers and two brokers, and nobody else calls.

The same call as an action of a plan: 2s features do=upgrade metadata=3.9 expect=ok (see simrun list faults).

Exit code 0: the tool did as it was told. 1: it was refused, or the run has a finding. 2: a wrong call; nothing is run.`

// featuresCall is one call of features.
type featuresCall struct {
	catalogue                       *sim.Catalogue
	do                              string
	scenario, at, metadata, version string
	toolRelease                     string
	seed                            uint64
	list                            []string
	unsafe, dryRun                  bool
}

// action is the id of the call in the plan.
const featuresAction = "tool"

// featuresCommand returns `features`.
func featuresCommand(catalogue *sim.Catalogue) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "features COMMAND",
		Short: "Describe or change the feature levels of a simulated cluster, as kafka-features does",
		Long:  featuresHelp,
		Example: "  simrun features describe\n  simrun features upgrade --metadata 4.2 --at 3s\n" +
			"  simrun features upgrade --release-version 4.4 --dry-run --scenario kip1262/released --seed 7\n" +
			"  simrun features downgrade --feature metadata.version=28 --json\n  simrun features disable --feature group.version\n" +
			"  simrun features version-mapping --release-version 4.0",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("%q is no command of features: use describe, upgrade, downgrade, disable, version-mapping or feature-dependencies", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cli.JSON(cmd) {
				return cli.Usagef("features needs a command: see simrun features --help")
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(featuresSub(catalogue, "describe", "Print what the active controller supports and what is finalized"),
		featuresSub(catalogue, "upgrade", "Raise feature levels"), featuresSub(catalogue, "downgrade", "Lower feature levels"),
		featuresSub(catalogue, "disable", "Lower features to level 0"), versionMappingCommand("features"), featureDependenciesCommand("features"))
	return cmd
}

func featuresSub(catalogue *sim.Catalogue, do, short string) *cobra.Command {
	c := &featuresCall{catalogue: catalogue, do: do}
	cmd := &cobra.Command{Use: do, Short: short, Long: short + ".\n\n" + featuresHelp, Args: noArguments,
		Example: "  simrun features " + map[string]string{"describe": "describe --at 2s", "upgrade": "upgrade --metadata 4.2",
			"downgrade": "downgrade --feature share.version=1 --unsafe", "disable": "disable --feature group.version --dry-run"}[do]}
	f := cmd.Flags()
	f.StringVar(&c.scenario, "scenario", scenarios.FeaturesScenario, "scenario whose cluster is asked")
	c.seed = 1
	cli.AddSeed(cmd, &c.seed, "seed", "seed from which the plan is drawn")
	f.StringVar(&c.at, "at", "10s", "when the tool is called, in virtual time before the calm; voters of a static quorum tell their leader after some seconds what they support")
	f.StringVar(&c.toolRelease, "release", "", "software of the tool: "+strings.Join(features.Names(), ", ")+"; default is that of the first controller")
	if do != "describe" {
		form := "NAME=LEVEL"
		if do == "disable" {
			form = "NAME"
		}
		f.StringArrayVar(&c.list, "feature", nil, form+", repeatable")
		f.BoolVar(&c.dryRun, "dry-run", false, "check and change nothing")
	}
	if do == "upgrade" || do == "downgrade" {
		f.StringVar(&c.metadata, "metadata", "", "metadata.version as 3.9 or 3.9-IV0, the older spelling of --feature metadata.version")
		f.StringVar(&c.version, "release-version", "", "metadata.version of this version and the default level of every other feature there; excludes the two others")
	}
	if do == "downgrade" || do == "disable" {
		f.BoolVar(&c.unsafe, "unsafe", false, "also where metadata would be lost")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return c.run(cmd) }
	return cmd
}

// params is the call as parameters of an action.
func (c *featuresCall) params() plan.Params {
	p := plan.Params{"do": c.do}
	for name, value := range map[string]string{"feature": strings.Join(c.list, ","), "metadata": c.metadata, "release_version": c.version,
		"release": c.toolRelease} {
		if value != "" {
			p[name] = value
		}
	}
	if c.unsafe {
		p["unsafe"] = "true"
	}
	if c.dryRun {
		p["dry_run"] = "true"
	}
	return p
}

// plan draws the plan and puts the call into it.
func (c *featuresCall) plan(cmd *cobra.Command) (*plan.Plan, error) {
	s := c.catalogue.Scenario(c.scenario)
	if s == nil {
		return nil, cli.Usagef("--scenario %q: no such scenario, see simrun list scenarios", c.scenario)
	}
	if _, ok := scenarios.ToolAnswers(c.catalogue, c.scenario); !ok {
		return nil, cli.Usagef("--scenario %s: its nodes have no controllers that a tool could ask", c.scenario)
	}
	at, err := plan.ParseDurationUs(c.at)
	if err != nil {
		return nil, cli.Usagef("--at %q: want a duration as 3s or 250ms", c.at)
	}
	if c.toolRelease != "" {
		if _, err := findRelease(c.toolRelease); err != nil {
			return nil, err
		}
	}
	p := s.Draw(c.seed)
	if c.scenario == scenarios.FeaturesScenario {
		p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { return a.Kind == "features" })
	}
	if at < 0 || at >= int64(p.StormUs) {
		if cmd.Flags().Changed("at") {
			return nil, cli.Usagef("--at %s: must lie before the calm of this plan, which begins at %s", c.at, plan.FormatDurationUs(int64(p.StormUs)))
		}
		at = int64(p.StormUs) / 2
		c.at = plan.FormatDurationUs(at)
	}
	p.Actions = append(p.Actions, plan.Action{ID: featuresAction, Kind: "features", AtUs: plan.Int64(at), Params: c.params()})
	if err := plan.Validate(p, c.catalogue.Registry); err != nil {
		return nil, cli.Usagef("%s", err)
	}
	return p, c.checkTool(p)
}

// checkTool refuses a call that the tool itself refuses: nothing is run for it.
func (c *featuresCall) checkTool(p *plan.Plan) error {
	name := c.toolRelease
	if name == "" {
		if name = p.Hosts[0].Release; name == "" {
			name = "upstream-4.5"
		}
	}
	release, err := findRelease(name)
	if err != nil {
		return err
	}
	tool, describe, err := scenarios.FeatureTool(c.params(), release)
	if err == nil && !describe {
		_, err = tool.Levels()
	}
	if err != nil {
		return cli.Usagef("%s", bare(err))
	}
	return nil
}

// featuresReport is the JSON document of features.
type featuresReport struct {
	Config  cli.Configuration      `json:"config"`
	Outcome plan.Outcome           `json:"outcome"` // of the run
	Answers []scenarios.ToolAnswer `json:"answers"`
}

func (c *featuresCall) run(cmd *cobra.Command) error {
	p, err := c.plan(cmd)
	if err != nil {
		return err
	}
	call := cli.Configure(cmd, nil, p)
	if !cli.JSON(cmd) {
		if err := call.Print(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	result, err := sim.NewEngine(c.catalogue).Run(p, sim.Options{})
	if err != nil {
		return err
	}
	all, _ := scenarios.ToolAnswers(c.catalogue, c.scenario)
	report := featuresReport{Config: call, Outcome: result.Verdict.Outcome,
		Answers: slices.DeleteFunc(all, func(a scenarios.ToolAnswer) bool { return a.Action != featuresAction })}
	if cli.JSON(cmd) {
		err = cli.PrintJSON(cmd.OutOrStdout(), report)
	} else {
		err = report.print(cmd.OutOrStdout(), result.Verdict)
	}
	if err == nil && report.failed() {
		return cli.ErrFinding
	}
	return err
}

// failed reports whether the tool or the run did not do well.
func (r *featuresReport) failed() bool {
	if len(r.Answers) == 0 || r.Outcome != plan.OK && r.Outcome != plan.LegitimatelyStuck {
		return true
	}
	return slices.ContainsFunc(r.Answers, func(a scenarios.ToolAnswer) bool { return a.Refused })
}

func (r *featuresReport) print(w io.Writer, v *plan.Verdict) error {
	if len(r.Answers) == 0 {
		fmt.Fprintln(w, "the run ended before the tool had an answer")
	}
	for _, a := range r.Answers {
		for _, line := range a.Lines {
			fmt.Fprintln(w, line)
		}
		host := a.Host
		if host == "" {
			host = "nobody"
		}
		fmt.Fprintf(w, "answered by %s at %s\n", host, plan.FormatDurationUs(a.AtUs))
	}
	if v.Outcome == plan.OK {
		return nil
	}
	return reports.Verdict(w, v)
}
