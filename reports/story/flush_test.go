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
