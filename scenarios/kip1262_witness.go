package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// kipWitness notes what a case of KIP-1262 is judged by: bytes on disks, messages, answers and the ends of processes. It is a
// checker of the worlds whose plan names a case, or has an action id-step.
type kipWitness struct {
	c       *cluster
	w       *sim.World
	suite   *invariants.Suite
	kase    *kipCase // nil: only steps are looked for
	hosts   []kipHost
	steps   []idStep
	answers []kipAnswer
	seen    []kipRecord // of the kinds that matter, as any process wrote them into a log
	stable  invariants.StableID
	notes   map[string]int64 // facts of single cases, by name
	reached *int64
}

// kipHost is what is known of one host.
type kipHost struct {
	dirs         []kipDirectory
	boots        int32
	refusals     []string
	fatals       []string
	bootedWithID bool  // some directory had an id when the process started
	nodeRan      int32 // starts of the node, not of the format tool, that were not refused
	inconsistent int64 // answers INCONSISTENT_CLUSTER_ID that it got
	foreign      int64 // of them, by servers whose directories hold an id
	wiped        bool
	voted        bool // it sent a standard Vote after its disk was wiped
	snapshots    int64
	lostWithout  bool // a process ended without an id while one was stable
	changed      string
}

// kipDirectory is a meta.properties file.
type kipDirectory struct {
	path   string
	found  bool
	broken bool
	props  metaprops.Properties
}

// kipAnswer is what an operator's request came to.
type kipAnswer struct {
	action string
	id     int64
	code   controller.ErrorCode
	done   bool
}

// build makes it ready for a run.
func (k *kipWitness) build(c *cluster, p *plan.Plan) {
	*k = kipWitness{c: c, w: c.w, steps: k.steps[:0], answers: k.answers[:0], seen: k.seen[:0], hosts: k.hosts[:0], notes: map[string]int64{}}
	if id := p.Params[caseParam]; id != "" {
		k.kase = findCase(id)
	}
	for i := range p.Actions {
		if p.Actions[i].Kind == stepKind {
			k.steps = append(k.steps, idStep{action: -1})
		}
	}
	watch := k.kase != nil || len(k.steps) > 0
	k.steps = k.steps[:0]
	k.handle(c.w)
	if !watch {
		k.kase = nil
		return
	}
	for _, s := range c.suite {
		if suite, ok := s.(*invariants.Suite); ok {
			k.suite = suite
		}
	}
	for i := range c.hosts {
		h := kipHost{}
		for _, dir := range c.hosts[i].allDirs() {
			h.dirs = append(h.dirs, kipDirectory{path: dir})
		}
		k.hosts = append(k.hosts, h)
	}
	if k.kase != nil {
		k.reached = c.w.Sometimes(k.kase.sometimes())
	}
	c.w.Add(k)
}

// allDirs are the log directories with the metadata directory, no path twice.
func (h *hostSettings) allDirs() []string {
	dirs := h.dirs
	for _, d := range dirs {
		if d == h.metadataDir {
			return dirs
		}
	}
	return append(dirs[:len(dirs):len(dirs)], h.metadataDir)
}

// Attach is sim.Checker.
func (k *kipWitness) Attach(*sim.World) {
	for _, h := range k.w.Hosts() {
		k.read(h)
	}
}

// OnBoot is sim.LifeChecker.
func (k *kipWitness) OnBoot(h *sim.Host) {
	x := &k.hosts[h.Index()]
	x.boots++
	x.bootedWithID = x.id() != ""
}

// OnDown is sim.LifeChecker.
func (k *kipWitness) OnDown(h *sim.Host, kind sim.DownKind, err error) {
	x := &k.hosts[h.Index()]
	switch kind {
	case sim.RefusedToStart:
		x.refusals = append(x.refusals, err.Error())
	case sim.FatalError:
		x.fatals = append(x.fatals, err.Error())
	}
	k.mixing(h)
	k.look()
	if x.id() == "" && len(k.stable.ClusterIDs) > 0 && x.nodeRan > 0 {
		x.lostWithout = true
	}
}

// OnWipe is sim.WipeChecker.
func (k *kipWitness) OnWipe(h *sim.Host) {
	k.hosts[h.Index()].wiped = k.c.ready[h.Index()] // else the operator has not formatted it yet
}

// OnDisk is sim.DiskChecker.
func (k *kipWitness) OnDisk(h *sim.Host, v *vdisk.Volume, op *vdisk.Op) {
	switch {
	case op.Kind == vdisk.OpWrite && strings.HasSuffix(op.Path, ".log"):
		k.decode(h, op.Data)
	case op.Kind == vdisk.OpRename && strings.HasSuffix(op.To, "/"+metaprops.FileName),
		op.Kind == vdisk.OpRemove && strings.HasSuffix(op.Path, "/"+metaprops.FileName):
		k.read(h)
		k.identityStep(h)
	case op.Kind == vdisk.OpRename && strings.HasSuffix(op.To, ".checkpoint"):
		k.hosts[h.Index()].snapshots++
		k.snapshot(h, v, op.To)
	}
}

// OnDiskCrash is sim.DiskChecker.
func (k *kipWitness) OnDiskCrash(h *sim.Host, _ *vdisk.Volume) {
	x := &k.hosts[h.Index()]
	before := x.changed // what a power loss takes back is not a change
	k.read(h)
	x.changed = before
}

// OnStep is sim.StepChecker.
func (k *kipWitness) OnStep() {
	if len(k.steps) > 0 {
		k.stableSteps()
	}
}

// OnProtocol is sim.ProtocolChecker: a node that makes itself heard has started; what a listener is given is a call across a seam.
func (k *kipWitness) OnProtocol(h *sim.Host, o sim.Observation) {
	x := &k.hosts[h.Index()]
	switch o := o.(type) {
	case *invariants.RaftObservation:
		if o.E.Kind == raft.RoleChanged {
			x.nodeRan = max(x.nodeRan, 1)
		}
	case *invariants.CommitDelivered:
		if o.Listener == "loader" {
			if k.notes["mark-known/"+h.ID()] > 0 && k.notes["loaded/"+h.ID()] == 0 {
				k.notes["loader-late/"+h.ID()] = 1 // T21
			}
			k.notes["loaded/"+h.ID()]++
		}
	case *invariants.SnapshotDelivered:
		if x.id() == "" {
			k.notes["snapshot-without-id/"+h.ID()]++
		}
	}
}

// read takes the meta.properties of a host in.
func (k *kipWitness) read(h *sim.Host) {
	x := &k.hosts[h.Index()]
	for i := range x.dirs {
		d := &x.dirs[i]
		data, found := h.Volume().File(metaprops.Path(d.path))
		before := *d
		d.found, d.broken = found, false
		if !found {
			continue
		}
		props, err := metaprops.Parse(data, metaprops.V2)
		if d.broken = err != nil; d.broken {
			continue
		}
		d.props = props
		if before.found && before.props.HasClusterID && !x.wiped && (!props.HasClusterID || props.ClusterID != before.props.ClusterID) {
			x.changed = before.props.ClusterID + " became " + props.ClusterID
		}
	}
}

// id is the cluster id that a host holds, "" for none.
func (x *kipHost) id() string {
	for i := range x.dirs {
		if d := &x.dirs[i]; d.found && d.props.HasClusterID {
			return d.props.ClusterID
		}
	}
	return ""
}

// look brings what the committed log says up to date.
func (k *kipWitness) look() {
	if k.suite != nil {
		k.suite.Stable(0, &k.stable)
	}
}

// of returns what is known of a host by its id.
func (k *kipWitness) of(id string) *kipHost {
	if h := k.w.Host(id); h != nil {
		return &k.hosts[h.Index()]
	}
	return &kipHost{} // shrinking took it away
}

// found returns what contradicts the table of cases as things stand, "" for nothing.
func (k *kipWitness) found() (evidence, detail string) {
	if k.kase == nil || !k.kase.applies(k.c.variant.String()) {
		return "", ""
	}
	k.look()
	for _, h := range k.w.Hosts() {
		k.read(h)
		k.mixing(h)
	}
	if !k.kase.reached(k) {
		return "", ""
	}
	if evidence, detail = k.kase.wrong(k); evidence != "" {
		evidence = k.kase.id + "-" + evidence
	}
	return evidence, detail
}

// AtEnd is sim.EndChecker: the verdict on the case.
func (k *kipWitness) AtEnd() {
	evidence, detail := k.found()
	if k.kase == nil || !k.kase.applies(k.c.variant.String()) || !k.kase.reached(k) {
		return
	}
	*k.reached++
	*k.w.Evaluated(kipCaseName)++
	if evidence != "" {
		k.w.Violate(kipCaseName, evidence, detail)
		return
	}
	for i := range k.hosts {
		if x := &k.hosts[i]; x.changed != "" {
			k.w.Violate(kipCaseName, k.kase.id+"-id-changed", "the cluster id of "+k.c.hosts[i].id+" "+x.changed)
			return
		}
	}
}

// allows reports whether a process may end like this in the case of the run.
func (k *kipWitness) allows(host string, refused bool, err error) bool {
	if k.kase == nil {
		return false
	}
	return k.refusedForFormat(host, refused, err) || k.kase.allows != nil && k.kase.allows(k, host, refused, err)
}

// hopeless says why nobody can be elected.
func (k *kipWitness) hopeless() string {
	switch {
	case k.kase == nil:
		return ""
	case k.kase.hopeless != nil:
		return k.kase.hopeless(k)
	}
	return k.refuseMajority()
}

// answered hears the outcome of an operation.
func (k *kipWitness) answered(id int64, code controller.ErrorCode) {
	for i := range k.answers {
		if a := &k.answers[i]; a.id == id && !a.done {
			a.code, a.done = code, true
		}
	}
}

// kipRecord is a record of a metadata log that matters here.
type kipRecord struct {
	host   int32
	offset int64
	base   int64 // of its batch
	epoch  int32
	kind   kipRecordKind
	level  int16
	id     string
	atNs   int64
}

// batchesOf calls f with each whole batch.
func batchesOf(data []byte, f func(b record.Batch)) {
	for len(data) > 0 {
		b, rest, err := record.NextBatch(data)
		if err != nil || b == nil {
			return
		}
		f(b)
		data = rest
	}
}
