package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/invariants/linearizable"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestClientsAreLinearizable: a few histories, with what is wide among them; the same seed gives the same history.
func TestClientsAreLinearizable(t *testing.T) {
	c := Catalogue()
	engine := sim.NewEngine(c)
	for _, name := range []string{"metadata/clients", "metadata/operators", "metadata/mixture"} {
		judged, wide, wrote, made := int64(0), 0, 0, 0
		for seed := range uint64(40) {
			r, err := engine.Run(c.Scenario(name).Draw(seed), sim.Options{})
			require.NoError(t, err)
			v := r.Verdict
			require.False(t, v.Outcome.Finding(), "%s:%d: %v %v", name, seed, v.Broken, v.Waiting)
			judged += v.Evaluated[linearizableDoc.Name]
			if v.Outcome == plan.Unknown {
				wide++
				require.Contains(t, v.Waiting[0], "are checked")
			}
			for _, o := range c.Scenario(name).(*scenario).cluster.clients.complete() {
				if o.Kind == linearizable.Set && o.ReturnNs != linearizable.Open {
					wrote++
				}
				if (o.Kind == linearizable.Create || o.Kind == linearizable.Delete) && o.ReturnNs != linearizable.Open {
					made++
				}
			}
			again, err := engine.Run(c.Scenario(name).Draw(seed), sim.Options{})
			require.NoError(t, err)
			require.Equal(t, v, again.Verdict)
		}
		require.Greater(t, judged, int64(30), name)
		require.Less(t, wide, 8, name)
		require.Greater(t, wrote, 200, name)
		require.Equal(t, name == "metadata/mixture", made > 20, "%s: %d topics made or deleted", name, made)
	}
}

// TestHistoriesAreJudged: a history that was tampered with is a finding with a fingerprint, and shrinks as any other.
func TestHistoriesAreJudged(t *testing.T) {
	c := Catalogue()
	engine := sim.NewEngine(c)
	p := c.Scenario("metadata/clients").Draw(2)
	r, err := engine.Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.OK, r.Verdict.Outcome)
	s := c.Scenario("metadata/clients").(*scenario)
	tampered := false
	for i := range s.cluster.clients.history {
		if o := &s.cluster.clients.history[i]; o.Kind == linearizable.Set && o.ReturnNs != linearizable.Open {
			o.Offset, tampered = 1<<40, true
			break
		}
	}
	require.True(t, tampered)
	s.Judge(s.cluster.w, r.Verdict)
	require.Equal(t, plan.Violation, r.Verdict.Outcome)
	require.Contains(t, r.Verdict.Fingerprint(), "violation/linearizable/")
}

// TestClientsParameters: what the weights may say.
func TestClientsParameters(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "write:1": true, "write:0 read:3": true, "write:0": false, "write": false, "fly:1": false, "write:-1 read:2": false} {
		_, valid := parseWeights(text)
		require.Equal(t, ok, valid, text)
	}
	c := Catalogue()
	p := c.Scenario("metadata/clients").Draw(1)
	for i := range p.Workload {
		p.Workload[i].Params["weights"] = "fly:1"
	}
	p.Workload = p.Workload[1:]
	_, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.ErrorContains(t, err, `params.weights is "fly:1"`)
}
