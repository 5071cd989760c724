package scenarios

import (
	"runtime"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// TestDeterminism runs seeds of every scenario in every way that must change nothing: traced, poisoned, watched, in a world
// that ran something else before, on one processor and on several.
func TestDeterminism(t *testing.T) {
	c := Catalogue()
	used := sim.NewEngine(c)
	for i, s := range c.Scenarios {
		for _, seed := range []uint64{3, 1_000_003} {
			p := s.Draw(seed)
			want := verdictOf(t, sim.NewEngine(c), p, sim.Options{})
			lines, digests := 0, 0
			for name, o := range map[string]sim.Options{
				"trace":     {Trace: func(sim.TraceLine) { lines++ }},
				"poison":    {Poison: true},
				"decisions": {RecordDecisions: true},
				"digests":   {Digests: func(int64, uint64) { digests++ }},
				"all":       {Trace: func(sim.TraceLine) {}, Poison: true, RecordDecisions: true, Digests: func(int64, uint64) {}},
			} {
				require.Equal(t, want, verdictOf(t, sim.NewEngine(c), p, o), "%s:%d with %s", s.Name(), seed, name)
			}
			require.Positive(t, lines)
			require.Positive(t, digests)
			for k := range 3 {
				other := c.Scenarios[(i+k+1)%len(c.Scenarios)]
				verdictOf(t, used, other.Draw(seed), sim.Options{Poison: k == 1})
				require.Equal(t, want, verdictOf(t, used, p, sim.Options{}), "%s:%d after %s", s.Name(), seed, other.Name())
			}
			for _, n := range []int{1, 4} {
				require.Equal(t, want, onProcessors(t, n, p), "%s:%d on %d processors", s.Name(), seed, n)
			}
		}
	}
}

func verdictOf(t testing.TB, e *sim.Engine, p *plan.Plan, o sim.Options) *plan.Verdict {
	t.Helper()
	r, err := e.Run(p, o)
	require.NoError(t, err)
	return r.Verdict
}

// onProcessors runs a plan in a catalogue of its own, beside another run of it.
func onProcessors(t *testing.T, n int, p *plan.Plan) *plan.Verdict {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	other := make(chan *plan.Verdict)
	go func() {
		r, err := sim.NewEngine(Catalogue()).Run(p, sim.Options{})
		if err != nil {
			close(other)
			return
		}
		other <- r.Verdict
	}()
	mine := verdictOf(t, sim.NewEngine(Catalogue()), p, sim.Options{})
	require.Equal(t, mine, <-other)
	return mine
}

// TestDecisionsReplay: a plan with every decision of a run written down behaves alike. The trace hash differs, since chances
// with a rate of zero are drawn, too, where a plan overrides decisions.
func TestDecisionsReplay(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for _, name := range []string{"raft/storm-3", "kip1262/draft"} {
		p := c.Scenario(name).Draw(11)
		r, err := e.Run(p, sim.Options{RecordDecisions: true})
		require.NoError(t, err)
		require.NotEmpty(t, r.Decisions)
		fixed := p.Clone()
		for i := range r.Decisions {
			fixed.Decisions = append(fixed.Decisions, plan.Decision{NameHash: plan.Uint64(r.Decisions[i].Hash), Value: plan.Int64(r.Decisions[i].Value)})
		}
		again := verdictOf(t, e, fixed, sim.Options{})
		require.Equal(t, r.Verdict.BehaviourHash, again.BehaviourHash)
		require.Equal(t, r.Verdict.Events, again.Events)
		require.Equal(t, r.Verdict.Stats, again.Stats)
	}
}
