package scenarios

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestStormsDisturb: what storm profiles promise, over seeds that stay the same. Half of the runs change their leader twice, which takes three
// elections, a fifth have a crash inside a handler, in each scenario that is about replicas under a storm. Lagging followers of raft/snapshots
// need a leader that stays for a while: one change is enough there.
func TestStormsDisturb(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for name, elections := range map[string]int64{"raft/storm-3": 3, "raft/storm-5": 3, "raft/dynamic-3": 3, "raft/snapshots": 2} {
		const runs = 60
		changes, inside := 0, 0
		for seed := uint64(1); seed <= runs; seed++ {
			v := verdictOf(t, e, c.Scenario(name).Draw(seed), sim.Options{})
			if v.Stats["elections"] >= elections {
				changes++
			}
			if v.Stats["crashes-in-handler"] >= 1 {
				inside++
			}
		}
		t.Logf("%s: of %d runs %d had %d elections or more, %d a crash inside a handler", name, runs, changes, elections, inside)
		require.GreaterOrEqual(t, changes, runs/2, name)
		require.GreaterOrEqual(t, inside, runs/5, name)
	}
}

// TestADosageMayBeMissed: the conditions of a storm are counted where they hold, and a profile without crashes, or one that leaves the leader
// alone, falls short of the shares by which a campaign is judged.
func TestADosageMayBeMissed(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	met := func(strip func(a plan.Action) bool) (changes, inside int64) {
		for seed := uint64(1); seed <= 40; seed++ {
			p := c.Scenario("raft/storm-3").Draw(seed)
			p.Actions = slices.DeleteFunc(p.Actions, strip)
			v := verdictOf(t, e, p, sim.Options{})
			changes += min(1, v.Sometimes["two-leader-changes"])
			inside += min(1, v.Sometimes["crash-inside-a-handler"])
			require.Equal(t, v.Stats["elections"] >= 3, v.Sometimes["two-leader-changes"] > 0)
			if v.Sometimes["crash-inside-a-handler"] > 0 {
				require.Positive(t, v.Stats["crashes-in-handler"])
			}
		}
		return changes, inside
	}
	shares := map[string]int64{}
	for _, doc := range stormSometimes() {
		shares[doc.Name] = 40 * doc.SharePerMillion / 1_000_000
	}
	changes, inside := met(func(plan.Action) bool { return false })
	require.GreaterOrEqual(t, changes, shares["two-leader-changes"])
	require.GreaterOrEqual(t, inside, shares["crash-inside-a-handler"])
	crashes := []string{"kill", "power", "crash-op", crashAfterKind, tearKind, "ambush"}
	_, inside = met(func(a plan.Action) bool { return slices.Contains(crashes, a.Kind) })
	require.Less(t, inside, shares["crash-inside-a-handler"])
	changes, _ = met(func(plan.Action) bool { return true })
	require.Less(t, changes, shares["two-leader-changes"])
}

// TestEveryKindOfChangeIsDisturbed: over seeds that stay the same a fault is active during an add, a remove, an update of a voter, and the way to
// kraft.version 1; without faults none is.
func TestEveryKindOfChangeIsDisturbed(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	seen := map[string]int64{}
	for _, name := range []string{"reconfig/churn", "reconfig/kraft-upgrade", "reconfig/bootstrap-only", "reconfig/replaced-disk"} {
		for seed := uint64(1); seed <= 15; seed++ {
			v := verdictOf(t, e, c.Scenario(name).Draw(seed), sim.Options{})
			for _, word := range changeWords {
				seen[word] += v.Sometimes[word]
			}
		}
	}
	for _, word := range changeWords {
		require.Positive(t, seen[word], word)
	}
	for _, kind := range []string{"add-voter", "remove-voter"} {
		p := acted(dynamicPlan(), kind, map[string]string{"by": "op1", map[string]string{"add-voter": "host", "remove-voter": "voter"}[kind]: map[string]string{
			"add-voter": "o1", "remove-voter": "c3"}[kind]})
		v := verdictOf(t, e, p, sim.Options{})
		for _, word := range changeWords {
			require.Zero(t, v.Sometimes[word], "%s, where nothing is wrong", word)
		}
	}
}
