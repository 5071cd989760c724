package scenarios

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestUpgradeSeeds: the whole way, in a few schedules; campaigns do ten thousand.
func TestUpgradeSeeds(t *testing.T) {
	c := Catalogue()
	engine := sim.NewEngine(c)
	for seed := range uint64(20) {
		p := c.Scenario(staticToClusterID).Draw(seed)
		r, err := engine.Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plan.OK, r.Verdict.Outcome, "seed %d: %v %v", seed, r.Verdict.Broken, r.Verdict.Waiting)
		require.Positive(t, r.Verdict.Evaluated[upgradeComplete.Name], "seed %d", seed)
	}
}

// TestUpgradeGoalSeesWhatIsMissing: the same end, judged by another goal, or reached without one of the steps.
func TestUpgradeGoalSeesWhatIsMissing(t *testing.T) {
	c := Catalogue()
	engine := sim.NewEngine(c)
	run := func(p *plan.Plan) *plan.Verdict {
		r, err := engine.Run(p, sim.Options{})
		require.NoError(t, err)
		return r.Verdict
	}
	cl := &c.Scenario(staticToClusterID).(*scenario).cluster
	require.Empty(t, run(c.Scenario(staticToClusterID).Draw(1)).Broken)
	leader := cl.ops.leader(0)
	mark, _ := nodeOf(leader).replica.HighWatermark()
	facts := cl.factsOf(leader, mark)
	require.EqualValues(t, 1, facts.kraftVersion)
	require.EqualValues(t, 34, facts.metadataVersion)
	require.Contains(t, facts.clusterIDs, cl.clusterID)
	require.True(t, cl.goal.newVoter(&facts))
	require.Less(t, cl.factsOf(leader, mark-1).end, facts.end, "nothing at or above the offset is read")
	require.False(t, cl.goal.newVoter(&logFacts{voterSets: facts.voterSets[:0]}))

	for want, change := range map[string]func(f *logFacts){
		"":              func(*logFacts) {},
		"kraft-version": func(f *logFacts) { f.kraftVersion = 0 },
		"level":         func(f *logFacts) { f.metadataVersion-- },
		"no-record":     func(f *logFacts) { f.clusterIDs = nil },
		"voters":        func(f *logFacts) { f.voterSets = []string{" 1-AAAAAAAAAAAAAAAAAAAAAA"} },
		"another-id":    func(f *logFacts) { f.clusterIDs = append(slices.Clone(f.clusterIDs), "other") },
	} {
		f := facts
		change(&f)
		evidence, _ := cl.goal.log("c1", &f)
		require.Equal(t, want, evidence)
	}
	e := cl.hosts[0]
	evidence, _ := cl.goal.node(cl.w.Hosts()[0], &e)
	require.Empty(t, evidence)
	id := cl.clusterID
	cl.clusterID = "other"
	evidence, _ = cl.goal.node(cl.w.Hosts()[0], &e)
	require.Equal(t, "identity", evidence)
	cl.clusterID = id
	e.release = &features.Release{Name: "3.9"}
	evidence, _ = cl.goal.node(cl.w.Hosts()[0], &e)
	require.Equal(t, "release", evidence)

	less := c.Scenario(staticToClusterID).Draw(1)
	less.Actions = slices.DeleteFunc(less.Actions, func(a plan.Action) bool { return a.Params["do"] == doEnlist })
	require.Zero(t, run(less).Evaluated[upgradeComplete.Name], "a plan without the step promises less")
	require.False(t, cl.goal.promised())
}

// TestProcedureWaits: a step begins when the one before it is done, and a step that can't be is refused, not waited for.
func TestProcedureWaits(t *testing.T) {
	c := Catalogue()
	p := c.Scenario(FeaturesScenario).Draw(3)
	p.Actions = nil
	book := &runbook{p: p, atUs: 2_000_000}
	book.step(doRoll, "host", "c1", "release", "upstream-4.5")
	book.step(doRoll, "host", "c2")
	book.step(doEnlist, "host", "c3", "by", "c1")
	book.step(doFinalize, "level", "33")
	r, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.OK, r.Verdict.Outcome, "%v %v", r.Verdict.Broken, r.Verdict.Waiting)
	require.Len(t, r.Verdict.Refused, 2)
	require.EqualValues(t, 2, r.Verdict.Stats["procedure-steps-done"])
}

// TestProcedureThatCannotEnd: an operator who asks for a level that nobody knows is stuck, and the verdict names the step.
func TestProcedureThatCannotEnd(t *testing.T) {
	c := Catalogue()
	p := c.Scenario(FeaturesScenario).Draw(3)
	p.Actions = nil
	(&runbook{p: p, atUs: 2_000_000}).step(doFinalize, "level", "99")
	r, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.Stuck, r.Verdict.Outcome)
	require.Contains(t, r.Verdict.Waiting[0], "step-01-finalize")
}
