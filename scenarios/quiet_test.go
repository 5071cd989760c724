package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// leaving is a quiet scenario in which, for a moment, host 0 seems to be a leader that stops while host 1 asks for votes.
type leaving struct {
	*scenario
	tells bool
}

// Build implements sim.Scenario.
func (l *leaving) Build(w *sim.World, p *plan.Plan) error {
	err := l.scenario.Build(w, p)
	w.At((quietFromUs+200_000)*1000, 1, 1, func() {
		h := w.Hosts()
		u := &unrest{c: &l.cluster, evaluated: w.Evaluated(noNeedlessElection.Name)}
		u.Attach(w)
		u.leader, u.boot, u.epoch, u.sinceNs = h[0], h[0].Boot(), 1_000_000, w.NowNs()
		n := nodeOf(h[0])
		n.stopping = true
		if l.tells {
			u.OnSend(h[0], h[1], &raft.EndQuorumEpochRequest{LeaderEpoch: 1_000_000})
		}
		u.OnSend(h[1], h[0], &raft.VoteRequest{ReplicaEpoch: 1_000_000, PreVote: true})
		n.stopping = false
	})
	return err
}

// TestLeaderLeavesAloud: an election while a leader stops is needless unless the leader has said that it does.
func TestLeaderLeavesAloud(t *testing.T) {
	for _, tells := range []bool{false, true} {
		r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
			return &leaving{scenario: c.Scenario("quiet/moved").(*scenario), tells: tells}
		})
		if tells {
			require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
			continue
		}
		require.Equal(t, plan.Violation, r.Verdict.Outcome)
		require.Equal(t, "no-needless-election", r.Verdict.Broken[0].Invariant)
		require.Equal(t, "left-silently", r.Verdict.Broken[0].Evidence)
	}
}
