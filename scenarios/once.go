package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// noNeedlessRequest judges what a replica asks although it has the answer. Nothing else notices: whoever asks again as fast as answers come
// elects and replicates like any other, and only the network pays. Both halves are seen from outside, in the messages.
var noNeedlessRequest = sim.InvariantDoc{
	Name: "no-needless-request", Source: "KIP-595, KIP-1166; kraft-protocol 1.8, 1.9, 2.8; known-bugs L5",
	Doc: "A voter that has answered is not asked again in the same vote or pre-vote, nor told again that the leader of an epoch has " +
		"resigned; a candidate that so many voters have refused that it can't win any more asks nobody; and a Fetch tells the high watermark that its sender has learned in that epoch, without which no leader lets it wait.",
}

// once is the part of prompt that remembers what each node has asked each other.
type once struct {
	evaluated *int64
	hosts     int
	astray    bool       // an address may lead to a host that it does not mean
	asked     []question // by sender, then by receiver
	learned   []toldMark // by host: the high watermark that it reached as a follower of an epoch
	turns     []int64    // by host: inputs that its raft lane has taken
	dials     []dial     // of connections that are not open yet
	opening   *sim.Host  // that takes in the opening of a connection; nil: none
	dialTurn  int64      // when that was dialled; -1: not known
}

// question is the last Vote or EndQuorumEpoch of a node to another, in one process life and one stay in a role.
type question struct {
	kind        uint32
	voter       int32 // whom the request names; meantForAny: it names nobody
	epoch       int32
	correlation int32
	boot        int32 // of the sender
	preVote     bool
	answered    bool
	refused     bool  // by an answer
	turn        int64 // in which that came
}

// dial is the turn in which a process dialled a connection.
type dial struct {
	host int
	boot int32
	conn sim.Conn
	turn int64
}

// meantForAny is the voter of a request whose version, or kind, does not say whom it is meant for.
const meantForAny int32 = -1

// leadsAstray are the actions after which somebody may be at the address of somebody else.
var leadsAstray = []string{"names", "move", "misadvertise", "repoint"}

// build makes it ready for a run with n hosts.
func (o *once) build(w *sim.World, n int) {
	o.evaluated, o.hosts, o.asked, o.learned = w.Evaluated(noNeedlessRequest.Name), n, o.asked[:0], o.learned[:0]
	o.astray, o.opening, o.dials = false, nil, o.dials[:0]
	for i := range w.Plan().Actions {
		o.astray = o.astray || slices.Contains(leadsAstray, w.Plan().Actions[i].Kind)
	}
	for range n * n {
		o.asked = append(o.asked, question{})
	}
	for range n {
		o.learned = append(o.learned, toldMark{epoch: -1})
	}
}

// shown hears what a replica says of itself. It forgets here whom it has asked: another role, or another tally, begins. That alone is
// taken from its word; what it has learned is compared with what it tells its leader.
func (o *once) shown(h *sim.Host, e *raft.Event) {
	switch e.Kind {
	case raft.RoleChanged, raft.EpochAdopted, raft.VotePersisted, raft.PreVoteStarted:
		clear(o.asked[h.Index()*o.hosts : (h.Index()+1)*o.hosts])
	case raft.HighWatermarkAdvanced:
		if e.Role == raft.Follower {
			o.learned[h.Index()] = toldMark{epoch: e.Epoch, boot: h.Boot(), mark: e.Offset}
		}
	}
}

// answered hears of an answer in the turn that handles it. One with an error is no answer, nor is one of another epoch.
func (o *once) answered(at, from *sim.Host, m raft.Message) {
	q := &o.asked[at.Index()*o.hosts+from.Index()]
	if q.kind|1 != m.Kind() || q.boot != at.Boot() {
		return
	}
	switch r := m.(type) {
	case *raft.VoteResponse:
		if q.correlation == r.Correlation && r.LeaderEpoch == q.epoch && !r.WrongShape && r.ErrorCode == raft.None && r.PartitionError == raft.None {
			q.answered, q.refused, q.turn = true, !r.VoteGranted, o.turns[at.Index()]
		}
	case *raft.EndQuorumEpochResponse:
		q.answered = q.answered || q.correlation == r.Correlation && r.LeaderEpoch == q.epoch && !r.WrongShape &&
			r.ErrorCode == raft.None && r.PartitionError == raft.None
	}
}

// sent judges a request.
func (x *prompt) sent(from, to *sim.Host, m sim.Message) {
	switch r := m.(type) {
	case *raft.VoteRequest:
		x.once.asks(x.c.w, from, to, question{
			kind: r.Kind(), voter: r.VoterID, epoch: r.ReplicaEpoch, correlation: r.Correlation, preVote: r.PreVote})
	case *raft.EndQuorumEpochRequest:
		x.once.asks(x.c.w, from, to, question{
			kind: r.Kind(), voter: meantForAny, epoch: r.LeaderEpoch, correlation: r.Correlation})
	case *raft.FetchRequest:
		l := &x.once.learned[from.Index()]
		if l.epoch != r.CurrentLeaderEpoch || l.boot != from.Boot() {
			return
		}
		*x.once.evaluated++
		if r.HighWatermark < l.mark {
			x.c.w.Violate(noNeedlessRequest.Name, "high-watermark", from.ID()+" told "+to.ID()+" in epoch "+number(int64(l.epoch))+
				" that its high watermark is "+number(r.HighWatermark)+", and has reached "+number(l.mark))
		}
	}
}

// asks compares a question with the one before.
func (o *once) asks(w *sim.World, from, to *sim.Host, q question) {
	q.boot = from.Boot()
	last := &o.asked[from.Index()*o.hosts+to.Index()]
	if q.voter == meantForAny && o.astray { // it may be for another voter, whose name led here
		*last = q
		return
	}
	*o.evaluated++
	if last.answered && last.voter == q.voter && last.kind == q.kind && last.epoch == q.epoch && last.boot == q.boot && last.preVote == q.preVote {
		word, what := "vote", "asked"
		switch {
		case q.preVote:
			word = "pre-vote"
		case q.kind == raft.KindEndQuorumEpochRequest:
			word, what = "resignation", "told"
		}
		w.Violate(noNeedlessRequest.Name, word, from.ID()+" "+what+" "+to.ID()+" again in epoch "+number(int64(q.epoch))+
			", which had answered: "+word)
	}
	if q.kind == raft.KindVoteRequest && !q.preVote {
		o.lost(w, from, to, &q)
	}
	*last = q
}

// lost judges the question of a candidate by the voters that have refused it in this epoch (kraft-protocol 1.8). A candidate's voter set
// does not change. Whoever got the question in another's place may be no voter, or the same one twice; and a question that waited for its
// connection is as old as its dial.
func (o *once) lost(w *sim.World, from, to *sim.Host, q *question) {
	n := nodeOf(from)
	if n == nil || o.astray {
		return
	}
	set := n.replica.Voters()
	left, voters, lastTurn := set.Len(), set.Len(), int64(0)
	for i := from.Index() * o.hosts; i < (from.Index()+1)*o.hosts; i++ {
		if a := &o.asked[i]; a.refused && !a.preVote && a.kind == q.kind && a.epoch == q.epoch && a.boot == q.boot && set.Find(a.voter) != nil {
			left--
			lastTurn = max(lastTurn, a.turn)
		}
	}
	if left < voters/2+1 && (o.opening != from || o.dialTurn >= lastTurn) {
		w.Violate(noNeedlessRequest.Name, "lost", from.ID()+" asked "+to.ID()+" for its vote in epoch "+number(int64(q.epoch))+", and "+
			number(int64(voters-left))+" of "+number(int64(voters))+" voters had refused theirs")
	}
}

// dialled notes that the replica of a host dials a connection, for which the first request waits.
func (o *once) dialled(h *sim.Host, conn sim.Conn) {
	if o.turns == nil {
		return
	}
	o.dials = slices.DeleteFunc(o.dials, func(d dial) bool { return d.host == h.Index() && d.boot != h.Boot() })
	o.dials = append(o.dials, dial{host: h.Index(), boot: h.Boot(), conn: conn, turn: o.turns[h.Index()]})
}

// over hears that a connection is over, open or not.
func (o *once) over(h *sim.Host, conn sim.Conn) {
	o.dials = slices.DeleteFunc(o.dials, func(d dial) bool { return d.host == h.Index() && d.conn == conn })
}

// opens begins the call in which a replica hears that a connection is open.
func (o *once) opens(h *sim.Host, conn sim.Conn) {
	o.opening, o.dialTurn = h, -1
	for i := range o.dials {
		if d := &o.dials[i]; d.host == h.Index() && d.conn == conn {
			o.dialTurn = d.turn
		}
	}
	o.over(h, conn)
}
