package scenarios

import (
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// toolRun runs a plan and returns what the tools said.
func toolRun(t *testing.T, c *sim.Catalogue, p *plan.Plan) (*plan.Verdict, map[string]ToolAnswer) {
	t.Helper()
	require.NoError(t, plan.Validate(p, c.Registry))
	r, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	list, ok := ToolAnswers(c, p.Scenario)
	require.True(t, ok)
	answers := map[string]ToolAnswer{}
	for _, a := range list {
		answers[a.Action] = a
	}
	return r.Verdict, answers
}

// TestFeatureToolAnswers: what kafka-features says of a simulated cluster, and that describe shows what the calls before it did.
func TestFeatureToolAnswers(t *testing.T) {
	c := Catalogue()
	p := c.Scenario(FeaturesScenario).Draw(3)
	v, answers := toolRun(t, c, p)
	require.Equal(t, plan.OK, v.Outcome, "%v", v.Broken)
	require.Empty(t, v.Refused)
	require.Len(t, answers, len(p.Actions))
	says := func(action, want string) {
		t.Helper()
		require.Contains(t, strings.Join(answers[action].Lines, "\n"), want)
	}
	says("call-1", "Feature: kraft.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: 0")
	says("call-2", "metadata.version was upgraded to 29 (4.2-IV1)")
	says("call-3", "can't upgrade metadata.version to 27 (4.1-IV1): INVALID_UPDATE_VERSION: ")
	says("call-5", "transaction.version was upgraded to 2")
	says("call-7", "group.version was disabled")
	says("call-11", "metadata.version was downgraded to 28 (4.2-IV0)")
	says("call-13", "7 out of 7 operations failed")
	says("call-16", "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.4-IV2\tFinalizedVersionLevel: 4.2-IV0")
	says("call-16", "Feature: group.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: 0")
	says("call-16", "Feature: transaction.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 2\tFinalizedVersionLevel: 2")
	require.False(t, answers["call-2"].Refused)
	require.True(t, answers["call-3"].Refused)
	require.NotEqual(t, answers["call-1"].Lines, answers["call-16"].Lines)
}

// TestToolNeedsAController: without a majority there is nobody to ask, and the tool says so in the end.
func TestToolNeedsAController(t *testing.T) {
	c := Catalogue()
	p := c.Scenario(FeaturesScenario).Draw(3)
	delete(p.Params, "members") // a broker that nobody registers gives up after a minute
	p.StormUs = 300_000_000
	p.Actions = []plan.Action{
		{ID: "c1", Kind: "kill", AtUs: 500_000, Params: plan.Params{"host": "c1"}},
		{ID: "c2", Kind: "kill", AtUs: 500_000, Params: plan.Params{"host": "c2"}},
		{ID: "ask", Kind: "features", AtUs: 10_000_000, Params: plan.Params{"do": "upgrade", "metadata": "4.2", "expect": "timed out"}},
	}
	v, answers := toolRun(t, c, p)
	require.Equal(t, plan.OK, v.Outcome, "%v", v.Broken)
	require.True(t, answers["ask"].Refused)
}

// TestToolExpectations: another answer than the declared one is a finding, for each tool; and so is silence.
func TestToolExpectations(t *testing.T) {
	c := Catalogue()
	for _, a := range []plan.Action{
		{Kind: "features", Params: plan.Params{"do": "upgrade", "metadata": "4.2", "expect": "no"}},
		{Kind: "features", Params: plan.Params{"do": "upgrade", "feature": "group.version=9", "expect": "ok"}},
		{Kind: "features", Params: plan.Params{"do": "upgrade", "feature": "group.version=9", "expect": "color"}},
		{Kind: "format", Params: plan.Params{"host": "b1", "expect": "ok"}},
		{Kind: "format", Params: plan.Params{"host": "b1", "ignore_formatted": "true", "expect": "already"}},
	} {
		p := c.Scenario(FeaturesScenario).Draw(4)
		a.ID, a.AtUs = "tool", 2_000_000
		p.Actions = []plan.Action{a}
		v, answers := toolRun(t, c, p)
		require.Equal(t, plan.Violation, v.Outcome, a.Params)
		require.Equal(t, "operator-answers", v.Broken[0].Invariant)
		require.Len(t, answers, 1)
	}
}

// formatSeed is a seed that draws a case of bootstrap/format.
func formatSeed(t *testing.T, i int) uint64 {
	t.Helper()
	for seed := range uint64(10_000) {
		if (dice{seed: seed}).roll("case", int64(len(formatCases()))) == int64(i) {
			return seed
		}
	}
	t.Fatalf("no seed draws case %d", i)
	return 0
}

// TestFormatCases: every case is drawn, and each of its steps happens and answers as declared.
func TestFormatCases(t *testing.T) {
	c := Catalogue()
	for i, f := range formatCases() {
		t.Run(f.name, func(t *testing.T) {
			p := c.Scenario("bootstrap/format").Draw(formatSeed(t, i))
			v, answers := toolRun(t, c, p)
			require.Contains(t, []plan.Outcome{plan.OK, plan.LegitimatelyStuck}, v.Outcome, "%v", v.Broken)
			want, host := 0, ""
			for n, s := range f.steps {
				if s.kind == "format" {
					want++
					require.Contains(t, answers, "step-"+number(int64(n+1)), "%v", v.Refused)
				}
			}
			require.Len(t, answers, want)
			for n := range p.Hosts {
				if p.Hosts[n].Params["refuses"] != "" {
					host = p.Hosts[n].ID
				}
			}
			require.Equal(t, f.refuses != "", host != "")
			if host == "" {
				return
			}
			found := false
			for _, s := range v.Stopped {
				found = found || s.Host == host && strings.Contains(s.Error, f.refuses)
			}
			require.True(t, found, "%s was never refused: %v", host, v.Stopped)
		})
	}
}

// TestDeclaredStarts: a declared refusal that does not come is a finding, and so is one that nobody declared, or another one.
func TestDeclaredStarts(t *testing.T) {
	c := Catalogue()
	for _, k := range []struct {
		format, refuses, invariant string
	}{
		{"full", saysNoneFormatted, "declared-starts"},
		{"none", "", "no-unexpected-stop"},
		{"none", "color", "no-unexpected-stop"},
		{"none", saysNoneFormatted, ""},
	} {
		p := c.Scenario(FeaturesScenario).Draw(5)
		p.Actions = nil
		p.Params["calm_without"] = "b1"
		h := &p.Hosts[3]
		h.Params["format"], h.Params["refuses"] = k.format, k.refuses
		if k.refuses == "" {
			delete(h.Params, "refuses")
		}
		require.Equal(t, "b1", h.ID)
		v, _ := toolRun(t, c, p)
		if k.invariant == "" {
			require.Equal(t, plan.OK, v.Outcome, "%v", v.Broken)
			continue
		}
		require.Equal(t, plan.Violation, v.Outcome, k)
		require.Equal(t, k.invariant, v.Broken[0].Invariant, k)
	}
}
