package story

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// failure is a recorded run that shows something.
type failure struct {
	name    string
	history *history.History
	parts   []shrink.Part
	plan    *plan.Plan
	target  string
}

// failuresOf finds runs of scenarios that show hazards, which is all that the clean program shows, each kind once per scenario.
func failuresOf(t *testing.T, e *sim.Engine, most int, names ...string) (list []failure) {
	t.Helper()
	seen := map[string]bool{}
	for seed := uint64(1); seed <= 40 && len(list) < most; seed++ {
		for _, name := range names {
			p := e.Catalogue().Scenario(name).Draw(seed)
			result, err := e.Run(p, sim.Options{})
			require.NoError(t, err)
			goal := target(result.Verdict)
			if result.Verdict.Outcome == plan.OK && len(result.Verdict.Broken) == 0 || seen[name+goal] || len(list) == most {
				continue
			}
			seen[name+goal] = true
			small, _ := shrink.Shrink(e, p, goal, 60, nil)
			h, err := history.Record(e, small)
			require.NoError(t, err)
			parts := shrink.Necessary(e, small, goal, shrink.Parts(small))
			list = append(list, failure{fmt.Sprintf("%s:%d", name, seed), h, parts, small, goal})
		}
	}
	require.NotEmpty(t, list)
	return list
}

// permuted is the history in another order that its causes allow: events of one step stay together, everything else that is concurrent
// may change places.
func permuted(h *history.History, o *order, draw func(n int) int) *history.History {
	var blocks [][]int32
	of := make([]int, len(h.Events))
	for i := range h.Events {
		if i == 0 || h.Events[i].ID != h.Events[i-1].ID {
			blocks = append(blocks, nil)
		}
		of[i] = len(blocks) - 1
		blocks[of[i]] = append(blocks[of[i]], int32(i))
	}
	at := map[[2]int32]int32{} // event, by thread and place
	for i := range h.Events {
		at[[2]int32{o.thread[i], o.place[i]}] = int32(i)
	}
	waits, next := make([]int, len(blocks)), make([][]int, len(blocks))
	for b, events := range blocks {
		before := map[int]bool{}
		for _, i := range events {
			for t, n := range o.clocks[i] {
				if int32(t) == o.thread[i] {
					n-- // the event itself
				}
				if n > 0 {
					before[of[at[[2]int32{int32(t), n}]]] = true
				}
			}
			if c := h.Events[i].Cause; c >= 0 {
				before[of[c]] = true
			}
		}
		for k := range before {
			if k != b {
				waits[b]++
				next[k] = append(next[k], b)
			}
		}
	}
	for k := range next {
		slices.Sort(next[k])
	}
	var ready []int
	for b := range blocks {
		if waits[b] == 0 {
			ready = append(ready, b)
		}
	}
	out := &history.History{Plan: h.Plan, Verdict: h.Verdict, Hosts: h.Hosts, Nodes: h.Nodes, Caught: h.Caught}
	seq := make([]int32, len(h.Events))
	for len(ready) > 0 {
		k := draw(len(ready))
		b := ready[k]
		ready = slices.Delete(ready, k, k+1)
		for _, i := range blocks[b] {
			seq[i] = int32(len(out.Events))
			out.Events = append(out.Events, h.Events[i])
		}
		for _, n := range next[b] {
			if waits[n]--; waits[n] == 0 {
				ready = append(ready, n)
			}
		}
	}
	for i := range out.Events {
		e := &out.Events[i]
		e.Seq = int32(i)
		if e.Cause >= 0 {
			e.Cause = seq[e.Cause]
		}
	}
	return out
}

// TestConcurrentEventsMayChangePlaces is the law of the package: the text depends on what happened before what, not on the schedule.
func TestConcurrentEventsMayChangePlaces(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	for _, f := range failuresOf(t, e, 4, "kip1262/t33", "operator/u14", "operator/u23", "kip1262/t22") {
		told := Tell(f.history, f.parts).String()
		o := newOrder(f.history)
		rapid.Check(t, func(t *rapid.T) {
			r := rapid.Uint64().Draw(t, "schedule")
			draw := func(n int) int { // cheaper than a draw each
				r = r*6364136223846793005 + 1442695040888963407
				return int((r >> 33) % uint64(n))
			}
			other := permuted(f.history, o, draw)
			require.Len(t, other.Events, len(f.history.Events))
			require.Equal(t, told, Tell(other, f.parts).String(), f.name)
		})
	}
}

// TestStoriesKeepTheirPromises holds for every story: length, causal order, necessary faults, the last line.
func TestStoriesKeepTheirPromises(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	for _, f := range failuresOf(t, e, 5, "kip1262/t33", "operator/u23", "kip1262/t23", "kip1262/t05", "raft/bit-rot") {
		before := slices.Clone(f.history.Events)
		s := Tell(f.history, f.parts)
		require.Equal(t, before, f.history.Events, "a story changes no history")
		require.NotEmpty(t, s.Lines, f.name)
		require.LessOrEqual(t, len(s.Lines), MaxLines, f.name)
		require.Equal(t, f.target, s.Target)
		o := newOrder(f.history)
		for i := range s.Lines {
			l := &s.Lines[i]
			require.NotEmpty(t, l.Text)
			require.Equal(t, l.Fault, l.Necessary, "%s: %s", f.name, l.Text)
			for k := range s.Lines[:i] {
				if a, b := s.Lines[k].Seq, l.Seq; a >= 0 && b >= 0 {
					require.False(t, o.before(b, a), "%s: %q stands before %q", f.name, s.Lines[k].Text, l.Text)
				}
			}
		}
		last := s.Lines[len(s.Lines)-1].Text
		if len(f.history.Verdict.Broken) > 0 {
			require.Contains(t, last, f.history.Verdict.Broken[0].Detail, f.name)
		}
	}
}

// TestIncidentalActionsChangeNothing adds faults that strike hosts that have no part in the failure, or nobody, and tells the story of the
// run with them.
func TestIncidentalActionsChangeNothing(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	told := 0
	for _, f := range failuresOf(t, e, 3, "operator/u23", "operator/u14", "kip1262/t33") {
		p := f.plan.Clone()
		p.Actions = append(p.Actions, plan.Action{ID: "late", Kind: "jump", AtUs: p.StormUs - 1, Params: plan.Params{"host": p.Hosts[len(p.Hosts)-1].ID, "by": "1ms"}})
		result, err := e.Run(p, sim.Options{})
		require.NoError(t, err)
		if !shrink.Shows(result.Verdict, f.target) {
			continue // it was not incidental
		}
		h, err := history.Record(e, p)
		require.NoError(t, err)
		parts := shrink.Necessary(e, p, f.target, shrink.Parts(p))
		s := Tell(h, parts)
		require.Equal(t, Tell(f.history, f.parts).String(), s.String(), f.name)
		require.EqualValues(t, 1, s.Incidental)
		told++
	}
	require.Positive(t, told)
}
