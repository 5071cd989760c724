package scenarios

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/simtest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSeeds runs fifteen seeds of every scenario. A subtest's name ends with the token that `simrun replay` takes.
func TestSeeds(t *testing.T) {
	c := Catalogue()
	require.NotEmpty(t, c.Scenarios)
	for _, s := range c.Scenarios {
		e := sim.NewEngine(c)
		for seed := uint64(1); seed <= 15; seed++ {
			token := simtest.Token(s.Name(), seed)
			t.Run(token, func(t *testing.T) {
				if v := seedVerdict(t, e, s, seed); v.Outcome.Finding() {
					t.Fatalf("%s\n  %s", simtest.Explain(s.Draw(seed), v), simtest.Replay(c, s.Draw(seed), v))
				}
			})
		}
	}
}

// TestPlans draws whole plans: a seed of any scenario and any subset of its actions.
func TestPlans(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(c.Scenarios).Draw(r, "scenario")
		simtest.Check(r, e, simtest.Plans(s).Draw(r, "plan"))
	})
}

// TestPlansAreData: what a scenario draws is a function of the seed, validates against the registry, and survives JSON.
func TestPlansAreData(t *testing.T) {
	c := Catalogue()
	for _, s := range c.Scenarios {
		for seed := uint64(1); seed <= 40; seed++ {
			p := s.Draw(seed)
			require.Equal(t, p, s.Draw(seed))
			require.NoError(t, plan.Validate(p, c.Registry), "%s:%d", s.Name(), seed)
			text, err := plan.Encode(p)
			require.NoError(t, err)
			back, err := plan.Decode(text)
			require.NoError(t, err)
			require.Equal(t, p, back, "%s:%d", s.Name(), seed)
			for i := range p.Actions {
				line := c.Registry.FormatAction(&p.Actions[i])
				require.NotEmpty(t, line)
			}
		}
	}
}

// TestSeedsDiffer: neighbouring seeds draw different plans, and other runs.
func TestSeedsDiffer(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for _, s := range c.Scenarios {
		seen := map[plan.Hex64]bool{}
		for seed := uint64(1); seed <= 8; seed++ {
			v := seedVerdict(t, e, s, seed)
			require.False(t, seen[v.TraceHash], "%s:%d runs like an earlier seed", s.Name(), seed)
			seen[v.TraceHash] = true
		}
	}
}

// TestDosage: a storm that disturbs nothing shows nothing. Of 200 seeds at least half must change their leader twice, which takes three elections, and a
// fifth a crash inside a handler.
func TestDosage(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	s := c.Scenario("raft/storm-3")
	const runs = 200
	elections, inside, written := 0, 0, 0
	for seed := uint64(1); seed <= runs; seed++ {
		r, err := e.Run(s.Draw(seed), sim.Options{})
		require.NoError(t, err)
		if r.Verdict.Stats["elections"] >= 3 {
			elections++
		}
		if r.Verdict.Stats["crashes-in-handler"] >= 1 {
			inside++
		}
		if r.Verdict.Stats["operations-done"] >= 1 {
			written++
		}
	}
	t.Logf("of %d runs %d had three elections or more, %d a crash inside a handler, %d an acknowledged write", runs, elections, inside, written)
	require.GreaterOrEqual(t, elections, runs/2)
	require.GreaterOrEqual(t, inside, runs/5)
	require.GreaterOrEqual(t, written, runs/2)
}
