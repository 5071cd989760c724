package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// overdue is a quiet scenario in which, for a moment, host 0 seems to wait for its election timer.
type overdue struct {
	*scenario
	waitedNs int64
	voter    bool
}

// Build implements sim.Scenario.
func (s *overdue) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	w.At((quietFromUs+200_000)*1000, 1, 1, func() {
		h, t := w.Hosts(), newElectionTimer(s.cluster.settings)
		t.Attach(w)
		if s.voter {
			t.waits[0] = waitingVoter{voter: true, boot: h[0].Boot(), sinceNs: w.NowNs() - s.waitedNs}
		}
		t.OnSend(h[0], h[1], &raft.FetchRequest{})
	})
	return err
}

// TestElectionTimerBound: a voter that knows neither leader nor vote may wait for twice the election timeout.
func TestElectionTimerBound(t *testing.T) {
	const election = 500 * million
	for _, row := range []struct {
		waitedNs int64
		voter    bool
		broken   bool
	}{{2 * election, true, false}, {2*election + 2*timerSlackNs, true, true}, {9 * election, false, false}} {
		r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
			return &overdue{scenario: c.Scenario("quiet/moved").(*scenario), waitedNs: row.waitedNs, voter: row.voter}
		})
		require.Equal(t, row.broken, len(r.Verdict.Broken) > 0, "%v", r.Verdict.Broken)
		if row.broken {
			require.Equal(t, "election-timer", r.Verdict.Broken[0].Invariant)
		}
	}
}
