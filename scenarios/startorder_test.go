package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// TestListenersThatComeLate: listeners that register when the quorum has long settled are told who leads and what is committed, and
// clients are served from then on (KB-10).
func TestListenersThatComeLate(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	served := map[string]int64{}
	for _, order := range []string{"listeners-first", "raft-first"} {
		p := c.Scenario("raft/storm-3").Draw(1)
		p.Actions, p.Params["start_order"] = nil, order
		v := verdictOf(t, e, p, sim.Options{})
		require.Empty(t, v.Broken)
		served[order] = v.Stats["operations-done"]
		require.Positive(t, served[order], order)
	}
	require.Less(t, served["raft-first"], served["listeners-first"], "nobody is served before the listeners come")
}
