package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// mostAnnotations is how many errors GitHub shows of a step; the last one says how many more there are.
const mostAnnotations = 10

// GitHubAnnotations writes what is wrong as workflow commands, which GitHub Actions shows at the run: an error for each finding, and for
// each condition, hazard and place of a crash that was due and not met. Of a campaign without anything wrong it writes a notice.
func GitHubAnnotations(w io.Writer, s *campaign.Summary) error {
	type annotation struct{ title, text string }
	var list []annotation
	for i := range s.Findings {
		f := &s.Findings[i]
		var text strings.Builder
		fmt.Fprintf(&text, "%s in %s, first %s:%d\n", Plural(f.Runs, "run"), byScenario(f), f.Example.Scenario, f.Example.Seed)
		writeBucket(&text, s.Program, f)
		list = append(list, annotation{f.Fingerprint, strings.TrimRight(text.String(), "\n")})
	}
	for _, line := range s.Unmet() {
		list = append(list, annotation{"due and not met", line})
	}
	if more := len(list) - mostAnnotations; more > 0 {
		list = list[:mostAnnotations-1]
		list = append(list, annotation{"and more", Plural(int64(more)+1, "further finding") + ": see the summary of this step"})
	}
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "::error title=%s::%s\n", escapeProperty(s.Program+": "+a.title), escapeData(a.text))
	}
	if len(list) == 0 {
		fmt.Fprintf(&b, "::notice title=%s::%s\n", escapeProperty(s.Program+" campaign"),
			escapeData(Plural(s.Runs, "schedule")+", no findings"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escapeData keeps a text one line; escapeProperty also keeps it apart from the next property.
func escapeData(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func escapeProperty(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// GitHubSummary writes a campaign as Markdown for the summary of a step.
func GitHubSummary(w io.Writer, s *campaign.Summary, command string) error {
	var b strings.Builder
	state := "✔ no findings"
	switch {
	case len(s.Findings) > 0:
		state = "✖ " + Plural(int64(len(s.Findings)), "finding")
	case s.Failed():
		state = "✖ something that is due was not met"
	}
	fmt.Fprintf(&b, "## %s campaign: %s\n\n", s.Program, state)
	fmt.Fprintf(&b, "%s of %s, %s, %s runs/s.", Plural(s.Runs, "schedule"), Plural(int64(len(s.Scenarios)), "scenario"), Plural(s.Events, "event"),
		Count(int64(s.RunsPerSecond)))
	if c := s.Coverage; c != nil {
		fmt.Fprintf(&b, " %s", coverageLine(c))
	}
	if s.Interrupted {
		b.WriteString(" Interrupted: these are the results so far.")
	}
	b.WriteString("\n")
	if command != "" {
		fmt.Fprintf(&b, "\n%s\n", fenced(command))
	}
	var end strings.Builder
	writeRates(&end, s)
	writeEnd(&end, s)
	if s.Against != nil {
		writeComparison(&end, s.Against)
	}
	if end.Len() > 0 {
		fmt.Fprintf(&b, "\n%s\n", fenced(strings.TrimRight(end.String(), "\n")))
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		fmt.Fprintf(&b, "\n### %s\n\n%s in %s, first `%s:%d`\n", inline(f.Fingerprint), Plural(f.Runs, "run"), inline(byScenario(f)), f.Example.Scenario, f.Example.Seed)
		var text strings.Builder
		writeBucket(&text, s.Program, f)
		if text.Len() > 0 {
			fmt.Fprintf(&b, "\n%s\n", fenced(unindent(text.String())))
		}
	}
	if lines := s.Unmet(); len(lines) > 0 {
		b.WriteString("\n### Due and not met\n\n")
		for _, line := range lines {
			fmt.Fprintf(&b, "* %s\n", inline(line))
		}
	}
	summaryTable(&b, s)
	_, err := io.WriteString(w, b.String())
	return err
}

// summaryTable lists the scenarios, those with findings first.
func summaryTable(b *strings.Builder, s *campaign.Summary) {
	b.WriteString("\n<details><summary>Scenarios</summary>\n\n| scenario | runs | findings | hazards | covered | new in the last tenth |\n|---|--:|--:|--:|--:|--:|\n")
	list := slices.Clone(s.Scenarios)
	slices.SortStableFunc(list, func(x, y campaign.ScenarioSummary) int { return int(max(-1, min(1, y.Findings-x.Findings))) })
	for i := range list {
		l := &list[i]
		covered, last := "", ""
		if l.Coverage != nil {
			covered, last = Count(l.Coverage.Combinations), fmt.Sprintf("%.1f %%", 100*l.Coverage.LastTenth())
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", inline(l.Name), Count(l.Runs), Count(l.Findings), Count(l.HazardRuns), covered, last)
	}
	b.WriteString("\n</details>\n")
}

// inline keeps Markdown from reading signs of a text as its own.
func inline(text string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[").Replace(text)
}

// fenced is a block of text as it stands.
func fenced(text string) string {
	return "```text\n" + strings.ReplaceAll(text, "```", "'''") + "\n```"
}

func unindent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "    ")
	}
	return strings.Join(lines, "\n")
}
