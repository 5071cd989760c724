package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// TestStructsAndBytesHashAlike: the same plan with structs and with bytes on the wire, and in the debug mode, gives one verdict.
func TestStructsAndBytesHashAlike(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	seeds := uint64(100)
	if testing.Short() {
		seeds = 10
	}
	for _, name := range []string{"raft/storm-3", "raft/snapshots", "raft/dynamic-3", "kip1262/draft", "bootstrap/golden", "reconfig/mixed-releases",
		"reconfig/churn"} {
		s := c.Scenario(name)
		for seed := uint64(1); seed <= seeds; seed++ {
			p := s.Draw(seed)
			p.Network.CorruptPpm = 0
			p.Params["wire"] = "structs"
			structs := verdictOf(t, e, p, sim.Options{})
			p.Params["wire"] = "bytes"
			frames := verdictOf(t, e, p, sim.Options{Poison: seed%10 == 0})
			require.Equal(t, structs, frames, "%s:%d", name, seed)
		}
	}
}
