package campaignpage_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/reports/campaignpage"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

func summary() *campaign.Summary {
	shortest := &campaign.Shrunk{Token: "toy/b:7", Hosts: 2, Runs: 9, Actions: []string{`1ms crash host="<b>n1</b>"`}, Capsule: "out/x.json",
		Detail: "differ", Explained: []string{"out/x.html"}}
	covered := &campaign.CoverageSummary{Combinations: 130, Exact: true, New: [campaign.Tenths]int64{90, 20, 10, 5, 2, 1, 1, 0, 0, 1},
		Cells: []campaign.CoverageCell{{Workload: "append", States: 100}, {Fault: "kill", Workload: "append", States: 29}, {Fault: "kill", States: 1}}}
	return &campaign.Summary{
		Program: "toyrun", Engine: "1", Runs: 1000, Events: 2_000_000, Workers: 2, RunMs: 1500, RunsPerSecond: 666.7, Interrupted: true,
		Scenarios: []campaign.ScenarioSummary{{
			Name: "toy/b", Runs: 1000, Outcomes: map[plan.Outcome]int64{plan.OK: 993, plan.Violation: 7}, Findings: 7, VirtualUs: 7_200_000_000,
			Stats: map[string]int64{"elections": 2000, "fault-kill": 300, "fault-cut": 20, "fault-actions": 320}, Coverage: covered,
		}},
		Coverage: covered, Evaluated: map[string]int64{"agree": 50_000, "late": 3}, NeverEvaluated: []string{"shy"},
		Findings: []campaign.Bucket{{Fingerprint: "violation/agree/<script>", Runs: 7, Scenarios: []string{"toy/b"}, ScenarioRuns: []int64{7},
			Rate: campaign.NewRate(7, 1000), Example: campaign.Example{Scenario: "toy/b", Seed: 7}, Shortest: shortest}},
		Hazards:   []campaign.HazardSummary{{ID: "late", Invariant: "id", Doc: "Late.", OutOf: 1000, Expected: 30, Red: "never met"}},
		Sometimes: []campaign.Condition{{Name: "third", Runs: 300, OutOf: 1000, Expected: 250, First: "toy/b:3", Soonest: 3}, {Name: "never", OutOf: 1000}},
		Dosage:    []campaign.Site{{Name: "a.go write", Before: 12, During: 34, After: 56}, {Name: "b.go rename", Red: "no crash struck it"}},
		Against:   &campaign.Comparison{Changes: []campaign.Change{{Change: campaign.NewFailure, Fingerprint: "violation/agree/two", Token: "toy/b:7"}}},
	}
}

func TestCampaignPage(t *testing.T) {
	var b bytes.Buffer
	p := &campaignpage.Page{Summary: summary(), Command: "toyrun campaign --seeds 1000", Link: func(file string) string { return "../" + file }}
	require.NoError(t, campaignpage.Write(&b, p))
	text := b.String()
	for _, want := range []string{
		"1 finding", "1,000 schedules of 1 scenario", "2.0 h", "<dd>320</dd>", "toyrun campaign --seeds 1000", "Interrupted",
		"violation/agree/&lt;script&gt;", "&lt;b&gt;n1&lt;/b&gt;", `href="../out/x.json"`, `href="../out/x.html"`, "toyrun replay out/x.json",
		"RED: hazard late: never met", "RED: crashes at b.go rename: no crash struck it", "<td>34</td>", "The last tenth of the seeds brought 1 of them, 0.8 %", "more seeds of this kind bring little",
		"3 runs", "never", "Never evaluated: shy", "no clients", "<strong>new</strong> violation/agree/two", "50,003 times",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, "http://")
	require.NotContains(t, text, "https://")
	var again bytes.Buffer
	require.NoError(t, campaignpage.Write(&again, p))
	require.Equal(t, text, again.String())
}

func TestCampaignPageOfNothing(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, campaignpage.Write(&b, &campaignpage.Page{Summary: &campaign.Summary{}}))
	require.Contains(t, b.String(), "no findings")
	require.NotContains(t, b.String(), "<a href=\"\"")
	require.Panics(t, func() { _ = campaignpage.Write(&b, &campaignpage.Page{}) })
	require.ErrorContains(t, campaignpage.Write(full{}, &campaignpage.Page{Summary: summary()}), "no space left")
	require.Equal(t, 1, strings.Count(b.String(), "<h1>"))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
