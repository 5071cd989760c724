package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// What a verdict says about a rule and about a case.
func TestJudge(t *testing.T) {
	rows := KIPRows()
	at := func(name string) int {
		for i := range rows {
			if rows[i].Name == name {
				return i
			}
		}
		require.Fail(t, "no row", name)
		return -1
	}
	broken := func(invariant, evidence, hazard string) []plan.Broken {
		return []plan.Broken{{Invariant: invariant, Evidence: evidence, Hazard: hazard}}
	}
	reached := map[string]int64{"kip1262-case-t01": 1}
	for _, c := range []struct {
		name, row, variant string
		v                  plan.Verdict
		want               CompareStatus
	}{
		{"not evaluated", "C1", "draft", plan.Verdict{Outcome: plan.OK}, StatusNotReached},
		{"evaluated", "C1", "draft", plan.Verdict{Outcome: plan.OK, Evaluated: map[string]int64{"no-early-cluster-id": 3}}, StatusOK},
		{"broken", "C1", "draft", plan.Verdict{Outcome: plan.Violation, Broken: broken("no-early-cluster-id", "stable-log", "")}, StatusFinding},
		{"released has no record", "C1", "released", plan.Verdict{Outcome: plan.OK}, ""},
		{"C5 by its evidence", "C5", "draft", plan.Verdict{Outcome: plan.Violation, Broken: broken("persisted-is-stable", "changed", "")}, StatusFinding},
		{"not C7", "C7", "draft", plan.Verdict{Outcome: plan.Violation, Broken: broken("persisted-is-stable", "changed", "")}, StatusNotReached},
		{"C7", "C7", "draft", plan.Verdict{Outcome: plan.Violation, Broken: broken("persisted-is-stable", "not-stable", "")}, StatusFinding},
		{"C7 stuck", "C7", "draft", plan.Verdict{Outcome: plan.Stuck, Waiting: []string{"id-discovered: b1 has not"}}, StatusStuck},
		{"a hazard", "C2", "draft", plan.Verdict{Outcome: plan.OK, Broken: broken("mv-implies-cluster-id", "x", "some")}, StatusHazard},
		{"case not reached", "T1", "draft", plan.Verdict{Outcome: plan.OK}, StatusNotReached},
		{"case ok", "T1", "draft", plan.Verdict{Outcome: plan.OK, Sometimes: reached}, StatusOK},
		{"case stuck", "T1", "draft", plan.Verdict{Outcome: plan.Stuck, Sometimes: reached}, StatusStuck},
		{"case broken", "T1", "draft", plan.Verdict{Outcome: plan.Violation, Sometimes: reached, Broken: broken("kip1262-case", "t01-x", "")}, StatusFinding},
		{"case with a hazard", "T1", "draft", plan.Verdict{Outcome: plan.LegitimatelyStuck, Sometimes: reached, Broken: broken("x", "y", "h")}, StatusHazard},
		{"no outcome in the table", "T1", "released", plan.Verdict{Outcome: plan.OK, Sometimes: reached}, ""},
	} {
		status, target := Judge(rows, &plan.Plan{Params: plan.Params{caseParam: "t01"}}, c.variant, &c.v)
		require.Equal(t, c.want, status[at(c.row)], c.name)
		require.Equal(t, c.want != StatusOK && c.want != StatusNotReached && c.want != "", target[at(c.row)] != "", c.name)
	}
}

// Every case has its scenario, and variants share seed and decisions.
func TestKIPCases(t *testing.T) {
	c := Catalogue()
	seen := map[string]bool{}
	for _, k := range kipCases() {
		require.False(t, seen[k.id], k.id)
		seen[k.id] = true
		require.NotNil(t, c.Scenario(kipFamily+k.id))
		require.NotEmpty(t, k.variants)
		require.Positive(t, k.due)
		p := c.Scenario(kipFamily + k.id).Draw(5)
		for _, v := range KIPVariants() {
			q := UnderVariant(p, v)
			require.Equal(t, v, q.Params["variant"])
			require.Equal(t, p.Seed, q.Seed)
			require.Equal(t, p.Actions, q.Actions)
		}
	}
}
