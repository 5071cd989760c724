package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestDiscoveryHasNoExcuse: with one way to the leader gone for good every node catches up by the other. No run is excused, and most
// nodes lose what the plan says.
func TestDiscoveryHasNoExcuse(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	ways := map[string]int64{}
	const runs = 60
	for seed := uint64(1); seed <= runs; seed++ {
		p := c.Scenario("reconfig/discovery").Draw(seed)
		v := verdictOf(t, e, p, sim.Options{})
		require.Equal(t, plan.OK, v.Outcome, "seed %d: %v %v", seed, v.Broken, v.Waiting)
		losers := int64(len(hostIDs(p, kindObserver, kindBroker)))
		if v.Stats["fault-lose-names"] >= losers {
			ways[dice{seed}.pick("way", "bootstrap", "advertised", "turns")]++
		}
	}
	for _, way := range []string{"bootstrap", "advertised", "turns"} {
		require.GreaterOrEqual(t, ways[way], int64(runs/5), way)
	}
}

// TestLoseNamesIsRefused where nobody would get over it.
func TestLoseNamesIsRefused(t *testing.T) {
	e := sim.NewEngine(Catalogue())
	for _, x := range []struct {
		host, names string
		atUs        plan.Int64
		refused     string
	}{
		{"o1", "advertised", 500_000, ""},
		{"b1", "bootstrap", 500_000, ""},
		{"c1", "bootstrap", 500_000, "host=c1 is a voter, or an operator's"},
		{"op1", "bootstrap", 500_000, "host=op1 is a voter, or an operator's"},
		{"b1", "bootstrap", 1, "it is down"},
	} {
		p := operated(true, "lose-names", plan.Params{"host": x.host, "names": x.names})
		p.Actions[0].AtUs = x.atUs
		v := verdictOf(t, e, p, sim.Options{})
		require.Equal(t, plan.OK, v.Outcome, "%v %v", v.Broken, v.Waiting)
		if x.refused == "" {
			require.Empty(t, v.Refused)
			require.EqualValues(t, 1, v.Stats["fault-lose-names"])
			continue
		}
		require.Len(t, v.Refused, 1)
		require.Equal(t, x.refused, v.Refused[0].Reason)
	}
}
