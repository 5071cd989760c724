package scenarios

import (
	"math"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

var (
	fieldOperator = plan.Field{Name: "by", Type: plan.HostField, Required: true, Doc: "the operator's machine"}
	fieldNode     = plan.Field{Name: "host", Type: plan.HostField, Required: true, Doc: "the host"}
	fieldDowntime = plan.Field{Name: "down", Type: plan.DurationField, Max: dayUs, Doc: "how long it stays down; absent: 20ms"}
)

// operationKinds are the operators' steps.
func operationKinds() []plan.Kind {
	return []plan.Kind{
		{Name: "add-voter", Doc: "an operator wants the replica of a host to be a voter", Fields: []plan.Field{fieldOperator, fieldNode}},
		{Name: "remove-voter", Doc: "an operator wants a replica to be no voter", Fields: []plan.Field{fieldOperator,
			{Name: "voter", Type: plan.TextField, Required: true, Doc: "its host, or leader: whoever leads when it comes to that"}}},
		{Name: "remove-replaced", Doc: "an operator removes, when the new one is a voter, the replica that was on the disk of a host that was replaced last",
			Fields: []plan.Field{fieldOperator, fieldNode}},
		{Name: "replace-disk", Doc: "a host gets an empty disk, formatted as one of no voter, with another directory id", Fields: []plan.Field{
			fieldNode, fieldDowntime}},
		{Name: "move", Doc: "a node restarts with another port", Fields: []plan.Field{fieldNode, fieldDowntime,
			{Name: "port", Type: plan.NumberField, Min: 1, Max: math.MaxUint16, Required: true, Doc: "where it listens from then on"}}},
		{Name: "misadvertise", Doc: "a node restarts with an advertised port at which nobody answers, and again when that was noticed", Fields: []plan.Field{
			fieldNode, fieldDowntime,
			{Name: "port", Type: plan.NumberField, Required: true, Doc: "the port that it tells others"},
			{Name: "for", Type: plan.DurationField, Doc: "how long it lasts; absent: until the calm"}}},
		{Name: "repoint", Doc: "a node restarts with other hosts as bootstrap servers, and again when that was noticed", Fields: []plan.Field{
			fieldNode, fieldDowntime,
			{Name: "to", Type: plan.HostsField, Required: true, Doc: "the hosts, reached by their bootstrap names"},
			{Name: "for", Type: plan.DurationField, Doc: "how long it lasts; absent: until the calm"}}},
		{Name: "software", Doc: "a node restarts with another release", Fields: []plan.Field{fieldNode, fieldDowntime,
			{Name: "release", Type: plan.WordField, Words: features.Names(), Required: true, Doc: "the release"}}},
		{Name: "resolve", Doc: "a bootstrap name leads nowhere, or to another host", Fields: []plan.Field{
			{Name: "name", Type: plan.HostField, Required: true, Doc: "the host whose bootstrap name it is"},
			{Name: "to", Type: plan.HostField, Doc: "where it leads; absent: nowhere"},
			{Name: "for", Type: plan.DurationField, Max: dayUs, Doc: "how long it lasts; absent: until the calm"}}},
		{Name: "ambush", Doc: "the leader that takes a step of the protocol, or the node that stores a snapshot, fails", Fields: []plan.Field{
			{Name: "on", Type: plan.WordField, Words: stepWords(), Required: true, Doc: "the step"},
			{Name: "n", Type: plan.NumberField, Min: 1, Max: million, Doc: "the how manyth from now on; absent: 1"},
			{Name: "after", Type: plan.DurationField, Max: dayUs, Doc: "how long after it; absent: at once"},
			{Name: "how", Type: plan.WordField, Words: []string{"kill", "power", "stop"}, Doc: "kill (default), power or stop"},
			fieldDowntime}},
		loseNamesKind(),
	}
}

// handle registers what the kinds do in this run.
func (o *operations) handle(w *sim.World) {
	w.Handle("add-voter", sim.ActionHandler{Do: o.addVoter})
	w.Handle("remove-voter", sim.ActionHandler{Do: o.removeVoter})
	w.Handle("remove-replaced", sim.ActionHandler{Do: o.removeReplaced})
	w.Handle("replace-disk", sim.ActionHandler{Do: o.replaceDisk})
	w.Handle("move", sim.ActionHandler{Do: o.move})
	w.Handle("misadvertise", sim.ActionHandler{Do: o.misadvertise, Undo: o.correct})
	w.Handle("repoint", sim.ActionHandler{Do: o.repoint, Undo: o.pointBack})
	w.Handle("software", sim.ActionHandler{Do: o.software})
	w.Handle("resolve", sim.ActionHandler{Do: o.mislead, Undo: o.leadBack})
	w.Handle("lose-names", sim.ActionHandler{Do: o.loseNames})
	w.Handle("ambush", sim.ActionHandler{Do: o.ambushes.lay})
}

// deskOf returns the desk that an action names.
func (o *operations) deskOf(a *sim.Act) *desk {
	h := a.Host("by")
	for _, d := range o.desks {
		if d.host == h {
			return d
		}
	}
	return nil
}

func (o *operations) addVoter(_ *sim.World, a *sim.Act) string {
	d, h := o.deskOf(a), a.Host("host")
	switch {
	case d == nil:
		return "by=" + a.Params["by"] + " is no operator"
	case h == nil || o.c.hosts[h.Index()].kind == kindBroker || o.c.hosts[h.Index()].kind == kindOperator:
		return "host=" + a.Params["host"] + " is no controller"
	}
	d.wish(task{add: true, host: h.Index(), action: a.ID})
	return ""
}

func (o *operations) removeVoter(w *sim.World, a *sim.Act) string {
	d, host := o.deskOf(a), -1
	if d == nil {
		return "by=" + a.Params["by"] + " is no operator"
	}
	if name := a.Params["voter"]; name != "leader" {
		h := w.Host(name)
		if h == nil || o.c.hosts[h.Index()].kind == kindBroker || o.c.hosts[h.Index()].kind == kindOperator {
			return "voter=" + name + " is no controller"
		}
		host = h.Index()
	}
	d.wish(task{host: host, action: a.ID})
	return ""
}

// goneDisk is a replica whose disk was replaced.
type goneDisk struct {
	host int
	key  raft.ReplicaKey
}

// removeReplaced lets an operator take out a replica by the directory id that it had, late: it was taken out before, or the leader refuses, since
// the voter with that id is on another disk by then.
func (o *operations) removeReplaced(_ *sim.World, a *sim.Act) string {
	d, h := o.deskOf(a), a.Host("host")
	if d == nil {
		return "by=" + a.Params["by"] + " is no operator"
	}
	for i := len(o.gone) - 1; i >= 0; i-- {
		if g := &o.gone[i]; h != nil && g.host == h.Index() {
			d.wish(task{host: g.host, action: a.ID, gone: g.key})
			return ""
		}
	}
	return "no disk of it was replaced"
}

// replaceDisk asks the budget first. A replica that somebody may be making a voter must keep its disk: the voter would be gone before
// it is there, and no account shows it.
func (o *operations) replaceDisk(w *sim.World, a *sim.Act) string {
	h, down := a.Host("host"), a.DurationNs("down", 20*million)
	if h == nil || a.Error != nil {
		return ""
	}
	e := &o.c.hosts[h.Index()]
	key, ok := o.keyOf(h)
	switch {
	case !o.c.dynamic || !o.settle():
		return "at kraft.version 0 a voter keeps its identity when its disk is gone"
	case !ok || !o.c.ready[h.Index()]:
		return "not formatted yet"
	case o.joining(h, key.String()):
		return "it may be on its way to become a voter"
	}
	if why := w.Budget().Allow(key.String()); why != "" {
		return why
	}
	w.Wipe(h, "/")
	w.Budget().Damage(key.String())
	o.gone = append(o.gone, goneDisk{h.Index(), key})
	o.c.ready[h.Index()], e.replaced, e.format = false, true, "full"
	o.startAfter(h, down)
	return ""
}

// joining reports whether a replica that is in no committed voter set may be put into one: by an operator, or by itself.
func (o *operations) joining(h *sim.Host, key string) bool {
	for _, d := range o.desks {
		if d.concerns(h.Index()) {
			return true
		}
	}
	if !o.c.hosts[h.Index()].autoJoin {
		return false
	}
	l := o.leader(o.c.hosts[h.Index()].cluster)
	if l == nil {
		return true
	}
	r := nodeOf(l).replica
	mark, known := r.HighWatermark()
	if !known || r.VotersOffset() >= mark {
		return true
	}
	set := r.Voters()
	for k := range set.Len() {
		if set.At(k).ReplicaKey.String() == key {
			return false
		}
	}
	return true
}

// restartGraceNs is how long a node may take to end before it is killed, when it restarts with another configuration.
const restartGraceNs = 300 * million

// reconfigure restarts a node with a change to its configuration.
func (o *operations) reconfigure(w *sim.World, h *sim.Host, down int64, change func(*hostSettings)) string {
	if o.restarting(h) {
		return "it restarts already"
	}
	if !h.Up() {
		change(&o.c.hosts[h.Index()])
		return ""
	}
	if h.Booting() || h.Paused() || !o.c.ready[h.Index()] {
		return "it is starting, or stands still"
	}
	o.restarts = append(o.restarts, restart{host: h.Index(), change: change, downNs: down})
	w.Stop(h, restartGraceNs)
	return ""
}

// restarting reports whether a host was stopped and what it was stopped for is still to come.
func (o *operations) restarting(h *sim.Host) bool {
	return slices.ContainsFunc(o.restarts, func(r restart) bool { return r.host == h.Index() })
}

// move asks the budget: others do not find a voter at its new address before a voter set has it.
func (o *operations) move(w *sim.World, a *sim.Act) string {
	h, port, down := a.Host("host"), a.Number("port", raftPort), a.DurationNs("down", 20*million)
	if h == nil || a.Error != nil {
		return ""
	}
	key, ok := o.keyOf(h)
	switch {
	case port < 1 || port > math.MaxUint16:
		return "port=" + a.Params["port"] + " is none"
	case !o.c.dynamic || !o.settle():
		return "the others are configured with its address"
	case !ok:
		return "not formatted yet"
	case o.joining(h, key.String()):
		return "it may be on its way to become a voter"
	}
	name := key.String()
	if w.Budget().Damaged(name) {
		return "it has moved, or lost its disk, already"
	}
	// In a quiet plan nobody else fails meanwhile: a voter that has moved finds the others where they were, even one of two.
	if why := w.Budget().Allow(name); why != "" && !o.c.quiet {
		return why
	}
	why := o.reconfigure(w, h, down, func(e *hostSettings) { e.port, e.moved = uint16(port), true })
	if why == "" {
		w.Budget().Damage(name)
		o.moved = append(o.moved, moved{key: name, port: uint16(port), cluster: o.c.hosts[h.Index()].cluster})
	}
	return why
}

// misadvertise damages nobody: the voter set goes on with the address that works, since a leader tries a new one before it believes it
// (KAFKA-20661).
func (o *operations) misadvertise(w *sim.World, a *sim.Act) string {
	h, port, down := a.Host("host"), a.Number("port", raftPort), a.DurationNs("down", 20*million)
	switch {
	case h == nil || a.Error != nil:
		return ""
	case !o.c.dynamic || o.c.hosts[h.Index()].kind == kindBroker:
		return "nobody asks for its address"
	case o.c.hosts[h.Index()].advertised != 0:
		return "it advertises a wrong port already"
	}
	return o.reconfigure(w, h, down, func(e *hostSettings) { e.advertised = uint16(port) })
}

// correct restarts the node with its own port, as soon as it can be restarted.
func (o *operations) correct(w *sim.World, a *sim.Act) {
	h := a.Host("host")
	if o.reconfigure(w, h, 0, func(e *hostSettings) { e.advertised = 0 }) != "" {
		w.At(w.NowNs()+2*million, decide.HashString(a.ID), 1, func() { o.correct(w, a) })
	}
}

// repoint damages nobody: voters find each other by the voter set in their logs, and observers ask again when the servers are right.
func (o *operations) repoint(w *sim.World, a *sim.Act) string {
	h, down := a.Host("host"), a.DurationNs("down", 20*million)
	switch {
	case h == nil || a.Error != nil:
		return ""
	case !o.c.dynamic || o.c.hosts[h.Index()].kind == kindOperator:
		return "it has no bootstrap servers"
	case o.c.hosts[h.Index()].pointed != nil:
		return "its bootstrap servers are wrong already"
	}
	var to []string
	for _, x := range a.Hosts("to") {
		to = append(to, x.ID())
	}
	return o.reconfigure(w, h, down, func(e *hostSettings) { e.pointed = to })
}

// pointBack restarts the node with its own bootstrap servers, as soon as it can be restarted.
func (o *operations) pointBack(w *sim.World, a *sim.Act) {
	h := a.Host("host")
	if o.reconfigure(w, h, 0, func(e *hostSettings) { e.pointed = nil }) != "" {
		w.At(w.NowNs()+2*million, decide.HashString(a.ID), 1, func() { o.pointBack(w, a) })
	}
}

func (o *operations) software(w *sim.World, a *sim.Act) string {
	h, down := a.Host("host"), a.DurationNs("down", 20*million)
	release, err := features.Find(a.Params["release"])
	if h == nil || err != nil {
		return "release=" + a.Params["release"] + " is not known"
	}
	return o.reconfigure(w, h, down, func(e *hostSettings) { e.release = release })
}

func (o *operations) mislead(_ *sim.World, a *sim.Act) string {
	for i := range o.misled {
		if o.misled[i].id == a.Params["name"] {
			return "the name leads astray already"
		}
	}
	if a.Params["to"] != "" {
		o.ledAstray = append(o.ledAstray, a.Params["name"])
	}
	o.misled = append(o.misled, misled{action: a.Index, id: a.Params["name"], to: a.Params["to"]})
	return ""
}

func (o *operations) leadBack(_ *sim.World, a *sim.Act) {
	for i := range o.misled {
		if o.misled[i].action == a.Index {
			o.misled = append(o.misled[:i], o.misled[i+1:]...)
			return
		}
	}
}
