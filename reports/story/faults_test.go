package story

import (
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
