package register

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/kraftsim/kraftsim/sim/simtest"
)

func TestFixedRegisterKeepsItsPromise(t *testing.T) {
	simtest.Seeds(t, Catalogue(), "register/fixed", 1, 300)
}

// rapid draws whole plans, and deletes actions from those that fail.
func TestFixedRegisterUnderRapid(t *testing.T) {
	e, plans := sim.NewEngine(Catalogue()), simtest.Plans(scenario{fixed: true})
	rapid.Check(t, func(t *rapid.T) { simtest.Check(t, e, plans.Draw(t, "plan")) })
}

func FuzzFixedRegister(f *testing.F) { simtest.Fuzz(f, Catalogue(), "register/fixed") }

const fingerprint = "violation/acknowledged-survives/stale-read"

// The bug is found by searching seeds, shrunk to one power loss, and replayed to the last bit.
func TestPlantedBugIsFoundShrunkAndReplayed(t *testing.T) {
	e := sim.NewEngine(Catalogue())
	for seed := uint64(1); seed <= 300; seed++ {
		p := scenario{}.Draw(seed)
		found, err := e.Run(p, sim.Options{})
		require.NoError(t, err)
		if found.Verdict.Fingerprint() != fingerprint || len(p.Actions) < 2 {
			continue
		}
		short, stats := shrink.Shrink(e, p, fingerprint, 100, nil)
		require.True(t, stats.Reproduced)
		require.Len(t, short.Actions, 1, "one power loss is enough")
		first, err := e.Run(short, sim.Options{})
		require.NoError(t, err)
		text, err := plan.Encode(short)
		require.NoError(t, err)
		read, err := plan.Decode(text)
		require.NoError(t, err)
		again, err := sim.NewEngine(Catalogue()).Run(read, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, first.Verdict, again.Verdict)
		recorded, err := history.Record(e, short)
		require.NoError(t, err)
		told := story.Tell(recorded, shrink.Necessary(e, short, fingerprint, shrink.Parts(short))).String()
		require.Contains(t, told, "not flushed (necessary)", "the story names the bug")
		require.Contains(t, told, "n1 acknowledges")
		t.Log(simtest.Explain(short, first.Verdict), simtest.Replay(e.Catalogue(), short, first.Verdict))
		return
	}
	t.Fatal("300 seeds did not find the planted bug")
}

// The fixed register on the plans that break the other one: the bug is the flush, nothing else.
func TestPlantedBugIsTheMissingFlush(t *testing.T) {
	e, broken := sim.NewEngine(Catalogue()), 0
	for seed := uint64(1); seed <= 50; seed++ {
		r, err := e.Run(scenario{}.Draw(seed), sim.Options{})
		require.NoError(t, err)
		if r.Verdict.Outcome == plan.Violation {
			broken++
			simtest.Check(t, e, scenario{fixed: true}.Draw(seed))
		}
	}
	require.Greater(t, broken, 10)
}
