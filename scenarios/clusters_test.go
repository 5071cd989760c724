package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestClustersDosage: two clusters that never meet show nothing.
func TestClustersDosage(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const runs = 40
	have := map[string]int{}
	for seed := uint64(1); seed <= runs; seed++ {
		v := verdictOf(t, e, c.Scenario("raft/two-clusters").Draw(seed), sim.Options{})
		require.False(t, v.Outcome.Finding(), "%d: %v", seed, v.Broken)
		for name, n := range v.Sometimes {
			have[name] += int(min(n, 1))
		}
		for name, n := range v.Evaluated {
			have[name] += int(min(n, 1))
		}
		have["repoint"] += int(min(v.Stats["fault-repoint"], 1))
	}
	require.GreaterOrEqual(t, have["request-of-another-cluster-refused"], runs/2)
	require.GreaterOrEqual(t, have["disk-of-another-cluster"], 3)
	require.GreaterOrEqual(t, have["repoint"], 5)
	require.Equal(t, runs, have["clusters-apart"], "every run evaluates it")
}

// TestClustersAreData: hosts say to which cluster they belong; what does not add up is refused.
func TestClustersAreData(t *testing.T) {
	c := Catalogue()
	draw := func() *plan.Plan { return c.Scenario("raft/two-clusters").Draw(2) }
	p := draw()
	s, err := readSettings(p)
	require.NoError(t, err)
	require.Len(t, s.quorums, 2)
	require.NotEqual(t, s.quorums[0].id, s.quorums[1].id)
	require.Equal(t, 1, s.clusterIndex("west"))
	require.Equal(t, 0, s.clusterIndex(""))
	require.Equal(t, -1, s.clusterIndex("north"))
	list, of := s.partition()
	require.Len(t, list, 2)
	require.Len(t, of, len(p.Hosts))
	for i := range p.Hosts {
		require.Equal(t, p.Hosts[i].Params["cluster"], s.quorums[of[i]].name)
	}
	require.False(t, list[0].Foreign("log.retention.ms", "17"))
	require.True(t, list[1].Foreign("log.retention.ms", "17"))
	require.True(t, list[0].Foreign("log.retention.ms", "1000000000017"))
	require.False(t, list[0].Foreign("min.insync.replicas", "1000000000017"))

	p = draw()
	require.NoError(t, plan.Validate(p, c.Registry), "node ids of two clusters may be the same")
	p.Hosts[1].Params["node_id"] = p.Hosts[0].Params["node_id"]
	p.Hosts[1].Params["cluster"] = p.Hosts[0].Params["cluster"]
	require.ErrorContains(t, plan.Validate(p, c.Registry), "is the node id of")

	p = draw()
	p.Workload[0].Params["cluster"] = "north"
	_, err = sim.NewEngine(c).Run(p, sim.Options{})
	require.ErrorContains(t, err, `cluster "north" is that of no host`)
}

// TestLastVoterDosage: most runs come to a single voter that is asked to go, and it stays.
func TestLastVoterDosage(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const runs = 30
	kept := 0
	for seed := uint64(1); seed <= runs; seed++ {
		v := verdictOf(t, e, c.Scenario("reconfig/last-voter").Draw(seed), sim.Options{})
		require.False(t, v.Outcome.Finding(), "%d: %v", seed, v.Broken)
		require.Positive(t, v.Evaluated["last-voter"]+v.Stats["operations-done"])
		kept += int(min(v.Sometimes[lastVoterKept], 1))
	}
	require.GreaterOrEqual(t, kept, runs/3)
}
