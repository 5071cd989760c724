package reports

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Campaign prints a campaign's summary for people: a table of the scenarios, conditions, hazards, findings, speed.
func Campaign(w io.Writer, s *campaign.Summary) error {
	var b strings.Builder
	if err := Table(&b, scenarioRows(s)); err != nil {
		return err
	}
	b.WriteString("~ median of the runs; * legitimately: no healthy core was left that could go on\n")
	for _, line := range s.Scenarios {
		if line.GaveUp {
			fmt.Fprintf(&b, "%s ended too many worker processes: its other seeds were left out\n", line.Name)
		}
	}
	writeConditions(&b, s)
	writeHazards(&b, s)
	writeFindings(&b, s)
	if len(s.NeverEvaluated) > 0 {
		fmt.Fprintf(&b, "\nInvariants that no run evaluated: %s\n", strings.Join(s.NeverEvaluated, ", "))
	}
	fmt.Fprintf(&b, "\n%s and %s in %v, %s: %s runs/s, %s events/s\n", Plural(s.Runs, "schedule"), Plural(s.Events, "event"),
		(time.Duration(s.RunMs) * time.Millisecond).Round(100*time.Millisecond), Plural(int64(s.Workers), "worker"),
		Count(int64(s.RunsPerSecond)), Count(int64(s.EventsPerSecond)))
	if s.Interrupted {
		fmt.Fprintln(&b, "Interrupted: these are the results so far.")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func scenarioRows(s *campaign.Summary) [][]string {
	rows := [][]string{{"scenario", ">runs", ">ok", ">stuck*", ">unknown", ">findings", ">hazards", ">events~", ">sim s~",
		">elections~", ">crashes", ">in handlers", ">fsyncs", ">ms/run"}}
	for i := range s.Scenarios {
		l := &s.Scenarios[i]
		rows = append(rows, []string{
			l.Name, Count(l.Runs), Count(l.Outcomes[plan.OK]), Count(l.Outcomes[plan.LegitimatelyStuck]),
			Count(l.Outcomes[plan.Unknown]), Count(l.Findings), Count(l.HazardRuns), Count(l.MedianEvents),
			seconds(l.MedianVirtualUs), Count(l.MedianElections), Count(l.Crashes), Count(l.CrashesInHandlers), Count(l.Fsyncs),
			fmt.Sprintf("%d.%d", l.MeanRunUs/1000, l.MeanRunUs%1000/100),
		})
	}
	return rows
}

func writeConditions(b *strings.Builder, s *campaign.Summary) {
	if len(s.Sometimes) == 0 {
		return
	}
	rows := [][]string{{"sometimes", "in", ">runs", ">out of", ">due", ""}}
	for _, c := range s.Sometimes {
		family := cmp.Or(c.Scenario, "all")
		rows = append(rows, []string{c.Name, family, Count(c.Runs), Count(c.OutOf), Count(c.Expected), red(c.Red)})
	}
	b.WriteByte('\n')
	_ = Table(b, rows) // a strings.Builder accepts every write
}

func red(reason string) string {
	if reason == "" {
		return ""
	}
	return "RED: " + reason
}

func writeHazards(b *strings.Builder, s *campaign.Summary) {
	if len(s.Hazards) == 0 {
		return
	}
	b.WriteString("\nDeclared hazards (no failures of the campaign)\n")
	for i := range s.Hazards {
		h := &s.Hazards[i]
		met := int64(0)
		if h.Bucket != nil {
			met = h.Bucket.Runs
		}
		fmt.Fprintf(b, "  %s (%s): met in %s of %s, %s due. %s\n", h.ID, h.Invariant, Count(met), Plural(h.OutOf, "run"),
			Count(h.Expected), h.Doc)
		if h.Red != "" {
			fmt.Fprintf(b, "    %s\n", red(h.Red))
		}
		if h.Bucket != nil {
			writeBucket(b, h.Bucket)
		}
	}
}

func writeFindings(b *strings.Builder, s *campaign.Summary) {
	if len(s.Findings) == 0 {
		b.WriteString("\nNo findings.\n")
		return
	}
	b.WriteString("\nFINDINGS\n")
	for i := range s.Findings {
		f := &s.Findings[i]
		fmt.Fprintf(b, "  %s: %s in %s\n", f.Fingerprint, Plural(f.Runs, "run"), strings.Join(f.Scenarios, ", "))
		fmt.Fprintf(b, "    first: %s:%d\n", f.Example.Scenario, f.Example.Seed)
		writeBucket(b, f)
	}
}

// writeBucket prints what an example said and the shortest plan.
func writeBucket(b *strings.Builder, k *campaign.Bucket) {
	if k.Shortest == nil {
		if k.Example.Detail != "" {
			fmt.Fprintf(b, "    %s\n", k.Example.Detail)
		}
		return
	}
	how := "shortest plan, of"
	if k.Shortest.Runs == 0 {
		how = "plan, not shrunk, of"
	}
	fmt.Fprintf(b, "    %s %s: %s, %s\n", how, k.Shortest.Token,
		Plural(int64(len(k.Shortest.Actions)), "action"), Plural(k.Shortest.Hosts, "host"))
	if k.Shortest.Detail != "" {
		fmt.Fprintf(b, "      %s\n", k.Shortest.Detail)
	}
	for _, action := range k.Shortest.Actions {
		fmt.Fprintf(b, "      %s\n", action)
	}
	if k.Shortest.Capsule != "" {
		fmt.Fprintf(b, "    simrun replay %s\n", k.Shortest.Capsule)
	}
}
