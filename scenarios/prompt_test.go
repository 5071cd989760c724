package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// late is a scenario in which, in the middle, a Fetch seems to have waited two turns for the answer that it diverges.
type late struct {
	*scenario
	wild bool
}

// Build implements sim.Scenario.
func (l *late) Build(w *sim.World, p *plan.Plan) error {
	err := l.scenario.Build(w, p)
	w.At(300*million, 1, 1, func() {
		c := &l.cluster
		at, from := w.Hosts()[0], w.Hosts()[1]
		c.decay.wild = c.decay.wild || l.wild
		c.prompt.received(at, from, 77, &raft.FetchRequest{Header: raft.Header{Correlation: 9}, CurrentLeaderEpoch: 1})
		c.prompt.turns[at.Index()] += 2
		c.prompt.OnSend(at, from, &raft.FetchResponse{Header: raft.Header{Correlation: 9, Response: true}, LeaderEpoch: 1,
			DivergingEpoch: raft.OffsetAndEpoch{Offset: 3, Epoch: 1}})
	})
	return err
}

// TestDamageExcusesALateAnswer: a leader that answers a Fetch late with what it knew from the start is a finding, unless a bit has flipped that no
// checksum covers: the log may have changed under the Fetch.
func TestDamageExcusesALateAnswer(t *testing.T) {
	for _, wild := range []bool{false, true} {
		r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
			return &late{scenario: c.Scenario("raft/bit-rot").(*scenario), wild: wild}
		})
		if wild {
			require.Equal(t, plan.OK, r.Verdict.Outcome, "%v", r.Verdict.Broken)
			continue
		}
		require.Equal(t, plan.Violation, r.Verdict.Outcome)
		require.Equal(t, "no-needless-wait", r.Verdict.Broken[0].Invariant)
		require.Equal(t, "divergence", r.Verdict.Broken[0].Evidence)
	}
}

// TestDamagedLeaderMayAnswerLate: the run in which that was seen. A leader whose epochs had been damaged kept a Fetch, and changed its mind.
func TestDamagedLeaderMayAnswerLate(t *testing.T) {
	c := Catalogue()
	r, err := sim.NewEngine(c).Run(c.Scenario("raft/bit-rot").Draw(4), sim.Options{})
	require.NoError(t, err)
	require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
}

// follows is a scenario in which, in the middle, a leader at which a Fetch waits seems to follow another one.
type follows struct {
	*scenario
	turns int64 // between that and the answer
}

// Build implements sim.Scenario.
func (f *follows) Build(w *sim.World, p *plan.Plan) error {
	err := f.scenario.Build(w, p)
	w.At(300*million, 1, 1, func() {
		x, at, from := &f.cluster.prompt, w.Hosts()[0], w.Hosts()[1]
		x.received(at, from, noConnection, &raft.FetchRequest{Header: raft.Header{Correlation: 9}, CurrentLeaderEpoch: 1_000_000})
		x.turns[at.Index()]++
		x.OnProtocol(at, &invariants.RaftObservation{E: raft.Event{Kind: raft.RoleChanged, Role: raft.Follower, Epoch: 1_000_001}})
		x.turns[at.Index()] += f.turns
		x.OnSend(at, from, &raft.FetchResponse{Header: raft.Header{Correlation: 9, Response: true}, PartitionError: raft.NotLeaderOrFollower,
			DivergingEpoch: raft.OffsetAndEpoch{Offset: -1, Epoch: -1}, SnapshotID: raft.OffsetAndEpoch{Offset: -1, Epoch: -1}})
	})
	return err
}

// TestFollowerAnswersWhoWaited: in the turn in which a leader follows another one, and not later.
func TestFollowerAnswersWhoWaited(t *testing.T) {
	for turns := range int64(2) {
		r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
			return &follows{scenario: c.Scenario("raft/storm-3").(*scenario), turns: turns}
		})
		if turns == 0 {
			require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
			continue
		}
		require.Equal(t, plan.Violation, r.Verdict.Outcome)
		require.Equal(t, "no-needless-wait", r.Verdict.Broken[0].Invariant)
		require.Equal(t, "follows", r.Verdict.Broken[0].Evidence)
	}
}
