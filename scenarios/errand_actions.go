//nodet:room

package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
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
func (t *tools) formatAction(w *sim.World, a *sim.Act) string {
	e := &errand{action: a.ID, expect: a.Params["expect"], flags: a.Params, format: true}
	return t.refuse(a, t.send(w, a, e))
}

// loseFiles is the action lose-files.
func (t *tools) loseFiles(w *sim.World, a *sim.Act) string {
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
	return t.send(w, a, &errand{action: a.ID, remove: s.losable(a.Params["what"], dir)})
}

// send stops the node and has the errand run before it starts again.
func (t *tools) send(w *sim.World, a *sim.Act, e *errand) string {
	h, down := a.Host("host"), a.DurationNs("down", 20*million)
	if h == nil || a.Error != nil {
		return ""
	}
	index := h.Index()
	if s := &t.c.hosts[index]; s.kind == kindOperator || s.errand != nil {
		return "no node is there, or an operator is at work on it"
	}
	was := h.Up()
	why := t.c.ops.reconfigure(w, h, down, func(s *hostSettings) {
		s.errand = e
		t.c.ready[index] = false
	})
	if why == "" && !was {
		t.c.ops.startAfter(h, down)
	}
	return why
}

// finished is told that the errand of a host is done.
func (t *tools) finished(h *sim.Host) {
	s := &t.c.hosts[h.Index()]
	e := s.errand
	if s.errand = nil; e == nil || !e.format {
		return
	}
	lines := []string{"formatted"}
	if e.refusal != "" {
		lines = []string{strings.TrimPrefix(e.refusal, "format: ")}
	}
	t.answer(ToolAnswer{Action: e.action, Tool: "format", Host: h.ID(), Refused: e.refusal != "", Lines: lines}, e.expect)
}
