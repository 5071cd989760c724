package corpus_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// minimal tries all parts of a plan: none may go.
func minimal(t *testing.T, r shrink.Runner, p *plan.Plan, target string) {
	t.Helper()
	for _, part := range shrink.Necessary(r, p, target, shrink.Parts(p)) {
		if part.Kind != shrink.HostPart || len(p.Hosts) > 1 {
			require.True(t, part.Necessary, "%s %s can go: %s", part.Kind, part.ID, part.Text)
		}
	}
}

// No single part of a hazard's plan in the corpus can go: not an action, not a host, not a workload, not a decision, not a rate.
func TestPlansOfHazardsAreMinimal(t *testing.T) {
	c := scenarios.Catalogue()
	entries, err := corpus.Read(filepath.Join("..", "..", corpus.Dir), c.Registry)
	require.NoError(t, err)
	e := sim.NewEngine(c)
	n := 0
	for _, entry := range entries {
		if entry.Folder != corpus.Hazards {
			continue
		}
		n++
		t.Run(entry.Name, func(t *testing.T) { minimal(t, e, entry.Capsule.Plan, entry.Capsule.Fingerprint) })
	}
	require.Greater(t, n, 5)
}

// Stock failures are shrunk within 300 runs to plans that are minimal, explicit and short, with times that a person would write.
func TestStockFailuresShrink(t *testing.T) {
	c := scenarios.Catalogue()
	for file, actions := range map[string]int{"foreign-epoch": 3, "sole-voter-unflushed": 1, "t27-static-voter-forgets": 1} {
		t.Run(file, func(t *testing.T) {
			e := sim.NewEngine(c)
			p, err := plan.ReadFile(filepath.Join("..", "..", "scenarios", "testdata", "findings", file+".json"), c.Registry)
			require.NoError(t, err)
			r, err := e.Run(p, sim.Options{})
			require.NoError(t, err)
			targets := r.Verdict.HazardFingerprints()
			require.NotEmpty(t, targets)
			small, stats := shrink.Shrink(e, p, targets[0], 300, nil)
			require.True(t, stats.Reproduced && stats.Minimal && stats.Materialised, "%+v", stats)
			require.True(t, small.Explicit)
			require.LessOrEqual(t, len(small.Actions), actions)
			require.LessOrEqual(t, len(small.Hosts), len(p.Hosts))
			require.Less(t, small.StormUs, p.StormUs)
			require.Zero(t, small.StormUs%1_000, "a storm of whole milliseconds")
			minimal(t, e, small, targets[0])

			if actions > 1 {
				return
			}
			again, repeat := shrink.Shrink(e, p, targets[0], 300, nil)
			require.Equal(t, small, again, "the same every time")
			require.Equal(t, stats, repeat)
		})
	}
}
