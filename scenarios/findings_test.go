package scenarios

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Each plan that docs/findings.md tells still shows its hazard, and nothing else.
func TestFindings(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for file, hazard := range map[string]string{
		"t23-formatted-node-stops": "T23-formatted-node-stops",
		"sole-voter-unflushed":     "sole-voter-unflushed",
		"failed-fsync-forgotten":   "failed-fsync-forgotten",
		"foreign-epoch":            "foreign-epoch",
	} {
		t.Run(file, func(t *testing.T) {
			p, err := plan.ReadFile(filepath.Join("testdata", "findings", file+".json"), c.Registry)
			require.NoError(t, err)
			require.LessOrEqual(t, len(p.Actions), 10)
			r, err := e.Run(p, sim.Options{})
			require.NoError(t, err)
			require.Equal(t, []string{"hazard/" + hazard}, r.Verdict.HazardFingerprints())
			require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
		})
	}
}
