package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// fenced judges the epochs of answers. The sender's own word is the request, so a replica that forgets to look shows itself.
var fenced = sim.InvariantDoc{
	Name: "fenced", Source: "KIP-595, KIP-853; kraft-protocol 2.3, 2.5",
	Doc: "An answer without an error to a Fetch, Vote, BeginQuorumEpoch or EndQuorumEpoch is of the epoch of the request: an older one is " +
		"refused as fenced, and a newer one adopted first, or refused as unknown by a leader; it is adopted as well where the request turns out " +
		"to mean another directory. A leader that shuts down serves no Fetch any more.",
}

// epochsFit compares the epochs of request and answer, and with them the error that the answer names.
func (x *prompt) epochsFit(from, to *sim.Host, a *askedFetch, epoch int32, top, partition raft.ErrorCode) {
	*x.epochs++
	if top != raft.None || x.c.decay.wild {
		return
	}
	word := ""
	switch {
	case partition == raft.None && epoch != a.epoch:
		word = "other-epoch"
	case partition == raft.FencedLeaderEpoch && epoch <= a.epoch:
		word = "not-fenced"
	case partition == raft.UnknownLeaderEpoch && epoch >= a.epoch:
		word = "not-unknown"
	case partition == raft.InvalidVoterKey && epoch < a.epoch:
		word = "not-adopted"
	default:
		return
	}
	x.c.w.Violate(fenced.Name, word, from.ID()+" answered a request of "+to.ID()+" of epoch "+number(int64(a.epoch))+
		" with error "+number(int64(partition))+" in epoch "+number(int64(epoch)))
}

// leavingSince is the turn of the raft lane in which a process was asked to shut down.
type leavingSince struct {
	boot int32
	turn int64
	is   bool
}

// left hears that the replica of a host begins to shut down.
func (x *prompt) left(h *sim.Host) {
	if x.c != nil {
		x.leaving[h.Index()] = leavingSince{boot: h.Boot(), turn: x.turns[h.Index()], is: true}
	}
}

// servedWhileLeaving judges a Fetch that came in a later turn than the word to shut down, and was served (kraft-protocol 2.3).
func (x *prompt) servedWhileLeaving(from, to *sim.Host, a *askedFetch, r *raft.FetchResponse) {
	l := &x.leaving[from.Index()]
	if !l.is || l.boot != from.Boot() || a.turn <= l.turn || r.ErrorCode != raft.None || r.PartitionError != raft.None {
		return
	}
	x.c.w.Violate(fenced.Name, "shutting-down", from.ID()+" served a Fetch of "+to.ID()+" in epoch "+number(int64(a.epoch))+
		" after it was told to shut down")
}
