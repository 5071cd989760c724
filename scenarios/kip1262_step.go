package scenarios

import (
	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

const stepKind = "id-step"

// idStep fails a node at a step on the way of a cluster id from the first leader to the last directory, as bytes show it: faults at
// fixed times meet such a step once in a hundred runs.
type idStep struct {
	action int
	at     string
	host   int // -1: whichever it is
	left   int64
	downNs int64
	power  bool
}

// The steps.
const (
	stepFirstStored = "first-stored" // a directory got the cluster id, and another of the node lacks it
	stepStable      = "stable"       // the record is stable, and the host's directories lack it
	stepAppended    = "appended"     // the leader of an epoch wrote the record into its log
	stepOpen        = "open"         // the record is committed, and its transaction is open
	stepNewIdentity = "new-identity" // meta.properties was written, and raft has not run yet
)

// kipKinds are the kinds of actions that cases add.
func kipKinds() []plan.Kind {
	return []plan.Kind{
		{Name: stepKind, Doc: "a node fails at a step on the way of a cluster id", Fields: []plan.Field{
			{Name: "at", Type: plan.WordField, Words: []string{stepFirstStored, stepStable, stepAppended, stepOpen, stepNewIdentity}, Required: true, Doc: "the step"},
			{Name: "host", Type: plan.HostField, Doc: "whose; absent: anybody's"},
			{Name: "n", Type: plan.NumberField, Min: 1, Max: million, Doc: "the how manyth from now on; absent: 1"},
			{Name: "how", Type: plan.WordField, Words: []string{"kill", "power"}, Doc: "kill (default) or power"},
			fieldDowntime}},
		{Name: "ask-version", Doc: "an operator asks for a metadata.version until a controller that is active answers, once", Fields: []plan.Field{
			{Name: "level", Type: plan.NumberField, Min: 0, Max: 127, Required: true, Doc: "metadata.version as a number"},
			{Name: "how", Type: plan.WordField, Words: []string{"upgrade", "safe-downgrade", "unsafe-downgrade"}, Doc: "absent: upgrade"},
			{Name: "validate", Type: plan.WordField, Words: []string{"no", "yes"}, Doc: "only ask whether it could; absent: no"}}},
		{Name: "lose-identity", Doc: "a node dies, and its meta.properties are deleted; the log stays", Fields: []plan.Field{fieldNode, fieldDowntime}},
	}
}

// handle registers what the kinds do in this run.
func (k *kipWitness) handle(w *sim.World) {
	w.Handle(stepKind, sim.ActionHandler{Do: k.wait})
	w.Handle("ask-version", sim.ActionHandler{Do: k.ask})
	w.Handle("lose-identity", sim.ActionHandler{Do: k.loseIdentity})
}

// wait is the handler of id-step.
func (k *kipWitness) wait(_ *sim.World, a *sim.Act) string {
	s := idStep{action: a.Index, at: a.Word("at", ""), host: -1, left: a.Number("n", 1), downNs: a.DurationNs("down", 20*million),
		power: a.Word("how", "kill") == "power"}
	if a.Params["host"] != "" {
		h := a.Host("host")
		if h == nil {
			return ""
		}
		s.host = h.Index()
	}
	k.steps = append(k.steps, s)
	return ""
}

// meet counts a step down and fails the node when it is the one.
func (k *kipWitness) meet(at string, h *sim.Host) {
	for i := range k.steps {
		s := &k.steps[i]
		if s.at != at || s.left <= 0 || s.host >= 0 && s.host != h.Index() || k.w.Calm() {
			continue
		}
		if s.left--; s.left > 0 {
			continue
		}
		k.notes["met/"+at]++
		boot, power, down := h.Boot(), s.power, s.downNs
		k.w.At(k.w.NowNs(), decide.HashString(stepKind), uint64(s.action), func() {
			if k.w.Calm() || !h.Up() || h.Boot() != boot {
				return
			}
			k.notes["struck/"+at]++
			if power {
				k.w.PowerOff(h)
			} else {
				k.w.Kill(h)
			}
			k.c.ops.startAfter(h, down)
		})
	}
}

// identityStep looks at a host whose meta.properties changed.
func (k *kipWitness) identityStep(h *sim.Host) {
	if len(k.steps) == 0 || !h.Up() || !k.c.ready[h.Index()] {
		return
	}
	with, without := false, false
	for _, d := range k.hosts[h.Index()].dirs {
		with = with || d.found && d.props.HasClusterID
		without = without || d.found && !d.props.HasClusterID
	}
	if with && without {
		k.meet(stepFirstStored, h)
	}
	dir := bootstrap.PartitionPath(k.c.hosts[h.Index()].metadataDir)
	if _, found := h.Volume().File(dir + "/" + quorumstate.FileName); !found {
		k.meet(stepNewIdentity, h)
	}
}

// appendStep looks at a record that a process wrote into its log.
func (k *kipWitness) appendStep(h *sim.Host, x *kipRecord) {
	if x.kind != recordID || len(k.steps) == 0 {
		return
	}
	if n := nodeOf(h); n != nil && n.replica != nil && n.replica.Role() == raft.Leader {
		k.meet(stepAppended, h)
	}
}

// stableSteps looks at the committed log.
func (k *kipWitness) stableSteps() {
	k.look()
	for i := range k.steps {
		s := &k.steps[i]
		switch {
		case s.left <= 0:
		case s.at == stepStable && len(k.stable.ClusterIDs) > 0:
			for _, h := range k.w.Hosts() {
				if n := nodeOf(h); n != nil && !h.Booting() && (s.host < 0 || s.host == h.Index()) && k.hosts[h.Index()].id() == "" {
					k.meet(stepStable, h)
					break
				}
			}
		case s.at == stepOpen && k.stable.Open && k.openID():
			if l := k.c.ops.leader(0); l != nil {
				k.meet(stepOpen, l)
			}
		}
	}
}

// openID reports whether the transaction that is open holds a committed ClusterIdRecord.
func (k *kipWitness) openID() bool {
	for i := len(k.seen) - 1; i >= 0; i-- {
		switch x := &k.seen[i]; {
		case x.offset >= k.stable.End:
		case x.kind == recordID:
			return true
		case x.kind == recordBegin || x.kind == recordEnd:
			return false
		}
	}
	return false
}

// ask is the handler of ask-version.
func (k *kipWitness) ask(_ *sim.World, a *sim.Act) string {
	how := map[string]int8{"upgrade": controller.Upgrade, "safe-downgrade": controller.SafeDowngrade, "unsafe-downgrade": controller.UnsafeDowngrade}
	op := controller.Op{Kind: controller.UpdateFeatures, ValidateOnly: a.Word("validate", "no") == "yes", Updates: []controller.FeatureUpdate{{
		Feature: features.MetadataVersion, Level: int16(a.Number("level", 0)), UpgradeType: how[a.Word("how", "upgrade")]}}}
	k.askAgain(a.ID, op, 0)
	return ""
}

// askAgain asks whoever claims to be active, until somebody who is gives an answer.
func (k *kipWitness) askAgain(action string, op controller.Op, attempt int64) {
	const most = 200
	last := (*kipAnswer)(nil)
	for i := range k.answers {
		if k.answers[i].action == action {
			last = &k.answers[i]
		}
	}
	if attempt >= most || last != nil && last.done && last.code != controller.NotController {
		return
	}
	if h := k.c.work.active(0); h != nil && (last == nil || last.done || attempt%20 == 0) {
		k.answers = append(k.answers, kipAnswer{action: action, id: k.c.work.next + 1})
		k.c.work.submit(h, op) // the answer may come before this returns
	}
	k.w.At(k.w.NowNs()+k.c.timeouts.election*million/2, decide.HashString(action), uint64(attempt), func() { k.askAgain(action, op, attempt+1) })
}

// outcome is what an ask-version came to: the last answer that is none of a controller that is not active.
func (k *kipWitness) outcome(action string) (code controller.ErrorCode, answered bool) {
	for i := range k.answers {
		if a := &k.answers[i]; a.action == action && a.done && a.code != controller.NotController {
			code, answered = a.code, true
		}
	}
	return code, answered
}

// loseIdentity is the handler of its action.
func (k *kipWitness) loseIdentity(w *sim.World, a *sim.Act) string {
	h, down := a.Host("host"), a.DurationNs("down", 20*million)
	if h == nil || a.Error != nil {
		return ""
	}
	if !k.c.ready[h.Index()] {
		return "not formatted yet"
	}
	w.Kill(h)
	files, removed := h.Volume().Handle(vdisk.Immediate{}), false
	for _, dir := range k.c.hosts[h.Index()].allDirs() {
		if files.Remove(metaprops.Path(dir)) == nil {
			removed = files.SyncDir(dir) == nil || removed
		}
	}
	files.Drop()
	k.c.ops.startAfter(h, down)
	if !removed {
		return "it has no meta.properties"
	}
	k.notes["lost-identity"]++
	k.notes["lost/"+h.ID()]++
	return ""
}
