package swarm_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

func drawn(f *swarm.Profile, seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: "any", Seed: plan.Uint64(seed)}
	for _, id := range []string{"a", "b", "c"} {
		p.Hosts = append(p.Hosts, plan.Host{ID: id, Kind: "x"})
	}
	swarm.Storm(swarm.Dice{Seed: seed}, p, f, nil)
	return p
}

// Each plan of each profile is one that an engine takes, and the same each time.
func TestStormDrawsValidPlans(t *testing.T) {
	r := sim.NewRegistry()
	for _, f := range swarm.StockProfiles() {
		for seed := uint64(1); seed <= 200; seed++ {
			p := drawn(f, seed)
			require.NoError(t, plan.Validate(p, r), "%s:%d", f.Name, seed)
			require.Equal(t, f.Name, p.Profile)
			require.Equal(t, p, drawn(f, seed))
			require.GreaterOrEqual(t, int64(p.StormUs), f.StormUs[0])
			require.LessOrEqual(t, int64(p.StormUs), f.StormUs[1])
			require.LessOrEqual(t, int64(len(p.Actions)), f.Actions[1])
		}
	}
}

// A seed has a part of the faults, another seed another part; some have all but one absent, and none is absent everywhere.
func TestEachSeedHasItsOwnFaults(t *testing.T) {
	f := swarm.Stock("storm")
	subsets, count, weights := map[string]bool{}, map[string]int{}, map[string]map[int64]bool{}
	for seed := uint64(1); seed <= 500; seed++ {
		present := f.Present(swarm.Dice{Seed: seed})
		require.NotEmpty(t, present)
		names := ""
		for _, x := range present {
			names += x.Kind + " "
			count[x.Kind]++
			if weights[x.Kind] == nil {
				weights[x.Kind] = map[int64]bool{}
			}
			weights[x.Kind][x.Weight] = true
		}
		subsets[names] = true
	}
	require.Greater(t, len(subsets), 400)
	for _, x := range f.Faults {
		require.InDelta(t, 350, count[x.Kind], 60, x.Kind)
		require.Len(t, weights[x.Kind], 3, x.Kind)
	}
}

func TestPresentPercent(t *testing.T) {
	f := swarm.Stock("storm")
	f.PresentPercent = 100
	require.Equal(t, f.Faults, f.Present(swarm.Dice{Seed: 3}))
	f.PresentPercent = -1
	require.Len(t, f.Present(swarm.Dice{Seed: 3}), 1, "one is always there")
	f.Faults = nil
	require.Empty(t, f.Present(swarm.Dice{Seed: 3}))
	require.Empty(t, drawn(f, 3).Actions)
}

// Another fault in the profile does not move what the others draw.
func TestAnotherFaultMovesNothingElse(t *testing.T) {
	f := swarm.Stock("light")
	g := swarm.Stock("light")
	g.Faults = append(g.Faults, swarm.Fault{Kind: "disk-slow", Weight: 1})
	for seed := uint64(1); seed <= 50; seed++ {
		a, b := drawn(f, seed), drawn(g, seed)
		require.Equal(t, a.Network, b.Network)
		require.Equal(t, a.Hosts, b.Hosts)
		for i := range min(len(a.Actions), len(b.Actions)) {
			require.Equal(t, a.Actions[i].AtUs, b.Actions[i].AtUs)
		}
	}
}

// Clocks are wrong by default.
func TestClocksAreImperfect(t *testing.T) {
	wrong := 0
	for seed := uint64(1); seed <= 20; seed++ {
		for _, h := range drawn(swarm.Stock("light"), seed).Hosts {
			if h.DriftPpm != 0 && h.OffsetMs != 0 {
				wrong++
			}
		}
	}
	require.Greater(t, wrong, 50)
}

func TestOwnWordsComeFirst(t *testing.T) {
	f := swarm.Stock("light")
	f.Faults, f.PresentPercent = swarm.Weights("kill:1 mine:1"), 100
	p := &plan.Plan{Hosts: []plan.Host{{ID: "a", Kind: "x"}}}
	swarm.Storm(swarm.Dice{Seed: 4}, p, f, func(_ swarm.Dice, _ *plan.Plan, a *plan.Action, name string) (known, ok bool) {
		if a.Kind == "mine" {
			a.Kind, a.Params["name"] = "pause", name
		}
		return a.Kind == "pause", true
	})
	for _, a := range p.Actions {
		require.Contains(t, []string{"kill", "pause"}, a.Kind)
	}
}

func TestDatagramsHaveLosses(t *testing.T) {
	f := swarm.Stock("network")
	f.LossPpm = 50_000
	lost := 0
	for seed := uint64(1); seed <= 50; seed++ {
		p := &plan.Plan{Network: plan.Network{Transport: "datagram"}}
		swarm.Models(swarm.Dice{Seed: seed}, p, f)
		require.Zero(t, p.Network.ResetPpm)
		require.Less(t, p.Network.LossPpm, int64(50_001))
		if p.Network.LossPpm > 0 {
			lost++
		}
	}
	require.InDelta(t, 30, lost, 15)
}

func TestMisuse(t *testing.T) {
	require.Panics(t, func() { swarm.Stock("none") })
	require.Panics(t, func() { swarm.Weights("kill") })
	require.Panics(t, func() { swarm.Weights("kill:0") })
	require.Nil(t, swarm.Find(swarm.StockProfiles(), "none"))
	f := swarm.Stock("light")
	f.Faults = swarm.Weights("nothing:1")
	require.Panics(t, func() { drawn(f, 1) })
	f = swarm.Stock("light")
	f.Faults[0].Weight = 0
	require.NotZero(t, swarm.Stock("light").Faults[0].Weight, "a copy")
}

func ExampleStorm() {
	p := &plan.Plan{Format: plan.Format, Scenario: "mine", Seed: 17, Hosts: []plan.Host{{ID: "n1", Kind: "node"}, {ID: "n2", Kind: "node"}}}
	swarm.Storm(swarm.Dice{Seed: 17}, p, swarm.Stock("light"), nil)
	for _, a := range p.InOrder() {
		fmt.Println((*plan.Registry)(nil).FormatAction(&a))
	}
	// Output:
	// 6.467ms cut for=60ms from=n1 to=n2 #02-cut-out
	// 69.032ms isolate for=60ms host=n2 #04-isolate
	// 131.168ms power down=200ms hosts=n2 #03-power
	// 372.603ms power down=1ms hosts=n2 #01-power
}
