package scenarios

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestOperatorQuestions: every row of every question has the answer that is expected.
func TestOperatorQuestions(t *testing.T) {
	for _, c := range operatorCases() {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				table, err := OperatorTable(operatorFamily+c.id, seed+1)
				require.NoError(t, err)
				require.Len(t, table, len(c.rows))
				for _, a := range table {
					require.True(t, a.AsTold, "seed %d: %+v", seed+1, a)
				}
			}
		})
	}
}

// TestOperatorQuestionsAreJudged: a row that is played while another answer is expected is a finding; a row that is not whole answers nothing.
func TestOperatorQuestionsAreJudged(t *testing.T) {
	c := Catalogue()
	engine := sim.NewEngine(c)
	for _, x := range []struct{ id, play, as, evidence string }{
		{"u12", "3 voters, 1 lost", "3 voters, 2 lost", "u12-went-on"},
		{"u12", "3 voters, 2 lost", "3 voters, 1 lost", "u12-stopped"},
		{"u01", "every tool keeps the text", "one broker was formatted by a tool that normalises", "u01-same-id"},
		{"u24", "restart first, then the volume", "the volume first, then the restart", "u24-procedure"},
		{"u23", "a majority is known to have everything first", "the advice is ignored", "u23-loss"},
		{"u26", "level not raised, 1 of 3 nodes back", "level raised, 1 of 3 nodes back", "u26-replay"},
		{"u26", "level raised and lowered again, 3 of 3 nodes back, a snapshot on each since", "level raised and lowered again, 3 of 3 nodes back, no snapshot since", "u26-replay"},
		{"u19", "one of them still runs, its new registration arrives after the upgrade", "the same where registrations below the level are refused", "u19-registration"},
		{"u03", "formatted over what is there", "wiped and formatted with the right id", "u03-apart"},
	} {
		cases := operatorCases()
		for i := range cases {
			for k := range cases[i].rows {
				if cases[i].id != x.id || cases[i].rows[k].name != x.play {
					continue
				}
				p := rowPlan(operatorFamily+x.id, &cases[i], &cases[i].rows[k], 1)
				p.Params[rowParam] = x.as
				r, err := engine.Run(p, sim.Options{})
				require.NoError(t, err)
				require.Equal(t, plan.Violation, r.Verdict.Outcome, x.play)
				found := false
				for _, b := range r.Verdict.Broken {
					found = found || b.Invariant == whatIf.Name && b.Evidence == x.evidence
				}
				require.True(t, found, "%s: %v", x.play, r.Verdict.Broken)
				p.Params[wholeParam] = "9+9"
				r, err = engine.Run(p, sim.Options{})
				require.NoError(t, err)
				require.Zero(t, r.Verdict.Evaluated[whatIf.Name])
			}
		}
	}
	p := c.Scenario(operatorFamily + "u12").Draw(1)
	p.Params[rowParam] = "7 voters"
	_, err := engine.Run(p, sim.Options{})
	require.ErrorContains(t, err, `params.row: question u12 has no row "7 voters"`)
}

// TestOperatorPage: docs/operators.md tells every question and every row of it.
func TestOperatorPage(t *testing.T) {
	page, err := os.ReadFile("../docs/operators.md")
	require.NoError(t, err)
	for _, c := range operatorCases() {
		require.Contains(t, string(page), "`"+operatorFamily+c.id+"`")
		_, section, found := strings.Cut(string(page), "`"+operatorFamily+c.id+"`")
		require.True(t, found)
		section, _, _ = strings.Cut(section, "\n## ")
		for _, r := range c.rows {
			if c.id != "u18" { // told by step
				require.Contains(t, section, r.name, c.id)
			}
		}
	}
}
