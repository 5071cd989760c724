package story

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
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
