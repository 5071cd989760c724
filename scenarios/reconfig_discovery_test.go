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
			ways[dice{seed: seed}.pick("way", "bootstrap", "advertised", "turns")]++
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

// TestBootstrapServersAreTheWayBack: an observer without bootstrap servers loses its leader with the first answer that tells of an
// epoch that has none yet, although every address that it knew still works. That is Kafka's (kraft-protocol 1.5, 1.9), told in
// docs/findings.md, and why reconfig/discovery lets the leader stay. With its bootstrap servers it catches up.
func TestBootstrapServersAreTheWayBack(t *testing.T) {
	e := sim.NewEngine(Catalogue())
	for names, want := range map[string]plan.Outcome{"bootstrap": plan.Stuck, "advertised": plan.OK} {
		p := operated(true, "lose-names", plan.Params{"host": "o1", "names": names})
		rareSnapshots(p)
		p.StormUs = 1_200_000
		p.Actions = append(p.Actions, plan.Action{ID: "b", AtUs: 800_000, Kind: "ambush", Params: plan.Params{"on": "watermark", "n": "2", "how": "stop", "down": "20ms"}})
		v := verdictOf(t, e, p, sim.Options{})
		require.Equal(t, want, v.Outcome, "%s: %v %v", names, v.Broken, v.Waiting)
		require.EqualValues(t, 1, v.Stats["ambushes"])
		if want == plan.Stuck {
			require.Contains(t, v.Waiting[0], "nodes-catch-up: o1 (unattached")
		}
	}
}
