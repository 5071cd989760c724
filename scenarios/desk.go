package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// desk is an operator who sees to it that replicas become voters, or are none any more, one after the other: he asks a controller how
// the quorum is (DescribeQuorum), asks it for the change that is missing, and asks again, until the quorum says that it is as
// he wants it. Mostly he asks the leader, now and then somebody else. An answer in time is a thing that he hopes for: requests that
// he has given up may still come about, as with any operator.
type desk struct {
	o     *operations
	host  *sim.Host
	tasks []task

	cluster int  // that he looks after
	last    bool // he asked for the last voter to go
	hasty   bool // he did so, and somebody may have added another one in between: then that voter is a leader that removes itself

	asking  *sim.Host // who was asked last
	asked   int32
	pending bool // an order is out
	look    bool // when all is done he has one more look
	done    *int64
	refused *int64
}

// task is one wish.
type task struct {
	add    bool
	host   int    // of the replica; -1: whoever leads
	action string // who wished it

	gone raft.ReplicaKey // remove exactly this one, whose disk is gone, once the host's new replica is a voter; zero: whoever is the host's voter
	told bool            // that there is no such voter

	refusals int32 // answers that say that it can't be
	declined int32 // times that it would have been too dangerous
}

// lastDecline is how often a change is thought better of before the operator forgets it.
const lastDecline = 60

func newDesk(o *operations, h *sim.Host) *desk {
	return &desk{o: o, host: h, cluster: o.c.hosts[h.Index()].cluster, done: o.c.w.Stat("voter-changes-done"), refused: o.c.w.Stat("voter-changes-given-up")}
}

func (d *desk) answerNs() int64 { return d.o.c.timeouts.request * million * 3 / 2 }

// pauseNs is how long he waits before he asks again.
func (d *desk) pauseNs() int64 { return max(3*million, d.o.c.timeouts.election*million/4) }

// wish adds a task.
func (d *desk) wish(t task) {
	d.tasks = append(d.tasks, t)
	if len(d.tasks) == 1 && !d.pending {
		d.again(0)
	}
}

// concerns reports whether a task that is not done yet adds the replica of a host.
func (d *desk) concerns(host int) bool {
	for i := range d.tasks {
		if t := &d.tasks[i]; t.add && t.host == host {
			return true
		}
	}
	return false
}

func (d *desk) again(afterNs int64) {
	d.pending = true
	d.o.c.w.At(d.o.c.w.NowNs()+afterNs, decide.HashString("operator/"+d.host.ID()), uint64(d.asked), d.describe)
}

// describe asks how the quorum is.
func (d *desk) describe() {
	if len(d.tasks) == 0 && !d.look {
		d.pending = false
		return
	}
	d.look = len(d.tasks) > 0
	d.asked++
	d.asking = d.o.leader(d.cluster)
	if d.asking == nil || d.asked%5 == 4 {
		d.asking = d.other()
	}
	if d.asking == nil || !d.send(&raft.DescribeQuorumRequest{Header: raft.Header{Correlation: d.asked}}) {
		d.again(d.pauseNs())
	}
}

// other picks a controller by turns.
func (d *desk) other() *sim.Host {
	var list []*sim.Host
	for i, h := range d.o.c.w.Hosts() {
		if e := &d.o.c.hosts[i]; e.cluster == d.cluster && (e.kind == kindController || e.kind == kindObserver) {
			list = append(list, h)
		}
	}
	return list[int(d.asked)%len(list)]
}

func (d *desk) send(m raft.Message) bool {
	to := &d.o.c.hosts[d.asking.Index()]
	return d.o.c.w.Request(d.host, 0, &order{request: m, host: to.name, port: to.port})
}

// answered implements asker. It runs while the operator's machine handles an input, so all that follows waits a moment.
func (d *desk) answered(m raft.Message) {
	switch m := m.(type) {
	case *raft.DescribeQuorumResponse:
		if m = d.readable(m); m != nil && m.ErrorCode == raft.None && m.PartitionError == raft.None {
			d.later(func() { d.decide(m) })
			return
		}
	case *raft.AddRaftVoterResponse, *raft.RemoveRaftVoterResponse:
		code := changeOutcome(m)
		if code == raft.VoterNotFound && d.last {
			*d.o.c.w.Sometimes(lastVoterKept)++
			d.tasks[0].refusals++
		}
		if t := &d.tasks[0]; code == raft.VoterNotFound && t.gone.HasDirectoryID() {
			t.told = true
			*d.o.c.w.Sometimes(goneVoterRefused)++
		}
		switch code {
		case raft.None, raft.DuplicateVoter, raft.VoterNotFound:
			d.again(1000) // the quorum says whether it is so
			return
		case raft.InvalidRequest, raft.UnsupportedVersion, raft.InconsistentClusterID:
			d.tasks[0].refusals++
		}
	}
	d.again(d.pauseNs())
}

// readable is what the version of DescribeQuorum that the asked host knows has of an answer: before version 2 no directory ids (kraft-protocol
// 2.10), without which no voter of a dynamic quorum can be named. The desk itself has the newest release. nil for no answer.
func (d *desk) readable(m *raft.DescribeQuorumResponse) *raft.DescribeQuorumResponse {
	h := &d.o.c.hosts[d.asking.Index()]
	version := between(h, h, wire.DescribeQuorum)
	if version < 0 {
		return nil
	}
	plain, err := wire.Normalize(m, version)
	if err != nil {
		return nil
	}
	answer, _ := plain.(*raft.DescribeQuorumResponse)
	return answer
}

func (d *desk) later(f func()) {
	d.o.c.w.At(d.o.c.w.NowNs()+1000, decide.HashString("operator/"+d.host.ID()), uint64(d.asked)<<1|1, f)
}

// decide asks for the change that the first task lacks.
func (d *desk) decide(q *raft.DescribeQuorumResponse) {
	if len(d.tasks) == 0 {
		d.again(0)
		return
	}
	t := &d.tasks[0]
	change, done := d.missing(t, q)
	switch {
	case done:
		*d.done++
		d.next()
	case t.refusals > 5 && (d.last || d.o.c.w.Calm()), t.declined > lastDecline, t.declined > 0 && d.o.c.w.Calm():
		*d.refused++
		d.next()
	case change == nil:
		t.declined++
		d.again(d.pauseNs())
	case !d.send(change):
		d.again(d.pauseNs())
	}
}

// next is the next task.
func (d *desk) next() {
	d.tasks = d.tasks[1:]
	d.again(0)
}

// missing returns the change to ask for, nil when there is none that can be asked for now; done: the quorum is as the task wants it.
func (d *desk) missing(t *task, q *raft.DescribeQuorumResponse) (change raft.Message, done bool) {
	header := raft.Header{Correlation: d.asked}
	cluster := raft.ClusterID{ID: d.o.c.quorums[d.cluster].id, Known: true}
	if t.host < 0 {
		if t.host = d.hostOf(q.LeaderID); t.host >= 0 {
			d.o.c.w.ResolvedHosts(t.action, "voter", d.o.c.w.Hosts()[t.host])
		}
	}
	if t.host < 0 {
		return nil, false // whoever answered is of another cluster
	}
	h := &d.o.c.hosts[t.host]
	old := voterOf(q, h.nodeID)
	d.last = !t.add && old != nil && len(q.Voters) == 1
	remove := func() raft.Message {
		if !d.survives(q, old, nil) {
			return nil
		}
		return &raft.RemoveRaftVoterRequest{Header: header, ClusterID: cluster, VoterID: old.ID, VoterDirectoryID: old.DirectoryID}
	}
	if t.gone.HasDirectoryID() {
		switch {
		case t.told:
			return nil, true
		case old == nil: // the new one is not there yet
			return nil, false
		case *old == t.gone:
			return remove(), false
		}
		return &raft.RemoveRaftVoterRequest{Header: header, ClusterID: cluster, VoterID: t.gone.ID, VoterDirectoryID: t.gone.DirectoryID}, false
	}
	if !t.add {
		if old == nil {
			return nil, true
		}
		return remove(), false
	}
	key, ok := d.o.keyOf(d.o.c.w.Hosts()[t.host])
	switch {
	case !ok:
		return nil, false // not formatted yet
	case old != nil && *old == key:
		return nil, true
	case old != nil: // the voter that it was lived on a disk that is gone
		return remove(), false
	case !d.survives(q, nil, &key):
		return nil, false
	}
	return &raft.AddRaftVoterRequest{Header: header, ClusterID: cluster, TimeoutMs: int32(d.o.c.timeouts.request), VoterID: key.ID,
		VoterDirectoryID: key.DirectoryID, Listeners: h.listeners(d.o.c.listener, h.port, nil), AckWhenCommitted: true}, false
}

// hostOf returns the index of a node's host, -1 when the cluster has no such node.
func (d *desk) hostOf(nodeID int32) int {
	for i := range d.o.c.hosts {
		if h := &d.o.c.hosts[i]; h.nodeID == nodeID && h.cluster == d.cluster && h.kind != kindOperator {
			return i
		}
	}
	if len(d.o.c.quorums) > 1 {
		return -1
	}
	panic("scenarios: no host has node " + number(int64(nodeID)))
}

func voterOf(q *raft.DescribeQuorumResponse, id int32) *raft.ReplicaKey {
	for i := range q.Voters {
		if q.Voters[i].ID == id {
			return &q.Voters[i].ReplicaKey
		}
	}
	return nil
}

// survives reports whether a voter set with the change in it has a majority that is not gone for good; and whether, when the
// leader that is asked removes itself, the others can do without it: a leader that fails when only it has the record has the longest
// log and is no voter to itself, so that nobody is elected who needs its vote.
func (d *desk) survives(q *raft.DescribeQuorumResponse, remove, add *raft.ReplicaKey) bool {
	if d.last && d.o.c.minVoters == 0 {
		d.hasty = true
		return true // nobody can do without it, and he asks all the same: it is refused
	}
	d.o.settle()
	b := d.o.c.w.Budget()
	before, after, gone, goneAfter := 0, 0, 0, 0
	count := func(key raft.ReplicaKey) {
		before++
		dead := b.Damaged(key.String())
		if dead {
			gone++
		}
		if remove != nil && key == *remove {
			return
		}
		after++
		if dead {
			goneAfter++
		}
	}
	for i := range q.Voters {
		count(q.Voters[i].ReplicaKey)
	}
	if add != nil {
		after++
		if b.Damaged(add.String()) {
			goneAfter++
		}
	}
	if after < int(d.o.c.minVoters) && after < before || goneAfter > (after-1)/2 {
		return false
	}
	return remove == nil || remove.ID != q.LeaderID || before-1-gone > before/2
}

// Met implements sim.Obligation: in the calm every wish comes true, or is given up for a reason.
func (d *desk) Met() bool { return len(d.tasks) == 0 }

// Waiting implements sim.Obligation.
func (d *desk) Waiting() string {
	if len(d.tasks) == 0 {
		return "voter-changes-end: nothing"
	}
	return "voter-changes-end: " + d.host.ID() + " waits for " + d.tasks[0].action + " since " + number(int64(d.asked)) + " requests"
}
