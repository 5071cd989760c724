package register

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/simtest"
)

func TestFixedRegisterKeepsItsPromise(t *testing.T) {
	simtest.Seeds(t, Catalogue(), "register/fixed", 1, 300)
}

func TestPlantedBugIsFoundAndReplayed(t *testing.T) {
	e := sim.NewEngine(Catalogue())
	for seed := uint64(1); seed <= 300; seed++ {
		p := Scenario{}.Draw(seed)
		first, err := e.Run(p, sim.Options{})
		require.NoError(t, err)
		if !first.Verdict.Outcome.Finding() {
			continue
		}
		require.Equal(t, "violation/acknowledged-survives/stale-read", first.Verdict.Fingerprint())
		again, err := sim.NewEngine(Catalogue()).Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, first.Verdict, again.Verdict)
		t.Logf("seed %d: %s", seed, simtest.Explain(p, first.Verdict))
		return
	}
	t.Fatal("300 seeds did not find the planted bug")
}
