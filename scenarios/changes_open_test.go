package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// twoAsked is a quiet scenario in which, for a moment, host 0 seems to have received two requests to change the voters.
type twoAsked struct {
	*scenario
	between func(x *changesOpen, at, from *sim.Host)
}

// Build implements sim.Scenario.
func (s *twoAsked) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	w.At((quietFromUs+200_000)*1000, 1, 1, func() {
		h, x := w.Hosts(), &s.cluster.prompt.changes
		x.received(h[0], h[1], 7, &raft.RemoveRaftVoterRequest{Header: raft.Header{Correlation: 3}}, 1)
		s.between(x, h[0], h[1])
		x.received(h[0], h[1], 8, &raft.AddRaftVoterRequest{Header: raft.Header{Correlation: 4}}, 1)
		x.turn(w, h[1])
		x.turn(w, h[0])
		x.list = x.list[:0]
	})
	return err
}

// TestTwoChangesAtOnce: of two requests that a leader has received one was answered, or its connection is over.
func TestTwoChangesAtOnce(t *testing.T) {
	for _, row := range []struct {
		name    string
		between func(x *changesOpen, at, from *sim.Host)
		broken  bool
	}{
		{"neither", func(*changesOpen, *sim.Host, *sim.Host) {}, true},
		{"answered", func(x *changesOpen, at, from *sim.Host) {
			x.answered(at, from, &raft.RemoveRaftVoterResponse{Header: raft.Header{Correlation: 3}})
		}, false},
		{"answer to another kind", func(x *changesOpen, at, from *sim.Host) {
			x.answered(at, from, &raft.UpdateRaftVoterResponse{Header: raft.Header{Correlation: 3}})
		}, true},
		{"connection over", func(x *changesOpen, at, _ *sim.Host) { x.closed(at, 7) }, false},
		{"another connection over", func(x *changesOpen, at, _ *sim.Host) { x.closed(at, 9) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
				return &twoAsked{scenario: c.Scenario("quiet/moved").(*scenario), between: row.between}
			})
			require.Equal(t, row.broken, len(r.Verdict.Broken) > 0, "%v", r.Verdict.Broken)
			if row.broken {
				require.Equal(t, "voter-answer", r.Verdict.Broken[0].Invariant)
				require.Equal(t, "overwritten", r.Verdict.Broken[0].Evidence)
			}
		})
	}
}
