package scenarios

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestIgnorantLeaderAndFormattedBroker: below the level of the ClusterIdRecord a leader that nobody formatted never learns an id. It registers
// a formatted broker; with unknown_id=refuse it refuses that, and the fetches of the one formatted voter, so that nothing is ever committed
// (metadata-bootstrap 4.4, D1, 4.8).
func TestIgnorantLeaderAndFormattedBroker(t *testing.T) {
	c := Catalogue()
	for choice, want := range map[string]plan.Outcome{"accept": plan.OK, "refuse": plan.Stuck} {
		file := filepath.Join("..", "testdata", "corpus", "mutants", "KIP-1262-registration-refused-while-unknown.json")
		capsule, err := plan.ReadCapsuleFile(file, c.Registry)
		require.NoError(t, err)
		p := capsule.Plan
		p.Params["unknown_id"], p.Params["fetch_max_wait_ms"] = choice, "15"
		r, err := sim.NewEngine(c).Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict.Outcome, "%s: %v", choice, r.Verdict.Waiting)
		if want == plan.Stuck {
			waiting := strings.Join(r.Verdict.Waiting, "\n")
			require.Contains(t, waiting, "high-watermark-moves")
			require.Contains(t, waiting, "members-stand")
		}
	}
}

// TestFlappingLeadersAreAMatterOfTheFetchWait: where an idle leader answers after its followers have given up, they depose each other for
// ever (docs/liveness.md, known traps); kip1262/draft:4081 did so when shrinking had left out fetch_max_wait_ms.
func TestFlappingLeadersAreAMatterOfTheFetchWait(t *testing.T) {
	c := Catalogue()
	epochs := func(waitMs string) int64 {
		p := c.Scenario("raft/quiet").Draw(1)
		p.StormUs = 5_000_000
		p.Params["fetch_timeout_ms"], p.Params["election_timeout_ms"], p.Params["request_timeout_ms"] = "183", "61", "61"
		p.Params["fetch_max_wait_ms"], p.Params["max_idle_interval_ms"] = waitMs, "0"
		r, err := sim.NewEngine(c).Run(p, sim.Options{})
		require.NoError(t, err)
		return r.Verdict.Stats["elections"]
	}
	require.LessOrEqual(t, epochs("15"), int64(2))
	require.Greater(t, epochs("500"), int64(10))
}
