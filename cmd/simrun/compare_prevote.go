package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// preVoteSheet is the document of `compare pre-vote --json`.
type preVoteSheet struct {
	Config cli.Configuration `json:"config"`
	Plans  int64             `json:"plans"`
	Runs   int64             `json:"runs"`
	// Interrupted: a signal ended the comparison, and the rows hold the runs so far.
	Interrupted bool         `json:"interrupted,omitempty"`
	Rows        []preVoteRow `json:"rows"`
}

// preVoteRow is a scenario, or all of them.
type preVoteRow struct {
	Scenario string      `json:"scenario"`
	On       preVoteSide `json:"on"`
	Off      preVoteSide `json:"off"`
}

// preVoteSide sums runs with or without pre-votes up.
type preVoteSide struct {
	scenarios.PreVoteFigures
	Runs     int64 `json:"runs"`
	Stuck    int64 `json:"stuck"`
	Findings int64 `json:"findings"`
}

func (s *preVoteSide) add(f scenarios.PreVoteFigures, v plan.Outcome) {
	s.Runs++
	s.Elections += f.Elections
	s.Disruptive += f.Disruptive
	s.UnavailableUs += f.UnavailableUs
	s.MeasuredUs += f.MeasuredUs
	switch v {
	case plan.OK, plan.LegitimatelyStuck:
	case plan.Stuck:
		s.Stuck++
	default:
		s.Findings++
	}
}

func comparePreVoteCommand(catalogue *sim.Catalogue) *cobra.Command {
	c := &comparison{}
	cmd := &cobra.Command{
		Use:   "pre-vote",
		Short: "Elections and time without a leader that can commit, with pre-votes (KIP-996) and without",
		Long: "Each plan of raft/storm-3, raft/storm-5 and raft/lockstep runs with software that has pre-votes and with software that knows no\n" +
			"more than version 1 of Vote. A disruptive election ends the leadership of a leader that lived and could commit. Unavailable is\n" +
			"the virtual time of the storm, from the first commit on, in which no leader could.",
		Example: "  simrun compare pre-vote --seeds 600\n  simrun compare pre-vote --seeds 3000 --first 1000 --json",
	}
	c.flags(cmd, 600, "scenarios")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.check(); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		sheet := preVoteSheet{Config: cli.Configure(cmd, args, nil), Plans: c.seeds}
		if !cli.JSON(cmd) {
			if err := sheet.Config.Print(cmd.OutOrStdout()); err != nil {
				return err
			}
		}
		tasks := scenarios.PreVoteTasks(catalogue, c.first, c.seeds)
		type run struct {
			figures scenarios.PreVoteFigures
			outcome plan.Outcome
		}
		runs := make([]run, 2*len(tasks))
		err := inParallel(ctx, cmd.ErrOrStderr(), "run", len(runs), c.workers, func(engine *sim.Engine, i int) error {
			result, err := engine.Run(scenarios.WithPreVote(tasks[i/2].Plan, i%2 == 0), sim.Options{})
			if err != nil {
				return err
			}
			runs[i] = run{scenarios.FiguresOf(result.Verdict), result.Verdict.Outcome}
			return nil
		})
		if err != nil {
			return err
		}
		sheet.Interrupted = ctx.Err() != nil
		for i := range runs {
			if runs[i].outcome != "" {
				sheet.Runs++
				sheet.row(tasks[i/2].Scenario).side(i%2 == 0).add(runs[i].figures, runs[i].outcome)
			}
		}
		for i := range runs {
			if runs[i].outcome != "" {
				sheet.row("all").side(i%2 == 0).add(runs[i].figures, runs[i].outcome)
			}
		}
		if cli.JSON(cmd) {
			err = cli.PrintJSON(cmd.OutOrStdout(), &sheet)
		} else {
			err = sheet.print(cmd.OutOrStdout())
		}
		if err == nil && sheet.Interrupted {
			err = cli.ErrInterrupted
		}
		return err
	}
	return cmd
}

func (s *preVoteSheet) print(w io.Writer) error {
	if err := reports.Table(w, s.table()); err != nil {
		return err
	}
	return printInterrupted(w, s.Interrupted, s.Runs, 2*s.Plans)
}

// row returns the row of a scenario; that of all is the last.
func (s *preVoteSheet) row(scenario string) *preVoteRow {
	for i := range s.Rows {
		if s.Rows[i].Scenario == scenario {
			return &s.Rows[i]
		}
	}
	s.Rows = append(s.Rows, preVoteRow{Scenario: scenario})
	return &s.Rows[len(s.Rows)-1]
}

func (r *preVoteRow) side(on bool) *preVoteSide {
	if on {
		return &r.On
	}
	return &r.Off
}

func (s *preVoteSheet) table() [][]string {
	rows := [][]string{{"scenario", "pre-vote", "runs", "elections", "disruptive", "unavailable", "of", "stuck", "findings"}}
	for i := range s.Rows {
		r := &s.Rows[i]
		for _, on := range []bool{true, false} {
			x, word := r.side(on), "off"
			if on {
				word = "on"
			}
			rows = append(rows, []string{r.Scenario, word, reports.Count(x.Runs), reports.Count(x.Elections), reports.Count(x.Disruptive),
				fmt.Sprintf("%s ms", reports.Count(x.UnavailableUs/1000)), fmt.Sprintf("%s ms", reports.Count(x.MeasuredUs/1000)),
				reports.Count(x.Stuck), reports.Count(x.Findings)})
		}
	}
	return rows
}
