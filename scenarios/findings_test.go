package scenarios

import (
	"path/filepath"
	"slices"
	"strings"
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
		"t23-formatted-node-stops":     "T23-formatted-node-stops",
		"t03-log-refused":              "T03-log-refused",
		"t06-two-logs-in-one":          "T06-two-logs-in-one",
		"t27-static-voter-forgets":     "T27-static-voter-forgets",
		"t32-twins-evict":              "T32-twins-evict",
		"t33-joined-wrong-cluster":     "T33-joined-wrong-cluster",
		"t34-null-ids-cross":           "T34-null-ids-cross",
		"x01-never-registers":          "X01-never-registers",
		"x01-upgrade-waits-for-itself": "X01-never-registers",
		"x02-level-without-record":     "X02-level-without-record",
		"x03-voter-without-a-vote":     "X03-voter-without-a-vote",
		"sole-voter-unflushed":         "sole-voter-unflushed",
		"failed-fsync-forgotten":       "failed-fsync-forgotten",
		"foreign-epoch":                "foreign-epoch",

		"snapshot-behind-uncommitted-tail": "snapshot-behind-uncommitted-tail",
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

// Each plan that docs/findings.md tells as stuck for good is stuck, for the reason that is proved; without the fault that the reason
// needs the same plan is not.
func TestStuckFindings(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for file, x := range map[string]struct{ reason, needs string }{
		"removed-leader-has-the-longest-log": {"nobody can be elected", "replace-disk"},
		"two-voters-less-the-leader":         {"the leader removed itself", "kill"},
		"voter-that-does-not-know-yet":       {"nobody can be elected", "replace-disk"},
		"leader-at-a-stale-address":          {"c2 follows the leader at an address where the leader is not", "move"},
		"forgotten-by-all":                   {"c1 was removed while it was cut off", "move"},
		"voter-and-leader-misled":            {"c2 is a voter of its leader at an address where it does not listen", "misadvertise"},
	} {
		t.Run(file, func(t *testing.T) {
			p, err := plan.ReadFile(filepath.Join("testdata", "findings", file+".json"), c.Registry)
			require.NoError(t, err)
			require.LessOrEqual(t, len(p.Actions), 10)
			r, err := e.Run(p, sim.Options{})
			require.NoError(t, err)
			require.Equal(t, plan.LegitimatelyStuck, r.Verdict.Outcome)
			require.Contains(t, strings.Join(r.Verdict.Waiting, "; "), x.reason)

			p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { return a.Kind == x.needs })
			r, err = e.Run(p, sim.Options{})
			require.NoError(t, err)
			require.Equal(t, plan.OK, r.Verdict.Outcome, "%v %v", r.Verdict.Broken, r.Verdict.Waiting)
		})
	}
}
