package mutants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/spf13/cobra"
)

// Commands returns `mutants`, and the hidden command of its child processes.
func Commands(catalogue *sim.Catalogue) []*cobra.Command {
	return []*cobra.Command{mutantsCommand(catalogue), seedsCommand(catalogue)}
}

// workDir is part of the name of the folder in which the programs are built.
const workDir = "kraftsim-mutants"

// options are the flags of the command.
type options struct {
	limit    int64
	clean    int64
	workers  int
	listOnly bool
	stories  string // directory, "" for none
	corpus   bool   // run capsules only
	capsules string // corpus to which capsules of kills are written, "" for none
	hunt     bool   // leave the capsules out
	minimal  bool   // run each capsule without each of its parts
}

func mutantsCommand(catalogue *sim.Catalogue) *cobra.Command {
	o := options{limit: 10_000, clean: 200, workers: runtime.NumCPU()}
	cmd := &cobra.Command{
		Use:   "mutants [ID...]",
		Short: "Plant known bugs, one at a time, and say which invariant notices",
		Long: "Mutants builds the program once for each patch in " + Dir + "/ (all, or those named by id, by mutant or by file), outside\n" +
			"of the tree, and runs it until an invariant that the header names is broken: first the mutant's capsule in\n" +
			"testdata/corpus, where there is one, then seeds of the scenarios of the header. A panic, a dead process or another\n" +
			"invariant is no kill. The clean build runs the same seeds and must be green, and so must the capsules be there.\n" +
			"--corpus runs the capsules alone, --capsules DIR writes those that are missing or kill no more; with --minimal each\n" +
			"is run without each of its parts, too. With --stories each\n" +
			"kill is shrunk and told by the mutant's own program, in at most twelve lines whose faults are all necessary. Exit code\n" +
			"0 if every mutant is killed and the clean build is green, 1 if not, 2 outside of the module's\n" +
			"source or without a go tool, 3 if a patch does not apply.",
		Example: fmt.Sprintf("  %[1]s mutants\n  %[1]s mutants KB-01 KB-45\n  %[1]s mutants ReinitAsLeader --seeds 500 --json\n  %[1]s mutants --list",
			catalogue.Program),
	}
	cmd.Flags().Int64Var(&o.limit, "seeds", o.limit, "runs per mutant at most, over all its scenarios")
	cmd.Flags().Int64Var(&o.clean, "clean-seeds", o.clean, "seeds per scenario of the clean build at least")
	cmd.Flags().IntVar(&o.workers, "workers", o.workers, "processes that hunt")
	cmd.Flags().BoolVar(&o.corpus, "corpus", false, "run the mutants' capsules alone, each of which has to kill")
	cmd.Flags().BoolVar(&o.hunt, "hunt", false, "leave the capsules out and hunt from seed 1")
	cmd.Flags().BoolVar(&o.minimal, "minimal", false, "run each capsule without each of its parts, none of which may kill; with --capsules shorten those that do")
	cmd.Flags().StringVar(&o.capsules, "capsules", "", "write capsules of kills to the mutants' folder of this corpus (testdata/corpus), without the seeds of the clean build")
	cmd.Flags().BoolVar(&o.listOnly, "list", false, "list the patches and whether they apply, and run nothing")
	cmd.Flags().StringVar(&o.stories, "stories", "", "directory for the story and the capsule of each kill")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.stories != "" {
			if err := os.MkdirAll(o.stories, 0o750); err != nil {
				return cli.Usagef("--stories %s: cannot be made: %w", o.stories, err)
			}
		}
		if o.limit < 1 || o.clean < 0 || o.workers < 1 {
			return cli.Usagef("--seeds and --workers must be at least 1, --clean-seeds at least 0")
		}
		if o.corpus && (o.hunt || o.capsules != "") {
			return cli.Usagef("--corpus runs capsules alone: it goes with neither --hunt nor --capsules")
		}
		if o.minimal && !o.corpus && o.capsules == "" {
			return cli.Usagef("--minimal examines capsules: it needs --corpus or --capsules")
		}
		return o.run(cmd, args, catalogue)
	}
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string, catalogue *sim.Catalogue) error {
	root, err := FindRoot(".")
	if err != nil {
		return err
	}
	all, err := ReadPatches(root)
	if err != nil {
		return err
	}
	patches, unknown := Select(all, args)
	if unknown != "" {
		return cli.Usagef("no patch in %s has the id, name or file name %q", filepath.Join(root, Dir), unknown)
	}
	for _, p := range patches {
		if _, err := p.Apply(root); err != nil {
			return err
		}
		if err := p.knownTo(catalogue); err != nil {
			return err
		}
	}
	report := &Report{Config: cli.Configure(cmd, args, nil)}
	if !cli.JSON(cmd) {
		if err := report.Config.Print(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	if o.listOnly {
		for _, p := range patches {
			report.Rows = append(report.Rows, &Row{Patch: p, Status: Listed})
		}
		report.Good = true
	} else {
		outfile.RemoveLeftovers(os.TempDir(), workDir) // some hundred megabytes of one that was killed
		dir, err := os.MkdirTemp("", outfile.Unfinished(workDir))
		if err != nil {
			return fmt.Errorf("mutants: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		s := session{options: o, root: root, dir: dir, corpus: filepath.Join(root, filepath.FromSlash(corpus.Dir)), catalogue: catalogue,
			log: cmd.ErrOrStderr(), report: report}
		if err := s.run(ctx, patches); errors.Is(err, context.Canceled) {
			report.Interrupted, report.Clean = true, s.control.table()
		} else if err != nil {
			return err
		}
	}
	switch {
	case cli.JSON(cmd):
		err = cli.PrintJSON(cmd.OutOrStdout(), report)
	case o.listOnly:
		err = report.list(cmd.OutOrStdout())
	default:
		err = report.Print(cmd.OutOrStdout())
	}
	if err == nil && !report.Good {
		err = cli.ErrFinding
	}
	return err
}

// knownTo checks the names in the header against the catalogue.
func (p *Patch) knownTo(catalogue *sim.Catalogue) error {
	for _, name := range p.Scenarios {
		if catalogue.Scenario(name) == nil {
			return fmt.Errorf("%w: %s: no scenario is called %q", ErrPatch, p.File, name)
		}
	}
	for _, e := range p.Exposures() {
		for _, name := range e.Faults {
			if !knowsFault(name, catalogue.Registry) {
				return fmt.Errorf("%w: %s: no fault is called %q", ErrPatch, p.File, name)
			}
		}
		for _, name := range e.Scenarios {
			if catalogue.Scenario(name) == nil {
				return fmt.Errorf("%w: %s: no scenario is called %q", ErrPatch, p.File, name)
			}
		}
	}
	for _, name := range p.Invariants {
		known := name == "spin" || name == "bounded-work"
		for i := range catalogue.Invariants {
			known = known || catalogue.Invariants[i].Name == name
		}
		if !known {
			return fmt.Errorf("%w: %s: no invariant is called %q", ErrPatch, p.File, name)
		}
	}
	return nil
}

// session is one call of the command.
type session struct {
	*options
	root, dir string
	corpus    string
	catalogue *sim.Catalogue
	log       io.Writer
	report    *Report
	control   control
}

// run builds the clean program, runs it, and then hunts one mutant while the next one is built.
func (s *session) run(ctx context.Context, patches []*Patch) error {
	problems, err := checkCapsules(s.corpus, patches, s.catalogue)
	if err != nil {
		return err
	}
	s.report.Capsules = problems
	seeds := map[string]int64{}
	controlled := !s.options.corpus && s.capsules == ""
	if controlled {
		if err := s.clear(ctx, patches, seeds); err != nil {
			return err
		}
	}
	builds := s.builds(ctx, patches)
	for x := range builds {
		if x.err != nil && (errors.Is(x.err, ErrPatch) || ctx.Err() != nil) {
			return x.err
		}
		row, err := s.hunt(ctx, x)
		if err != nil {
			return err
		}
		if k := row.Kill; k != nil && !k.Capsule {
			seeds[k.Scenario] = max(seeds[k.Scenario], int64(k.Seed))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if controlled {
		fmt.Fprintln(s.log, "clean program: up to the longest kill of each scenario")
		if err := s.control.extend(ctx, seeds); err != nil {
			return err
		}
	}
	s.report.Clean = s.control.table()
	s.report.Good = s.control.green() && len(problems) == 0
	for _, row := range s.report.Rows {
		s.report.Good = s.report.Good && row.Status == Killed && row.Error == ""
	}
	return nil
}

// clear builds the clean program and runs the first seeds of the scenarios.
func (s *session) clear(ctx context.Context, patches []*Patch, seeds map[string]int64) error {
	clean, err := s.product(nil, "clean")
	if err != nil {
		return err
	}
	fmt.Fprintln(s.log, "building the clean program")
	if clean.make(ctx, s.root, nil); clean.err != nil {
		return fmt.Errorf("mutants: the clean program: %w", clean.err)
	}
	s.control = control{binary: clean.binary, workers: s.workers, done: map[string]*Clean{}}
	for _, p := range patches {
		for _, name := range p.Scenarios {
			seeds[name] = s.clean
		}
	}
	fmt.Fprintf(s.log, "clean program: seeds 1 to %d of %d scenarios\n", s.clean, len(seeds))
	return s.control.extend(ctx, seeds)
}

func (s *session) product(p *Patch, name string) (*product, error) {
	x := &product{patch: p, dir: filepath.Join(s.dir, name)}
	if err := os.Mkdir(x.dir, 0o700); err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	return x, nil
}

// builds makes the products in order, one ahead of whoever takes them.
func (s *session) builds(ctx context.Context, patches []*Patch) <-chan *product {
	built := make(chan *product)
	go func() {
		defer close(built)
		base, err := pieces(ctx, s.root)
		if err != nil { // as without a module cache for it: each program is built whole
			fmt.Fprintln(s.log, err)
			base = nil
		}
		for i, p := range patches {
			x, err := s.product(p, strconv.Itoa(i))
			if err != nil {
				x = &product{patch: p, err: err}
			} else {
				x.make(ctx, s.root, base)
			}
			select {
			case built <- x:
			case <-ctx.Done():
				return
			}
		}
	}()
	return built
}

// hunt fills one row of the matrix.
func (s *session) hunt(ctx context.Context, x *product) (row *Row, err error) {
	row = &Row{Patch: x.patch, Status: Cut}
	s.report.Rows = append(s.report.Rows, row)
	if x.err != nil {
		row.Status = NoBuild
		row.Error = x.err.Error()
		fmt.Fprintf(s.log, "%s %s: does not build: %s\n", x.patch.ID, x.patch.Name, row.Error)
		return row, nil
	}
	start := time.Now()
	known, err := s.tryCapsule(ctx, x, row)
	if err != nil {
		return nil, err
	}
	if known {
		row.Seconds = time.Since(start).Seconds()
		s.tell(ctx, x, row, filepath.Join(s.corpus, corpus.Mutants, x.patch.capsuleName()))
		_ = os.RemoveAll(x.dir)
		return row, nil
	}
	h := &hunt{patch: x.patch, scenarios: x.patch.Scenarios, limit: max(s.limit, int64(len(x.patch.Scenarios)))}
	if err := h.run(ctx, x.binary, s.workers); err != nil {
		return nil, err
	}
	row.Seconds = time.Since(start).Seconds()
	if row.judge(h); row.Kill != nil {
		if err := s.expose(ctx, x, row); err != nil {
			return nil, err
		}
	}
	of := ""
	if row.Kill != nil {
		of = fmt.Sprintf("%s:%d", row.Kill.Scenario, row.Kill.Seed)
	}
	if row.Kill != nil && s.capsules != "" {
		shrinking := time.Now()
		note, kept, err := x.shrunk(ctx, row.Kill, s.capsules, s.catalogue)
		if err != nil {
			return nil, err
		}
		if kept {
			of = filepath.Join(s.capsules, corpus.Mutants, x.patch.capsuleName())
			note = fmt.Sprintf("capsule after %.1f s: %s", time.Since(shrinking).Seconds(), note)
		} else {
			note = "no capsule: " + note
		}
		fmt.Fprintf(s.log, "%s %s: %s\n", x.patch.ID, x.patch.Name, note)
	}
	s.tell(ctx, x, row, of)
	_ = os.RemoveAll(x.dir) // binaries are large, and a temporary directory may be in memory
	line := fmt.Sprintf("%s %s: %s, %d runs in %.1f s", x.patch.ID, x.patch.Name, row.Status, row.Runs, row.Seconds)
	if k := row.Kill; k != nil {
		line += fmt.Sprintf(": %s (%s) at %s:%d: %s", k.Invariant, k.Evidence, k.Scenario, k.Seed, k.Detail)
	} else if k := row.Other; k != nil {
		line += fmt.Sprintf(": %s (%s) at %s:%d: %s", k.Invariant, k.Evidence, k.Scenario, k.Seed, k.Detail)
	}
	fmt.Fprintln(s.log, line)
	return row, nil
}

// tryCapsule runs the mutant's capsule first. It reports whether that settles the row: a kill, or no hunt is wanted.
func (s *session) tryCapsule(ctx context.Context, x *product, row *Row) (settled bool, err error) {
	if s.options.hunt {
		return false, nil
	}
	e, err := readCapsule(s.corpus, x.patch, s.catalogue)
	if err != nil {
		return false, err
	}
	if e != nil {
		if row.Kill, err = x.killedBy(ctx, e); err != nil {
			return false, err
		}
		row.Stale = row.Kill == nil
	}
	switch {
	case row.Kill != nil:
		row.Status, row.Runs = Killed, 1
		if err := s.examine(ctx, x, e, row); err != nil {
			return false, err
		}
	case s.options.corpus && e == nil:
		row.Status = NoCapsule
	case s.options.corpus:
		row.Status, row.Runs = StaleCapsule, 1
	default:
		return false, nil
	}
	fmt.Fprintf(s.log, "%s %s: %s by its capsule\n", x.patch.ID, x.patch.Name, row.Status)
	return true, nil
}

// tell writes the story of a kill, of a capsule or a seed, when stories are wanted.
func (s *session) tell(ctx context.Context, x *product, row *Row, of string) {
	if s.stories == "" || row.Kill == nil {
		return
	}
	var err error
	if row.Story, err = tell(ctx, s.stories, x.binary, of, x.patch, row.Kill, s.catalogue); err != nil {
		row.Error = err.Error()
		fmt.Fprintf(s.log, "%s %s: no story: %s\n", x.patch.ID, x.patch.Name, row.Error)
	}
}
