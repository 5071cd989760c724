package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// successorsOrder judges the list in an EndQuorumEpoch by the Fetches that its sender received and how it answered them, never by
// what it says of itself. Where these leave it open what the leader knew, the pair is not judged.
var successorsOrder = sim.InvariantDoc{
	Name: "successors-order", Source: "KIP-595; kraft-protocol 2.7",
	Doc: "The successors that a resigning leader names are ordered by the offset that each fetched at in its epoch, furthest first, " +
		"whoever never fetched last, and those who are equal by their ids. Every voter that it tells is among them.",
}

// successors is the part of prompt that follows how far each replica is known to be.
type successors struct {
	evaluated *int64
	cells     []knownOffset // by receiver, then by sender
	unseen    []int32       // by receiver: the process life in which it took a Fetch over a connection that was over already
}

// knownOffset bounds what a node, as leader of an epoch, knows of where another replica fetches.
type knownOffset struct {
	key         raft.ReplicaKey
	epoch       int32
	boot        int32 // of the receiver
	low, high   int64
	offset      int64 // of the Fetch that waits for its answer
	correlation int32
	open        bool
	unsure      bool // two Fetches waited at once, and either may be counted last
	sinceNs     int64
}

// silentNs is how long a replica may be silent until a leader may have forgotten it as an observer: less than what Kafka allows,
// as clocks drift.
const silentNs = 200_000 * million

// build makes it ready for a run with n hosts.
func (s *successors) build(w *sim.World, n int) {
	s.evaluated, s.cells, s.unseen = w.Evaluated(successorsOrder.Name), s.cells[:0], s.unseen[:0]
	for range n * n {
		s.cells = append(s.cells, knownOffset{epoch: -1})
	}
	for range n {
		s.unseen = append(s.unseen, -1)
	}
}

// received hears of a Fetch in the turn that handles it. Until it is answered it may be counted or not.
func (s *successors) received(at, from *sim.Host, m *raft.FetchRequest, nowNs int64) {
	if m.ReplicaID < 0 {
		return
	}
	k := &s.cells[at.Index()*len(s.unseen)+from.Index()]
	key := raft.ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID}
	if k.boot == at.Boot() && m.CurrentLeaderEpoch < k.epoch {
		return // it is refused
	}
	if k.boot != at.Boot() || k.epoch != m.CurrentLeaderEpoch {
		*k = knownOffset{key: key, epoch: m.CurrentLeaderEpoch, boot: at.Boot(), low: -1, high: -1}
	}
	k.unsure = k.unsure || k.open || k.key != key
	k.low, k.high = min(k.low, m.FetchOffset), max(k.high, m.FetchOffset)
	k.offset, k.correlation, k.open, k.sinceNs = m.FetchOffset, m.Correlation, true, nowNs
}

// answered follows the answer to a Fetch: one without an error that brings records, or none, has been counted.
func (s *successors) answered(from, to *sim.Host, r *raft.FetchResponse) {
	k := &s.cells[from.Index()*len(s.unseen)+to.Index()]
	if !k.open || k.correlation != r.Correlation || k.boot != from.Boot() {
		return
	}
	k.open = false
	if !k.unsure && r.ErrorCode == raft.None && r.PartitionError == raft.None && r.LeaderEpoch == k.epoch && r.DivergingEpoch.Epoch < 0 &&
		r.SnapshotID.Epoch < 0 && r.SnapshotID.Offset < 0 {
		k.low, k.high = k.offset, k.offset
	}
}

// bounds says what a leader knows of a replica; sure is false when nothing can be said.
func (s *successors) bounds(at *sim.Host, epoch int32, key *raft.ReplicaKey, nowNs int64) (low, high int64, sure bool) {
	low, high = -1, -1
	n, seen := len(s.unseen), false
	for i := at.Index() * n; i < at.Index()*n+n; i++ {
		k := &s.cells[i]
		if k.boot != at.Boot() || k.epoch < epoch || k.key.ID != key.ID {
			continue
		}
		if seen || k.epoch > epoch || k.unsure || nowNs-k.sinceNs > silentNs ||
			!key.DirectoryID.IsZero() && key.DirectoryID != k.key.DirectoryID {
			return 0, 0, false
		}
		low, high, seen = k.low, k.high, true
	}
	return low, high, true
}

// ordered judges the list of a leader that resigns, each pair of neighbours.
func (x *prompt) ordered(h *sim.Host, m *raft.EndQuorumEpochRequest) {
	s, list := &x.successors, m.PreferredCandidates
	if s.unseen[h.Index()] == h.Boot() {
		return
	}
	for i := 1; i < len(list); i++ {
		low, high, sure := s.bounds(h, m.LeaderEpoch, &list[i-1], x.c.w.NowNs())
		nextLow, nextHigh, nextSure := s.bounds(h, m.LeaderEpoch, &list[i], x.c.w.NowNs())
		if !sure || !nextSure {
			continue
		}
		*s.evaluated++
		equal := low == high && nextLow == nextHigh && low == nextLow
		if high < nextLow || equal && list[i-1].ID > list[i].ID {
			x.c.w.Violate(successorsOrder.Name, "order", h.ID()+" resigned from epoch "+number(int64(m.LeaderEpoch))+" and named node "+
				number(int64(list[i-1].ID))+", known up to offset "+number(high)+", before node "+number(int64(list[i].ID))+", known up to offset "+
				number(nextLow))
		}
	}
}
