//nodet:room

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
}

// received notes a request in the turn that handles it.
func (x *changesOpen) received(at, from *sim.Host, conn sim.Conn, m raft.Message) {
	o := openChange{at: at, from: from, boot: at.Boot(), conn: conn, kind: m.Kind()}
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
