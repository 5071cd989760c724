package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// featureCall is one call of the operator's feature tool (metadata-bootstrap 5.9): it asks the active controller, again when it is no
// longer active or gives no answer in time, and says what came of it.
type featureCall struct {
	action   string
	expect   string
	describe bool
	tool     features.Tool
	levels   []features.Level
	op       int64  // under way, 0: none
	host     string // that was asked last
	attempts int64
	done     bool
}

// mostAttempts is how often the tool asks before it gives up.
const mostAttempts = 100

// featureKind is the action features.
func featureKind() plan.Kind {
	truth := []string{"true", "false"}
	return plan.Kind{Name: "features", Doc: "an operator runs the feature tool against the active controller", Fields: []plan.Field{
		{Name: "do", Type: plan.WordField, Words: []string{"describe", "upgrade", "downgrade", "disable"}, Required: true, Doc: "the command"},
		{Name: "feature", Type: plan.TextField, Doc: "--feature NAME=LEVEL, of disable NAME, with commas between"},
		{Name: "metadata", Type: plan.TextField, Doc: "--metadata, a version as 3.9"},
		{Name: "release_version", Type: plan.TextField, Doc: "--release-version, a version as 3.9"},
		{Name: "unsafe", Type: plan.WordField, Words: truth, Doc: "--unsafe; absent: false"},
		{Name: "dry_run", Type: plan.WordField, Words: truth, Doc: "--dry-run; absent: false"},
		{Name: "release", Type: plan.WordField, Words: features.Names(), Doc: "software of the tool; absent: that of the first controller"},
		fieldExpect}}
}

// FeatureTool reads the parameters of an action features; describe has no levels.
func FeatureTool(params plan.Params, release *features.Release) (tool features.Tool, describe bool, err error) {
	tool = features.Tool{Release: release, Metadata: params["metadata"], ReleaseVersion: params["release_version"],
		Unsafe: params["unsafe"] == "true", DryRun: params["dry_run"] == "true"}
	if list := params["feature"]; list != "" {
		tool.Features = strings.Split(list, ",")
	}
	if params["do"] == "describe" {
		return tool, true, nil
	}
	tool.Command, err = features.ParseCommand(params["do"])
	return tool, false, err
}

// featuresAction is the action features. A call that is wrong by itself is refused by the tool, and nobody is asked.
func (t *tools) featuresAction(_ *sim.World, a *sim.Act) string {
	release := t.c.hosts[0].release
	if name, given := a.Params["release"]; given {
		found, err := features.Find(name)
		if err != nil {
			return t.refuse(a, err.Error())
		}
		release = found
	}
	tool, describe, err := FeatureTool(a.Params, release)
	call := featureCall{action: a.ID, expect: a.Params["expect"], describe: describe, tool: tool}
	if err == nil && !describe {
		call.levels, err = tool.Levels()
	}
	t.calls = append(t.calls, call)
	n := len(t.calls) - 1
	if err != nil {
		t.end(n, "", true, []string{strings.TrimPrefix(err.Error(), "features: ")})
		return ""
	}
	t.ask(n)
	return ""
}

// ask sends the request of a call, unless it has its answer.
func (t *tools) ask(n int) {
	call := &t.calls[n]
	if call.done {
		return
	}
	if call.attempts++; call.attempts > mostAttempts {
		t.end(n, "", true, call.tool.Answer(call.levels, "timed out: no active controller answered"))
		return
	}
	call.op = 0
	if h := t.c.work.active(0); h != nil {
		if call.describe {
			t.describe(n, h)
			return
		}
		call.host = h.ID()
		call.op = t.c.work.next + 1 // the answer may come at once
		t.c.work.submit(h, t.request(call))
	}
	if t.calls[n].done {
		return
	}
	t.c.w.At(t.c.w.NowNs()+2*t.c.timeouts.election*million, decide.HashString("features/"+call.action), uint64(call.attempts), func() { t.ask(n) })
}

// request is a call as an operation of the controller.
func (t *tools) request(call *featureCall) controller.Op {
	kind := controller.Upgrade
	if call.tool.Command != features.Upgrade {
		if kind = controller.SafeDowngrade; call.tool.Unsafe {
			kind = controller.UnsafeDowngrade
		}
	}
	op := controller.Op{Kind: controller.UpdateFeatures, ValidateOnly: call.tool.DryRun}
	for _, l := range call.levels {
		op.Updates = append(op.Updates, controller.FeatureUpdate{Feature: l.Name, Level: l.Level, UpgradeType: kind})
	}
	return op
}

// answered hears the outcome of an operation, which may be one of the tool's.
func (t *tools) answered(op int64, r *controller.Result) {
	for n := range t.calls {
		call := &t.calls[n]
		if call.op != op || call.done {
			continue
		}
		switch r.Code {
		case controller.NotController, controller.RequestTimedOut: // it asks again
		case controller.None:
			t.end(n, call.host, false, call.tool.Answer(call.levels, ""))
		default:
			t.end(n, call.host, true, call.tool.Answer(call.levels, r.Code.String()+": "+r.Message))
		}
		return
	}
}

func (t *tools) end(n int, host string, refused bool, lines []string) {
	call := &t.calls[n]
	call.done = true
	t.answer(ToolAnswer{Action: call.action, Tool: "features", Host: host, Refused: refused, Lines: lines}, call.expect)
}

// describe answers from what a controller has published, as of the last offset that it applied.
func (t *tools) describe(n int, h *sim.Host) {
	node := nodeOf(h)
	release, image := node.h.release, node.loader.Image()
	var lines []string
	for _, name := range release.FeatureNames() {
		level := image.FeatureLevel(name)
		switch name {
		case features.MetadataVersion:
			level = image.MetadataVersion()
		case features.KRaftVersion:
			level = node.replica.KRaftVersion()
		}
		lines = append(lines, release.Describe(name, level, node.h.unstable, node.loader.LastAppliedOffset()))
	}
	t.end(n, h.ID(), false, lines)
}
