package scenarios

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// determinismSeeds are those of every scenario that the tests of determinism run.
var determinismSeeds = []uint64{3, 1_000_003}

// TestDeterminism runs seeds of every scenario in every way that must change nothing: traced, poisoned, watched, all of it.
func TestDeterminism(t *testing.T) {
	const shards = 4
	for shard := range shards {
		t.Run(fmt.Sprintf("shard%d", shard), func(t *testing.T) {
			t.Parallel()
			c := Catalogue() // two worlds at once need two: a scenario keeps its nodes
			for i := shard; i < len(c.Scenarios); i += shards {
				for _, seed := range determinismSeeds {
					watchedAlike(t, c, c.Scenarios[i], seed)
				}
			}
		})
	}
}

// watchedAlike runs a seed with each option, and with all.
func watchedAlike(t *testing.T, c *sim.Catalogue, s sim.Scenario, seed uint64) {
	t.Helper()
	want, p, e := seedVerdict(t, sim.NewEngine(c), s, seed), s.Draw(seed), sim.NewEngine(c)
	lines, digests := 0, 0
	for name, o := range map[string]sim.Options{
		"trace":     {Trace: func(sim.TraceLine) { lines++ }},
		"poison":    {Poison: true},
		"decisions": {RecordDecisions: true},
		"digests":   {Digests: func(int64, uint64) { digests++ }},
		"all":       {Trace: func(sim.TraceLine) {}, Poison: true, RecordDecisions: true, Digests: func(int64, uint64) {}},
	} {
		require.Equal(t, want, verdictOf(t, e, p, o), "%s:%d with %s", s.Name(), seed, name)
	}
	require.Positive(t, lines)
	require.Positive(t, digests)
}

// TestDeterminismAfterOthers runs seeds of every scenario in a world that ran something else before: each after each of the three that follow
// it in the catalogue, of which the second is poisoned. A run is what comes before the next one, too.
func TestDeterminismAfterOthers(t *testing.T) {
	for _, seed := range determinismSeeds {
		t.Run(fmt.Sprintf("seed%d", seed), func(t *testing.T) {
			t.Parallel()
			c := Catalogue()
			n, used := len(c.Scenarios), sim.NewEngine(c)
			pairs := map[[2]int]bool{}
			for _, r := range rounds(n) {
				before := -1
				for k, i := range r.order {
					poison := r.poison && (k+r.first)%2 == 0 // every second one, of those that are unlike the one before
					s, after := c.Scenarios[i], "another round"
					got := verdictOf(t, used, s.Draw(seed), sim.Options{Poison: poison})
					if before >= 0 {
						after = c.Scenarios[before].Name()
						if !poison {
							pairs[[2]int{before, i}] = true
						}
					}
					require.Equal(t, seedVerdict(t, sim.NewEngine(c), s, seed), got, "%s:%d after %s", s.Name(), seed, after)
					before = i
				}
			}
			for i := range n {
				for step := 1; step <= 3; step++ {
					require.True(t, pairs[[2]int{(i + step) % n, i}], "%s has not run after the one %d behind it", c.Scenarios[i].Name(), step)
				}
			}
		})
	}
}

// round is an order of scenarios, each of which follows one whose place is a step higher.
type round struct {
	order  []int
	poison bool // every second run is
	first  int
}

// rounds goes through n scenarios in steps of one, two and three, those of two twice, so that each run that is not poisoned comes after
// one that is.
func rounds(n int) (list []round) {
	for step := 1; step <= 3; step++ {
		cycles := divisor(step, n)
		for start := range cycles {
			r := round{poison: step == 2}
			for k := 0; k <= n/cycles; k++ { // the first again at the end: it follows the last
				r.order = append(r.order, ((start-k*step)%n+n)%n)
			}
			list = append(list, r)
			if r.poison {
				r.first = 1
				list = append(list, r)
			}
		}
	}
	return list
}

// divisor is the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// TestDeterminismOnProcessors runs seeds of every scenario on one processor and on several. It sets how many there are, so nothing runs beside
// it.
func TestDeterminismOnProcessors(t *testing.T) {
	c := Catalogue()
	for _, n := range []int{1, 4} {
		for _, s := range c.Scenarios {
			for _, seed := range determinismSeeds {
				require.Equal(t, seedVerdict(t, sim.NewEngine(c), s, seed), onProcessors(t, n, s.Draw(seed)), "%s:%d on %d processors", s.Name(), seed, n)
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
// with a rate of zero are drawn, too, where a plan overrides decisions. Among the plans are some with actions that change the rates of a disk.
func TestDecisionsReplay(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for _, name := range []string{"raft/storm-3", "raft/disk", "kip1262/draft"} {
		for seed := uint64(1); seed <= 12; seed++ {
			p := c.Scenario(name).Draw(seed)
			r, err := e.Run(p, sim.Options{RecordDecisions: true})
			require.NoError(t, err)
			require.NotEmpty(t, r.Decisions)
			fixed := p.Clone()
			for i := range r.Decisions {
				fixed.Decisions = append(fixed.Decisions, plan.Decision{NameHash: plan.Uint64(r.Decisions[i].Hash), Value: plan.Int64(r.Decisions[i].Value)})
			}
			again := verdictOf(t, e, fixed, sim.Options{})
			require.Equal(t, r.Verdict.BehaviourHash, again.BehaviourHash, "%s:%d", name, seed)
			require.Equal(t, r.Verdict.Events, again.Events, "%s:%d", name, seed)
			require.Equal(t, r.Verdict.Stats, again.Stats, "%s:%d", name, seed)
		}
	}
}
