package scenarios

import (
	"strconv"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// procedure is an operator's runbook: the actions of the kind "procedure", one after the other, whatever fails meanwhile. A step begins
// when its time has come and all before it are done, and is asked for until it is done; so a rolling upgrade is a list of actions, which
// shrinks and prints as any other. What the operator waits for before he takes a node down is what a careful one looks at: a
// leader, and all the other voters running and caught up.
type procedure struct {
	c       *cluster
	steps   []procedureStep // those whose time has come
	planned int
	at      int // of steps: the first that is not done
	polls   int64
	polling bool
	stable  invariants.StableID
	suite   *invariants.Suite
	done    *int64
}

// procedureStep is a step.
type procedureStep struct {
	action  string
	do      string
	host    *sim.Host
	release *features.Release
	feature string
	level   int16
	desk    *desk
	downNs  int64
	careful bool
	ready   string
	overlap bool

	begun   bool
	askedNs int64
}

const (
	procedureKind = "procedure"
	doRoll        = "roll"
	doFinalize    = "finalize"
	doEnlist      = "enlist"
	doRetire      = "retire"
	doStart       = "start"
	doFail        = "fail"
	doRename      = "rename"
)

// procedureActionKind is the action.
func procedureActionKind() plan.Kind {
	return plan.Kind{Name: procedureKind, Doc: "a step of an operator's runbook; it begins when those before it are done, and lasts until it is done", Fields: []plan.Field{
		{Name: "do", Type: plan.WordField, Words: []string{doRoll, doFinalize, doEnlist, doRetire, doStart, doFail, doRename}, Required: true,
			Doc: "restart a host with a release, raise a feature, make a replica a voter or none, start a host, kill it, or restart it under another host name"},
		{Name: "host", Type: plan.HostField, Doc: "the host of all but finalize; retire and fail without it: whoever leads"},
		{Name: "release", Type: plan.WordField, Words: features.Names(), Doc: "roll: the release"},
		{Name: "feature", Type: plan.TextField, Doc: "finalize: the feature; absent: metadata.version"},
		{Name: "level", Type: plan.NumberField, Min: 0, Max: 127, Doc: "finalize: its level"},
		{Name: "by", Type: plan.HostField, Doc: "enlist, retire: the operator's machine"},
		{Name: "careless", Type: plan.WordField, Words: []string{"no", "yes"}, Doc: "roll, fail, rename: whether nobody looks at the other voters first; absent: no"},
		{Name: "ready", Type: plan.WordField, Words: []string{readyProcess, readyLeader}, Doc: "start: done when the process answers, or knows a leader; absent: process"},
		{Name: "overlap", Type: plan.WordField, Words: []string{"no", "yes"}, Doc: "rename: whether the old name leads to the host too; absent: no"},
		fieldDowntime}}
}

// build makes it ready for a run.
func (r *procedure) build(c *cluster, p *plan.Plan) {
	*r = procedure{c: c, steps: r.steps[:0], stable: r.stable, done: c.w.Stat("procedure-steps-done")}
	for i := range p.Actions {
		if p.Actions[i].Kind == procedureKind {
			r.planned++
		}
	}
	c.w.Handle(procedureKind, sim.ActionHandler{Do: r.add})
	if r.planned == 0 {
		return
	}
	for _, s := range c.suite {
		if suite, ok := s.(*invariants.Suite); ok {
			r.suite = suite
		}
	}
	c.w.AddObligation(r)
}

// add is the handler of the action: a step that can't be is refused and not waited for.
func (r *procedure) add(_ *sim.World, a *sim.Act) string {
	s := procedureStep{action: a.ID, do: a.Word("do", doRoll), feature: a.Params["feature"], level: int16(a.Number("level", 0)),
		downNs: a.DurationNs("down", 20*million), careful: a.Word("careless", "no") == "no",
		ready: a.Word("ready", readyProcess), overlap: a.Word("overlap", "no") == "yes"}
	if a.Params["host"] != "" {
		s.host = a.Host("host")
	}
	if s.feature == "" {
		s.feature = features.MetadataVersion
	}
	why := r.complete(&s, a)
	if why != "" || a.Error != nil {
		r.planned--
		return why
	}
	r.steps = append(r.steps, s)
	if !r.polling {
		r.polling = true
		r.poll()
	}
	return ""
}

// complete finds what a step needs.
func (r *procedure) complete(s *procedureStep, a *sim.Act) string {
	switch s.do {
	case doRoll:
		release, err := features.Find(a.Params["release"])
		if s.host == nil || err != nil {
			return "roll needs a host and a release"
		}
		s.release = release
	case doStart, doRename:
		if s.host == nil {
			return s.do + " needs a host"
		}
	case doEnlist, doRetire:
		if s.desk = r.c.ops.deskOf(a); s.desk == nil {
			return "by=" + a.Params["by"] + " is no operator"
		}
		if s.host == nil && s.do == doEnlist {
			return "enlist needs a host"
		}
	}
	if s.host == nil {
		return ""
	}
	if kind := r.c.hosts[s.host.Index()].kind; kind == kindOperator || kind == kindBroker && (s.do == doEnlist || s.do == doRetire || s.do == doRename) {
		return "host=" + s.host.ID() + " is no node that this can be done to"
	}
	return ""
}

// poll goes as far as it can and comes back.
func (r *procedure) poll() {
	for r.at < len(r.steps) && r.advance(&r.steps[r.at]) {
		r.c.w.Note(procedureKind, r.steps[r.at].action+" is done")
		r.at++
		*r.done++
	}
	if r.polling = r.at < len(r.steps); !r.polling {
		return
	}
	r.polls++
	r.c.w.At(r.c.w.NowNs()+r.pauseNs(), decide.HashString(procedureKind), uint64(r.polls), r.poll)
}

// pauseNs is the time between two looks.
func (r *procedure) pauseNs() int64 { return max(2*million, r.c.timeouts.election*million/4) }

// advance takes a step on, and reports whether it is done.
func (r *procedure) advance(s *procedureStep) bool {
	switch s.do {
	case doRoll:
		return r.roll(s)
	case doFinalize:
		return r.finalize(s)
	case doStart:
		return r.start(s)
	case doFail:
		return r.fail(s)
	case doRename:
		return r.rename(s)
	}
	return r.change(s)
}

func (r *procedure) roll(s *procedureStep) bool {
	if s.begun {
		return r.c.hosts[s.host.Index()].release == s.release && r.caughtUp(s.host)
	}
	if !s.careful || r.healthyWithout(s.host) {
		s.begun = r.c.ops.reconfigure(r.c.w, s.host, s.downNs, func(e *hostSettings) { e.release = s.release }) == ""
	}
	return false
}

// healthyWithout reports whether there is a leader, and every other voter runs and has what the leader has committed.
func (r *procedure) healthyWithout(but *sim.Host) bool {
	l := r.c.ops.leader(0)
	if l == nil {
		return false
	}
	set := nodeOf(l).replica.Voters()
	for i, h := range r.c.w.Hosts() {
		e := &r.c.hosts[i]
		if h != but && (e.kind == kindController || e.kind == kindObserver) && set.Find(e.nodeID) != nil && !r.caughtUp(h) {
			return false
		}
	}
	return true
}

// caughtUp reports whether a node runs and has everything that the leader knows to be committed.
func (r *procedure) caughtUp(h *sim.Host) bool {
	n, l := r.c.ops.running(h), r.c.ops.leader(0)
	if n == nil || l == nil {
		return false
	}
	mark, known := nodeOf(l).replica.HighWatermark()
	return known && n.replica.LogEndOffset() >= mark
}

func (r *procedure) finalize(s *procedureStep) bool {
	if r.level(s.feature) >= s.level {
		return true
	}
	now := r.c.w.NowNs()
	if h := r.c.work.active(0); h != nil && (s.askedNs == 0 || now >= s.askedNs+2*r.c.timeouts.election*million) {
		s.askedNs = now
		r.c.work.kraft.asked = r.c.work.kraft.asked || s.feature == features.KRaftVersion
		r.c.work.submit(h, controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{{
			Feature: s.feature, Level: s.level, UpgradeType: controller.Upgrade}}})
	}
	return false
}

// level is that of a feature in what is committed; of features that the stable view does not name, in what a controller has.
func (r *procedure) level(feature string) int16 {
	switch feature {
	case features.MetadataVersion:
		r.suite.Stable(0, &r.stable)
		return r.stable.Version
	case features.KRaftVersion:
		if r.c.work.kraft.inForce() {
			return 1
		}
		return 0
	}
	if h := r.c.work.active(0); h != nil {
		return levelAt(nodeOf(h), feature)
	}
	return -1
}

// change leaves the asking to the operator's desk, and asks the desk again when that gave it up.
func (r *procedure) change(s *procedureStep) bool {
	l := r.c.ops.leader(0)
	if l == nil || len(s.desk.tasks) > 0 {
		return false
	}
	replica := nodeOf(l).replica
	mark, known := replica.HighWatermark()
	if !known || replica.VotersOffset() >= mark {
		return false
	}
	if s.host == nil {
		s.host = l
	}
	key, ok := r.c.ops.keyOf(s.host)
	if !ok {
		return false
	}
	if replica.Voters().Contains(key) == (s.do == doEnlist) {
		return true
	}
	s.desk.wish(task{add: s.do == doEnlist, host: s.host.Index(), action: s.action})
	return false
}

// Met implements sim.Obligation: in the calm the runbook comes to its end.
func (r *procedure) Met() bool { return r.at == len(r.steps) && len(r.steps) == r.planned }

// Waiting implements sim.Obligation.
func (r *procedure) Waiting() string {
	if r.at >= len(r.steps) {
		return "procedure: nothing"
	}
	return "procedure: step " + r.steps[r.at].action + " of " + strconv.Itoa(r.planned) + " is not done"
}
