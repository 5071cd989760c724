package scenarios

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/simtest"
)

// seedVerdicts are the verdicts that tests of this package have seen of plans as seeds draw them. A run is a pure function of its plan, which
// TestDeterminism shows, so the tests that ask for the same run share it.
var seedVerdicts struct {
	sync.Mutex
	byToken map[string]*plan.Verdict
}

// seedVerdict returns the verdict of a seed of a scenario: that of an earlier test, or of a run in the world of e. It is not to be changed.
func seedVerdict(t testing.TB, e *sim.Engine, s sim.Scenario, seed uint64) *plan.Verdict {
	t.Helper()
	token := simtest.Token(s.Name(), seed)
	seedVerdicts.Lock()
	v := seedVerdicts.byToken[token]
	seedVerdicts.Unlock()
	if v == nil {
		r, err := e.Run(s.Draw(seed), sim.Options{})
		require.NoError(t, err)
		v = r.Verdict
		seedVerdicts.Lock()
		defer seedVerdicts.Unlock()
		if seedVerdicts.byToken == nil {
			seedVerdicts.byToken = map[string]*plan.Verdict{}
		}
		seedVerdicts.byToken[token] = v
	}
	return v
}
