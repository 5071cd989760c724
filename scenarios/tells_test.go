package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// tellsLate is a scenario in which, in the middle, host 0 seems to have led an epoch that nobody has, to refuse a Fetch of host 1 because it
// has resigned, and to tell host 2 so.
type tellsLate struct {
	*scenario
	turns   int64 // between the refusal and the word
	broken  bool  // the connection was over in between
	restart bool  // the answer over the connection came after the refusal
	earlier bool  // it had told before
	list    []int32
}

// Build implements sim.Scenario.
func (s *tellsLate) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	w.At(300*million, 1, 1, func() {
		x, h := &s.cluster.prompt, w.Hosts()
		const epoch, me = 1_000_000, 1
		none := raft.OffsetAndEpoch{Offset: -1, Epoch: -1}
		answer := func(code raft.ErrorCode) {
			x.OnSend(h[0], h[1], &raft.FetchResponse{Header: raft.Header{Correlation: 9, Response: true}, PartitionError: code, LeaderID: me,
				LeaderEpoch: epoch, HighWatermark: -1, DivergingEpoch: none, SnapshotID: none})
		}
		end := &raft.EndQuorumEpochRequest{LeaderID: me, LeaderEpoch: epoch}
		for _, id := range s.list {
			end.PreferredCandidates = append(end.PreferredCandidates, raft.ReplicaKey{ID: id})
		}
		if !s.restart {
			x.tells.heard(h[0], h[2], noConnection, &raft.VoteResponse{}, x.turns[0])
		}
		x.turns[0]++
		x.received(h[0], h[2], noConnection, &raft.FetchRequest{Header: raft.Header{Correlation: 8}, ReplicaID: 3, CurrentLeaderEpoch: epoch,
			HighWatermark: raft.HighWatermarkNotSent})
		answer(raft.None)
		x.turns[0]++
		answer(raft.NotLeaderOrFollower)
		if s.earlier {
			x.OnSend(h[0], h[2], end)
		}
		if s.broken {
			x.tells.over(h[0], noConnection)
		}
		if s.restart {
			x.tells.heard(h[0], h[2], noConnection, &raft.VoteResponse{}, x.turns[0])
		}
		x.turns[0] += s.turns
		x.OnSend(h[0], h[2], end)
	})
	return err
}

// TestResignationIsTold: at once, to whoever can be reached, and with a list that names it.
func TestResignationIsTold(t *testing.T) {
	for _, x := range []struct {
		name     string
		s        tellsLate
		evidence string
	}{
		{"in the same turn", tellsLate{list: []int32{2, 3}}, ""},
		{"a turn later", tellsLate{turns: 1, list: []int32{2, 3}}, "resignation"},
		{"again", tellsLate{turns: 5, earlier: true, list: []int32{2, 3}}, ""},
		{"the connection was over", tellsLate{turns: 5, broken: true, list: []int32{2, 3}}, ""},
		{"the connection is new", tellsLate{turns: 5, restart: true, list: []int32{2, 3}}, ""},
		{"left off the list", tellsLate{list: []int32{2}}, "missing"},
		{"no list", tellsLate{}, "missing"},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
				x.s.scenario = c.Scenario("raft/storm-3").(*scenario)
				return &x.s
			})
			if x.evidence == "" {
				require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
				return
			}
			require.Equal(t, plan.Violation, r.Verdict.Outcome)
			require.Equal(t, x.evidence, r.Verdict.Broken[0].Evidence)
		})
	}
}
