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
		"to mean another directory. A leader that shuts down serves no Fetch any more, and a replica that shuts down leaves its epoch only for one that a " +
		"message has told it, or for its own candidacy.",
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

// saw notes the epoch of a message that raft is about to take in.
func (x *prompt) saw(h *sim.Host, m raft.Message) {
	x.seen[h.Index()] = max(x.seen[h.Index()], epochOf(m))
}

// epochOf is the epoch that a message tells of, -1 for none.
func epochOf(m raft.Message) int32 {
	switch m := m.(type) {
	case *raft.FetchRequest:
		return m.CurrentLeaderEpoch
	case *raft.FetchSnapshotRequest:
		return m.CurrentLeaderEpoch
	case *raft.VoteRequest:
		return m.ReplicaEpoch
	case *raft.BeginQuorumEpochRequest:
		return m.LeaderEpoch
	case *raft.EndQuorumEpochRequest:
		return m.LeaderEpoch
	case *raft.UpdateRaftVoterRequest:
		return m.CurrentLeaderEpoch
	case *raft.FetchResponse:
		return m.LeaderEpoch
	case *raft.FetchSnapshotResponse:
		return m.LeaderEpoch
	case *raft.VoteResponse:
		return m.LeaderEpoch
	case *raft.BeginQuorumEpochResponse:
		return m.LeaderEpoch
	case *raft.EndQuorumEpochResponse:
		return m.LeaderEpoch
	case *raft.UpdateRaftVoterResponse:
		return m.LeaderEpoch
	}
	return -1
}

// leavesItsEpoch judges a replica that shuts down and knows no leader of a new epoch: somebody has told it of that epoch. A leader that has
// resigned goes to the next epoch by itself when its election time is over, but not any more when it shuts down (kraft-protocol 1.9, 1.10).
func (x *prompt) leavesItsEpoch(h *sim.Host, e *raft.Event) {
	l := &x.leaving[h.Index()]
	if e.Kind != raft.EpochAdopted || e.Role != raft.Unattached || !l.is || l.boot != h.Boot() || x.turns[h.Index()] <= l.turn {
		return
	}
	if *x.epochs++; e.Epoch > x.seen[h.Index()] {
		x.c.w.Violate(fenced.Name, "epoch-of-its-own", h.ID()+" went to epoch "+number(int64(e.Epoch))+" while it shut down, and has heard of none above "+
			number(int64(x.seen[h.Index()])))
	}
}
