package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// noNeedlessResignation judges why a leader gives up. Nothing else notices one that does without need: the next election mends it, and
// only the clients wait. A leader's word picks the moments (whose Fetch it counted, and what it knows to be committed); what is judged
// is the EndQuorumEpoch that leaves it.
var noNeedlessResignation = sim.InvariantDoc{
	Name: "no-needless-resignation", Source: "KIP-595, KIP-853, KAFKA-15489; kraft-protocol 3.8, 5.5, 8",
	Doc: "A leader resigns when no majority of the voters has fetched for 1.5 times the fetch timeout, when it shuts down, when its controller " +
		"renounces, or when the voter set without it is committed, and for nothing else.",
}

// resignation is the part of prompt that follows why each leader may resign.
type resignation struct {
	evaluated *int64
	lead      []leading // by host
	turnNs    []int64   // by host: begin of the turn of its raft lane that is under way
}

// leading is what one leadership has shown. Its check-quorum time began anew at sureNs or later: since then a majority has fetched. That
// it began anew at the last Fetch of that majority is not sure, because the replica counts other requests as well.
type leading struct {
	boot      int32
	epoch     int32 // -1: none
	sureNs    int64
	sinceNs   int64
	fetched   []int32 // voters that fetched after sinceNs
	mark      int64   // high watermark
	renounced bool
	told      bool // its end
}

// build makes it ready for a run with n hosts.
func (r *resignation) build(w *sim.World, n int) {
	r.evaluated, r.lead, r.turnNs = w.Evaluated(noNeedlessResignation.Name), r.lead[:0], r.turnNs[:0]
	for range n {
		r.lead, r.turnNs = append(r.lead, leading{epoch: -1}), append(r.turnNs, 0)
	}
}

// shown hears what a replica says of itself.
func (r *resignation) shown(h *sim.Host, e *raft.Event) {
	l := &r.lead[h.Index()]
	if e.Kind == raft.RoleChanged && e.Role == raft.Leader {
		now := r.turnNs[h.Index()]
		*l = leading{boot: h.Boot(), epoch: e.Epoch, sureNs: now, sinceNs: now, mark: -1, fetched: l.fetched[:0]}
		return
	}
	if l.epoch != e.Epoch || l.boot != h.Boot() || e.Role != raft.Leader {
		return
	}
	switch e.Kind {
	case raft.HighWatermarkAdvanced:
		l.mark = e.Offset
	case raft.FetchAccepted:
		r.counted(h, l, e.Peer)
	case raft.VotersChanged:
		if n := nodeOf(h); n != nil {
			set := n.replica.Voters()
			l.fetched = slices.DeleteFunc(l.fetched, func(id int32) bool { return set.Find(id) == nil })
		}
	}
}

// counted follows a Fetch of a voter that its leader counted.
func (r *resignation) counted(h *sim.Host, l *leading, key raft.ReplicaKey) {
	n := nodeOf(h)
	if n == nil || key.ID == n.h.nodeID {
		return
	}
	set := n.replica.Voters()
	if set.Contains(key) && !slices.Contains(l.fetched, key.ID) {
		l.fetched = append(l.fetched, key.ID)
	}
	need := int(set.Len())/2 + 1
	if set.Find(n.h.nodeID) != nil {
		need--
	}
	if len(l.fetched) >= need {
		l.sureNs, l.sinceNs, l.fetched = l.sinceNs, r.turnNs[h.Index()], l.fetched[:0]
	}
}

// renounced hears that the controller of a host gives up.
func (r *resignation) renounced(h *sim.Host) {
	if l := &r.lead[h.Index()]; l.boot == h.Boot() {
		l.renounced = true
	}
}

// resignsForCause judges the first word of a leader that it has resigned. Where clocks jump, nothing can be said of its time.
func (x *prompt) resignsForCause(h *sim.Host, m *raft.EndQuorumEpochRequest) {
	l, n := &x.resignation.lead[h.Index()], nodeOf(h)
	if n == nil || l.epoch != m.LeaderEpoch || l.boot != h.Boot() || l.told {
		return
	}
	l.told = true
	if ending := &x.leaving[h.Index()]; ending.is && ending.boot == h.Boot() || l.renounced || x.fastPpm < 0 || x.c.decay.wild {
		return
	}
	const roundingMs = 4
	least := (x.c.timeouts.fetch*3/2 - roundingMs) * million
	least -= least / million * x.fastPpm
	since := x.resignation.turnNs[h.Index()] - l.sureNs
	if since >= least {
		return
	}
	*x.resignation.evaluated++
	set, offset := n.replica.Voters(), n.replica.VotersOffset()
	word := "without-cause"
	if set.Find(n.h.nodeID) == nil {
		if offset < l.mark {
			return
		}
		word = "removal-not-committed"
	}
	x.c.w.Violate(noNeedlessResignation.Name, word, h.ID()+" resigned from epoch "+number(int64(m.LeaderEpoch))+" though a majority of the voters "+
		"fetched at most "+number(since/million)+" ms before; the voters are those of offset "+number(offset)+", committed is all below "+number(l.mark))
}
