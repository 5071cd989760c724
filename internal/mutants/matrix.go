package mutants

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/cli"
)

// Status is what became of a mutant.
type Status string

// The statuses. Killed alone is good.
const (
	Killed    Status = "killed"
	OtherOnly Status = "killed by another invariant only" // than those that its header names
	PanicOnly Status = "panic only"
	Survived  Status = "survived"
	NoBuild   Status = "does not build"
	Cut       Status = "interrupted"
	Listed    Status = "applies" // --list
	// --corpus alone: there is no capsule, or it does not kill any more.
	NoCapsule    Status = "no capsule"
	StaleCapsule Status = "not killed"
	NotMinimal   Status = "killed by a capsule that is not minimal" // --minimal
)

// Row is one line of the matrix.
type Row struct {
	*Patch
	Status  Status  `json:"status"`
	Kill    *Kill   `json:"kill,omitempty"`
	Other   *Kill   `json:"other,omitempty"` // an earlier kill by an invariant that the header does not name
	Bad     *Kill   `json:"bad,omitempty"`   // the first panic or dead process
	Runs    int64   `json:"runs"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"` // of the build, or of the story
	Story   string  `json:"story,omitempty"` // file
	Stale   bool    `json:"stale,omitempty"` // the mutant's capsule does not kill it any more
}

// judge sets the status after a hunt.
func (r *Row) judge(h *hunt) {
	r.Kill, r.Other, r.Bad, r.Runs = h.best, h.other, h.firstBad, h.runs
	switch {
	case h.best != nil:
		r.Status = Killed
	case h.other != nil:
		r.Status = OtherOnly
	case h.firstBad != nil:
		r.Status = PanicOnly
	default:
		r.Status = Survived
	}
}

// Report is the matrix and the clean build beside it.
type Report struct {
	Config cli.Configuration `json:"config"`
	Rows   []*Row            `json:"mutants"`
	Clean  []*Clean          `json:"clean"`
	// Capsules says what is wrong with capsules on the clean build.
	Capsules []string `json:"capsules,omitempty"`
	// Interrupted: the matrix is not complete.
	Interrupted bool `json:"interrupted,omitempty"`
	Good        bool `json:"good"` // every row is killed and the clean build is green
}

// list writes the patches alone: nothing ran, and there is nothing to say of kills.
func (r *Report) list(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "id\tmutant\tscenarios\tinvariants\trule broken")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.ID, row.Name, strings.Join(row.Scenarios, " "), strings.Join(row.Invariants, " "), row.Rule)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s; every patch applies\n", reports.Plural(int64(len(r.Rows)), "mutant"))
	return err
}

// Print writes the matrix as text.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "id\tmutant\tkilled by\tat\tseeds\tseconds\tstatus\trule broken")
	killed := 0
	for _, row := range r.Rows {
		by, at, seeds := "-", "-", row.Runs
		if k := row.Kill; k != nil {
			by, at, seeds = k.Invariant, fmt.Sprintf("%s:%d", k.Scenario, k.Seed), k.Runs
			if k.Capsule {
				at = "its capsule"
			}
			killed++
		} else if k := row.Other; k != nil {
			by, at = k.Invariant, fmt.Sprintf("%s:%d", k.Scenario, k.Seed)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%.1f\t%s\t%s\n", row.ID, row.Name, by, at, seeds, row.Seconds, row.Status, row.Rule)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		r.remark(w, row)
	}
	for _, problem := range r.Capsules {
		fmt.Fprintln(w, problem)
	}
	fmt.Fprintf(w, "\n%d of %d mutants killed; clean build:", killed, len(r.Rows))
	for _, c := range r.Clean {
		fmt.Fprintf(w, " %s %d seeds", c.Scenario, c.Seeds)
		if c.Findings > 0 {
			fmt.Fprintf(w, " with %d FINDINGS (%s at seed %d: %s)", c.Findings, c.First.Invariant, c.First.Seed, c.First.Detail)
		}
		fmt.Fprint(w, ",")
	}
	verdict := "green"
	if len(r.Clean) == 0 {
		verdict = "not run"
	}
	if len(r.Capsules) > 0 || slices.ContainsFunc(r.Clean, func(c *Clean) bool { return c.Findings > 0 }) {
		verdict = "RED"
	}
	if r.Interrupted {
		verdict += "; interrupted, the matrix is not complete"
	}
	_, err := fmt.Fprintf(w, " %s\n", verdict)
	return err
}

// remark explains a row that is not plainly killed.
func (r *Report) remark(w io.Writer, row *Row) {
	if row.Stale {
		fmt.Fprintf(w, "%s: its capsule does not kill it any more: --capsules %s writes a new one\n", row.Name, corpus.Dir)
	}
	if row.Error != "" {
		fmt.Fprintf(w, "%s: %s\n", row.Name, row.Error)
	}
	if row.Kill == nil && row.Other != nil {
		fmt.Fprintf(w, "%s: expected %s, got %s: %s\n", row.Name, strings.Join(row.Invariants, " or "), row.Other.Invariant, row.Other.Detail)
	}
	if row.Kill == nil && row.Bad != nil {
		fmt.Fprintf(w, "%s: %s:%d: %s\n", row.Name, row.Bad.Scenario, row.Bad.Seed, row.Bad.Detail)
	}
}
