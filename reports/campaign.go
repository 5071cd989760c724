package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
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
	b.WriteString("~ median of the runs; * legitimately: no healthy core was left that could go on; " +
		"+ runs in which a process stopped by itself or refused to start\n")
	for _, line := range s.Scenarios {
		if line.GaveUp {
			fmt.Fprintf(&b, "%s ended too many worker processes: its other seeds were left out\n", line.Name)
		}
	}
	writeConditions(&b, s)
	writeDosage(&b, s)
	writeHazards(&b, s)
	writeFindings(&b, s)
	if len(s.NeverEvaluated) > 0 {
		fmt.Fprintf(&b, "\nInvariants that no run evaluated (documented, but no run came to where they are checked): %s\n",
			strings.Join(s.NeverEvaluated, ", "))
	}
	fmt.Fprintf(&b, "\n%s and %s in %v, %s: %s runs/s, %s events/s\n", Plural(s.Runs, "schedule"), Plural(s.Events, "event"),
		(time.Duration(s.RunMs) * time.Millisecond).Round(100*time.Millisecond), Plural(int64(s.Workers), "worker"),
		Count(int64(s.RunsPerSecond)), Count(int64(s.EventsPerSecond)))
	if tenth := 100 * time.Millisecond; s.ShrinkMs >= tenth.Milliseconds() {
		fmt.Fprintf(&b, "Shrinking and capsules took %v more, %v in all\n", (time.Duration(s.ShrinkMs) * time.Millisecond).Round(tenth),
			(time.Duration(s.ElapsedMs) * time.Millisecond).Round(tenth))
	}
	writeCoverage(&b, s)
	writeRates(&b, s)
	writeEnd(&b, s)
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "Note: %s\n", note)
	}
	for _, what := range s.Unwritten {
		fmt.Fprintf(&b, "Not written: %s\n", strings.NewReplacer("plan: ", "", "ledger: ", "").Replace(what))
	}
	if s.Against != nil {
		writeComparison(&b, s.Against)
	}
	if s.Interrupted {
		fmt.Fprintln(&b, "Interrupted: these are the results so far.")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// column is one column of the table of scenarios.
type column struct {
	title string
	cell  func(l *campaign.ScenarioSummary) string
	stat  string // the column stands there only when some run has this statistic; "" always
}

func columns() []column {
	count := func(title string, n func(l *campaign.ScenarioSummary) int64) column {
		return column{title: title, cell: func(l *campaign.ScenarioSummary) string { return Count(n(l)) }}
	}
	ofStat := func(stat string, c column) column {
		c.stat = stat
		return c
	}
	return []column{
		{title: "scenario", cell: func(l *campaign.ScenarioSummary) string { return l.Name }},
		count(">runs", func(l *campaign.ScenarioSummary) int64 { return l.Runs }),
		count(">ok", func(l *campaign.ScenarioSummary) int64 { return l.Outcomes[plan.OK] }),
		count(">stuck*", func(l *campaign.ScenarioSummary) int64 { return l.Outcomes[plan.LegitimatelyStuck] }),
		count(">unknown", func(l *campaign.ScenarioSummary) int64 { return l.Outcomes[plan.Unknown] }),
		count(">findings", func(l *campaign.ScenarioSummary) int64 { return l.Findings }),
		count(">hazards", func(l *campaign.ScenarioSummary) int64 { return l.HazardRuns }),
		count(">stopped+", func(l *campaign.ScenarioSummary) int64 { return l.StoppedRuns }),
		count(">events~", func(l *campaign.ScenarioSummary) int64 { return l.MedianEvents }),
		{title: ">sim s~", cell: func(l *campaign.ScenarioSummary) string { return seconds(l.MedianVirtualUs) }},
		ofStat("elections", count(">elections~", func(l *campaign.ScenarioSummary) int64 { return l.MedianElections })),
		count(">crashes", func(l *campaign.ScenarioSummary) int64 { return l.Crashes }),
		count(">in handlers", func(l *campaign.ScenarioSummary) int64 { return l.CrashesInHandlers }),
		ofStat("fsyncs", count(">fsyncs", func(l *campaign.ScenarioSummary) int64 { return l.Fsyncs })),
		{title: ">ms/run", cell: func(l *campaign.ScenarioSummary) string {
			return fmt.Sprintf("%d.%d", l.MeanRunUs/1000, l.MeanRunUs%1000/100)
		}},
	}
}

func scenarioRows(s *campaign.Summary) [][]string {
	rows := make([][]string, 1+len(s.Scenarios))
	for _, c := range columns() {
		has := func(l campaign.ScenarioSummary) bool { return l.Stats[c.stat] != 0 }
		if c.stat != "" && !slices.ContainsFunc(s.Scenarios, has) {
			continue
		}
		rows[0] = append(rows[0], c.title)
		for i := range s.Scenarios {
			rows[1+i] = append(rows[1+i], c.cell(&s.Scenarios[i]))
		}
	}
	return rows
}

func writeConditions(b *strings.Builder, s *campaign.Summary) {
	if len(s.Sometimes) == 0 {
		return
	}
	rows := [][]string{{"sometimes", "in", ">runs", ">out of", ">due", ">first after", ""}}
	for _, c := range s.Sometimes {
		family := cmp.Or(c.Scenario, "all")
		soonest := "-"
		if c.Soonest > 0 {
			soonest = Count(int64(c.Soonest))
		}
		rows = append(rows, []string{c.Name, family, Count(c.Runs), Count(c.OutOf), Count(c.Expected), soonest, red(c.Red)})
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
			writeBucket(b, s.Program, h.Bucket)
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
		fmt.Fprintf(b, "  %s: %s in %s\n", f.Fingerprint, Plural(f.Runs, "run"), byScenario(f))
		if f.Rate.OutOf > 0 {
			fmt.Fprintf(b, "    %s\n", Rate(f.Rate))
		}
		fmt.Fprintf(b, "    first: %s:%d\n", f.Example.Scenario, f.Example.Seed)
		writeBucket(b, s.Program, f)
	}
}

// byScenario names the scenarios of a bucket; where there are several, with the runs of each.
func byScenario(k *campaign.Bucket) string {
	if len(k.Scenarios) == 1 || len(k.ScenarioRuns) != len(k.Scenarios) {
		return strings.Join(k.Scenarios, ", ")
	}
	parts := make([]string, len(k.Scenarios))
	for i, name := range k.Scenarios {
		parts[i] = name + " (" + Count(k.ScenarioRuns[i]) + ")"
	}
	return strings.Join(parts, ", ")
}

// writeBucket prints what an example said and the shortest plan.
func writeBucket(b *strings.Builder, program string, k *campaign.Bucket) {
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
		fmt.Fprintf(b, "    %s replay %s\n", program, k.Shortest.Capsule)
	}
	for _, file := range k.Shortest.Explained {
		fmt.Fprintf(b, "    %s\n", file)
	}
}
