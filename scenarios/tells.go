package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// tells is the part of prompt that follows whom a leader tells that it has resigned. It shows that it has by refusing Fetches in an epoch
// of which it still names itself as the leader. The EndQuorumEpoch leaves in the turn in which it resigns (kraft-protocol 1.9), so
// it is late when it leaves in a later turn than the one in which that was shown, to a voter whose connection was open
// all the time. Connections that open, break or wait are nobody's delay.
type tells struct {
	evaluated *int64
	hosts     int
	cells     []toldResignation // by sender, then by receiver
	lead      []shownLead       // by host
}

// toldResignation is a connection over which a node has asked another, and the newest epoch whose end it has told it.
type toldResignation struct {
	conn  sim.Conn
	turn  int64 // of the sender, in which its first answer came; the connection was open by then
	boot  int32 // of the sender
	open  bool
	told  bool
	epoch int32 // that was told
}

// shownLead is the newest epoch in which a node has served a Fetch as the leader in one process life.
type shownLead struct {
	boot     int32
	epoch    int32
	id       int32
	resigned bool
	turn     int64 // in which it showed that it has resigned
}

// build makes it ready for a run with n hosts.
func (x *tells) build(w *sim.World, n int) {
	x.evaluated, x.hosts, x.cells, x.lead = w.Evaluated(noNeedlessWait.Name), n, x.cells[:0], x.lead[:0]
	for range n * n {
		x.cells = append(x.cells, toldResignation{boot: -1})
	}
	for range n {
		x.lead = append(x.lead, shownLead{boot: -1})
	}
}

// heard notes, in the turn that handles it, an answer to a request that goes to a voter by its id: the connection works.
func (x *tells) heard(at, from *sim.Host, conn sim.Conn, m raft.Message, turn int64) {
	switch m.(type) {
	case *raft.VoteResponse, *raft.BeginQuorumEpochResponse, *raft.EndQuorumEpochResponse:
	default:
		return
	}
	k := &x.cells[at.Index()*x.hosts+from.Index()]
	if !k.open || k.conn != conn || k.boot != at.Boot() {
		k.conn, k.turn, k.open = conn, turn, true
	}
	if k.boot != at.Boot() {
		k.boot, k.told = at.Boot(), false
	}
}

// over hears that a connection of a node is over, whichever side has ended it.
func (x *tells) over(at *sim.Host, conn sim.Conn) {
	if x.hosts == 0 {
		return
	}
	cells := x.cells[at.Index()*x.hosts : (at.Index()+1)*x.hosts]
	for i := range cells {
		if cells[i].conn == conn {
			cells[i].open = false
		}
	}
}

// answered learns from the answer to a Fetch whether its sender leads, or has resigned.
func (x *tells) answered(from *sim.Host, r *raft.FetchResponse, turn int64) {
	if r.ErrorCode != raft.None || r.LeaderID < 0 {
		return
	}
	l := &x.lead[from.Index()]
	switch r.PartitionError {
	case raft.None:
		if l.boot != from.Boot() || l.epoch != r.LeaderEpoch {
			*l = shownLead{boot: from.Boot(), epoch: r.LeaderEpoch, id: r.LeaderID}
		}
	case raft.NotLeaderOrFollower:
		if l.boot == from.Boot() && l.epoch == r.LeaderEpoch && l.id == r.LeaderID && !l.resigned {
			l.resigned, l.turn = true, turn
		}
	}
}

// tellsResignation judges an EndQuorumEpoch: when its sender first tells it to that receiver, and whether the receiver is on its list.
func (x *prompt) tellsResignation(from, to *sim.Host, m *raft.EndQuorumEpochRequest) {
	t := &x.tells
	k, l := &t.cells[from.Index()*t.hosts+to.Index()], &t.lead[from.Index()]
	if l.boot != from.Boot() || l.epoch != m.LeaderEpoch || l.id != m.LeaderID || x.once.astray {
		return
	}
	first := k.boot != from.Boot() || !k.told || k.epoch != m.LeaderEpoch
	late := first && l.resigned && x.turns[from.Index()] > l.turn && k.boot == from.Boot() && k.open && k.turn < l.turn
	*t.evaluated++
	if late {
		x.c.w.Violate(noNeedlessWait.Name, "resignation", from.ID()+" told "+to.ID()+" that it has resigned from epoch "+
			number(int64(m.LeaderEpoch))+" only "+number(x.turns[from.Index()]-l.turn)+" turns after it refused a Fetch for that")
	}
	if k.boot != from.Boot() {
		*k = toldResignation{boot: from.Boot()}
	}
	k.told, k.epoch = true, m.LeaderEpoch
	x.listed(from, to, m)
}

// listed judges whether the list of successors has the voter that it is sent to. Whom a leader tells, and whom it names, are the same
// voters (kraft-protocol 2.7); a list that lacks one makes it wait longest, and an empty one makes all run at once.
func (x *prompt) listed(from, to *sim.Host, m *raft.EndQuorumEpochRequest) {
	s := &x.successors
	k := &s.cells[from.Index()*len(s.unseen)+to.Index()]
	if k.boot != from.Boot() || k.epoch != m.LeaderEpoch || k.unsure {
		return
	}
	*s.evaluated++
	if !slices.ContainsFunc(m.PreferredCandidates, func(c raft.ReplicaKey) bool { return c.ID == k.key.ID }) {
		x.c.w.Violate(successorsOrder.Name, "missing", from.ID()+" resigned from epoch "+number(int64(m.LeaderEpoch))+" and did not name "+
			to.ID()+", a voter whom it told so, among its successors")
	}
}
