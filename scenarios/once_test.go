package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// askingTwice is a scenario in which, in the middle, host 0 seems to ask host 1 something in an epoch that nobody has.
type askingTwice struct {
	*scenario
	scene func(x *prompt, me, other *sim.Host)
}

// Build implements sim.Scenario.
func (s *askingTwice) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	w.At(300*million, 1, 1, func() { s.scene(&s.cluster.prompt, w.Hosts()[0], w.Hosts()[1]) })
	return err
}

// askedEpoch is beyond the epochs of any run.
const askedEpoch = 1_000_000

func vote(correlation int32, preVote bool) *raft.VoteRequest {
	return &raft.VoteRequest{Header: raft.Header{Correlation: correlation}, ReplicaEpoch: askedEpoch, PreVote: preVote}
}

func voted(correlation, epoch int32, code raft.ErrorCode) *raft.VoteResponse {
	return &raft.VoteResponse{Header: raft.Header{Correlation: correlation, Response: true}, LeaderEpoch: epoch, PartitionError: code}
}

// refusedBy lets voters refuse a candidate, the n-th host being the n-th of them.
func refusedBy(x *prompt, me *sim.Host, ids ...int32) {
	for i, id := range ids {
		m := vote(int32(i), false)
		m.VoterID = id
		x.OnSend(me, x.c.w.Hosts()[i+1], m)
		x.once.answered(me, x.c.w.Hosts()[i+1], voted(int32(i), askedEpoch, raft.None))
	}
}

// asksOn lets a candidate ask the last host.
func asksOn(x *prompt, me *sim.Host) {
	x.OnSend(me, x.c.w.Hosts()[len(x.c.w.Hosts())-1], vote(9, false))
}

// TestNoNeedlessRequest: both sides of each part of the rule.
func TestNoNeedlessRequest(t *testing.T) {
	end := func(correlation int32) *raft.EndQuorumEpochRequest {
		return &raft.EndQuorumEpochRequest{Header: raft.Header{Correlation: correlation}, LeaderEpoch: askedEpoch}
	}
	fetch := func(highWatermark int64) *raft.FetchRequest {
		return &raft.FetchRequest{CurrentLeaderEpoch: askedEpoch, HighWatermark: highWatermark}
	}
	reached := &raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Follower, Epoch: askedEpoch, Offset: 7}
	for _, c := range []struct {
		name, evidence string // "": nothing is wrong
		scene          func(x *prompt, me, other *sim.Host)
	}{
		{"asked again after a refusal", "vote", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.once.answered(me, other, voted(1, askedEpoch, raft.None))
			x.OnSend(me, other, vote(2, false))
		}},
		{"pre-vote again", "pre-vote", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, true))
			x.once.answered(me, other, voted(1, askedEpoch, raft.None))
			x.OnSend(me, other, vote(2, true))
		}},
		{"asked at the address of another", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.once.answered(me, other, voted(1, askedEpoch, raft.None))
			misled := vote(2, false)
			misled.VoterID = 77
			x.OnSend(me, other, misled)
		}},
		{"told at an address that may be another's", "", func(x *prompt, me, other *sim.Host) {
			x.once.astray = true
			x.OnSend(me, other, end(1))
			x.once.answered(me, other, &raft.EndQuorumEpochResponse{Header: raft.Header{Correlation: 1, Response: true}, LeaderEpoch: askedEpoch})
			x.OnSend(me, other, end(2))
		}},
		{"vote after a pre-vote", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, true))
			x.once.answered(me, other, voted(1, askedEpoch, raft.None))
			x.OnSend(me, other, vote(2, false))
		}},
		{"no answer", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.OnSend(me, other, vote(2, false))
		}},
		{"an answer with an error", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.once.answered(me, other, voted(1, askedEpoch, raft.UnknownLeaderEpoch))
			x.OnSend(me, other, vote(2, false))
		}},
		{"an answer of another epoch", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.once.answered(me, other, voted(1, askedEpoch-1, raft.None))
			x.OnSend(me, other, vote(2, false))
		}},
		{"the answer to an earlier request", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.OnSend(me, other, vote(2, false))
			x.once.answered(me, other, voted(1, askedEpoch, raft.None))
			x.OnSend(me, other, vote(3, false))
		}},
		{"an answer of another voter", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, false))
			x.once.answered(me, me, voted(1, askedEpoch, raft.None))
			x.OnSend(me, other, vote(2, false))
		}},
		{"another tally", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, vote(1, true))
			x.once.answered(me, other, voted(1, askedEpoch, raft.None))
			x.once.shown(me, &raft.Event{Kind: raft.PreVoteStarted})
			x.OnSend(me, other, vote(2, true))
		}},
		{"told again of a resignation", "resignation", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, end(1))
			x.once.answered(me, other, &raft.EndQuorumEpochResponse{Header: raft.Header{Correlation: 1, Response: true}, LeaderEpoch: askedEpoch})
			x.OnSend(me, other, end(2))
		}},
		{"a resignation that nobody heard of", "", func(x *prompt, me, other *sim.Host) {
			x.OnSend(me, other, end(1))
			x.OnSend(me, other, end(2))
		}},
		{"asked by one that has lost", "lost", func(x *prompt, me, _ *sim.Host) { refusedBy(x, me, 2, 3); asksOn(x, me) }},
		{"asked by one that can win yet", "", func(x *prompt, me, _ *sim.Host) { refusedBy(x, me, 2); asksOn(x, me) }},
		{"asked by one whom nobody refused that is a voter", "", func(x *prompt, me, _ *sim.Host) { refusedBy(x, me, 2, 77); asksOn(x, me) }},
		{"asked before it had lost, and sent when a connection opens", "", func(x *prompt, me, _ *sim.Host) {
			refusedBy(x, me, 2, 3)
			x.once.opening, x.once.dialTurn = me, x.turns[me.Index()]-1
			asksOn(x, me)
			x.once.opening = nil
		}},
		{"asked after it had lost, over a connection that it dials for that", "lost", func(x *prompt, me, _ *sim.Host) {
			refusedBy(x, me, 2, 3)
			x.once.dialled(me, 7_000_000)
			x.once.opens(me, 7_000_000)
			asksOn(x, me)
			x.once.opening = nil
		}},
		{"watermark not told", "high-watermark", func(x *prompt, me, other *sim.Host) {
			x.once.shown(me, reached)
			x.OnSend(me, other, fetch(6))
		}},
		{"watermark told", "", func(x *prompt, me, other *sim.Host) {
			x.once.shown(me, reached)
			x.OnSend(me, other, fetch(7))
			x.OnSend(me, other, fetch(raft.HighWatermarkNotSent))
		}},
		{"watermark of an earlier epoch", "", func(x *prompt, me, other *sim.Host) {
			x.once.shown(me, &raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Follower, Epoch: askedEpoch - 1, Offset: 7})
			x.OnSend(me, other, fetch(-1))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runStaged(t, func(k *sim.Catalogue) sim.Scenario {
				return &askingTwice{scenario: k.Scenario("raft/storm-3").(*scenario), scene: c.scene}
			})
			if c.evidence == "" {
				require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
				return
			}
			require.Equal(t, plan.Violation, r.Verdict.Outcome)
			require.Equal(t, noNeedlessRequest.Name, r.Verdict.Broken[0].Invariant)
			require.Equal(t, c.evidence, r.Verdict.Broken[0].Evidence)
		})
	}
}
