package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

var nothing = raft.OffsetAndEpoch{Offset: -1, Epoch: -1}

func fetched(epoch int32, code raft.ErrorCode, mark int64) *raft.FetchResponse {
	return &raft.FetchResponse{Header: raft.Header{Correlation: 9, Response: true}, LeaderID: -1, LeaderEpoch: epoch, PartitionError: code,
		HighWatermark: mark, DivergingEpoch: nothing, SnapshotID: nothing}
}

// TestFenced: the error of an answer fits the epochs of request and answer, and a leader that shuts down serves nobody.
func TestFenced(t *testing.T) {
	asks := func(x *prompt, me, other *sim.Host) {
		x.received(me, other, noConnection, &raft.FetchRequest{Header: raft.Header{Correlation: 9}, CurrentLeaderEpoch: askedEpoch, HighWatermark: 5})
	}
	adopted := &raft.Event{Kind: raft.EpochAdopted, Role: raft.Unattached, Epoch: askedEpoch}
	call := func(x *prompt, me, other *sim.Host) { x.call(me, other, vote(9, false), 9, askedEpoch) }
	for _, c := range []struct {
		name, evidence string // "": nothing is wrong
		scene          func(x *prompt, me, other *sim.Host)
	}{
		{"fenced", "", func(x *prompt, me, other *sim.Host) {
			asks(x, me, other)
			x.OnSend(me, other, fetched(askedEpoch+1, raft.FencedLeaderEpoch, -1))
		}},
		{"fenced without a later epoch", "not-fenced", func(x *prompt, me, other *sim.Host) {
			asks(x, me, other)
			x.OnSend(me, other, fetched(askedEpoch-1, raft.FencedLeaderEpoch, -1))
		}},
		{"unknown", "", func(x *prompt, me, other *sim.Host) {
			asks(x, me, other)
			x.OnSend(me, other, fetched(askedEpoch-1, raft.UnknownLeaderEpoch, -1))
		}},
		{"unknown, and known", "not-unknown", func(x *prompt, me, other *sim.Host) {
			asks(x, me, other)
			x.OnSend(me, other, fetched(askedEpoch, raft.UnknownLeaderEpoch, -1))
		}},
		{"another directory, adopted", "", func(x *prompt, me, other *sim.Host) {
			call(x, me, other)
			x.OnSend(me, other, voted(9, askedEpoch, raft.InvalidVoterKey))
		}},
		{"another directory, not adopted", "not-adopted", func(x *prompt, me, other *sim.Host) {
			call(x, me, other)
			x.OnSend(me, other, voted(9, askedEpoch-1, raft.InvalidVoterKey))
		}},
		{"served before it shuts down", "", func(x *prompt, me, other *sim.Host) {
			asks(x, me, other)
			x.left(me)
			x.OnSend(me, other, fetched(askedEpoch, raft.None, 6))
			x.leaving[me.Index()] = leavingSince{}
		}},
		{"served while it shuts down", "shutting-down", func(x *prompt, me, other *sim.Host) {
			x.left(me)
			x.turns[me.Index()]++
			asks(x, me, other)
			x.OnSend(me, other, fetched(askedEpoch, raft.None, 6))
		}},
		{"an epoch that nobody told, while it shuts down", "epoch-of-its-own", func(x *prompt, me, _ *sim.Host) {
			x.left(me)
			x.turns[me.Index()]++
			x.leavesItsEpoch(me, adopted)
		}},
		{"an epoch that nobody told, before", "", func(x *prompt, me, _ *sim.Host) { x.leavesItsEpoch(me, adopted) }},
		{"an epoch that somebody told, while it shuts down", "", func(x *prompt, me, _ *sim.Host) {
			x.left(me)
			x.turns[me.Index()]++
			x.saw(me, vote(9, true))
			x.leavesItsEpoch(me, adopted)
			x.leaving[me.Index()], x.seen[me.Index()] = leavingSince{}, -1
		}},
	} {
		t.Run(c.name, func(t *testing.T) { stage(t, c.evidence, fenced.Name, c.scene) })
	}
}

// TestWaitsForNews: a Fetch that waits is answered with news or when its time is over.
func TestWaitsForNews(t *testing.T) {
	waits := func(mark, told int64, records []byte, waitMs int32) func(x *prompt, me, other *sim.Host) {
		return func(x *prompt, me, other *sim.Host) {
			x.fastPpm = 0
			x.received(me, other, noConnection, &raft.FetchRequest{Header: raft.Header{Correlation: 9}, CurrentLeaderEpoch: askedEpoch, HighWatermark: mark,
				MaxWaitMs: waitMs})
			x.turns[me.Index()]++
			r := fetched(askedEpoch, raft.None, told)
			r.Records = records
			x.OnSend(me, other, r)
		}
	}
	for _, c := range []struct {
		name, evidence string
		scene          func(x *prompt, me, other *sim.Host)
	}{
		{"nothing", "nothing", waits(5, 5, nil, 500)},
		{"records", "", waits(5, 5, []byte{1}, 500)},
		{"a high watermark", "", waits(5, 6, nil, 500)},
		{"its time is over", "", waits(5, 5, nil, 1)},
		{"a sender that tells none", "", waits(raft.HighWatermarkNotSent, 5, nil, 500)},
	} {
		t.Run(c.name, func(t *testing.T) { stage(t, c.evidence, noNeedlessWait.Name, c.scene) })
	}
}

// stage runs a scenario without jumping clocks in which a scene is played, and wants what it breaks.
func stage(t *testing.T, evidence, invariant string, scene func(x *prompt, me, other *sim.Host)) {
	t.Helper()
	r := runStaged(t, func(k *sim.Catalogue) sim.Scenario {
		return &askingTwice{scenario: k.Scenario("raft/quiet").(*scenario), scene: scene}
	})
	if evidence == "" {
		require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
		return
	}
	require.Equal(t, plan.Violation, r.Verdict.Outcome)
	require.Equal(t, invariant, r.Verdict.Broken[0].Invariant)
	require.Equal(t, evidence, r.Verdict.Broken[0].Evidence)
}

// leaves is a quiet scenario in which, for a moment, host 0 seems to have received a request to change the voters, and to lead no more.
type leaves struct {
	*scenario
	before func(x *prompt, at, from *sim.Host) // between the request and the end of the leadership
}

// Build implements sim.Scenario.
func (s *leaves) Build(w *sim.World, p *plan.Plan) error {
	err := s.scenario.Build(w, p)
	at := int64((quietFromUs + 200_000) * 1000)
	x := &s.cluster.prompt
	w.At(at, 1, 1, func() {
		h, i := w.Hosts(), w.Hosts()[0].Index()
		x.changes.received(h[0], h[1], 7, &raft.RemoveRaftVoterRequest{Header: raft.Header{Correlation: 3}}, x.turns[i])
		s.before(x, h[0], h[1])
		x.turns[i]++
		x.changes.asks(x, h[0], &raft.VoteRequest{})
		x.changes.abandoned(x, h[0]) // too early to say
	})
	w.At(at+s.cluster.timeouts.request*million, 1, 2, func() {
		x.turns[w.Hosts()[0].Index()] += 2 * forgottenTurns
		x.changes.abandoned(x, w.Hosts()[0])
		x.changes.list = x.changes.list[:0]
	})
	return err
}

// TestLostLeadershipAnswers: who waits for a change at a leader that leads no more is answered, unless its connection is over.
func TestLostLeadershipAnswers(t *testing.T) {
	for _, row := range []struct {
		name   string
		before func(x *prompt, at, from *sim.Host)
		broken bool
	}{
		{"no answer", func(*prompt, *sim.Host, *sim.Host) {}, true},
		{"answered", func(x *prompt, at, from *sim.Host) {
			x.changes.answered(at, from, &raft.RemoveRaftVoterResponse{Header: raft.Header{Correlation: 3}})
		}, false},
		{"connection over", func(x *prompt, at, _ *sim.Host) { x.changes.closed(at, 7) }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := runStaged(t, func(c *sim.Catalogue) sim.Scenario {
				return &leaves{scenario: c.Scenario("quiet/moved").(*scenario), before: row.before}
			})
			require.Equal(t, row.broken, len(r.Verdict.Broken) > 0, "%v", r.Verdict.Broken)
			if row.broken {
				require.Equal(t, "voter-answer", r.Verdict.Broken[0].Invariant)
				require.Equal(t, "abandoned", r.Verdict.Broken[0].Evidence)
			}
		})
	}
}
