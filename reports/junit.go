package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// The elements of a JUnit report, as far as readers agree on them.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int64        `xml:"tests,attr"`
	Failures int64        `xml:"failures,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int64       `xml:"tests,attr"`
	Failures int64       `xml:"failures,attr"`
	Skipped  int64       `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// JUnit writes a campaign for what reads test results: a case for each scenario, which fails with the findings that it showed, and one for
// each condition, hazard and place of a crash that is due, which fails when it was not met. What too few runs could meet is skipped.
func JUnit(w io.Writer, s *campaign.Summary) error {
	doc := junitSuites{Name: s.Program + " campaign", Time: junitTime(s.ElapsedMs * 1000)}
	for _, suite := range []junitSuite{junitScenarios(s), junitConditions(s), junitHazards(s), junitSites(s)} {
		for i := range suite.Cases {
			suite.Tests++
			if suite.Cases[i].Failure != nil {
				suite.Failures++
			}
			if suite.Cases[i].Skipped != nil {
				suite.Skipped++
			}
		}
		if suite.Tests > 0 {
			doc.Tests, doc.Failures, doc.Suites = doc.Tests+suite.Tests, doc.Failures+suite.Failures, append(doc.Suites, suite)
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("reports: junit: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(&doc); err != nil {
		return fmt.Errorf("reports: junit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitTime(us int64) string { return fmt.Sprintf("%d.%03d", us/1_000_000, us%1_000_000/1000) }

func junitScenarios(s *campaign.Summary) junitSuite {
	suite := junitSuite{Name: "scenarios", Time: junitTime(s.RunMs * 1000)}
	for i := range s.Scenarios {
		l := &s.Scenarios[i]
		c := junitCase{Class: "scenarios", Name: l.Name, Time: junitTime(l.MeanRunUs * l.Runs),
			Out: fmt.Sprintf("%s, %s", Plural(l.Runs, "run"), Plural(l.Findings, "finding"))}
		var shown []string
		var text strings.Builder
		for k := range s.Findings {
			f := &s.Findings[k]
			runs := runsIn(f, l.Name)
			if runs == 0 {
				continue
			}
			shown = append(shown, f.Fingerprint)
			fmt.Fprintf(&text, "%s: %s\n", f.Fingerprint, Plural(runs, "run"))
			writeBucket(&text, s.Program, f)
		}
		switch {
		case len(shown) > 0:
			kind, _, _ := strings.Cut(shown[0], "/")
			c.Failure = &junitFailure{Message: strings.Join(shown, ", "), Type: kind, Text: text.String()}
		case l.Runs == 0:
			c.Skipped = &junitSkipped{Message: "no seed of it ran"}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

func junitConditions(s *campaign.Summary) junitSuite {
	suite := junitSuite{Name: "conditions", Time: junitTime(0)}
	for i := range s.Sometimes {
		m := &s.Sometimes[i]
		c := junitCase{Class: "conditions", Name: m.Name, Time: junitTime(0),
			Out: fmt.Sprintf("met in %s of %s, %s due", Count(m.Runs), Plural(m.OutOf, "run"), Count(m.Expected))}
		suite.Cases = append(suite.Cases, junitDue(c, m.Runs, m.Red))
	}
	return suite
}

func junitHazards(s *campaign.Summary) junitSuite {
	suite := junitSuite{Name: "hazards", Time: junitTime(0)}
	for i := range s.Hazards {
		h := &s.Hazards[i]
		met := int64(0)
		if h.Bucket != nil {
			met = h.Bucket.Runs
		}
		c := junitCase{Class: "hazards", Name: h.ID, Time: junitTime(0),
			Out: fmt.Sprintf("met in %s of %s, %s due: %s", Count(met), Plural(h.OutOf, "run"), Count(h.Expected), h.Doc)}
		suite.Cases = append(suite.Cases, junitDue(c, met, h.Red))
	}
	return suite
}

func junitSites(s *campaign.Summary) junitSuite {
	suite := junitSuite{Name: "crashes", Time: junitTime(0)}
	for i := range s.Dosage {
		d := &s.Dosage[i]
		c := junitCase{Class: "crashes", Name: d.Name, Time: junitTime(0),
			Out: fmt.Sprintf("struck %s right before, %s during, %s right after", Count(d.Before), Count(d.During), Count(d.After))}
		suite.Cases = append(suite.Cases, junitDue(c, d.Before+d.During+d.After, d.Red))
	}
	return suite
}

// junitDue is a case of something that has to be met now and then.
func junitDue(c junitCase, met int64, red string) junitCase {
	switch {
	case red != "":
		c.Failure = &junitFailure{Message: red, Type: "due", Text: c.Out}
	case met == 0:
		c.Skipped = &junitSkipped{Message: "not met, and not due in so few runs"}
	}
	return c
}

// runsIn is how many runs of a scenario showed a fingerprint.
func runsIn(k *campaign.Bucket, scenario string) int64 {
	for i, name := range k.Scenarios {
		switch {
		case name != scenario:
		case i < len(k.ScenarioRuns):
			return k.ScenarioRuns[i]
		default:
			return k.Runs
		}
	}
	return 0
}
