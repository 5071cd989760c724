package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// errandKinds are the operators' steps on the storage of a host that is stopped for them.
func errandKinds() []plan.Kind {
	truth := []string{"true", "false"}
	return []plan.Kind{
		{Name: "format", Doc: "an operator stops a node, runs the format tool with right or wrong flags, and starts it again", Fields: []plan.Field{
			fieldNode, fieldDowntime,
			{Name: "ignore_formatted", Type: plan.WordField, Words: truth, Doc: "--ignore-formatted; absent: false"},
			{Name: "cluster_id", Type: plan.TextField, Doc: "--cluster-id; absent: the right one"},
			{Name: "node_id", Type: plan.NumberField, Max: 1 << 30, Doc: "node.id in the configuration that the tool reads; absent: the right one"},
			{Name: "roles", Type: plan.WordField, Words: []string{"broker", "controller", "both", "none"}, Doc: "process.roles in it; absent: the right ones"},
			{Name: "voters", Type: plan.WordField, Words: []string{"set", "empty"}, Doc: "controller.quorum.voters in it; absent: as it is"},
			{Name: "voters_flag", Type: plan.WordField, Words: []string{"standalone", "no-initial-controllers", "initial-controllers", "nothing", "two"},
				Doc: "which flag says who votes; absent: the right one"},
			{Name: "initial", Type: plan.TextField, Doc: "the list of --initial-controllers; absent: the cluster's"},
			{Name: "level", Type: plan.TextField, Doc: "--release-version; absent: the cluster's"},
			{Name: "features", Type: plan.TextField, Doc: "--feature NAME=LEVEL, with commas between; absent: none"},
			{Name: "scram", Type: plan.TextField, Doc: "--add-scram; absent: none"},
			{Name: "unstable", Type: plan.WordField, Words: truth, Doc: "unstable.feature.versions.enable; absent: as it is"},
			{Name: "release", Type: plan.WordField, Words: features.Names(), Doc: "software of the tool; absent: the host's"},
			fieldExpect}},
		{Name: "lose-files", Doc: "a node stops and starts again without some of the files that the format tool wrote", Fields: []plan.Field{
			fieldNode, fieldDowntime,
			{Name: "what", Type: plan.WordField, Words: []string{"meta.properties", "bootstrap.checkpoint", "0-0.checkpoint", "all"}, Required: true,
				Doc: "which files"},
			{Name: "dir", Type: plan.NumberField, Max: mostDirs - 1, Doc: "in which log directory, by number; absent: the metadata directory"}}},
	}
}

// fieldExpect declares what comes out of a tool.
var fieldExpect = plan.Field{Name: "expect", Type: plan.TextField,
	Doc: "ok, or a piece of what the tool says when it refuses: another answer is a finding; absent: any"}

// formatAction is the action format.
func (t *tools) formatAction(_ *sim.World, a *sim.Act) string {
	e := &errand{action: a.ID, expect: a.Params["expect"], flags: a.Params, format: true}
	return t.refuse(a, t.send(a, e))
}

// loseFiles is the action lose-files.
func (t *tools) loseFiles(_ *sim.World, a *sim.Act) string {
	h := a.Host("host")
	number := a.Number("dir", -1)
	if h == nil || a.Error != nil {
		return ""
	}
	s := &t.c.hosts[h.Index()]
	dir := s.metadataDir
	if number >= int64(len(s.dirs)) {
		return "it has no directory " + a.Params["dir"]
	}
	if number >= 0 {
		dir = s.dirs[number]
	}
	return t.send(a, &errand{action: a.ID, remove: s.losable(a.Params["what"], dir)})
}

// waiting is an errand that an operator can't do yet: the node starts, stands still, or somebody is at work on it.
type waiting struct {
	host   int
	downNs int64
	errand *errand
}

// retryNs is how long an operator waits before he looks at the host again.
const retryNs = 2 * million

// send stops the node and has the errand run before it starts again, one errand after the other.
func (t *tools) send(a *sim.Act, e *errand) string {
	h, down := a.Host("host"), a.DurationNs("down", 20*million)
	if h == nil || a.Error != nil {
		return ""
	}
	if t.c.hosts[h.Index()].kind == kindOperator {
		return "no node is there"
	}
	t.waiting = append(t.waiting, waiting{host: h.Index(), downNs: down, errand: e})
	t.next(h)
	return ""
}

// next tries the first errand that waits for a host.
func (t *tools) next(h *sim.Host) {
	at := slices.IndexFunc(t.waiting, func(w waiting) bool { return w.host == h.Index() })
	if at < 0 {
		return
	}
	w := t.waiting[at]
	s := &t.c.hosts[w.host]
	switch {
	case t.c.w.Calm(): // the operators have gone home
		t.dropped, s.unserved = append(t.dropped, w.errand.action), true
	case s.errand != nil || !t.c.ready[w.host] || !t.start(h, &w): // the first format is not done yet, either
		t.again(h)
		return
	}
	t.waiting = slices.Delete(t.waiting, at, at+1)
	t.next(h)
}

func (t *tools) again(h *sim.Host) {
	t.tries++
	t.c.w.At(t.c.w.NowNs()+retryNs, decide.HashString("errand/"+h.ID()), uint64(t.tries), func() { t.next(h) })
}

// start stops the node for an errand; false when that is not possible now.
func (t *tools) start(h *sim.Host, w *waiting) bool {
	was := h.Up()
	why := t.c.ops.reconfigure(t.c.w, h, w.downNs, func(s *hostSettings) {
		s.errand = w.errand
		t.c.ready[w.host] = false
	})
	if why == "" && !was {
		t.c.ops.startAfter(h, w.downNs)
	}
	return why == ""
}

// finished is told that the errand of a host is done.
func (t *tools) finished(h *sim.Host) {
	s := &t.c.hosts[h.Index()]
	e := s.errand
	s.errand = nil
	if e == nil { // the first format
		t.fresh[h.Index()] = true
	}
	if e == nil || !e.format {
		t.lost[h.Index()] = t.lost[h.Index()] || e != nil
		return
	}
	lines := []string{"formatted"}
	if e.refusal != "" {
		lines = []string{strings.TrimPrefix(e.refusal, "format: ")}
	}
	t.answer(ToolAnswer{Action: e.action, Tool: "format", Host: h.ID(), Refused: e.refusal != "", Lines: lines}, e.expect)
	t.fresh[h.Index()] = true
}
