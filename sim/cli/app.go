package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// Exit codes of the program.
const (
	ExitOK       = 0
	ExitFinding  = 1
	ExitUsage    = 2
	ExitInternal = 3
	// ExitInterrupted is what shells make of a program that SIGINT ended: 128 and the signal's number. SIGTERM counts alike.
	ExitInterrupted = 130
	workerName      = "worker" // the hidden command of child processes
)

// ErrInterrupted makes the program end with ExitInterrupted and prints nothing: the command has reported what it had so far.
var ErrInterrupted = errors.New("cli: interrupted")

// heapBound is how large the live heap of a command may become: a run that needs more never ends, or keeps what it should not.
const heapBound = 4 << 30

var errHeap = errors.New("the heap has passed 4 GiB in the run of a plan, which counts as a finding (process-lives, memory) and ends the program")

// ErrFinding makes the program end with ExitFinding and prints nothing: the command has reported the finding itself.
var ErrFinding = errors.New("cli: finding")

// ErrUsage marks errors about how the program was called.
var ErrUsage = errors.New("cli: usage")

// Usagef makes an error that ends the program with ExitUsage.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

type usageError struct{ err error }

func (e *usageError) Error() string        { return e.err.Error() }
func (e *usageError) Unwrap() error        { return e.err }
func (e *usageError) Is(target error) bool { return target == ErrUsage }

// App is a program around a catalogue. Catalogue is required, with a Registry, everything else has a default.
type App struct {
	Catalogue *sim.Catalogue
	// NewRunner makes what runs plans; default sim.NewEngine.
	NewRunner func() campaign.Runner
	// Extra are further commands. Their RunE may return ErrFinding, Usagef and errors that wrap plan.ErrInput; any other
	// error is an internal one.
	Extra []*cobra.Command
	// RunHook adds flags to the command run and may take a call over.
	RunHook *RunHook
	// Explain writes the story of each capsule that a campaign writes into files beside it, and returns their names. It is called in
	// worker processes. Default, where NewRunner is the default: story and page.
	Explain campaign.Explainer
	Stdout  io.Writer // default os.Stdout
	Stderr  io.Writer // default os.Stderr
	_       struct{}
}

// RunHook extends the command run. Every function may be nil.
type RunHook struct {
	// Flags declares further flags.
	Flags func(cmd *cobra.Command)
	// Run may take a whole call over: handled true means that the call is done, with err as its result.
	Run func(cmd *cobra.Command, args []string) (handled bool, err error)
	// Plan may provide the plan in place of a seed or a file. nil without an error means that the call is an ordinary one.
	Plan func(cmd *cobra.Command, args []string) (*plan.Plan, error)
	// Finish is called after the run, before a finding ends the program. runner is what ran the plan: the *sim.Engine, whose
	// world still is as the run left it. What it returns is "more" in the JSON document, which is printed unless err is
	// another than ErrFinding.
	Finish func(cmd *cobra.Command, p *plan.Plan, runner campaign.Runner, result sim.Result) (more any, err error)
}

// Main runs the program and returns its exit code.
func Main(catalogue *sim.Catalogue, args []string, extra ...*cobra.Command) int {
	return (&App{Catalogue: catalogue, Extra: extra}).Main(args)
}

// Main runs the program with the arguments behind its name and returns its exit code.
func (a *App) Main(args []string) (code int) {
	if a.NewRunner == nil {
		a.NewRunner = func() campaign.Runner { return sim.NewEngine(a.Catalogue) }
		if a.Explain == nil {
			a.Explain = a.tellCapsule
		}
	}
	if a.Stdout == nil {
		a.Stdout = os.Stdout
	}
	if a.Stderr == nil {
		a.Stderr = os.Stderr
	}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(a.Stderr, "%s: internal error: %v\n%s", a.Catalogue.Program, r, debug.Stack())
			code = ExitInternal
		}
	}()
	if err := a.Catalogue.Check(); err != nil {
		fmt.Fprintf(a.Stderr, "%s: internal error: %v\n", filepath.Base(os.Args[0]), err)
		return ExitInternal
	}
	if len(args) == 0 || args[0] != workerName { // a worker has a bound of its own
		defer campaign.WatchHeap(heapBound, func(uint64) {
			a.complain(errHeap)
			os.Exit(ExitFinding)
		})()
	}
	root := a.root()
	out := &watchedWriter{to: a.Stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(a.Stderr)
	err := root.Execute()
	if problem := out.problem(); problem != nil { // whatever the command came to, its reader does not have it
		a.complain(problem)
		return ExitInternal
	}
	return a.exitCode(err)
}

// exitCode reports an error in one line and maps it to a code.
func (a *App) exitCode(err error) int {
	var internal *internalError
	var unwritten *errUnwritten
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFinding):
		return ExitFinding
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &unwritten):
		a.complain(unwritten)
		return ExitInternal
	case errors.Is(err, ErrUsage), errors.Is(err, plan.ErrInput), errors.Is(err, campaign.ErrNoScenario):
		a.complain(err)
		return ExitUsage
	case errors.As(err, &internal):
		a.complain(fmt.Errorf("internal error: %w", internal.err))
		return ExitInternal
	default: // what cobra says about commands, arguments and flags
		a.complain(err)
		return ExitUsage
	}
}

func (a *App) complain(err error) {
	fmt.Fprintf(a.Stderr, "%s: %s\n", a.Catalogue.Program, plain(err.Error()))
}

// internalError marks what a command returned, as against what cobra found wrong with the call.
type internalError struct{ err error }

func (e *internalError) Error() string { return e.err.Error() }
func (e *internalError) Unwrap() error { return e.err }

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:           a.Catalogue.Program,
		Short:         "Deterministic simulation: a seed becomes a plan, a plan runs, a verdict comes out",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return Usagef("%s", a.noCommand(cmd, args[0]))
			}
			if JSON(cmd) {
				return Usagef("--json needs a command: see %s --help", a.Catalogue.Program)
			}
			return cmd.Help()
		},
		Args:    cobra.ArbitraryArgs, // else cobra refuses an unknown command, and names no way on
		Version: version(),
	}
	root.SetFlagErrorFunc(flagProblem)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.PersistentFlags().Bool("json", false, "print JSON for programs")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.runCommand(), a.replayCommand(), a.shrinkCommand(), a.explainCommand(), a.campaignCommand(), a.verifyCommand(),
		a.planCommand(), a.exploreCommand(), a.listCommand(), a.workerCommand())
	root.AddCommand(a.campaignsCommand(), a.mergeCommand(), a.verifyFixCommand())
	root.AddCommand(a.Extra...)
	markErrors(root)
	return root
}

// noCommand is what to say about a command that is none.
func (a *App) noCommand(root *cobra.Command, name string) string {
	var all []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c.Name())
		}
	}
	return fmt.Sprintf("unknown command %q: the commands are %s; see %s --help", name, strings.Join(all, ", "), a.Catalogue.Program)
}

// atMostOne allows one argument, and says in words what it is.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usagef("%s takes one argument at most, %s, not %d", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// version tells the engine, which is what verdicts depend on, and the build.
func version() string {
	text := "engine " + sim.EngineVersion
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		text += ", " + info.Main.Path + " " + info.Main.Version
	}
	return text + ", " + runtime.Version()
}

// oneArgument asks for exactly one argument, and says in words what it is.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return Usagef("%s needs %s", cmd.Name(), what)
		default:
			return Usagef("%s takes one argument, %s, not %d", cmd.Name(), what, len(args))
		}
	}
}

// markErrors wraps the commands so that what they return is told from what cobra returns.
func markErrors(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := run(cmd, args); err != nil {
				return &internalError{err}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		markErrors(sub)
	}
}
