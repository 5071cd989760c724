package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/explore"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// exploration is one call of explore.
type exploration struct {
	app    *App
	cmd    *cobra.Command
	bounds explore.Bounds
	state  string
	out    string
	limit  time.Duration
	runs   int64
	all    bool
	report exploreReport
}

// exploreReport is the JSON document of explore.
type exploreReport struct {
	Config      Configuration   `json:"config"`
	Report      *explore.Report `json:"report"`
	Seconds     float64         `json:"seconds"` // of this call
	Resumed     bool            `json:"resumed,omitempty"`
	Interrupted bool            `json:"interrupted,omitempty"`
	Capsules    []string        `json:"capsules,omitempty"`
}

const saveEvery = 10 * time.Second

// mostVirtual is how far ahead of the earliest an event may be, and how late choices may begin.
const mostVirtual = 24 * time.Hour

func (a *App) exploreCommand() *cobra.Command {
	x := &exploration{app: a, bounds: explore.Bounds{Depth: 10, Deviations: -1, Faults: 1}}
	seed := seedFlag(1)
	var file string
	var window, from, quantum time.Duration
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "explore [SCENARIO|TOKEN]",
		Short: "Try all schedules of a small cluster within bounds",
		Long: "Explore runs a plan again and again, with every choice of which event comes next and where one of a bounded number of faults\n" +
			"falls (a process dies and starts again, also inside a disk operation; a message is lost with its connection; a link is cut; with\n" +
			"--power a host loses power, and all that it has not flushed).\n" +
			"--depth bounds the choices between events, --deviations how many of them are another than the earliest event. It says what\n" +
			"was covered, how many states and transitions that were, and which reductions were used. With --state the search is saved every\n" +
			"ten seconds and at its end, and a later call with the same plan and bounds goes on. What is found is written as a capsule.\n" +
			"Exit code 1 for a finding, 130 when SIGINT or SIGTERM ended it, with the counts so far.",
		Example: fmt.Sprintf("  %s explore %s --depth 8 --faults 1\n  %s explore %s --depth 40 --deviations 2 --from 40ms --state search.bin",
			program, a.exampleScenario(), program, a.exampleScenario()),
		Args: atMostOne("a scenario or a token"),
	}
	cmd.Flags().Var(&seed, "seed", "seed from which the plan is drawn")
	cmd.Flags().StringVar(&file, "plan", "", "explore the plan in this file instead of drawing one")
	cmd.Flags().Int64Var(&x.bounds.Depth, "depth", x.bounds.Depth, "choices between events in one schedule")
	cmd.Flags().Int64Var(&x.bounds.Deviations, "deviations", x.bounds.Deviations, "choices that are not the earliest event; -1: any number")
	cmd.Flags().Int64Var(&x.bounds.Faults, "faults", x.bounds.Faults, "kills, lost messages and cuts in one schedule")
	cmd.Flags().BoolVar(&x.bounds.Power, "power", false, "losses of power among the faults: at events and at the disk operations of handlers")
	cmd.Flags().DurationVar(&window, "window", 0, "how late an event may be; 0: any event that is pending may be next")
	cmd.Flags().DurationVar(&from, "from", 0, "virtual time at which choices begin")
	cmd.Flags().DurationVar(&quantum, "quantum", time.Millisecond, "how fine time is in states: states that differ in timers alone are one within it; 0: time is left out")
	cmd.Flags().BoolVar(&x.bounds.Tail, "tail", false, "let each schedule go on to the end of its storm and calm")
	cmd.Flags().BoolVar(&x.bounds.Plain, "plain", false, "without the reductions by states and sleep sets")
	cmd.Flags().BoolVar(&x.all, "all", false, "go on after a finding")
	cmd.Flags().StringVar(&x.state, "state", "", "file in which the search is kept, and from which it goes on")
	cmd.Flags().DurationVar(&x.limit, "time", 0, "stop after so long (0: when all is covered)")
	cmd.Flags().Int64Var(&x.runs, "runs", 0, "stop after so many runs (0: when all is covered)")
	cmd.Flags().StringVar(&x.out, "out", a.defaultOut(), "folder for capsules")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		x.cmd = cmd
		x.bounds.WindowUs, x.bounds.FromUs, x.bounds.QuantumUs = window.Microseconds(), from.Microseconds(), quantum.Microseconds()
		if err := x.check(window, from, quantum); err != nil {
			return err
		}
		p, err := a.planToRun(cmd, args, uint64(seed), file)
		if err != nil {
			return err
		}
		if err := checkOut(x.out, cmd.Flags().Changed("out")); err != nil {
			return err
		}
		search, err := x.begin(p)
		if err != nil {
			return err
		}
		x.report.Config = Configure(cmd, args, p)
		if err := x.head(search); err != nil {
			return err
		}
		return x.run(search)
	}
	return cmd
}

func (x *exploration) check(window, from, quantum time.Duration) error {
	b := &x.bounds
	switch {
	case b.Depth < 1 || b.Depth > 100_000:
		return Usagef("--depth must lie between 1 and 100000")
	case b.Faults < 0 || b.Faults > 1_000:
		return Usagef("--faults must lie between 0 and 1000")
	case b.Power && b.Faults == 0:
		return Usagef("--power makes losses of power faults: give --faults at least 1")
	case b.Deviations < -1:
		return Usagef("--deviations must be at least -1, which is any number")
	case window < 0 || from < 0 || quantum < 0 || x.limit < 0 || x.runs < 0:
		return Usagef("--window, --from, --quantum, --time and --runs must not be negative")
	case window > mostVirtual || from > mostVirtual:
		return Usagef("--window and --from must be at most %v, which is longer than any run", mostVirtual)
	case x.state != "":
		if info, err := os.Stat(filepath.Dir(x.state)); err != nil || !info.IsDir() {
			return Usagef("--state %s: there is no folder %s", x.state, filepath.Dir(x.state))
		}
		if err := checkFile(x.state); err != nil {
			return Usagef("--state %s: cannot be written: %w", x.state, err)
		}
	}
	return nil
}

// begin makes the search, or loads it.
func (x *exploration) begin(p *plan.Plan) (*explore.Search, error) {
	runner := campaign.Guard(x.app.NewRunner)
	if x.state == "" {
		return explore.New(runner, p, x.bounds), nil
	}
	s, err := explore.Load(x.state, runner, p, x.bounds)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return explore.New(runner, p, x.bounds), nil
	case err != nil:
		return nil, Usagef("%s: give --state another file, or delete this one", plain(err.Error()))
	}
	x.report.Resumed = true
	return s, nil
}

// head prints the configuration, and what the search goes on from.
func (x *exploration) head(s *explore.Search) error {
	w := x.cmd.OutOrStdout()
	if JSON(x.cmd) {
		return nil
	}
	err := x.report.Config.Print(w)
	if x.report.Resumed && err == nil {
		_, err = fmt.Fprintf(w, "goes on from %s: %d runs, %d states\n", x.state, s.Report().Runs, s.Report().States)
	}
	return err
}

func (x *exploration) run(s *explore.Search) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	started, saved, told := time.Now(), time.Now(), time.Now()
	var unsaved error
	r, err := s.Run(func(r *explore.Report) bool {
		now := time.Now()
		if x.state != "" && now.Sub(saved) >= saveEvery {
			unsaved, saved = s.Save(x.state), now
		}
		if now.Sub(told) >= saveEvery {
			fmt.Fprintf(x.cmd.ErrOrStderr(), "%d runs, %d states, %d transitions, %d findings\n", r.Runs, r.States, r.Transitions, len(r.Findings))
			told = now
		}
		return unsaved != nil || ctx.Err() != nil || !x.all && len(r.Findings) > 0 || x.limit > 0 && now.Sub(started) >= x.limit ||
			x.runs > 0 && r.Runs >= x.runs
	})
	if err != nil {
		return err
	}
	if x.state != "" && unsaved == nil {
		unsaved = s.Save(x.state)
	}
	x.report.Report, x.report.Seconds, x.report.Interrupted = r, time.Since(started).Seconds(), ctx.Err() != nil
	if err := x.finish(r); unsaved == nil {
		return err
	}
	return Unwritten("--state "+x.state, unsaved) // what it came to until then is told all the same
}

// finish writes capsules and the report.
func (x *exploration) finish(r *explore.Report) error {
	runner := campaign.Guard(x.app.NewRunner)
	for i := range r.Findings {
		f := &r.Findings[i]
		result, err := runner.Run(f.Plan, sim.Options{RecordDecisions: true})
		if err != nil {
			return err
		}
		c := plan.NewCapsule(sim.EngineVersion, f.Plan, result.Verdict, result.Decisions, "")
		file, err := x.app.writeCapsule(x.out, c, f.Plan, "-explored")
		if err != nil {
			return &errUnwritten{notWritten(err)}
		}
		x.report.Capsules = append(x.report.Capsules, file)
	}
	w := x.cmd.OutOrStdout()
	if JSON(x.cmd) {
		if err := PrintJSON(w, &x.report); err != nil {
			return err
		}
	} else {
		fmt.Fprint(w, r.Text())
		for _, file := range x.report.Capsules {
			fmt.Fprintf(w, "capsule: %s\nreplay with: %s replay %s\n", file, x.app.Catalogue.Program, shellWord(file))
		}
		fmt.Fprintf(w, "%.1f s in this call\n", x.report.Seconds)
	}
	switch {
	case len(r.Findings) > 0:
		return ErrFinding
	case x.report.Interrupted:
		return ErrInterrupted
	}
	return nil
}
