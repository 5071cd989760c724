package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// stoppedWith is a quiet scenario in which a node seems to end with some words, under a scheduler or without one.
type stoppedWith struct {
	*scenario
	policy, evidence, words string
}

// Draw implements sim.Scenario.
func (s *stoppedWith) Draw(seed uint64) *plan.Plan {
	p := s.scenario.Draw(seed)
	if s.policy != "" {
		p.Scheduler = plan.Scheduler{Policy: s.policy, WindowUs: 1_000}
	}
	return p
}

// Build implements sim.Scenario.
func (s *stoppedWith) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	w.At((quietFromUs+200_000)*1000, 1, 1, func() { w.Violate("no-unexpected-stop", s.evidence, "c1: controller: "+s.words) })
	return err
}

// TestControllerBehindRetention: a controller that is given a snapshot while it is active is declared where a scheduler may hold its thread
// back for as long as that takes, and nowhere else; no other end is declared with it.
func TestControllerBehindRetention(t *testing.T) {
	for _, row := range []struct {
		name                    string
		policy, evidence, words string
		declared                bool
	}{
		{"under a scheduler", "uniform", evidenceFatal, activeGetsSnapshot + " in epoch 3", true},
		{"pct", "pct", evidenceFatal, activeGetsSnapshot + " in epoch 3", true},
		{"in order of time", "", evidenceFatal, activeGetsSnapshot + " in epoch 3", false},
		{"with other words", "uniform", evidenceFatal, "cannot load the snapshot: replay failed", false},
		{"at its start", "uniform", "refused-to-start", activeGetsSnapshot + " in epoch 3", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
				return &stoppedWith{c.Scenario("quiet/moved").(*scenario), row.policy, row.evidence, row.words}
			})
			require.NotEmpty(t, r.Verdict.Broken)
			require.Equal(t, !row.declared, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
			if row.declared {
				require.Equal(t, []string{"hazard/controller-behind-retention"}, r.Verdict.HazardFingerprints())
			}
		})
	}
}
