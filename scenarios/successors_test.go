package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// resigning is a scenario in which, in the middle, host 0 seems to resign from an epoch that nobody has, after Fetches of hosts 1 and 2.
type resigning struct {
	*scenario
	offsets [2]int64 // -1: no Fetch
	again   bool     // host 1 asked twice without an answer
	list    []int32
}

// Build implements sim.Scenario.
func (s *resigning) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	w.At(300*million, 1, 1, func() {
		x, h := &s.cluster.prompt, w.Hosts()
		const epoch = 1_000_000
		fetch := func(i int, offset int64, correlation int32) {
			x.received(h[0], h[i], noConnection, &raft.FetchRequest{Header: raft.Header{Correlation: correlation}, ReplicaID: int32(i), CurrentLeaderEpoch: epoch,
				FetchOffset: offset, HighWatermark: raft.HighWatermarkNotSent})
		}
		for i, offset := range s.offsets {
			if offset < 0 {
				continue
			}
			if s.again && i == 0 {
				fetch(1, 1, 8)
			}
			fetch(i+1, offset, 9)
			x.OnSend(h[0], h[i+1], &raft.FetchResponse{Header: raft.Header{Correlation: 9, Response: true}, LeaderEpoch: epoch, HighWatermark: -1,
				DivergingEpoch: raft.OffsetAndEpoch{Offset: -1, Epoch: -1}, SnapshotID: raft.OffsetAndEpoch{Offset: -1, Epoch: -1}})
		}
		m := &raft.EndQuorumEpochRequest{LeaderEpoch: epoch}
		for _, id := range s.list {
			m.PreferredCandidates = append(m.PreferredCandidates, raft.ReplicaKey{ID: id})
		}
		x.OnSend(h[0], h[1], m)
	})
	return err
}

// noConnection is a connection that no run has.
const noConnection = 77_777

// TestSuccessorsOrder: both sides of each part of the rule.
func TestSuccessorsOrder(t *testing.T) {
	for _, x := range []struct {
		name    string
		offsets [2]int64
		again   bool
		list    []int32
		broken  bool
	}{
		{"furthest first", [2]int64{5, 9}, false, []int32{2, 1}, false},
		{"furthest last", [2]int64{5, 9}, false, []int32{1, 2}, true},
		{"equal by id", [2]int64{9, 9}, false, []int32{1, 2}, false},
		{"equal reversed", [2]int64{9, 9}, false, []int32{2, 1}, true},
		{"unknown last", [2]int64{-1, 9}, false, []int32{2, 1}, false},
		{"unknown first", [2]int64{-1, 9}, false, []int32{1, 2}, true},
		{"two fetches waited", [2]int64{9, 5}, true, []int32{2, 1}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
				return &resigning{scenario: c.Scenario("raft/storm-3").(*scenario), offsets: x.offsets, again: x.again, list: x.list}
			})
			if !x.broken {
				require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
				return
			}
			require.Equal(t, plan.Violation, r.Verdict.Outcome)
			require.Equal(t, "successors-order", r.Verdict.Broken[0].Invariant)
		})
	}
}
