package reports_test

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

func TestTableAligns(t *testing.T) {
	var b strings.Builder
	require.NoError(t, reports.Table(&b, [][]string{{"name", ">n", "what"}, {"a", "1", "first"}, {"größer", "1,000", ""}}))
	require.Equal(t, "name        n  what\na           1  first\ngrößer  1,000\n", b.String())
	b.Reset()
	require.NoError(t, reports.Table(&b, nil))
	require.Empty(t, b.String())
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1_000_001: "1,000,001", -12_345: "-12,345", 1<<63 - 1: "9,223,372,036,854,775,807",
	} {
		require.Equal(t, want, reports.Count(n))
	}
}

func TestTraceLine(t *testing.T) {
	l := sim.TraceLine{ID: 12, Cause: 7, AtUs: 1_500_001, Host: "n1", Lane: "raft", Boot: 2, What: "input", Text: "Vote", Digest: 255}
	require.Equal(t, "    12 <7          1.500001  n1/raft#2          input     Vote", reports.TraceLine(&l))
	require.Equal(t, plan.Hex64(255), reports.NewTraceJSON(&l).Digest)
	l = sim.TraceLine{Cause: -1, What: "world", Text: "calm"}
	require.Equal(t, "     0 <-          0.000000  world              world     calm", reports.TraceLine(&l))
}

func TestPlanText(t *testing.T) {
	p := &plan.Plan{
		Scenario: "toy", Seed: 4, StormUs: 1_500_000, Unrestricted: true, Params: plan.Params{"b": "2", "a": "1"},
		Hosts: []plan.Host{
			{ID: "n1", Kind: "node", Release: "aug26", OffsetMs: -5, DriftPpm: 30, StartUs: 7},
			{ID: "n2", Kind: "node", Params: plan.Params{"x": "y"}}, {ID: "m", Kind: "broker"},
		},
		Workload:  []plan.Workload{{ID: "w", Kind: "append", Params: plan.Params{"every": "1s"}}},
		Actions:   []plan.Action{{ID: "a2", AtUs: 2000, Kind: "crash", Params: plan.Params{"host": "n2"}}, {ID: "a1", AtUs: 1000, Kind: "crash", Params: plan.Params{"host": "n1"}}},
		Decisions: []plan.Decision{{}, {}},
	}
	var b strings.Builder
	require.NoError(t, reports.Plan(&b, p, nil))
	require.Equal(t, `toy, seed 4: 2 nodes, 1 broker; 2 actions, 1 workload, storm 1.5s, unrestricted, 2 fixed decisions
params: a=1 b=2
host n1 node release=aug26 clock=-5ms+30ppm start=7us
host n2 node x=y
host m broker
workload w append every=1s
1ms crash host=n1 #a1
2ms crash host=n2 #a2
`, b.String())
}

func TestVerdictText(t *testing.T) {
	v := &plan.Verdict{
		Outcome: plan.Violation, TraceHash: 1, BehaviourHash: 2, Events: 1234, VirtualUs: 2_000_001, Decisions: 1,
		Broken: []plan.Broken{
			{Invariant: "agree", Evidence: "two", Detail: "n1 and n2 differ", AtUs: 7, Event: 3,
				Stack: []string{"a.f (a.go:1)", "2", "3", "4", "5", "6", "7"}},
			{Invariant: "id", Hazard: "late", Detail: "n1 is late", AtUs: 8, Event: 4},
		},
		Waiting: []string{"n1 for n2"},
		Stopped: []plan.Stopped{{Host: "n1", AtUs: 9, AtBoot: true, Error: "no disk"}},
		Refused: []plan.Refused{{Action: "a1", Reason: "budget"}},
		Stats:   map[string]int64{"elections": 2, "none": 0, "crashes": 1000}, Sometimes: map[string]int64{"x": 1},
	}
	var b strings.Builder
	require.NoError(t, reports.Verdict(&b, v))
	require.Equal(t, `violation  [violation/agree/two]
  broken: agree, at 0.000007s, event 3: n1 and n2 differ
    at a.f (a.go:1)
    at 2
    at 3
    at 4
    at 5
    at 6
  hazard late: id, at 0.000008s, event 4: n1 is late
  waiting: n1 for n2
  stopped: n1 at 0.000009s while it booted: no disk
  refused: action a1: budget
1,234 events in 2.000001s of virtual time, 1 decision
counts: 1,000 crashes, 2 elections
sometimes: 1 x
hashes: trace 0000000000000001, behaviour 0000000000000002
`, b.String())
}

func summary() *campaign.Summary {
	shortest := &campaign.Shrunk{Token: "toy/b:7", Hosts: 2, Runs: 9, Actions: []string{"1ms crash host=n1"}, Capsule: "out/x.json", Detail: "differ"}
	return &campaign.Summary{
		Program: "simrun", Runs: 1000, Events: 2_000_000, Workers: 2, RunMs: 1500, RunsPerSecond: 666.7, EventsPerSecond: 1_333_333, Interrupted: true,
		Scenarios: []campaign.ScenarioSummary{{
			Name: "toy/b", Runs: 1000, Outcomes: map[plan.Outcome]int64{plan.OK: 990, plan.LegitimatelyStuck: 3, plan.Violation: 7},
			Findings: 7, HazardRuns: 4, MedianEvents: 2000, MedianVirtualUs: 10_460_000, MedianElections: 2, Crashes: 50,
			CrashesInHandlers: 20, MeanRunUs: 2_340, GaveUp: true, StoppedRuns: 5, Stats: map[string]int64{"elections": 2000},
		}},
		Findings: []campaign.Bucket{{Fingerprint: "violation/agree/two", Runs: 7, Scenarios: []string{"toy/b"},
			Example: campaign.Example{Scenario: "toy/b", Seed: 7, Detail: "n1 and n2 differ"}, Shortest: shortest}},
		Hazards: []campaign.HazardSummary{
			{ID: "late", Invariant: "id", Doc: "Late.", OutOf: 1000, Expected: 2, Bucket: &campaign.Bucket{Runs: 4, Shortest: shortest}},
			{ID: "lost", Invariant: "id", Doc: "Lost.", OutOf: 1000, Expected: 30, Red: "never met"},
		},
		Sometimes: []campaign.Condition{{Name: "third", Runs: 300, OutOf: 1000, Expected: 250, Soonest: 3, First: "toy/b:3"}},
	}
}

func TestCampaignText(t *testing.T) {
	var b strings.Builder
	require.NoError(t, reports.Campaign(&b, summary()))
	text := b.String()
	for _, want := range []string{
		"scenario   runs   ok  stuck*  unknown  findings  hazards  stopped+  events~  sim s~  elections~  crashes  in handlers  ms/run\n",
		"toy/b     1,000  990       3        0         7        4         5    2,000    10.4           2       50           20     2.3\n",
		"toy/b ended too many worker processes",
		"third      all   300   1,000  250            3\n",
		"  late (id): met in 4 of 1,000 runs, 2 due. Late.\n    shortest plan, of toy/b:7: 1 action, 2 hosts\n      differ\n      1ms crash host=n1\n    simrun replay out/x.json\n",
		"  lost (id): met in 0 of 1,000 runs, 30 due. Lost.\n    RED: never met\n",
		"FINDINGS\n  violation/agree/two: 7 runs in toy/b\n    first: toy/b:7\n    shortest plan",
		"1,000 schedules and 2,000,000 events in 1.5s, 2 workers: 666 runs/s, 1,333,333 events/s\n",
		"Interrupted",
	} {
		require.Contains(t, text, want)
	}
	s := summary()
	s.Findings[0].Scenarios, s.Findings[0].ScenarioRuns = []string{"toy/a", "toy/b"}, []int64{3, 4}
	s.Scenarios[0].Stats = map[string]int64{"fsyncs": 1}
	s.Program, s.NeverEvaluated = "toyrun", []string{"agree"}
	b.Reset()
	require.NoError(t, reports.Campaign(&b, s))
	require.Contains(t, b.String(), "  violation/agree/two: 7 runs in toy/a (3), toy/b (4)\n")
	require.Contains(t, b.String(), "    toyrun replay out/x.json\n")
	require.NotContains(t, b.String(), "elections", "a column that means nothing to the program is left out")
	require.Contains(t, b.String(), "fsyncs")
	require.Contains(t, b.String(), "Invariants that no run evaluated (documented, but no run came to where they are checked): agree\n")

	s = summary()
	s.Findings = nil
	b.Reset()
	require.NoError(t, reports.Campaign(&b, s))
	require.Contains(t, b.String(), "\nNo findings.\n")
}

func TestVerifyText(t *testing.T) {
	r := &campaign.VerifyReport{Runs: 20, Scenarios: 1}
	var b strings.Builder
	require.NoError(t, reports.Verify(&b, r))
	require.Equal(t, "20 seeds in 1 scenario, each run in two processes: all alike\n", b.String())
	r.Differences = []campaign.Difference{
		{Scenario: "toy", Seed: 3, What: "trace hash", Event: 9, Quiet: []sim.TraceLine{{ID: 9, Text: "a"}}, Loud: []sim.TraceLine{{ID: 9, Text: "b"}}},
		{Scenario: "toy", Seed: 4, What: "the loud process died: exit status 2", Event: -1},
	}
	b.Reset()
	require.NoError(t, reports.Verify(&b, r))
	require.Contains(t, b.String(), "toy:3: trace hash\n  first event that differs: 9\n  quiet ")
	require.Contains(t, b.String(), "toy:4: the loud process died: exit status 2\n20 seeds in 1 scenario, each run in two processes: 2 differences\n")
	j := reports.NewVerifyJSON(r)
	require.Equal(t, "b", j.Differences[0].Loud[0].Text)
	require.Equal(t, int64(9), j.Differences[0].Event)
}

func TestJUnit(t *testing.T) {
	s := summary()
	s.Scenarios = append(s.Scenarios, campaign.ScenarioSummary{Name: "toy/c", Runs: 10}, campaign.ScenarioSummary{Name: "toy/idle"})
	s.Findings[0].Example.Detail, s.Findings[0].Shortest.Detail = "a & b < c", "a & b < c"
	var b strings.Builder
	require.NoError(t, reports.JUnit(&b, s))
	var doc struct {
		Tests    int64 `xml:"tests,attr"`
		Failures int64 `xml:"failures,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int64  `xml:"tests,attr"`
			Failures int64  `xml:"failures,attr"`
			Skipped  int64  `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal([]byte(b.String()), &doc))
	require.Len(t, doc.Suites, 3)
	total, failures := int64(0), int64(0)
	for _, suite := range doc.Suites {
		require.Len(t, suite.Cases, int(suite.Tests))
		total, failures = total+suite.Tests, failures+suite.Failures
	}
	require.Equal(t, [2]int64{total, failures}, [2]int64{doc.Tests, doc.Failures})
	scenarios := doc.Suites[0]
	require.Equal(t, int64(1), scenarios.Failures)
	require.Equal(t, int64(1), scenarios.Skipped, "no seed of toy/idle ran")
	require.Equal(t, "violation/agree/two", scenarios.Cases[0].Failure.Message)
	require.Equal(t, "violation", scenarios.Cases[0].Failure.Type)
	require.Contains(t, scenarios.Cases[0].Failure.Text, "a & b < c")
	require.Contains(t, scenarios.Cases[0].Failure.Text, "simrun replay out/x.json")
	require.Nil(t, scenarios.Cases[1].Failure)
	require.Equal(t, int64(1), doc.Suites[2].Failures, "a hazard that is due")
	require.ErrorContains(t, reports.JUnit(full{}, s), "no space left")
}

// TestAPlaceThatNoCrashStruckIsTold: what fails a campaign fails it in every report.
func TestAPlaceThatNoCrashStruckIsTold(t *testing.T) {
	s := &campaign.Summary{Program: "simrun", Runs: 5000, Dosage: []campaign.Site{
		{Name: "a.go write", Before: 1, During: 2, After: 3}, {Name: "b.go rename", Red: "no crash struck it"}, {Name: "c.go sync"}}}
	require.True(t, s.Failed())
	var b strings.Builder
	require.NoError(t, reports.JUnit(&b, s))
	require.Contains(t, b.String(), `<testsuite name="crashes" tests="3" failures="1" skipped="1"`)
	require.Contains(t, b.String(), `<failure message="no crash struck it" type="due">struck 0 right before`)
	b.Reset()
	require.NoError(t, reports.GitHubAnnotations(&b, s))
	require.Equal(t, "::error title=simrun%3A due and not met::crashes at b.go rename: no crash struck it\n", b.String())
	b.Reset()
	require.NoError(t, reports.GitHubSummary(&b, s, ""))
	require.Contains(t, b.String(), "something that is due was not met")
	require.Contains(t, b.String(), "* crashes at b.go rename: no crash struck it")
	now := campaign.Compare(&campaign.Summary{Runs: 5000}, s)
	require.Len(t, now.Changes, 1)
	require.Equal(t, "red/crashes-at/b.go rename", now.Changes[0].Fingerprint)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestGitHubAnnotations(t *testing.T) {
	s := summary()
	s.Findings[0].Fingerprint = "violation/agree: two, or 3%"
	var b strings.Builder
	require.NoError(t, reports.GitHubAnnotations(&b, s))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 2)
	require.True(t, strings.HasPrefix(lines[0],
		"::error title=simrun%3A violation/agree%3A two%2C or 3%25::7 runs in toy/b, first toy/b:7%0A    shortest plan, of toy/b:7: 1 action, 2 hosts%0A"), lines[0])
	require.Equal(t, "::error title=simrun%3A due and not met::hazard lost: never met", lines[1])

	for range 20 {
		s.Findings = append(s.Findings, s.Findings[0])
	}
	b.Reset()
	require.NoError(t, reports.GitHubAnnotations(&b, s))
	lines = strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 10, "GitHub shows no more")
	require.Contains(t, lines[9], "13 further findings")

	b.Reset()
	require.NoError(t, reports.GitHubAnnotations(&b, &campaign.Summary{Program: "simrun", Runs: 5}))
	require.Equal(t, "::notice title=simrun campaign::5 schedules, no findings\n", b.String())
}

func TestGitHubSummary(t *testing.T) {
	s := summary()
	s.Coverage = &campaign.CoverageSummary{Combinations: 200, New: [campaign.Tenths]int64{9: 3}}
	s.Findings[0].Fingerprint = "violation/a|b/<c>"
	var b strings.Builder
	require.NoError(t, reports.GitHubSummary(&b, s, "simrun campaign --seeds 1000"))
	for _, want := range []string{
		"## simrun campaign: ✖ 1 finding\n", "about 200 combinations of state, fault and workload; the last tenth of the seeds brought 3 of them, 1.5 %.",
		"```text\nsimrun campaign --seeds 1000\n```", `### violation/a\|b/&lt;c>`, "first `toy/b:7`", "* hazard lost: never met", "| toy/b | 1,000 | 7 | 4 |",
		"shortest plan, of toy/b:7: 1 action, 2 hosts\n  differ\n",
	} {
		require.Contains(t, b.String(), want)
	}
}
