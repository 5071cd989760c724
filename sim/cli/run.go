package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// nothingToShrink is said where shrinking is asked for and nothing failed.
const nothingToShrink = "nothing to shrink: the run has no finding and met no declared hazard"

// runReport is the JSON document of run.
type runReport struct {
	Config  Configuration       `json:"config"`
	Verdict *plan.Verdict       `json:"verdict"`
	Trace   []reports.TraceJSON `json:"trace,omitempty"`
	Capsule string              `json:"capsule,omitempty"`
	Replay  string              `json:"replay,omitempty"`
	// NotWritten says why the capsule is not there.
	NotWritten string        `json:"not_written,omitempty"`
	Shrunk     *shrunkReport `json:"shrunk,omitempty"`
	// NothingToShrink answers --shrink where the run has neither a finding nor a declared hazard.
	NothingToShrink bool `json:"nothing_to_shrink,omitempty"`
	// Files are what --html, --shiviz and --chrome-trace wrote.
	Files *exported `json:"files,omitempty"`
	More  any       `json:"more,omitempty"` // what RunHook.Finish adds
}

// shrunkReport tells about a shortened plan.
type shrunkReport struct {
	Target  string       `json:"target"`
	Stats   shrink.Stats `json:"stats"`
	Actions []string     `json:"actions"`
	Faults  []string     `json:"faults,omitempty"` // decisions, rates and clocks that are left, as shrink.Part has them
	Capsule string       `json:"capsule,omitempty"`

	ended string // what ended a search that is not through
}

func (a *App) runCommand() *cobra.Command {
	seed := seedFlag(1)
	var file, out, profile string
	var trace, short, poison bool
	var limit time.Duration
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|TOKEN]",
		Short: "Run one plan: the one that a seed draws, or one from a file",
		Long: "Run draws the plan of a seed (or reads one) and runs it; the token scenario:seed names both. A failing\n" +
			"run writes a capsule, and the command that replays it is printed. Exit code 0 for a run without a finding, also when it is legitimately stuck; 1 for a finding.",
		Example: fmt.Sprintf("  %s run %s --seed 17\n  %s run %s:17 --shrink\n  %s run --plan plan.json --trace", program,
			a.exampleScenario(), program, a.exampleScenario(), program),
		Args: atMostOne("a scenario or a token"),
	}
	cmd.Flags().Var(&seed, "seed", "seed from which the plan is drawn")
	a.addProfile(cmd, &profile)
	cmd.Flags().StringVar(&file, "plan", "", "run the plan in this file instead of drawing one")
	cmd.Flags().BoolVar(&trace, "trace", false, "print the full trace")
	cmd.Flags().BoolVar(&short, "shrink", false, "shorten the plan of a failing run, or of one that met a declared hazard")
	cmd.Flags().BoolVar(&poison, "poison", false, "scribble over buffers and messages that the program gave away: reuse of them panics")
	cmd.Flags().StringVar(&out, "out", a.defaultOut(), "folder for capsules")
	addRunLimit(cmd, &limit)
	var files exports
	files.add(cmd)
	if a.RunHook != nil && a.RunHook.Flags != nil {
		a.RunHook.Flags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.RunHook != nil && a.RunHook.Run != nil {
			if handled, err := a.RunHook.Run(cmd, args); handled || err != nil {
				return err
			}
		}
		r := oneRun{app: a, cmd: cmd, file: file, out: out, trace: trace, short: short, poison: poison, limit: limit, files: files}
		if err := checkRunLimit(limit); err != nil {
			return err
		}
		named, err := a.firstUnder(args, profile)
		if err == nil && profile != "" && file != "" {
			err = Usagef("--profile and --plan exclude each other: the plan is drawn already")
		}
		if err != nil {
			return err
		}
		err = r.choose(named, uint64(seed))
		if err == nil {
			err = checkOut(out, cmd.Flags().Changed("out"))
		}
		if err == nil {
			err = r.run(args)
		}
		return err
	}
	return cmd
}

// oneRun is one call of run.
type oneRun struct {
	app          *App
	cmd          *cobra.Command
	plan         *plan.Plan
	file, out    string
	trace, short bool
	poison       bool
	limit        time.Duration
	files        exports
	report       runReport
}

// choose finds the plan: from the hook, a file, or a seed.
func (r *oneRun) choose(args []string, seed uint64) (err error) {
	if hook := r.app.RunHook; hook != nil && hook.Plan != nil {
		if r.plan, err = hook.Plan(r.cmd, args); r.plan != nil || err != nil {
			return err
		}
	}
	r.plan, err = r.app.planToRun(r.cmd, args, seed, r.file)
	return err
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
		return nil, Usagef("%s needs a scenario or --plan FILE; see %s list scenarios", cmd.Name(), a.Catalogue.Program)
	case file == "" && a.Catalogue.Scenario(args[0]) == nil && strings.Contains(args[0], ":"):
		if cmd.Flags().Changed("seed") {
			return nil, Usagef("--seed and the seed in %q exclude each other", args[0])
		}
		// The default seed is not in force.
		cmd.Flags().Lookup("seed").Hidden = true
		return a.token(args[0])
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

// run runs the plan and reports.
func (r *oneRun) run(args []string) error {
	a, w, asJSON := r.app, r.cmd.OutOrStdout(), JSON(r.cmd)
	r.report.Config = Configure(r.cmd, args, r.plan)
	if !asJSON {
		if err := r.report.Config.Print(w); err != nil {
			return err
		}
	}
	result, runner, err := a.runPlan(r.file, r.plan, r.options(w), r.limit)
	if err != nil {
		return err
	}
	r.report.Verdict = result.Verdict
	if !asJSON {
		if err := reports.Verdict(w, result.Verdict); err != nil {
			return err
		}
	}
	hung := runner == nil
	if hung && !asJSON {
		fmt.Fprintf(w, "hang: the run did not end within %v of wall time (--run-limit) and was given up\n", r.limit)
	}
	unwritten := r.keep(w, result, hung)
	if unwritten != nil {
		r.report.NotWritten = plain(unwritten.Error())
		if !asJSON {
			fmt.Fprintln(w, notWritten(unwritten))
		}
	}
	if err := r.export(w, hung); err != nil && unwritten == nil {
		unwritten = err
	}
	var finished error
	if !hung && a.RunHook != nil && a.RunHook.Finish != nil {
		r.report.More, finished = a.RunHook.Finish(r.cmd, r.plan, runner, result)
	}
	if asJSON && (finished == nil || errors.Is(finished, ErrFinding)) {
		if err := PrintJSON(w, &r.report); err != nil {
			return err
		}
	}
	if told := (*errUnwritten)(nil); errors.As(unwritten, &told) {
		return told
	}
	if unwritten != nil {
		return &errUnwritten{notWritten(unwritten)}
	}
	if finished != nil {
		return finished
	}
	if result.Verdict.Outcome.Finding() {
		return ErrFinding
	}
	return nil
}

// export writes the files that were asked for. A run that hangs has none.
func (r *oneRun) export(w io.Writer, hung bool) error {
	if !r.files.wanted() {
		return nil
	}
	if hung {
		return &errUnwritten{"nothing exported: the run did not end"}
	}
	command := r.report.Replay
	if hash, err := r.app.nameHash(r.plan); command == "" && err == nil && hash == "" {
		command = fmt.Sprintf("%s replay %s:%d", r.app.Catalogue.Program, r.plan.Scenario, uint64(r.plan.Seed))
	}
	if command == "" { // a plan that no seed draws
		command = r.report.Config.Command
	}
	done, err := r.app.export(&r.files, r.plan, command)
	r.report.Files = &done
	if !JSON(r.cmd) {
		done.print(w)
	}
	return err
}

// options asks for decisions, for the capsule, and for the trace when that is wanted.
func (r *oneRun) options(w io.Writer) sim.Options {
	o := sim.Options{RecordDecisions: true, Poison: r.poison}
	if !r.trace {
		return o
	}
	asJSON := JSON(r.cmd)
	o.Trace = func(l sim.TraceLine) {
		if asJSON {
			r.report.Trace = append(r.report.Trace, reports.NewTraceJSON(&l))
			return
		}
		// A reader that went away is noticed at the verdict.
		_, _ = fmt.Fprintln(w, reports.TraceLine(&l))
	}
	return o
}

// keep writes the capsule of a finding, and of its short form when that is wanted and the run ended.
func (r *oneRun) keep(w io.Writer, result sim.Result, hung bool) error {
	a := r.app
	if result.Verdict.Outcome.Finding() {
		c := plan.NewCapsule(sim.EngineVersion, r.plan, result.Verdict, result.Decisions, "")
		file, err := a.writeCapsule(r.out, c, r.plan, "")
		if err != nil {
			return err
		}
		r.report.Capsule = file
		r.report.Replay = a.Catalogue.Program + " replay " + shellWord(r.report.Capsule)
		if !JSON(r.cmd) {
			fmt.Fprintf(w, "capsule: %s\nreplay with: %s\n", r.report.Capsule, r.report.Replay)
		}
	}
	goal := target(result.Verdict)
	if !r.short || hung {
		return nil
	}
	if goal == "" {
		r.report.NothingToShrink = true
		if !JSON(r.cmd) {
			fmt.Fprintln(w, nothingToShrink)
		}
		return nil
	}
	report, err := a.shorten(r.plan, goal, newSearching(r.cmd.ErrOrStderr(), searchBudget{searchRuns, searchTime}, time.Now), false, r.out, "")
	r.report.Shrunk = report
	if report != nil && !JSON(r.cmd) {
		report.print(w)
	}
	return err
}

// shorten shrinks a plan towards a fingerprint and writes the capsule of the result: into file, or into dir under a name made
// of the fingerprint. With an error about writing it returns the report, too.
func (a *App) shorten(p *plan.Plan, goal string, search *searching, bare bool, dir, file string) (*shrunkReport, error) {
	runner := a.patience()
	small, stats := search.shrink(runner, p, goal)
	report := &shrunkReport{Target: goal, Stats: stats, Actions: []string{}, ended: search.ended()}
	if !stats.Reproduced {
		return report, nil
	}
	for _, action := range small.InOrder() {
		report.Actions = append(report.Actions, a.Catalogue.Registry.FormatAction(&action))
	}
	for _, part := range shrink.Parts(small) {
		if part.Fault() && part.Kind != shrink.ActionPart {
			report.Faults = append(report.Faults, part.Text)
		}
	}
	result, err := runner.Run(small, sim.Options{RecordDecisions: true})
	if err != nil {
		return nil, err
	}
	c := plan.NewCapsule(sim.EngineVersion, small, result.Verdict, result.Decisions, goal)
	if bare {
		c = c.Bare()
	}
	if file == "" {
		if file, err = a.writeCapsule(dir, c, p, "-shrunk"); err == nil {
			report.Capsule = file
		}
		return report, err
	}
	data, err := plan.EncodeCapsule(c)
	if err == nil {
		err = outfile.Write(file, data)
	}
	if err == nil {
		report.Capsule = file
	}
	return report, err
}
