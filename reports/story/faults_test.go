package story

import (
	"testing"

	"github.com/stretchr/testify/require"

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
