package reports_test

import (
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0%", 1: "100%", 0.5: "50%", 0.12345: "12%", 0.0123: "1.2%", 0.00012345: "0.012%", 0.001: "0.1%", 2.5e-6: "0.00025%", 0.985: "98%", 0.9951: "99.5%", 0.9999: "99.99%", 0.99990188: "99.99%",
		0.9999999: "99.99999%",
	} {
		require.Equal(t, want, reports.Share(p), "%v", p)
	}
}

func TestRates(t *testing.T) {
	require.Equal(t, "no runs", reports.Rate(campaign.Rate{}))
	require.Equal(t, "0 of 3,000 runs, less than 0.1%", reports.Rate(campaign.NewRate(0, 3000)))
	require.Equal(t, "5 of 3,000 runs, 0.17% (0.054% to 0.39%)", reports.Rate(campaign.NewRate(5, 3000)))
}

func TestComparisonText(t *testing.T) {
	side := func(red string, findings ...campaign.Bucket) *campaign.Summary {
		return &campaign.Summary{
			Engine: "1", First: 1, Runs: 2000, Findings: findings,
			Scenarios: []campaign.ScenarioSummary{{Name: "a", Runs: 1000}, {Name: "b", Runs: 1000}},
			Sometimes: []campaign.Condition{{Name: "third", Red: red}},
		}
	}
	bucket := func(fingerprint, scenario string, runs int64) campaign.Bucket {
		return campaign.Bucket{
			Fingerprint: fingerprint, Runs: runs, Scenarios: []string{scenario}, Example: campaign.Example{Scenario: scenario, Seed: 7},
		}
	}
	c := campaign.Compare(side("never met", bucket("violation/x/1", "a", 1), bucket("violation/y/1", "b", 30)),
		side("", bucket("violation/y/1", "b", 20), bucket("violation/z/1", "a", 1)))
	c.Before.ID, c.Before.When, c.After.Engine = 3, "2026-11-30 02:00", "2"
	var b strings.Builder
	require.NoError(t, reports.Comparison(&b, c))
	require.Equal(t, `Against campaign 3 of 2026-11-30 02:00 (2,000 runs from seed 1): 1 new, 1 ongoing, 2 gone
  engine 1 then, engine 2 now: the same seeds run differently
  new     violation/z/1: 0 of 1,000 runs, less than 0.3%, then 1 of 1,000 runs, 0.1% (0.0025% to 0.56%); a:7
          may be chance: at that rate one campaign in 2 misses it
  ongoing violation/y/1: 30 of 1,000 runs, 3% (2% to 4.3%), then 20 of 1,000 runs, 2% (1.2% to 3.1%); b:7
  gone    red/sometimes/third
  gone    violation/x/1: 1 of 1,000 runs, 0.1% (0.0025% to 0.56%), then 0 of 1,000 runs, less than 0.3%
          may be chance: at that rate one campaign in 2 misses it
`, b.String())
}
