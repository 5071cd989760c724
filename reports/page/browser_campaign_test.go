package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/reports/campaignpage"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// large is the summary of a campaign over many scenarios, with findings, and coverage that a few seeds do not exhaust.
func large() *campaign.Summary {
	s := &campaign.Summary{Program: "simrun", Engine: "1", Runs: 40_000, Events: 200_000_000, Workers: 8, RunMs: 600_000, RunsPerSecond: 66, EventsPerSecond: 333_333,
		Evaluated: map[string]int64{}, Coverage: &campaign.CoverageSummary{Combinations: 88_000}}
	for i := range 40 {
		c := &campaign.CoverageSummary{Combinations: int64(1000 + i*50)}
		for k := range c.New {
			c.New[k] = int64(400/(k+1) + i%7)
			s.Coverage.New[k] += c.New[k]
		}
		s.Scenarios = append(s.Scenarios, campaign.ScenarioSummary{Name: fmt.Sprintf("family-%d/scenario-%d", i%5, i), Runs: 1000, Findings: int64(i % 13 / 12),
			Outcomes: map[plan.Outcome]int64{plan.OK: 1000}, MedianEvents: 5000, VirtualUs: 3_600_000_000, MeanRunUs: 2300, Coverage: c,
			Stats: map[string]int64{"fault-kill": 400, "fault-isolate": 200, "crashes": 900}})
		s.Evaluated[fmt.Sprintf("invariant-%d", i)] = int64(i * i * 1000)
		s.Coverage.Cells = append(s.Coverage.Cells, campaign.CoverageCell{Fault: fmt.Sprintf("fault-%d", i%9), Workload: fmt.Sprintf("workload-%d", i/9), States: int64(1) << (i % 14)})
	}
	for i := range 3 {
		s.Findings = append(s.Findings, campaign.Bucket{Fingerprint: fmt.Sprintf("violation/agree/kind-%d", i), Runs: 4, Scenarios: []string{"family-0/scenario-0"}, ScenarioRuns: []int64{4},
			Example: campaign.Example{Scenario: "family-0/scenario-0", Seed: 7}, Rate: campaign.NewRate(4, 1000),
			Shortest: &campaign.Shrunk{Token: "family-0/scenario-0:7", Detail: "n1 and n2 differ at offset 7", Hosts: 3, Runs: 90, Actions: []string{"1s power hosts=n1 down=1s #a1"}, Capsule: "out/x.json"}})
	}
	for i := range 12 {
		s.Sometimes = append(s.Sometimes, campaign.Condition{Name: fmt.Sprintf("condition-%d", i), Runs: int64(i * 90), OutOf: 40_000, Expected: 100, First: "family-0/scenario-0:3", Soonest: uint64(i)})
	}
	return s
}

func TestBrowserCampaign(t *testing.T) {
	file := filepath.Join(artifacts(t), "campaign.html")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, campaignpage.Write(f, &campaignpage.Page{Summary: large(), Command: "simrun campaign --seeds 40000 --workers 8"}))
	require.NoError(t, f.Close())
	for _, width := range []int64{1400, 480} {
		b := tab(t, fmt.Sprintf("campaign-%d", width), width, 1800)
		b.navigate(file)
		require.Equal(t, 40.0, b.number(`document.querySelectorAll("#scenarios tbody tr").length`))
		require.Equal(t, 9.0, b.number(`document.querySelectorAll(".matrix tbody tr").length`))
		require.Zero(t, b.number(`Math.max(0, document.documentElement.scrollWidth - innerWidth)`), "the page is wider than its window")
		contrast(t, b, "light")
		b.keep("-light")
		b.prefer("dark")
		contrast(t, b, "dark")
		b.keep("-dark")
	}
}
