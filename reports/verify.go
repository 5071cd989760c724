package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
)

// Verify prints the report of a verification for people.
func Verify(w io.Writer, r *campaign.VerifyReport) error {
	var b strings.Builder
	for i := range r.Differences {
		d := &r.Differences[i]
		fmt.Fprintf(&b, "%s:%d: %s\n", d.Scenario, d.Seed, d.What)
		if d.Event < 0 {
			continue
		}
		fmt.Fprintf(&b, "  first event that differs: %d\n", d.Event)
		for _, side := range []struct {
			name  string
			lines []sim.TraceLine
		}{{"quiet", d.Quiet}, {"loud", d.Loud}} {
			for j := range side.lines {
				fmt.Fprintf(&b, "  %-5s %s\n", side.name, TraceLine(&side.lines[j]))
			}
		}
	}
	fmt.Fprintf(&b, "%s in %s, each run in two processes: ", Plural(r.Runs, "seed"), Plural(r.Scenarios, "scenario"))
	if len(r.Differences) == 0 {
		b.WriteString("all alike\n")
	} else {
		fmt.Fprintf(&b, "%s\n", Plural(int64(len(r.Differences)), "difference"))
	}
	if r.Interrupted {
		fmt.Fprintln(&b, "Interrupted: these are the results so far.")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// DifferenceJSON is a difference with the traces around it, for programs.
type DifferenceJSON struct {
	campaign.Difference
	Quiet []TraceJSON `json:"quiet,omitempty"`
	Loud  []TraceJSON `json:"loud,omitempty"`
}

// VerifyJSON is the report of a verification for programs.
type VerifyJSON struct {
	Runs        int64            `json:"runs"`
	Scenarios   int64            `json:"scenarios"`
	Differences []DifferenceJSON `json:"differences"`
	Interrupted bool             `json:"interrupted,omitempty"`
}

// NewVerifyJSON converts a report.
func NewVerifyJSON(r *campaign.VerifyReport) VerifyJSON {
	j := VerifyJSON{Runs: r.Runs, Scenarios: r.Scenarios, Interrupted: r.Interrupted, Differences: []DifferenceJSON{}}
	for _, d := range r.Differences {
		out := DifferenceJSON{Difference: d}
		for i := range d.Quiet {
			out.Quiet = append(out.Quiet, NewTraceJSON(&d.Quiet[i]))
		}
		for i := range d.Loud {
			out.Loud = append(out.Loud, NewTraceJSON(&d.Loud[i]))
		}
		j.Differences = append(j.Differences, out)
	}
	return j
}
