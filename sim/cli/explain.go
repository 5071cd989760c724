package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// Explanation is a failure in words, with what it was made of.
type Explanation struct {
	Config Configuration `json:"config"`
	*story.Story
	// Faults are those of the plan that is told, Dropped the actions of the plan as given that shrinking took out.
	Faults  []shrink.Part    `json:"faults"`
	Dropped []string         `json:"dropped,omitempty"`
	Stats   shrink.Stats     `json:"stats"`
	Capsule string           `json:"capsule,omitempty"`
	Replay  string           `json:"replay"` // the command that runs it again
	History *history.History `json:"-"`
	Parts   []shrink.Part    `json:"-"`

	program string
	ended   string // what ended a search that is not through
}

// explainOptions are the flags of explain.
type explainOptions struct {
	budget searchBudget
	asIs   bool
	goal   string
	out    string
	html   string // file for the page, "" for none
	page   string // file for the story as Markdown, "" for none
	again  string // arguments that run the plan as it was given
	// progress is told of a search that takes long.
	progress io.Writer
}

func (a *App) explainCommand() *cobra.Command {
	var o explainOptions
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "explain CAPSULE|PLAN|TOKEN",
		Short: "Tell a failure in at most twelve lines, with the faults that it needs",
		Long: "Explain shrinks the plan, finds out by running it which of its faults are necessary, records the run and tells it: who\n" +
			"believed what, on what grounds, which fault made the difference, which invariant broke. A run that is stuck is told by\n" +
			"who waits for whom, and whether the fault budget makes that legitimate. The shrunk plan is written as a capsule.",
		Example: fmt.Sprintf("  %s explain %s:SEED   # a seed that fails, as a campaign prints it\n  %s explain %s/FILE.json --json", program,
			a.exampleScenario(), program, a.defaultOut()),
		Args: oneArgument("a capsule or plan file, or a token such as " + a.exampleScenario() + ":17"),
	}
	cmd.Flags().StringVar(&o.page, "markdown", "", "file for the story as a page of Markdown")
	cmd.Flags().StringVar(&o.html, "html", "", "file for the story as a page with the timeline of the run and the state of every node")
	cmd.Flags().StringVar(&o.goal, "target", "", "fingerprint to explain (default: the one that the run shows)")
	o.budget.flags(cmd)
	cmd.Flags().BoolVar(&o.asIs, "as-is", false, "explain the plan as it is, without shrinking it")
	cmd.Flags().StringVar(&o.out, "out", "", "file for the capsule (default: a name in "+a.defaultOut()+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.budget.check(); err != nil {
			return err
		}
		o.progress = cmd.ErrOrStderr()
		if o.out != "" {
			if err := checkFile(o.out); err != nil {
				return Usagef("--out %s: cannot be written: %w", shellWord(o.out), err)
			}
		}
		src, err := a.locateAny(args[0])
		if err != nil {
			return err
		}
		if o.goal == "" && src.capsule != nil {
			o.goal = src.capsule.Fingerprint
		}
		o.again = "replay " + shellWord(args[0]) + " --step"
		if documentOf(args[0]) == planDocument {
			o.again = "run --plan " + shellWord(args[0]) + " --trace"
		}
		x, err := a.explain(args[0], src.plan, &o)
		if x == nil {
			return err
		}
		unwritten := err
		x.Config = Configure(cmd, args, src.plan)
		w := cmd.OutOrStdout()
		if JSON(cmd) {
			err = PrintJSON(w, x)
		} else if err = x.Config.Print(w); err == nil {
			err = x.print(w)
		}
		if err == nil && o.page != "" {
			if unwritten == nil {
				unwritten = outfile.Write(o.page, x.Markdown(args[0]))
			}
		}
		if err == nil && o.html != "" {
			if err = a.writePage(o.html, x); err == nil && !JSON(cmd) {
				fmt.Fprintf(w, "page: %s\n", o.html)
			}
		}
		if err == nil && unwritten != nil {
			return &errUnwritten{notWritten(unwritten)}
		}
		return err
	}
	return cmd
}

// locateAny is locate for commands that take plan files, too.
func (a *App) locateAny(arg string) (*source, error) {
	if documentOf(arg) != planDocument {
		return a.locate(arg)
	}
	p, err := a.readPlan(arg)
	return &source{plan: p}, err
}

// Markdown is the explanation as a page. It depends on the plan and on what was asked for alone.
func (x *Explanation) Markdown(name string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", x.Target)
	for i := range x.Lines {
		fmt.Fprintf(&b, "%d. %s\n", i+1, x.Lines[i].Text)
	}
	b.WriteString("\n")
	necessary, incidental, models := x.blame()
	for _, text := range necessary {
		fmt.Fprintf(&b, "- necessary: `%s`\n", text)
	}
	if len(necessary) == 0 {
		b.WriteString("- no fault is necessary: it happens without any\n")
	}
	for _, text := range incidental {
		fmt.Fprintf(&b, "- incidental: `%s`\n", text)
	}
	if models > 0 {
		fmt.Fprintf(&b, "- incidental: %s\n", reports.Plural(models, "rate or clock setting"))
	}
	fmt.Fprintf(&b, "\nMade by `%s explain %s`", x.program, name)
	if x.Stats.Minimal {
		b.WriteString(", from a plan of which no single part can go")
	}
	b.WriteString(".\n")
	return []byte(b.String())
}

// explain makes the explanation of a plan. An error together with an explanation says that the capsule could not be written.
func (a *App) explain(name string, p *plan.Plan, o *explainOptions) (*Explanation, error) {
	result, _, err := a.runPlan("", p, sim.Options{}, runLimit)
	if err != nil {
		return nil, err
	}
	v := result.Verdict
	goal := o.goal
	if goal == "" {
		goal = target(v)
	}
	if goal == "" && v.Outcome == plan.LegitimatelyStuck {
		goal = string(v.Outcome) // no finding, and worth an explanation all the same
	}
	runner := a.patience()
	switch {
	case goal == "":
		return nil, Usagef("%s ends with %s: there is nothing to explain", name, v.Outcome)
	case strings.Contains(goal, "/"+campaign.ProcessLives+"/"):
		return nil, Usagef("%s: %s took its process along or never ended, and nothing in a process can explain such a run", name, goal)
	}
	x := &Explanation{program: a.Catalogue.Program}
	small, search := p, newSearching(o.progress, o.budget, time.Now)
	if !o.asIs {
		small, x.Stats = search.shrink(runner, p, goal)
		if !x.Stats.Reproduced {
			return nil, Usagef("%s does not show %s: it ends with %s", name, goal, cmp.Or(target(v), string(v.Outcome)))
		}
	}
	parts := shrink.Parts(small)
	search.asks(len(parts))
	x.Parts, x.ended = shrink.Necessary(runner, small, goal, parts), search.ended()
	if runner.hung >= mostHung {
		return nil, fmt.Errorf("%s: %w: what is necessary cannot be told", name, errHung)
	}
	if x.History, err = history.RecordOn(a.Catalogue, campaign.Guard(a.NewRunner), small); err != nil {
		return nil, err
	}
	x.Story = story.Tell(x.History, x.Parts)
	x.faults(a.Catalogue.Registry, p, small)
	return x, a.keep(x, p, small, goal, o, runner)
}

// keep writes the capsule of the plan that is told, unless that is the plan as given, and finds the command that runs it.
func (a *App) keep(x *Explanation, p, small *plan.Plan, goal string, o *explainOptions, runner shrink.Runner) error {
	x.Replay = a.Catalogue.Program + " " + o.again
	if o.asIs {
		return nil
	}
	result, err := runner.Run(small, sim.Options{RecordDecisions: true})
	if err != nil {
		return err
	}
	c := plan.NewCapsule(sim.EngineVersion, small, result.Verdict, result.Decisions, goal)
	file := o.out
	if file == "" {
		file, err = a.writeCapsule(a.defaultOut(), c, p, "-shrunk")
	} else {
		var data []byte
		if data, err = plan.EncodeCapsule(c); err == nil {
			err = outfile.Write(file, data)
		}
	}
	if err == nil {
		x.Capsule = file
		x.Replay = fmt.Sprintf("%s replay %s --step", a.Catalogue.Program, shellWord(file))
	}
	return err
}

// faults fills in what went wrong in the plan that is told, and which actions shrinking dropped.
func (x *Explanation) faults(registry *plan.Registry, p, small *plan.Plan) {
	x.Faults = []shrink.Part{}
	for i := range x.Parts {
		if x.Parts[i].Fault() {
			x.Faults = append(x.Faults, x.Parts[i])
		}
	}
	kept := map[string]bool{}
	for i := range small.Actions {
		kept[small.Actions[i].ID] = true
	}
	for _, action := range p.InOrder() {
		if !kept[action.ID] {
			x.Dropped = append(x.Dropped, registry.FormatAction(&action))
		}
	}
}

// blame sorts the faults. Rates and errors of clocks that are incidental are counted: a plan that was not shrunk has a dozen.
func (x *Explanation) blame() (necessary, incidental []string, models int64) {
	for i := range x.Faults {
		f := &x.Faults[i]
		switch {
		case f.Necessary:
			necessary = append(necessary, f.Text)
		case f.Kind == shrink.RatePart || f.Kind == shrink.ClockPart:
			models++
		default:
			incidental = append(incidental, f.Text)
		}
	}
	return necessary, incidental, models
}

// maxDropped bounds the incidental actions that are printed.
const maxDropped = 30

func (x *Explanation) print(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n%s\n", x.Target, x.Story.String())
	necessary, incidental, models := x.blame()
	for _, text := range necessary {
		fmt.Fprintf(w, "necessary   %s\n", text)
	}
	if len(necessary) == 0 {
		fmt.Fprintln(w, "no fault is necessary: it happens without any")
	}
	for _, text := range incidental {
		fmt.Fprintf(w, "incidental  %s\n", text)
	}
	if models > 0 {
		fmt.Fprintf(w, "incidental  %s\n", reports.Plural(models, "rate or clock setting"))
	}
	for i, action := range x.Dropped {
		if i == maxDropped {
			fmt.Fprintf(w, "incidental  and %d more\n", len(x.Dropped)-i)
			break
		}
		fmt.Fprintf(w, "incidental  %s\n", action)
	}
	if x.Stats.Exhausted {
		fmt.Fprintln(w, "not minimal yet: "+x.ended+" ended the search")
	}
	if x.Capsule != "" {
		fmt.Fprintf(w, "capsule: %s\n", x.Capsule)
	}
	_, err := fmt.Fprintf(w, "again: %s\n", x.Replay)
	return err
}
