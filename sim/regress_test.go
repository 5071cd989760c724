package sim_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

var printRegress = flag.Bool("print-regress", false, "print the table of pinned hashes instead of checking it")

// Do NOT edit the hashes: they are the promise that a plan gives the same run for ever, on each architecture. A change of
// behaviour that is meant needs a new sim.EngineVersion and an entry in CHANGELOG.md; `go test ./sim -run Regress
// -print-regress` prints the table.
var pinned = []struct {
	scenario  string
	seed      uint64
	trace     plan.Hex64
	behaviour plan.Hex64
	outcome   plan.Outcome
}{
}

func TestRegressHashes(t *testing.T) {
	e := sim.NewEngine(everything())
	if *printRegress {
		for _, s := range everything().Scenarios {
			for seed := uint64(1); seed <= 8; seed++ {
				r, err := e.Run(s.Draw(seed), sim.Options{})
				require.NoError(t, err)
				v := r.Verdict
				fmt.Printf("\t{%q, %d, 0x%016x, 0x%016x, %q},\n", s.Name(), seed, uint64(v.TraceHash), uint64(v.BehaviourHash), v.Outcome)
			}
		}
		return
	}
	require.Len(t, pinned, 24)
	for _, want := range pinned {
		r, err := e.Run(everything().Scenario(want.scenario).Draw(want.seed), sim.Options{})
		require.NoError(t, err)
		require.Equal(t, want.trace, r.Verdict.TraceHash, "%s:%d", want.scenario, want.seed)
		require.Equal(t, want.behaviour, r.Verdict.BehaviourHash, "%s:%d", want.scenario, want.seed)
		require.Equal(t, want.outcome, r.Verdict.Outcome, "%s:%d", want.scenario, want.seed)
	}
	require.NotNil(t, everything().Scenario(register.Scenario{}.Name()))
}
