package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operations is what operators do to the nodes of a cluster while it runs: voter changes (desk.go), disks, addresses and software
// that are replaced (operations_actions.go), failures at a chosen step (ambush.go). It keeps an eye on the voter sets in force,
// so that nobody asks for what no quorum survives.
type operations struct {
	c        *cluster
	desks    []*desk
	restarts []restart
	gone     []goneDisk
	misled   []misled
	// ledAstray are the hosts whose bootstrap names led to other hosts: a connection that was opened meanwhile stays there.
	ledAstray []string
	sets      []*voters.Set // by host: what its log last said, nil as long as nothing is known
	keys      [][]string    // the same as texts for the budget, scratch
	moved     []moved       // voters whose new address no committed voter set has yet
	ledWrong  []string      // keys of replicas that led while they told others a port at which nobody answers
	ambushes  ambushes
	reached   reached
	lonely    lonely
	watch     bool // voter sets may change
}

// moved is a voter that listens elsewhere, or will as soon as it has restarted.
type moved struct {
	key     string
	port    uint16
	cluster int
}

// restart is a change of a host's configuration that comes into force when its process has ended.
type restart struct {
	host   int
	change func(h *hostSettings)
	downNs int64
}

// build makes it ready for a run. Without an operator's machine and actions of these kinds it does nothing.
func (o *operations) build(c *cluster, p *plan.Plan) {
	*o = operations{c: c, desks: o.desks[:0], restarts: o.restarts[:0], gone: o.gone[:0], misled: o.misled[:0], ledAstray: o.ledAstray[:0], sets: o.sets[:0], keys: o.keys[:0],
		moved: o.moved[:0], ledWrong: o.ledWrong[:0], ambushes: ambushes{list: o.ambushes.list[:0]}, reached: reached{},
		lonely: lonely{waits: o.lonely.waits[:0]}}
	o.lonely.build(c.w, p)
	watch := false
	for i, h := range c.w.Hosts() {
		o.sets = append(o.sets, nil)
		if c.hosts[i].kind == kindOperator && !c.hosts[i].requests {
			watch = true
			o.desks = append(o.desks, newDesk(o, h))
		}
	}
	kinds := operationKinds()
	for i := range p.Actions {
		for _, k := range kinds {
			watch = watch || p.Actions[i].Kind == k.Name
		}
	}
	if o.watch = watch; !watch {
		return
	}
	o.handle(c.w)
	c.w.Add(o)
	for _, d := range o.desks {
		c.w.AddObligation(d)
	}
}

// watching reports whether voter sets may change in this run.
func (o *operations) watching() bool { return o.watch }

// machine is the process of an operator's host.
func (o *operations) machine(host int) sim.Process {
	for _, d := range o.desks {
		if d.host.Index() == host {
			return &operator{asker: d, answerNs: d.answerNs()}
		}
	}
	panic("scenarios: host " + number(int64(host)) + " is no operator's")
}

// Attach implements sim.Checker.
func (o *operations) Attach(*sim.World) {}

// OnProtocol implements sim.ProtocolChecker.
func (o *operations) OnProtocol(h *sim.Host, x sim.Observation) {
	if r := raftEventOf(x); r != nil {
		if r.Kind == raft.VotersChanged {
			o.look(h)
		}
		if r.Kind == raft.RoleChanged && r.Role == raft.Leader && o.c.hosts[h.Index()].advertised != 0 {
			if key, ok := o.keyOf(h); ok {
				o.ledWrong = append(o.ledWrong, key.String())
			}
		}
		o.reached.hear(o.c, h, r)
		o.lonely.hear(o.c.w, h, r)
		o.ambushes.heard(o.c, h, r)
	}
}

// look notes the voter set of a host that runs.
func (o *operations) look(h *sim.Host) {
	if n := nodeOf(h); n != nil && n.replica != nil && !h.Booting() {
		o.sets[h.Index()] = n.replica.Voters()
	}
}

// ended is told that the process of a host has ended: what it was stopped for happens.
func (o *operations) ended(h *sim.Host) {
	for i := range o.restarts {
		if r := o.restarts[i]; r.host == h.Index() {
			o.restarts = append(o.restarts[:i], o.restarts[i+1:]...)
			r.change(&o.c.hosts[r.host])
			o.startAfter(h, r.downNs)
			return
		}
	}
}

// startAfter starts a host after a while, unless somebody else does before.
func (o *operations) startAfter(h *sim.Host, ns int64) {
	o.c.w.At(o.c.w.NowNs()+ns, decide.HashString(h.ID()), 9, func() { o.c.w.Start(h) })
}

// leader returns the host that leads the newest epoch of a cluster, as far as anybody says so; nil for none.
func (o *operations) leader(cluster int) (best *sim.Host) {
	epoch := int32(-1)
	for _, h := range o.c.w.Hosts() {
		n := nodeOf(h)
		if n == nil || n.replica == nil || h.Booting() || n.replica.Role() != raft.Leader || !o.c.belongs(n, cluster) {
			continue
		}
		if e := n.replica.LeaderAndEpoch().Epoch; e > epoch {
			best, epoch = h, e
		}
	}
	return best
}

// keyOf is the identity of the replica on a host, as its disk has it; false when it has none.
func (o *operations) keyOf(h *sim.Host) (raft.ReplicaKey, bool) {
	e := &o.c.hosts[h.Index()]
	data, ok := h.Volume().File(metaprops.Path(e.metadataDir))
	if !ok {
		return raft.ReplicaKey{}, false
	}
	props, err := metaprops.Parse(data, metaprops.V2)
	if err != nil || !props.HasDirectoryID || len(o.c.quorums) > 1 && props.ClusterID != o.c.quorums[e.cluster].id {
		return raft.ReplicaKey{}, false
	}
	return raft.ReplicaKey{ID: e.nodeID, DirectoryID: props.DirectoryID}, true
}

// settle brings the budget up to date: the voter sets in force anywhere, and who is repaired. It reports whether all of them name
// their voters by directory id, as sets of kraft.version 1 do.
func (o *operations) settle() (dynamic bool) {
	dynamic = true
	for _, h := range o.c.w.Hosts() {
		o.look(h)
	}
	o.repaired()
	o.keys = o.keys[:0]
	for i, set := range o.sets {
		if set == nil {
			continue
		}
		known := false
		for _, other := range o.sets[:i] {
			known = known || other != nil && other.Equal(set)
		}
		if known {
			continue
		}
		var keys []string
		for k := range set.Len() {
			v := set.At(k)
			dynamic = dynamic && v.HasDirectoryID()
			keys = append(keys, v.ReplicaKey.String())
		}
		o.keys = append(o.keys, keys)
	}
	o.c.w.Budget().SetVoters(o.keys...)
	return dynamic
}

// repaired forgets the moves that a committed voter set knows.
func (o *operations) repaired() {
	for k := range o.c.quorums {
		o.repairedIn(k)
	}
}

func (o *operations) repairedIn(cluster int) {
	l := o.leader(cluster)
	if l == nil {
		return
	}
	r := nodeOf(l).replica
	if mark, known := r.HighWatermark(); !known || r.VotersOffset() >= mark {
		return
	}
	set, kept := r.Voters(), o.moved[:0]
	for _, m := range o.moved {
		if m.cluster == cluster && o.known(set, m) {
			o.c.w.Budget().Repaired(m.key)
		} else {
			kept = append(kept, m)
		}
	}
	o.moved = kept
}

// known reports whether a set has the new address of a voter.
func (o *operations) known(set *voters.Set, m moved) bool {
	for k := range set.Len() {
		if v := set.At(k); v.ReplicaKey.String() == m.key {
			e, ok := v.Endpoint(o.c.listener)
			return ok && e.Port == m.port
		}
	}
	return false
}

// beyond says why a calm may end without progress; "" when there is no reason.
func (o *operations) beyond() string {
	o.settle()
	for k := range o.c.quorums {
		if why := o.outvoted(k); why != "" {
			return why
		}
		if why := o.unwinnable(k); why != "" {
			return why
		}
		if why := o.astray(k); why != "" {
			return why
		}
		if why := o.forsaken(k); why != "" {
			return why
		}
	}
	return ""
}

// outvoted finds that the voter set of who leads has no living majority: a change that was asked for before a disk went, and came
// into force after. That leader commits nothing any more. Where nobody leads, unwinnable counts.
func (o *operations) outvoted(cluster int) string {
	l := o.leader(cluster)
	if l == nil {
		return ""
	}
	set, gone := nodeOf(l).replica.Voters(), int32(0)
	for k := range set.Len() {
		if v := set.At(k); v.HasDirectoryID() && !o.exists(v.ReplicaKey) {
			gone++
		}
	}
	if 2*gone < set.Len() {
		return ""
	}
	return "more voters lost their disks than the voter set of the leader survives"
}

// exists reports whether some host has the disk of a replica.
func (o *operations) exists(key raft.ReplicaKey) bool {
	for _, h := range o.c.w.Hosts() {
		if k, ok := o.keyOf(h); ok && k == key {
			return true
		}
	}
	return false
}

// astray finds a node that follows the leader at an address where the leader is not, and for which the bootstrap servers are no way
// around that. It learned the address from somebody whose voter set was out of date, or from its own at a restart. Nothing in that
// epoch corrects it, since messages with as many endpoints as it has are no news (kraft-protocol 2.4, maybe-transition 3). An
// observer has no fetch timeout (1.9); the one of a voter is put back by each answer of a bootstrap server that leads (2.8), and
// where it does run out, a pre-vote that is refused leads back to the same address (1.4). A bootstrap server that is the leader
// gives such a node records, but a snapshot is asked of the leader's address alone (1.9, best node). Only a leader that moved in
// this run, or that led while it told others a wrong port, leaves such addresses behind. A connection that was opened to such an
// address stays where somebody answers there: a node of another cluster, which refuses everything.
func (o *operations) astray(cluster int) string {
	l := o.leader(cluster)
	if l == nil {
		return ""
	}
	if !o.leftAddresses(l) {
		return ""
	}
	for _, h := range o.c.w.Hosts() {
		if n := o.running(h); n != nil && o.c.belongs(n, cluster) && o.misses(n, l) && !o.leadsAround(h, n, l) {
			return h.ID() + " follows the leader at an address where the leader is not, and does so for the whole epoch; " +
				"it needs a snapshot, or knows no bootstrap server that leads"
		}
	}
	return ""
}

// leftAddresses reports whether others may know a leader by an address where it is not.
func (o *operations) leftAddresses(l *sim.Host) bool {
	at := &o.c.hosts[l.Index()]
	key, ok := o.keyOf(l)
	return ok && (at.moved || at.swapped || slices.Contains(o.ledWrong, key.String()))
}

// misses reports whether a node follows a leader at an address where it is not.
func (o *operations) misses(n *node, l *sim.Host) bool {
	at := &o.c.hosts[l.Index()]
	if n.replica.LeaderAndEpoch().LeaderID != at.nodeID {
		return false
	}
	endpoint, follows := n.replica.LeaderEndpoint()
	return follows && (endpoint.Port != at.port || endpoint.Host != at.name)
}

// unheard reports whether a host, which may get all records from a bootstrap server, has nobody to tell what it is: a leader is told at
// its address alone (kraft-protocol 1.9), and it is not there.
func (o *operations) unheard(h *sim.Host) bool {
	l, n := o.leader(o.c.hosts[h.Index()].cluster), o.running(h)
	return l != nil && n != nil && o.leftAddresses(l) && o.misses(n, l)
}

// leadsAround reports whether a node that does not reach the leader's address gets what it lacks from a bootstrap server: the leader is
// one, and no snapshot stands in between.
func (o *operations) leadsAround(h *sim.Host, n *node, l *sim.Host) bool {
	if !o.c.dynamic {
		return false // its bootstrap servers are the voters, under the same ids and over the same connections
	}
	e := &o.c.hosts[h.Index()]
	if len(e.bootstrap) > 0 && !slices.Contains(e.bootstrap, l.ID()) {
		return false
	}
	linked := slices.ContainsFunc(n.links, func(k link) bool { return k.to == l })
	if !linked && slices.Contains(o.ledAstray, l.ID()) { // what was opened under its name leads elsewhere, and works
		return false
	}
	snapshot, found := nodeOf(l).replica.LatestSnapshotID()
	return !found || n.replica.LogEndOffset() >= snapshot.Offset
}
