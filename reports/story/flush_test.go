package story

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
)

// A file whose name was not flushed holds nothing that is durable, and the story says which flush was missing.
func TestStoryOfADirectoryThatWasNotFlushed(t *testing.T) {
	h, parts := unflushed(false)
	for i := range h.Events { // an fsync of the file after the append, and before the answer to it
		e := &h.Events[i]
		if e.Kind == history.Send && h.Hosts[e.Host] == "n2" {
			e.Kind, e.Claim = history.Disk, &sim.Claim{Topic: "flush-nameless", Clause: "flushes", From: 17, To: 20}
			break
		}
	}
	text := Tell(h, parts).String()
	require.Contains(t, text, "n2 appends offsets 17 to 19, fetched from n1, without flushing the directory that names its file first")
}

// A vote that only the page cache has is named in the story of an invariant about what is durable, and in no other.
func TestStoryNamesTheFileThatIsNotDurable(t *testing.T) {
	tell := func(detail string, u history.Unflushed) string {
		w := newWritten("n1", "n2")
		w.add(0, history.Disk, -1)
		w.add(1, history.Disk, -1)
		last := w.claims(0, -1, sim.Claim{Topic: "vote", Clause: "votes for n2 in epoch 3", Epoch: 3})
		w.breaks(last, "one-vote", detail)
		w.Events[len(w.Events)-1].Unflushed = []history.Unflushed{u}
		return Tell(&w.History, nil).String()
	}
	vote := history.Unflushed{Host: 0, Seq: 0, Path: "quorum-state", Text: "epoch 3", Named: true}
	renamed := history.Unflushed{Host: 0, Seq: 0, Path: "quorum-state", Text: "epoch 3", Whole: true}
	other := history.Unflushed{Host: 1, Seq: 1, Path: "quorum-state", Text: "epoch 3"}
	durable := "n1 shows a vote in epoch 3 that is not durable"
	require.Contains(t, tell(durable, vote), "n1 writes quorum-state (epoch 3) without flushing it\n")
	require.Contains(t, tell(durable, renamed), "n1 writes quorum-state (epoch 3) without flushing the directory that names it\n")
	require.NotContains(t, tell(durable, other), "quorum-state")
	require.NotContains(t, tell("n1 votes twice in epoch 3", vote), "quorum-state")
}

// A flush makes durable what it says and no more: one of the next segment is none of this one.
func TestStoryOfASegmentThatWasNotFlushed(t *testing.T) {
	tell := func(flushes ...sim.Claim) string {
		w := newWritten("n1", "n2")
		in := w.message(0, 1, -1)
		w.claims(1, in, sim.Claim{Topic: "append", Clause: "appends offsets 15 to 16", From: 15, To: 17})
		held := w.claims(1, in, sim.Claim{Topic: "append", Clause: "appends offsets 17 to 19", From: 17, To: 20})
		for _, f := range flushes {
			f.Topic, f.Clause = "flush", "flushes"
			held = w.claims(1, in, f)
		}
		in = w.message(1, 0, held)
		last := w.claims(0, in, sim.Claim{Topic: "holds", Clause: "counts on n2 below offset 20", To: 20, About: "n2",
			Because: []sim.Premise{{Topics: "append", Host: "n2", Offset: 19, Durable: true}}})
		w.breaks(last, "durable", "n1 counts on n2 at offset 19, which is not durable")
		return Tell(&w.History, nil).String()
	}
	const missing = ", which no flush made durable"
	require.Contains(t, tell(sim.Claim{From: 15, To: 17}, sim.Claim{From: 19, To: 20}), "17 to 19"+missing)
	require.NotContains(t, tell(sim.Claim{From: 15, To: 19}, sim.Claim{From: 19, To: 20}), missing)
	earlier := tell(sim.Claim{From: 17, To: 20})
	require.Contains(t, earlier, "15 to 16"+missing)
	require.NotContains(t, earlier, "17 to 19"+missing)
}
