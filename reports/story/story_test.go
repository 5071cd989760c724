package story

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// written is a history made by hand.
type written struct {
	history.History
	atUs int64
}

func newWritten(hosts ...string) *written {
	w := &written{History: history.History{Plan: &plan.Plan{}, Verdict: &plan.Verdict{Outcome: plan.OK}, Hosts: hosts}}
	for _, id := range hosts {
		w.Plan.Hosts = append(w.Plan.Hosts, plan.Host{ID: id})
	}
	return w
}

// add appends an event in a step of its own and returns it. It is good until the next one.
func (w *written) add(host int32, kind history.Kind, cause int32) *history.Event {
	w.atUs += 1000
	seq := int32(len(w.Events))
	w.Events = append(w.Events, history.Event{Seq: seq, ID: int64(seq) + 1, Cause: cause, AtUs: w.atUs, Host: host, Boot: 1, Lane: "raft", Kind: kind, Peer: -1})
	return &w.Events[seq]
}

// claims appends an observation with a claim.
func (w *written) claims(host, cause int32, c sim.Claim) int32 {
	e := w.add(host, history.Protocol, cause)
	e.Weight, e.Claim = history.Turning, &c
	return e.Seq
}

// message appends a send and the input that it became, and returns the latter.
func (w *written) message(from, to, cause int32) int32 {
	s := w.add(from, history.Send, cause)
	s.Peer, s.Message = to, s.Seq+1
	number, seq := s.Message, s.Seq
	in := w.add(to, history.Input, seq)
	in.Peer, in.Message, in.Text = from, number, "message from "+w.Hosts[from]+": hello"
	return in.Seq
}

// action appends an action of the plan that strikes.
func (w *written) action(a plan.Action) int32 {
	e := w.add(-1, history.Action, -1)
	e.Action, e.Lane, e.Weight = a.ID, "", history.Turning
	a.AtUs = plan.Int64(e.AtUs)
	w.Plan.Actions = append(w.Plan.Actions, a)
	return e.Seq
}

// strikes appends what an action does, in its step.
func (w *written) strikes(action, host int32, kind history.Kind, text string, c sim.Claim) {
	e := w.add(host, kind, action)
	e.ID, e.Lane, e.Text, e.Weight, e.Claim = w.Events[action].ID, "", text, history.Turning, &c
}

// breaks ends the history with a violation, found in the step of an event.
func (w *written) breaks(at int32, invariant, detail string) {
	id := w.Events[at].ID
	e := w.add(-1, history.Violation, at)
	e.ID, e.Lane, e.Weight, e.Text = id, "", history.Turning, invariant+": "+detail
	w.Verdict.Outcome = plan.Violation
	w.Verdict.Broken = []plan.Broken{{Invariant: invariant, Detail: detail, Evidence: "e"}}
}

// unflushed is a follower that says that it holds what it has not flushed, and a power loss that takes it.
func unflushed(flushes bool) (*history.History, []shrink.Part) {
	w := newWritten("n1", "n2")
	w.claims(0, -1, sim.Claim{Topic: "leader", Clause: "becomes leader of epoch 3", Epoch: 3})
	w.claims(0, -1, sim.Claim{Topic: "append", Clause: "appends offsets 17 to 19", Epoch: 3, From: 17, To: 20,
		Because: []sim.Premise{{Topics: "leader", Host: sim.Self, Epoch: 3, Offset: -1}}})
	in := w.message(0, 1, 1)
	held := w.claims(1, in, sim.Claim{Topic: "append", Clause: "appends offsets 17 to 19, fetched from n1", Epoch: 3, From: 17, To: 20,
		Because: []sim.Premise{{Topics: "append", Host: "n1", Offset: 17}}})
	if flushes {
		held = w.claims(1, in, sim.Claim{Topic: "flush", Clause: "flushes", From: 17, To: 20})
	}
	in = w.message(1, 0, held)
	w.claims(0, in, sim.Claim{Topic: "holds", Clause: "counts n2 as a holder of everything below offset 20", Epoch: 3, To: 20, About: "n2",
		Because: []sim.Premise{{Topics: "append", Host: "n2", Offset: 19, Durable: true}}})
	w.claims(0, in, sim.Claim{Topic: "commit", Clause: "takes everything below offset 20 for committed", Epoch: 3, From: 17, To: 20,
		Because: []sim.Premise{{Topics: "holds", Host: sim.Self, Offset: 19, Fold: "since %s fetched from there on"}}})
	in = w.message(0, 1, in)
	w.claims(1, in, sim.Claim{Topic: "commit", Clause: "takes everything below offset 20 for committed, too", Epoch: 3, From: 17, To: 20,
		Because: []sim.Premise{{Topics: "commit", Host: "n1", Offset: 19}}})
	loss := w.action(plan.Action{ID: "a1", Kind: "power", Params: plan.Params{"hosts": "n2"}})
	w.strikes(loss, 1, history.Down, "power lost", sim.Claim{Topic: "down", Clause: "loses power"})
	w.strikes(loss, 1, history.Lost, "", sim.Claim{Topic: "lost", Clause: "loses offsets 17 to 19, not flushed", From: 17, To: 20})
	w.action(plan.Action{ID: "a2", Kind: "jump", Params: plan.Params{"host": "n1", "by": "1s"}})
	e := w.add(1, history.Boot, loss)
	e.Weight = history.Turning
	w.breaks(e.Seq, "durable", "n2 lost the committed offsets 17 to 19")
	parts := []shrink.Part{{Kind: shrink.ActionPart, ID: "a1", Necessary: true}, {Kind: shrink.ActionPart, ID: "a2"},
		{Kind: shrink.RatePart, ID: "network.reset_ppm", Text: "network.reset_ppm=500"}, {Kind: shrink.HostPart, ID: "n1", Necessary: true}}
	return &w.History, parts
}

func TestStoryOfWhatWasNotFlushed(t *testing.T) {
	h, parts := unflushed(false)
	s := Tell(h, parts)
	require.Equal(t, ` 1. n1 becomes leader of epoch 3
 2. n1 appends offsets 17 to 19
 3. n2 appends offsets 17 to 19, fetched from n1, which no flush made durable
 4. n1 takes everything below offset 20 for committed, since n2 fetched from there on
 5. n2 takes everything below offset 20 for committed, too
 6. at 0.013s n2 loses power and loses offsets 17 to 19, not flushed, though n1 counts on it for offsets below 20 (necessary)
 7. n2 lost the committed offsets 17 to 19: durable is broken
`, s.String())
	require.Equal(t, "violation/durable/e", s.Target)
	require.EqualValues(t, 2, s.Incidental)
	require.True(t, s.Lines[5].Necessary)

	h, parts = unflushed(true)
	require.NotContains(t, Tell(h, parts).String(), "no flush")
}

func TestStoryNamesNoIncidentalFault(t *testing.T) {
	h, parts := unflushed(false)
	parts[0].Necessary = false
	text := Tell(h, parts).String()
	require.NotContains(t, text, "power")
	require.NotContains(t, text, "not flushed")
	require.NotContains(t, text, "network.reset_ppm")
	require.Contains(t, text, "durable is broken")
}

func TestStoryOfTwoVotes(t *testing.T) {
	w := newWritten("n1", "n2", "n3")
	stands := func(host int32, cause int32) int32 {
		return w.claims(host, cause, sim.Claim{Topic: "candidate", Clause: "stands for election in epoch 1", Epoch: 1})
	}
	votes := func(about string, cause int32) int32 {
		return w.claims(1, cause, sim.Claim{Topic: "vote", Clause: "votes for " + about + " in epoch 1", Epoch: 1, About: about,
			Because: []sim.Premise{{Topics: "candidate", Host: about, Epoch: 1, Offset: -1}, {Topics: "lost", Host: sim.Self, Offset: -1}}})
	}
	leads := func(host, cause int32) int32 {
		return w.claims(host, cause, sim.Claim{Topic: "leader", Clause: "becomes leader of epoch 1", Epoch: 1,
			Because: []sim.Premise{{Topics: "vote", Host: sim.Others, About: sim.Self, Epoch: 1, Offset: -1, Fold: "with the vote of %s"}}})
	}
	leads(0, w.message(1, 0, votes("n1", w.message(0, 1, stands(0, -1)))))
	loss := w.action(plan.Action{ID: "a1", Kind: "power", Params: plan.Params{"hosts": "n2"}})
	w.strikes(loss, 1, history.Down, "power lost", sim.Claim{Topic: "down", Clause: "loses power"})
	w.strikes(loss, 1, history.Lost, "", sim.Claim{Topic: "lost", Clause: "loses quorum-state: epoch 1, vote for node 1"})
	w.add(1, history.Boot, loss)
	last := leads(2, w.message(1, 2, votes("n3", w.message(2, 1, stands(2, -1)))))
	w.breaks(last, "election-safety", "n3 leads epoch 1, which n1 leads too")
	parts := []shrink.Part{{Kind: shrink.ActionPart, ID: "a1", Necessary: true}}
	require.Equal(t, ` 1. n1 stands for election in epoch 1
 2. n3 stands for election in epoch 1
 3. n1 becomes leader of epoch 1, with the vote of n2
 4. at 0.008s n2 loses power and loses quorum-state: epoch 1, vote for node 1 (necessary)
 5. n3 becomes leader of epoch 1, with the vote of n2
 6. n3 leads epoch 1, which n1 leads too: election-safety is broken
`, Tell(&w.History, parts).String())
}

func TestStoryOfARunThatIsStuck(t *testing.T) {
	w := newWritten("n1", "n2", "n3")
	for i := range w.Hosts {
		e := w.add(int32(i), history.Boot, -1)
		e.Facets = []sim.Facet{{Name: "role", Value: "Candidate"}, {Name: "epoch", Value: "7"}}
	}
	cut := w.action(plan.Action{ID: "a1", Kind: "kill", Params: plan.Params{"host": "n3"}})
	w.strikes(cut, 2, history.Down, "killed", sim.Claim{Topic: "down", Clause: "is killed"})
	w.Verdict.Outcome = plan.Stuck
	for range 9 {
		w.Verdict.Waiting = append(w.Verdict.Waiting, "leader-exists: n1 waits for n2")
	}
	parts := []shrink.Part{{Kind: shrink.ActionPart, ID: "a1", Necessary: true}, {Kind: shrink.DecisionPart, Necessary: true, Text: "net/tail n1>n2 kind=3 = 1"},
		{Kind: shrink.DecisionPart, Necessary: true, Text: "net/tail n1>n2 kind=4 = 1"}}
	s := Tell(&w.History, parts)
	require.Equal(t, ` 1. by chance 2 packets are late (from n1 to n2) (necessary)
 2. at 0.004s n3 is killed (necessary)
 3. at the end n1 is candidate in epoch 7, n2 is candidate in epoch 7 and n3 is down
 4. unmet: leader-exists: n1 waits for n2
 5. unmet: leader-exists: n1 waits for n2
 6. unmet: leader-exists: n1 waits for n2
 7. unmet: leader-exists: n1 waits for n2
 8. unmet: leader-exists: n1 waits for n2; and 4 more
 9. this is a finding: the faults are over and within their budget, so it should have come about
`, s.String())
	w.Verdict.Outcome = plan.LegitimatelyStuck
	s = Tell(&w.History, parts)
	require.Contains(t, s.Lines[len(s.Lines)-1].Text, "this is legitimate")
}

// A log that is broken may claim any offsets: the records that are told are those that are there.
func TestStoryOfAHugeGap(t *testing.T) {
	w := newWritten("n1")
	at := w.claims(0, -1, sim.Claim{Topic: "append", Clause: "appends offsets 7 to 4611686018427387904", From: 7, To: 1 << 62})
	w.Events[at].Log = []history.LogEdit{{Do: "append", Offset: 7, Text: "NoOpRecord {}"}, {Do: "append", Offset: 1<<62 - 1, Text: "ConfigRecord {}"}}
	w.breaks(at, "log-matching", "n1 has a gap below offset 4611686018427387904")
	require.Contains(t, Tell(&w.History, nil).String(), "(NoOpRecord, ConfigRecord)")
}

// Who waits for whom is not told twice.
func TestUnmetIsBeyondWhatStands(t *testing.T) {
	standing := "c1 is candidate in epoch 7 and c2 follows c1 in epoch 6"
	require.Equal(t, "leader-exists: nobody leads", beyond(standing, "leader-exists: nobody leads; c1 is candidate in epoch 7"))
	require.Equal(t, "leader-exists: nobody leads; c2 is follower in epoch 6", beyond(standing, "leader-exists: nobody leads; c2 is follower in epoch 6"))
	require.Equal(t, "leader-exists: nobody leads; c1 is candidate in epoch 7", beyond("", "leader-exists: nobody leads; c1 is candidate in epoch 7"))
}

// A number in a sentence is that of a host only where the word before it can mean one.
func TestNumbersOfBrokersWithoutAHostNameNobody(t *testing.T) {
	w := newWritten("c1", "b1")
	w.Plan.Hosts[0].Kind, w.Plan.Hosts[1].Kind, w.Nodes = "controller", "broker", []int32{1, 200}
	tell := &teller{h: &w.History}
	require.Equal(t, " (node 200 is b1)", tell.who("c1 fences broker 200 for silence"))
	require.Equal(t, " (node 1 is c1)", tell.who("leader 1 of epoch 3 sends 65 after 67"))
	require.Empty(t, tell.who("broker 1 is eligible, its former process ended in order"))
	require.Empty(t, tell.who("partition A-1: leader 1, epochs 0 and 0, in sync 1 3"))
}

// What a sentence calls by its name is told, and what it only counts is not.
func TestWordsOfTheSentenceAreSubjects(t *testing.T) {
	w := newWritten("n1")
	w.claims(0, -1, sim.Claim{Topic: "epoch", Clause: "goes to epoch 3", Epoch: 2})
	w.claims(0, -1, sim.Claim{Topic: "snapshot", Clause: "has the snapshot that ends at offset 36", From: 35, To: 36})
	last := w.claims(0, -1, sim.Claim{Topic: "append", Clause: "appends offset 40", From: 40, To: 41})
	w.breaks(last, "fit", "n1 deleted its log below 37 in epoch 3, and no durable snapshot reaches that far")
	text := Tell(&w.History, nil).String()
	require.Contains(t, text, "n1 has the snapshot that ends at offset 36")
	require.NotContains(t, text, "goes to epoch 3")
}
