package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// changesOpen is the part of prompt that follows requests to change the voter set, from the turn in which a node receives one until its
// answer leaves, or its connection is over. A leader refuses at once what it does not begin, so a request without an answer is a
// change under way; two of them at one node are one too many: the second has taken the place of the first, which nobody will
// ever answer (kraft-protocol 5.3). A change that was answered when its record was written is not seen here, and need not be: its
// overlap with another one is in the log, where voter-change judges it.
type changesOpen struct {
	evaluated *int64
	list      []openChange
}

// openChange is one such request.
type openChange struct {
	at, from    *sim.Host
	boot        int32 // of at
	conn        sim.Conn
	kind        uint32
	correlation int32
	turn        int64 // of the raft lane in which it came
	leftTurn    int64 // in which at showed that it does not lead any more; 0: it has not
	leftNs      int64
}

// received notes a request in the turn that handles it.
func (x *changesOpen) received(at, from *sim.Host, conn sim.Conn, m raft.Message, turn int64) {
	o := openChange{at: at, from: from, boot: at.Boot(), conn: conn, kind: m.Kind(), turn: turn}
	switch m := m.(type) {
	case *raft.AddRaftVoterRequest:
		o.correlation = m.Correlation
	case *raft.RemoveRaftVoterRequest:
		o.correlation = m.Correlation
	case *raft.UpdateRaftVoterRequest:
		o.correlation = m.Correlation
	default:
		return
	}
	x.drop(func(e *openChange) bool { return e.at == at && e.boot != o.boot })
	x.list = append(x.list, o)
}

// answered forgets the request that an answer is for.
func (x *changesOpen) answered(at, to *sim.Host, m sim.Message) {
	if len(x.list) == 0 {
		return
	}
	correlation := int32(0)
	switch m := m.(type) {
	case *raft.AddRaftVoterResponse:
		correlation = m.Correlation
	case *raft.RemoveRaftVoterResponse:
		correlation = m.Correlation
	case *raft.UpdateRaftVoterResponse:
		correlation = m.Correlation
	default:
		return
	}
	x.drop(func(e *openChange) bool {
		return e.at == at && e.from == to && e.kind|1 == m.Kind() && e.correlation == correlation
	})
}

// closed forgets the requests of a connection that is over.
func (x *changesOpen) closed(at *sim.Host, conn sim.Conn) {
	x.drop(func(e *openChange) bool { return e.at == at && e.conn == conn })
}

func (x *changesOpen) drop(is func(*openChange) bool) {
	x.list = slices.DeleteFunc(x.list, func(e openChange) bool { return is(&e) })
}

// turn judges what the input before has left.
func (x *changesOpen) turn(w *sim.World, h *sim.Host) {
	if len(x.list) < 2 {
		return
	}
	*x.evaluated++
	first := -1
	for i := range x.list {
		e := &x.list[i]
		if e.at != h || e.boot != h.Boot() {
			continue
		}
		if first < 0 {
			first = i
			continue
		}
		w.Violate("voter-answer", "overwritten", h.ID()+" has begun the change of the voters that "+e.from.ID()+" asks for, while it owes "+
			x.list[first].from.ID()+" the answer about another one")
		x.list = slices.Delete(x.list, first, first+1)
		return
	}
}

// asks notes that a node asks somebody else for records, for a vote or for another leader: it leads no more itself, and whoever waits for a
// change of the voters at it was to be told so when it ceased to lead (2.11). A request of the same turn may be answered behind
// the question.
func (x *changesOpen) asks(p *prompt, h *sim.Host, m sim.Message) {
	if len(x.list) == 0 {
		return
	}
	switch m.(type) {
	case *raft.FetchRequest, *raft.VoteRequest, *raft.EndQuorumEpochRequest:
	default:
		return
	}
	for i := range x.list {
		if e := &x.list[i]; e.at == h && e.boot == h.Boot() && e.leftTurn == 0 && e.turn < p.turns[h.Index()] {
			e.leftTurn, e.leftNs = p.turns[h.Index()], p.c.w.NowNs()
		}
	}
}

// abandoned judges a request that is still open a while after its node ceased to lead: by then the word that its connection is over, for
// which no answer leaves, has been taken in (forgottenTurns).
func (x *changesOpen) abandoned(p *prompt, h *sim.Host) {
	for i := range x.list {
		e := &x.list[i]
		if e.at != h || e.boot != h.Boot() || e.leftTurn == 0 || p.turns[h.Index()] <= e.leftTurn+forgottenTurns ||
			p.c.w.NowNs() <= e.leftNs+p.c.timeouts.request*million/2 || p.c.decay.wild {
			continue
		}
		*x.evaluated++
		p.c.w.Violate("voter-answer", "abandoned", h.ID()+" leads no more, and owes "+e.from.ID()+" the answer about a change of the voters")
		x.list = slices.Delete(x.list, i, i+1)
		return
	}
}
