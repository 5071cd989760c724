package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// A plan whose faults are listed one by one, with all rates at zero, runs as the plan that drew them: decisions are found by their names.
// (Where links reorder, the rate says more than which messages do: without it a link keeps its order.)
func TestListedFaultsAreTheDrawnOnes(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	listed := 0
	for _, name := range []string{"raft/storm-3", "raft/storm-5", "raft/snapshots", "raft/two-clusters", "metadata/brokers", "metadata/mixture",
		"reconfig/discovery", "reconfig/kraft-upgrade", "kip1262/t16"} {
		for seed := uint64(1); seed <= 2; seed++ {
			p := c.Scenario(name).Draw(seed)
			if p.Network.ReorderPpm > 0 {
				continue
			}
			r, err := e.Run(p, sim.Options{RecordDecisions: true})
			require.NoError(t, err)
			// Without a verdict nothing is said of refused actions and of targets, so that the faults are all that changes.
			explicit := shrink.Listed(p, &plan.Verdict{}, r.Decisions)
			require.True(t, explicit.Explicit)
			require.Zero(t, explicit.Network.TailPpm+explicit.Network.ResetPpm+explicit.Disk.SlowSyncPpm)
			listed += len(explicit.Decisions)
			again, err := e.Run(explicit, sim.Options{})
			require.NoError(t, err)
			require.Equal(t, r.Verdict.BehaviourHash, again.Verdict.BehaviourHash, "%s:%d", name, seed)
			require.Equal(t, r.Verdict.Outcome, again.Verdict.Outcome)

			explicit.Decisions = nil
			calm, err := e.Run(explicit, sim.Options{RecordDecisions: true})
			require.NoError(t, err)
			for i := range calm.Decisions {
				d := &calm.Decisions[i]
				require.True(t, d.Benign || d.Spread, "%s:%d draws %s, and its plan lists nothing", name, seed, d.Name)
			}
		}
	}
	require.Greater(t, listed, 20, "the plans have to draw faults")
}
