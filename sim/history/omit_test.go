package history

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// recorded is the history of a plan with a gap of any size; 0: the usual limits.
func recorded(t *testing.T, e *sim.Engine, p *plan.Plan, first, last int) *History {
	t.Helper()
	r := newRecorder(e.Catalogue(), p)
	if first > 0 {
		r.keptFirst, r.keptLast = first, last
	}
	result, err := e.Run(p, sim.Options{Trace: r.line, Digests: r.settled})
	require.NoError(t, err)
	return r.finish(result.Verdict)
}

// states are what a cursor shows of all hosts at an event.
func states(c *Cursor, seq int32) []HostState {
	c.Go(seq)
	hosts := cloneHosts(c.Hosts)
	for i := range hosts {
		s := &hosts[i]
		slices.SortFunc(s.Facets, func(a, b Facet) int { return strings.Compare(a.Name, b.Name) })
		s.Facets, s.Log = append([]Facet{}, s.Facets...), append([]LogEdit{}, s.Log...)
	}
	return hosts
}

// What is behind the gap is the same as without it: events, causes, the state of every host.
func TestALongHistoryKeepsItsEnds(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	for _, name := range []string{"raft/storm-3", "raft/disk", "raft/dynamic-3"} {
		for seed := range uint64(3) {
			p := e.Catalogue().Scenario(name).Draw(seed + 1)
			const first, last = 500, 300
			whole, cut := recorded(t, e, p, 0, 0), recorded(t, e, p, first, last)
			require.Zero(t, whole.Omitted)
			require.Positive(t, cut.Omitted)
			require.Equal(t, whole.Verdict, cut.Verdict)
			gaps, standingOnes := 0, 0
			for i := range cut.Events {
				ev := &cut.Events[i]
				require.Equal(t, int32(i), ev.Seq)
				require.Less(t, ev.Cause, ev.Seq)
				if ev.gap {
					gaps++
				} else if standing(ev.Kind) {
					standingOnes++
				}
			}
			require.Equal(t, len(p.Hosts), gaps, "one for each host, however often the gap was widened")
			require.Equal(t, int64(len(whole.Events)+gaps), cut.Omitted+int64(len(cut.Events)))
			all := 0
			for i := range whole.Events {
				if standing(whole.Events[i].Kind) {
					all++
				}
			}
			require.Equal(t, all, standingOnes)
			shift := int32(len(whole.Events) - len(cut.Events))
			a, b := NewCursor(cut), NewCursor(whole)
			require.Equal(t, states(b, first-1), states(a, first-1))
			for back := int32(last); back > 0; back -= 7 {
				at := int32(len(cut.Events)) - back
				require.Equal(t, whole.Events[at+shift].Text, cut.Events[at].Text)
				if cause := whole.Events[at+shift].Cause; cause >= int32(len(whole.Events)-last) {
					require.Equal(t, cause-shift, cut.Events[at].Cause)
				}
				require.Equal(t, states(b, at+shift), states(a, at), "%s:%d, %d before the end", name, seed+1, back)
			}
		}
	}
}

// What edits of the part left out come to is what they are one by one.
func TestEditsComeToTheSame(t *testing.T) {
	record := func(offset int64) LogEdit { return LogEdit{Do: "append", Offset: offset, Text: "r"} }
	cut := func(offset int64) LogEdit { return LogEdit{Do: "truncate", Offset: offset} }
	begin := func(offset int64) LogEdit { return LogEdit{Do: "start", Offset: offset} }
	for _, edits := range [][]LogEdit{
		{record(3), record(4), cut(4), record(4)},
		{cut(1), record(1), record(2), cut(0), record(0)},
		{begin(2), record(3), begin(3), record(4), cut(4)},
		{begin(1), begin(2), cut(2), record(2)},
		{record(3), begin(3), cut(3), record(3)},
	} {
		var p pending
		for _, edit := range edits {
			p.take(&Event{Log: []LogEdit{edit}})
		}
		require.LessOrEqual(t, len(p.log), len(edits))
		at := func(list []LogEdit) []HostState {
			h := &History{Hosts: []string{"n1"}, Events: []Event{{Log: []LogEdit{record(0), record(1), record(2)}}, {Log: list}}}
			return states(NewCursor(h), 1)
		}
		require.Equal(t, at(edits), at(p.log), "%v", edits)
	}
}
