package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// comparison is what the flags say.
type comparison struct {
	seeds   int64
	first   uint64
	workers int
	budget  int64
	out     string
}

func compareCommand(catalogue *sim.Catalogue) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Run the same plans under different rules and set the outcomes side by side",
		Long: "Compare draws plans and runs each of them once under every variant, with the same seed: whatever two runs both decide by chance\n" +
			"(latencies, torn writes, timeouts), they decide alike. The result depends on --seeds and --first only, not on --workers.",
		Example: "  simrun compare kip1262 --seeds 3700\n  simrun compare pre-vote --seeds 600 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("compare knows kip1262 and pre-vote, not %q", args[0])
			}
			if cli.JSON(cmd) {
				return cli.Usagef("--json needs what to compare: kip1262 or pre-vote")
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(compareKIPCommand(catalogue), comparePreVoteCommand(catalogue))
	return cmd
}

func (c *comparison) flags(cmd *cobra.Command, seeds int64, over string) {
	cmd.Flags().Int64Var(&c.seeds, "seeds", seeds, "plans in all, split evenly over the "+over+"; each runs under every variant")
	c.first = 1
	cli.AddSeed(cmd, &c.first, "first", "first seed of every scenario")
	cmd.Flags().IntVar(&c.workers, "workers", runtime.NumCPU(), "runs at a time; changes nothing but the time")
	cmd.Args = cobra.NoArgs
}

func (c *comparison) check() error {
	const most = 10_000_000
	switch {
	case c.seeds < 1 || c.seeds > most:
		return cli.Usagef("--seeds must lie between 1 and %d", most)
	case c.workers < 1 || c.workers > 1024:
		return cli.Usagef("--workers must lie between 1 and 1024")
	case c.budget < 0:
		return cli.Usagef("--shrink-runs must not be negative: 0 does not shrink")
	}
	return nil
}

// compareSheet is the document of `compare kip1262 --json`.
type compareSheet struct {
	Config   cli.Configuration `json:"config"`
	Variants []string          `json:"variants"`
	Plans    int64             `json:"plans"`
	Runs     int64             `json:"runs"`
	// Interrupted: a signal ended the comparison, and the rows hold the runs so far.
	Interrupted bool         `json:"interrupted,omitempty"`
	Rows        []compareRow `json:"rows"`
	// Differences and NotMet are read from the rows.
	Differences []compareDifference `json:"differences"`
	NotMet      []string            `json:"hazards_not_met"`
}

type compareRow struct {
	Name  string        `json:"name"`
	Doc   string        `json:"doc"`
	Cells []compareCell `json:"cells"` // as variants
}

func compareKIPCommand(catalogue *sim.Catalogue) *cobra.Command {
	c := &comparison{}
	cmd := &cobra.Command{
		Use:   "kip1262",
		Short: "The verdict sheet of KIP-1262: rules C1 to C8 and cases T1 to T34 and X1 to X3 by variant",
		Long: "Each plan sets one of the cases T1 to T34 and X1 to X3 up, and runs under released, final-mar, final-apr and draft. A cell tells how many\n" +
			"runs were ok, met a declared hazard, got stuck, broke an invariant (FINDING), or did not reach the case, which is not ok. \"-\" is a\n" +
			"variant for which the table gives no outcome. Below the table are the shortest plan of each cell that is not ok, the rows\n" +
			"in which neighbouring columns differ, and the declared hazards that no run met: a rare one, as T27's, takes more plans than the default.\n" +
			"Exit code 1 for a finding or a run that is stuck; 130 when SIGINT or SIGTERM ended it, with the sheet so far.",
		Example: "  simrun compare kip1262 --seeds 3700\n  simrun compare kip1262 --seeds 370 --shrink-runs 0\n  simrun compare kip1262 --seeds 37000 --out plans --json > sheet.json",
	}
	c.flags(cmd, 3700, "cases")
	cmd.Flags().Int64Var(&c.budget, "shrink-runs", 60, "runs to shrink one example (0: do not shrink)")
	cmd.Flags().StringVar(&c.out, "out", "", "folder for the shortest plans (default: none are written)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.check(); err != nil {
			return err
		}
		if err := cli.CheckOut(c.out); err != nil {
			return err
		}
		sheet := compareSheet{Config: cli.Configure(cmd, args, nil), Variants: scenarios.KIPVariants(), Plans: c.seeds}
		if !cli.JSON(cmd) {
			if err := sheet.Config.Print(cmd.OutOrStdout()); err != nil {
				return err
			}
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := c.sheet(ctx, cmd.ErrOrStderr(), catalogue, &sheet); err != nil {
			return err
		}
		unwritten := c.write(&sheet)
		var err error
		if cli.JSON(cmd) {
			err = cli.PrintJSON(cmd.OutOrStdout(), &sheet)
		} else {
			err = sheet.print(cmd.OutOrStdout())
		}
		switch {
		case err != nil:
		case unwritten != nil: // the sheet is there all the same
			err = unwritten
		case sheet.Interrupted:
			err = cli.ErrInterrupted
		case sheet.failed():
			err = cli.ErrFinding
		}
		return err
	}
	return cmd
}

// sheet fills the sheet in. When ctx ends it takes what ran until then, and shrinks nothing any more.
func (c *comparison) sheet(ctx context.Context, progress io.Writer, catalogue *sim.Catalogue, s *compareSheet) error {
	rows, tasks := scenarios.KIPRows(), scenarios.KIPTasks(catalogue, c.first, c.seeds)
	type judged struct {
		plan   *plan.Plan
		status []scenarios.CompareStatus
		target []string
	}
	runs := make([]judged, len(tasks)*len(s.Variants))
	err := inParallel(ctx, progress, "run", len(runs), c.workers, func(engine *sim.Engine, i int) error {
		variant := s.Variants[i%len(s.Variants)]
		p := scenarios.UnderVariant(tasks[i/len(s.Variants)].Plan, variant)
		result, err := engine.Run(p, sim.Options{})
		if err != nil {
			return fmt.Errorf("%s under %s: %w", token(p), variant, err)
		}
		status, target := scenarios.Judge(rows, p, variant, result.Verdict)
		runs[i] = judged{p, status, target}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].plan != nil {
			s.Runs++
		}
	}
	s.Interrupted = ctx.Err() != nil
	var examples []*compareExample
	for r := range rows {
		row := compareRow{Name: rows[r].Name, Doc: rows[r].Doc}
		for k, variant := range s.Variants {
			cell := compareCell{Variant: variant, Applies: rows[r].Applies(variant)}
			for i := k; i < len(runs); i += len(s.Variants) {
				if x := &runs[i]; x.plan != nil && x.status[r] != "" {
					cell.add(x.status[r], x.target[r], x.plan)
				}
			}
			examples = append(examples, cell.Shortest...)
			row.Cells = append(row.Cells, cell)
		}
		s.Rows = append(s.Rows, row)
	}
	err = inParallel(context.Background(), progress, "shrink", len(examples), c.workers, func(engine *sim.Engine, i int) error {
		budget := c.budget
		if ctx.Err() != nil { // one run tells what the example shows
			budget = 0
		}
		return shrinkExample(engine, examples[i], budget, catalogue.Registry)
	})
	s.Interrupted = ctx.Err() != nil
	s.notes(catalogue.Hazards)
	return err
}

// write puts the examples into the folder, up to the first that cannot be written.
func (c *comparison) write(s *compareSheet) error {
	if c.out == "" {
		return nil
	}
	for i := range s.Rows {
		for j := range s.Rows[i].Cells {
			cell := &s.Rows[i].Cells[j]
			for _, e := range cell.Shortest {
				name := strings.NewReplacer("/", "-").Replace(s.Rows[i].Name + "-" + cell.Variant + "-" + e.Target)
				data, err := plan.Encode(e.Plan)
				if err != nil {
					return err
				}
				file := filepath.Join(c.out, name+".json")
				if err := outfile.Write(file, data); err != nil {
					return cli.Unwritten(file, err)
				}
				e.File = file
			}
		}
	}
	return nil
}

func (s *compareSheet) failed() bool {
	for i := range s.Rows {
		for j := range s.Rows[i].Cells {
			if c := &s.Rows[i].Cells[j]; c.Finding > 0 || c.Stuck > 0 {
				return true
			}
		}
	}
	return false
}

// print writes the sheet for people.
func (s *compareSheet) print(w io.Writer) error {
	table := [][]string{append(append([]string{""}, s.Variants...), "")}
	for i := range s.Rows {
		r := &s.Rows[i]
		line := []string{r.Name}
		for j := range r.Cells {
			line = append(line, r.Cells[j].text())
		}
		table = append(table, append(line, r.Doc))
	}
	if err := reports.Table(w, table); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i := range s.Rows {
		for j := range s.Rows[i].Cells {
			cell := &s.Rows[i].Cells[j]
			for _, e := range cell.Shortest {
				fmt.Fprintf(w, "%s %s, %s: %d runs, shortest has %s, %s\n", s.Rows[i].Name, cell.Variant, e.Target, e.Runs,
					reports.Plural(int64(len(e.Actions)), "action"), reports.Plural(e.Hosts, "host"))
				fmt.Fprintf(w, "  %s\n", e.Detail)
				for _, a := range e.Actions {
					fmt.Fprintf(w, "  %s\n", a)
				}
				if e.File != "" {
					fmt.Fprintf(w, "  simrun run --plan %s\n", e.File)
				} else {
					fmt.Fprintf(w, "  from %s under variant %s\n", e.Token, cell.Variant)
				}
			}
		}
	}
	if err := s.printNotes(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s, each under %s\n", reports.Plural(s.Plans, "plan"), strings.Join(s.Variants, ", ")); err != nil {
		return err
	}
	return printInterrupted(w, s.Interrupted, s.Runs, s.Plans*int64(len(s.Variants)))
}

// printInterrupted says how far a comparison came that a signal ended.
func printInterrupted(w io.Writer, interrupted bool, runs, of int64) error {
	if !interrupted {
		return nil
	}
	_, err := fmt.Fprintf(w, "Interrupted: these are the results so far, of %s of %s.\n", reports.Count(runs), reports.Plural(of, "run"))
	return err
}

// text is the cell in one word per status that occurs.
func (c *compareCell) text() string {
	if !c.Applies {
		return "-"
	}
	var words []string
	for _, x := range []struct {
		n    int64
		word string
	}{{c.OK, "ok"}, {c.Hazard, "hazard"}, {c.Stuck, "STUCK"}, {c.Finding, "FINDING"}, {c.NotReached, "not reached"}} {
		if x.n > 0 {
			words = append(words, fmt.Sprintf("%s %d", x.word, x.n))
		}
	}
	if len(words) == 0 {
		return "no run"
	}
	return strings.Join(words, ", ")
}
