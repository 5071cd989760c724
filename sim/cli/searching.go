package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// searchBudget is how much a search for a shorter plan may cost: runs, and time by the wall clock. A plan that runs into the end of its calm takes
// seconds a run, and a thousand runs an hour.
type searchBudget struct {
	runs int64
	time time.Duration
}

// A search takes so much unless told otherwise, and tells of itself so often.
const (
	searchRuns  = 1000
	searchTime  = 3 * time.Minute
	searchTells = 10 * time.Second
)

// flags adds the flags of a budget to a command.
func (b *searchBudget) flags(cmd *cobra.Command) {
	*b = searchBudget{searchRuns, searchTime}
	cmd.Flags().Int64Var(&b.runs, "budget", b.runs, "runs to spend on shrinking")
	cmd.Flags().DurationVar(&b.time, "time", b.time, "time to spend on shrinking")
}

// check refuses budgets for nothing.
func (b *searchBudget) check() error {
	switch {
	case b.runs < 1:
		return Usagef("--budget must be at least 1")
	case b.time <= 0:
		return Usagef("--time must be longer than 0s")
	}
	return nil
}

// searching watches a search: it tells of long ones, and ends those that take too long.
type searching struct {
	w      io.Writer
	budget searchBudget
	now    func() time.Time
	begun  time.Time
	next   time.Time
	late   bool
}

func newSearching(w io.Writer, budget searchBudget, now func() time.Time) *searching {
	s := &searching{w: w, budget: budget, now: now, begun: now()}
	s.next = s.begun.Add(searchTells)
	return s
}

// shrink is shrink.Shrink within the budget.
func (s *searching) shrink(r shrink.Runner, p *plan.Plan, goal string) (*plan.Plan, shrink.Stats) {
	return shrink.Shrink(r, p, goal, s.budget.runs, s.goesOn)
}

// goesOn is called after each run, and says whether there may be another one.
func (s *searching) goesOn(stats shrink.Stats) bool {
	now := s.now()
	if !now.Before(s.next) {
		s.next = now.Add(searchTells)
		fmt.Fprintf(s.w, "%s shrinking: %d runs, left are %d actions, %d hosts, %d drawn faults\n", s.since(now), stats.Runs,
			stats.ActionsAfter, stats.HostsAfter, stats.DecisionsAfter)
	}
	s.late = now.Sub(s.begun) >= s.budget.time
	return !s.late
}

// asks tells, where the search was long, that each of so many parts is left out once.
func (s *searching) asks(parts int) {
	if now := s.now(); now.Sub(s.begun) >= searchTells {
		fmt.Fprintf(s.w, "%s which of %d parts are necessary: a run without each\n", s.since(now), parts)
	}
}

func (s *searching) since(now time.Time) time.Duration { return now.Sub(s.begun).Truncate(time.Second) }

// ended names what ended a search that is not through.
func (s *searching) ended() string {
	if s.late {
		return "--time"
	}
	return "--budget"
}
