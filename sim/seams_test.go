package sim_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// everything is a catalogue of the two protocols that these tests replay.
func everything() *sim.Catalogue {
	c := register.Catalogue()
	c.Scenarios = append(c.Scenarios, mesh{})
	return c
}

// draws runs a plan and returns every decision by the hash of its name.
func draws(t *testing.T, p *plan.Plan) (map[uint64]decide.Drawn, *plan.Verdict) {
	t.Helper()
	all := map[uint64]decide.Drawn{}
	r, err := sim.NewEngine(everything()).RunWith(p, sim.Options{}, nil, func(d decide.Drawn) {
		_, twice := all[d.Hash]
		require.False(t, twice, "one name drawn twice: %v", d.Name)
		all[d.Hash] = d
	})
	require.NoError(t, err)
	require.Equal(t, int(r.Verdict.Decisions), len(all))
	return all, r.Verdict
}

// sameDraws checks that the names which both runs draw have one value, and returns how many there are. How much a crash can
// lose depends on what is at stake: the domain of these sites is part of the state, and only the raw draw is the name's.
func sameDraws(t *testing.T, a, b map[uint64]decide.Drawn, what string) (common int) {
	t.Helper()
	for hash, d := range a {
		e, ok := b[hash]
		if !ok {
			continue
		}
		require.Equal(t, d.Name, e.Name)
		if name := d.Site.Name(); !strings.HasPrefix(name, "disk/lost-") && name != "disk/cut-write" {
			require.Equal(t, d.Value, e.Value, "%s changes %s", what, name)
			common++
		}
	}
	return common
}

// Deleting any action leaves the value of each decision name that both runs draw unchanged.
func TestDeletingAnActionMovesNoDecision(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		full := mesh{}.Draw(seed)
		all, v := draws(t, full)
		require.Greater(t, len(all), 500)
		hashes := map[plan.Hex64]bool{v.TraceHash: true}
		for i := range full.Actions {
			p := full.Clone()
			p.Actions = slices.Delete(p.Actions, i, i+1)
			fewer, v := draws(t, p)
			require.Greater(t, sameDraws(t, all, fewer, full.Actions[i].ID), len(all)/10)
			hashes[v.TraceHash] = true
		}
		require.Greater(t, len(hashes), 5, "most actions change the run")
	}
}

// So does a kind of message more, early on the links.
func TestAnEarlyMessageMovesNoDecision(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		all, _ := draws(t, mesh{}.Draw(seed))
		p := mesh{}.Draw(seed)
		p.Params = plan.Params{"extra": "yes"}
		more, v := draws(t, p)
		require.Greater(t, sameDraws(t, all, more, "the extra message"), len(all)/3)
		require.Positive(t, v.Stats["messages"])
	}
}

// An override fixes one name; a value that was drawn anyway changes nothing but the count of decisions.
func TestOverridesAreByName(t *testing.T) {
	p := mesh{}.Draw(3)
	all, _ := draws(t, p)
	lossy := 0
	for hash, d := range all {
		if d.Site.Name() == "sim/post-delay" {
			q := p.Clone()
			q.Decisions = []plan.Decision{{NameHash: plan.Uint64(hash), Value: plan.Int64((d.Value + 1) % 400)}}
			changed, _ := draws(t, q)
			require.Equal(t, (d.Value+1)%400, changed[hash].Value)
			if lossy++; lossy == 5 {
				return
			}
		}
	}
}

// plans are runs of both protocols.
func plans(n uint64) (ps []*plan.Plan) {
	for seed := uint64(1); seed <= n; seed++ {
		ps = append(ps, mesh{}.Draw(seed), everything().Scenario("register/fixed").Draw(seed))
	}
	return ps
}

// Options, earlier runs of the same World and the number of processors change no verdict.
func TestNothingButThePlanCounts(t *testing.T) {
	var lines int
	options := map[string]sim.Options{
		"trace":     {Trace: func(sim.TraceLine) { lines++ }},
		"digests":   {Digests: func(int64, uint64) {}},
		"recording": {RecordDecisions: true},
		"poison":    {Poison: true},
		"all":       {Poison: true, RecordDecisions: true, Trace: func(sim.TraceLine) {}, Digests: func(int64, uint64) {}},
	}
	used := sim.NewEngine(everything())
	for _, p := range plans(15) {
		plain, err := sim.NewEngine(everything()).Run(p, sim.Options{})
		require.NoError(t, err)
		for name, o := range options {
			r, err := used.Run(p, o)
			require.NoError(t, err)
			require.Equal(t, plain.Verdict, r.Verdict, "%s seed %d with %s", p.Scenario, p.Seed, name)
		}
		again, err := used.Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plain.Verdict, again.Verdict, "in a World that was used before")
	}
	require.Positive(t, lines)
}

func TestProcessorsDoNotCount(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	want := map[string]*plan.Verdict{}
	for _, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		results := make(chan *plan.Verdict)
		ps := plans(5)
		for _, p := range ps {
			go func() { // side by side, as workers of a careless program would
				r, err := sim.NewEngine(everything()).Run(p, sim.Options{})
				if err != nil {
					panic(err)
				}
				results <- r.Verdict
			}()
		}
		got := map[string]*plan.Verdict{}
		for range ps {
			v := <-results
			got[fmt.Sprint(v.TraceHash)] = v
		}
		if procs == 1 {
			want = got
			require.Len(t, want, len(ps))
		}
		require.Equal(t, want, got)
	}
}

// backwards settles ties the other way round, and takes any of the next events, not only the first: another policy serves
// the same World.
type backwards struct{ items []sim.Item }

func (s *backwards) Reset()           { s.items = s.items[:0] }
func (s *backwards) Push(it sim.Item) { s.items = append(s.items, it) }
func (s *backwards) Len() int         { return len(s.items) }
func (s *backwards) Pop() (sim.Item, bool) {
	if len(s.items) == 0 {
		return sim.Item{}, false
	}
	first := s.items[0].At
	for _, it := range s.items {
		first = min(first, it.At)
	}
	best := -1
	for i, it := range s.items {
		if it.At <= first+50*us && (best < 0 || it.Tie > s.items[best].Tie) {
			best = i
		}
	}
	it := s.items[best]
	s.items = slices.Delete(s.items, best, best+1)
	return it, true
}

func TestAnotherSchedulerServesTheWorld(t *testing.T) {
	differ := 0
	for seed := uint64(1); seed <= 10; seed++ {
		p := mesh{}.Draw(seed)
		timed, err := sim.NewEngine(everything()).Run(p, sim.Options{})
		require.NoError(t, err)
		var first *plan.Verdict
		for range 2 {
			r, err := sim.NewEngine(everything()).RunWith(p, sim.Options{}, &backwards{}, nil)
			require.NoError(t, err)
			require.Equal(t, plan.OK, r.Verdict.Outcome, "%v", r.Verdict)
			if first == nil {
				first = r.Verdict
			}
			require.Equal(t, first, r.Verdict)
		}
		if first.TraceHash != timed.Verdict.TraceHash {
			differ++
		}
	}
	require.Positive(t, differ)
}

// The trace names causes: each event but the plan's own has one, and it came before.
func TestCausesComeBefore(t *testing.T) {
	r := mesh{}.Draw(2)
	inputs, sends := 0, 0
	_, err := sim.NewEngine(everything()).Run(r, sim.Options{Trace: func(l sim.TraceLine) {
		switch l.What {
		case "input":
			require.Less(t, l.Cause, l.ID, "%+v", l)
			inputs++
		case "send", "protocol", "disk":
			require.LessOrEqual(t, l.Cause, l.ID, "%+v", l)
			require.Positive(t, l.Cause)
			sends++
		}
	}})
	require.NoError(t, err)
	require.Greater(t, inputs, 100)
	require.Greater(t, sends, 100)
}

// What an action with a symbol came to is in the verdict, as actions that need no symbol; two hosts are one parameter.
func TestResolvedActionsAreInTheVerdict(t *testing.T) {
	l := lab(func(w *sim.World) {
		w.At(3*ms, 1, 1, func() {
			w.ResolvedHosts("cut-0", "to", w.Host("n1"), w.Host("n2"))
			w.ResolvedHosts("nobody", "to", w.Host("n1"))
			w.Resolved("later", plan.Action{AtUs: 3_000, Kind: "kill", Params: plan.Params{"host": "n2"}})
			w.Resolved("later", plan.Action{ID: "x", Kind: "start"})
		})
	})
	p := labPlan(1)
	act(p, 1, "cut", "from", "n1", "to", "n2")
	v := l.run(t, p)
	require.Equal(t, []plan.Resolved{
		{Action: "cut-0", As: []plan.Action{{ID: "cut-0", AtUs: 1_000, Kind: "cut", Params: plan.Params{"from": "n1", "to": "n1,n2"}}}},
		{Action: "later", As: []plan.Action{
			{ID: "later", AtUs: 3_000, Kind: "kill", Params: plan.Params{"host": "n2"}}, {ID: "x", Kind: "start"}}},
	}, v.Resolved)
	require.Equal(t, "n2", p.Actions[0].Params["to"], "the plan stays as it is")
	require.Empty(t, lab(func(*sim.World) {}).run(t, labPlan(1)).Resolved, "a world forgets what it ran before")
}
