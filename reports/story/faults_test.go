package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// A fault that strikes several hosts names what it strikes, in each of the ways in which a plan can say so.
func TestPowerNamesWhatItStrikes(t *testing.T) {
	for want, params := range map[string]plan.Params{
		"at 0.170s n1 loses power":          {"hosts": "n1"},
		"at 0.170s n1 and n2 lose power":    {"hosts": "n1,n2"},
		"at 0.170s the rack r2 loses power": {"rack": "r2", "down": "1ms"},
	} {
		require.Equal(t, want, (&teller{}).faultText(&plan.Action{Kind: "power", AtUs: 170_000, Params: params}, nil))
	}
}

// A filter is told with the name of what it catches, and with the number of a kind that has none.
func TestFilterNamesTheMessages(t *testing.T) {
	a := plan.Action{ID: "f", Kind: "filter", AtUs: 170_000, Params: plan.Params{"from": "n1", "to": "n2,n3", "kind": "2", "for": "9ms"}}
	tell := &teller{h: &history.History{Plan: &plan.Plan{Actions: []plan.Action{{ID: "other"}, a}}, Caught: []string{"", "Fetch requests"}}}
	require.Equal(t, "from 0.170s on Fetch requests from n1 to n2 and n3 are held back for 9ms", tell.faultText(&a, nil))
	tell.h.Caught = nil
	require.Equal(t, "from 0.170s on messages of kind 2 from n1 to n2 and n3 are held back for 9ms", tell.faultText(&a, nil))
}

// A process that a failing disk ended is told with its error and with its next start, which believes what it reads; an error that the last line
// tells is told once.
func TestEndsThatAFaultOfTheDiskLedTo(t *testing.T) {
	const why = "sync segment 00000000000000000000.log: input/output error"
	tell := func(needed bool) *Story {
		w := newWritten("n1", "n2")
		fails := w.action(plan.Action{ID: "a1", Kind: "disk-error", Params: plan.Params{"host": "n1", "on": "sync"}})
		held := w.claims(0, -1, sim.Claim{Topic: "append", Clause: "appends offset 9", From: 9, To: 10})
		w.strikes(held, 0, history.Down, "fatal: "+why, sim.Claim{Topic: "down", Clause: "stops with an error: " + why})
		w.claims(0, -1, sim.Claim{Topic: "recover", Clause: "starts with a log that ends at offset 10", From: 9, To: 10})
		in := w.message(0, 1, w.claims(0, -1, sim.Claim{Topic: "idle", Clause: "idles"}))
		counted := w.claims(1, in, sim.Claim{Topic: "holds", Clause: "counts n1 as a holder of everything below offset 10", About: "n1", To: 10})
		w.breaks(counted, "durable", "n1: "+why)
		require.GreaterOrEqual(t, fails, int32(0))
		return Tell(&w.History, []shrink.Part{{Kind: shrink.ActionPart, ID: "a1", Necessary: needed}})
	}
	text := tell(true).String()
	require.Contains(t, text, "n1 stops with an error\n")
	require.Contains(t, text, "n1 starts with a log that ends at offset 10\n")
	require.Contains(t, text, "n1: "+why+": durable is broken\n")
	text = tell(false).String()
	require.NotContains(t, text, "stops with an error")
	require.Contains(t, text, "n1: "+why+": durable is broken\n")
}

// What a loss of power took is told by host where it struck several, and as one range where it lay in several files.
func TestLossesNameWhoseTheyAre(t *testing.T) {
	tell := func(hosts string, struck ...int32) string {
		w := newWritten("n1", "n2")
		in := w.message(0, 1, -1)
		held := w.claims(1, in, sim.Claim{Topic: "append", Clause: "appends offsets 15 to 19", From: 15, To: 20})
		in = w.message(1, 0, held)
		w.claims(0, in, sim.Claim{Topic: "holds", Clause: "counts on n2 below offset 20", From: 15, To: 20, About: "n2"})
		w.message(0, 1, in)
		loss := w.action(plan.Action{ID: "a", Kind: "power", Params: plan.Params{"hosts": hosts}})
		for _, host := range struck {
			w.strikes(loss, host, history.Down, "power lost", sim.Claim{Topic: "down", Clause: "loses power"})
		}
		w.strikes(loss, 1, history.Lost, "", sim.Claim{Topic: "lost", Clause: "loses offsets 15 to 16, not flushed", From: 15, To: 17})
		w.strikes(loss, 1, history.Lost, "", sim.Claim{Topic: "lost", Clause: "loses offset 17, not flushed", From: 17, To: 18})
		w.strikes(loss, 1, history.Lost, "", sim.Claim{Topic: "lost", Clause: "loses offsets 18 to 19, although it was flushed", From: 18, To: 20})
		e := w.add(1, history.Boot, loss)
		w.breaks(e.Seq, "durable", "n2 lost the committed offsets 15 to 19")
		return Tell(&w.History, []shrink.Part{{Kind: shrink.ActionPart, ID: "a", Necessary: true}}).String()
	}
	require.Contains(t, tell("n2", 1), "n2 loses power and loses offsets 15 to 17, not flushed, though n1 counts on it for offsets below 20, and "+
		"loses offsets 18 to 19, although it was flushed (necessary)")
	require.Contains(t, tell("n1,n2", 0, 1), "n1 and n2 lose power and n2 loses offsets 15 to 17, not flushed, though n1 counts on n2 for offsets below 20, and "+
		"n2 loses offsets 18 to 19, although it was flushed (necessary)")
}

// With more necessary faults than there are lines, each is told all the same, and so is what happened.
func TestEveryOfManyFaultsIsTold(t *testing.T) {
	w := newWritten("n1", "n2")
	var parts []shrink.Part
	for i := range 15 {
		id := fmt.Sprintf("a%d", i)
		w.action(plan.Action{ID: id, Kind: "kill", Params: plan.Params{"host": "n2"}})
		parts = append(parts, shrink.Part{Kind: shrink.ActionPart, ID: id, Necessary: true})
	}
	w.claims(0, -1, sim.Claim{Topic: "leader", Clause: "becomes leader of epoch 3", Epoch: 3})
	last := w.claims(0, -1, sim.Claim{Topic: "append", Clause: "appends offset 7", Epoch: 3, From: 7, To: 8})
	w.breaks(last, "one", "n1 in epoch 3 at offset 7")
	s := Tell(&w.History, parts)
	require.LessOrEqual(t, len(s.Lines), MaxLines)
	require.Equal(t, 15, strings.Count(s.String(), "n2 is killed"))
	require.True(t, strings.HasPrefix(s.Lines[0].Text, "first, at 0.001s n2 is killed; at 0.002s n2 is killed; "), s.Lines[0].Text)
	require.True(t, s.Lines[0].Necessary)
	require.Contains(t, s.String(), "n1 becomes leader of epoch 3")
	require.Contains(t, s.String(), "n1 appends offset 7")
}
