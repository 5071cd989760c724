package scenarios

import (
	"maps"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// formatCase is one thing that operators do to the storage of one host of a cluster, with what must come of it.
type formatCase struct {
	name    string
	broker  bool   // on a broker; else on a voter
	quorum  string // static, dynamic, "" for either
	format  string // how the host is found, "" for full
	dirs    int64
	refuses string // a piece of the error with which its start is refused at first
	stays   bool   // nobody helps it
	newer   bool   // not with the tool of layout oct24, which has not this check, or other words
	steps   []formatStepCase
}

// formatStepCase is an action on the host, and what it is declared to answer.
type formatStepCase struct {
	kind   string
	params plan.Params
	expect string
}

func formatRun(expect string, flags ...string) formatStepCase {
	s := formatStepCase{kind: "format", params: plan.Params{}, expect: expect}
	for i := 0; i < len(flags); i += 2 {
		s.params[flags[i]] = flags[i+1]
	}
	return s
}

func loses(what string) formatStepCase {
	return formatStepCase{kind: "lose-files", params: plan.Params{"what": what}}
}

// What start-up says (metadata-bootstrap 2.4).
const (
	saysNoneFormatted = "no readable meta.properties files found"
	saysNotFormatted  = "a log directory is not formatted"
	saysFormatted     = "already formatted"
	saysMismatch      = "do not match --cluster-id and node.id"
)

// formatCases are the mistakes of 1.3 and 1.8, those of a half-done job, and what repairs each.
func formatCases() []formatCase {
	flags := func(name, expect string, words ...string) formatCase {
		return formatCase{name: name, steps: []formatStepCase{formatRun(expect, words...)}}
	}
	static := func(c formatCase) formatCase { c.quorum = "static"; return c }
	newer := func(c formatCase) formatCase { c.newer = true; return c }
	dynamic := func(c formatCase) formatCase { c.quorum = "dynamic"; return c }
	broker := func(c formatCase) formatCase { c.broker = true; return c }
	return []formatCase{
		{name: "never", format: "none", refuses: saysNoneFormatted, stays: true},
		{name: "never-broker", format: "none", broker: true, refuses: saysNoneFormatted, stays: true},
		{name: "late", format: "none", refuses: saysNoneFormatted, steps: []formatStepCase{formatRun("ok")}},
		{name: "late-broker", format: "none", broker: true, dirs: 2, refuses: saysNoneFormatted, steps: []formatStepCase{formatRun("ok")}},
		{name: "half", format: "first", dirs: 3, refuses: saysNotFormatted, steps: []formatStepCase{
			formatRun(saysFormatted), formatRun("ok", "ignore_formatted", "true")}},
		{name: "half-broker", format: "first", dirs: 2, broker: true, refuses: saysNotFormatted, steps: []formatStepCase{
			formatRun("ok", "ignore_formatted", "true")}},
		{name: "vanished", refuses: saysNoneFormatted, steps: []formatStepCase{loses("meta.properties"), formatRun("ok")}},
		{name: "vanished-again", refuses: saysNoneFormatted, steps: []formatStepCase{loses("meta.properties"), formatRun("ok"), formatRun(saysFormatted)}},
		{name: "vanished-broker", broker: true, refuses: saysNoneFormatted, steps: []formatStepCase{loses("all"), formatRun("ok")}},
		{name: "checkpoint-vanished", steps: []formatStepCase{loses("0-0.checkpoint")}, quorum: "static"},
		flags("again", saysFormatted), flags("again-ignoring", "ok", "ignore_formatted", "true"),
		flags("other-cluster", saysMismatch, "cluster_id", "x"), flags("other-cluster-ignoring", saysMismatch, "cluster_id", "", "ignore_formatted", "true"),
		flags("other-node", saysMismatch, "node_id", "9"),
		flags("two-flags", "give only one of", "voters_flag", "two"), flags("no-roles", "process.roles is empty", "roles", "none"),
		flags("bad-version", "--release-version", "level", "9.9"), flags("old-version", "--release-version", "level", "3.2"),
		flags("bad-feature", "want NAME=LEVEL", "features", "group.version"), flags("unknown-feature", "is not known", "features", "color=1"),
		flags("two-versions", "both given", "level", "4.0", "features", "metadata.version=22"),
		newer(flags("unstable", "not yet stable", "level", "4.5-IV0")), flags("unknown-level", "unknown feature level", "features", "group.version=9"),
		newer(flags("dependency", "dependency not met", "level", "4.0-IV0", "features", "eligible.leader.replicas.version=1")),
		newer(flags("early-scram", "--add-scram needs", "level", "3.5-IV1", "scram", "SCRAM-SHA-256=[name=a,password=b]")),
		flags("bad-scram", "name is missing", "scram", "SCRAM-SHA-256=[password=b]"),
		newer(static(flags("static-standalone", "controller.quorum.voters is set", "voters_flag", "standalone"))),
		newer(static(flags("static-initial", "controller.quorum.voters is set", "voters_flag", "initial-controllers"))),
		static(flags("static-kraft-1", "the quorum is not dynamic", "features", "kraft.version=1")),
		dynamic(flags("dynamic-nothing", "choose one of", "voters_flag", "nothing")),
		dynamic(flags("dynamic-kraft-0", "the quorum is dynamic", "features", "kraft.version=0")),
		dynamic(flags("bad-list", "no @ after the node id", "voters_flag", "initial-controllers", "initial", "x")),
		newer(broker(static(flags("broker-standalone", "controller.quorum.voters is set", "voters_flag", "standalone")))),
		broker(dynamic(flags("broker-standalone-dynamic", "--standalone is only for", "voters_flag", "standalone"))),
		broker(flags("broker-again", saysFormatted)),
		{name: "killed"}, {name: "full"}, {name: "ambushed"}, {name: "ambushed-broker", broker: true},
	}
}

// drawFormat is one of the cases on one host, while the others may fail.
func drawFormat(d dice, p *plan.Plan) {
	cases := formatCases()
	c := &cases[d.roll("case", int64(len(cases)))]
	controllers(p, 3, 0, 2)
	if c.quorum == "dynamic" || c.quorum == "" && d.chance("dynamic", 50) {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	d.storm(p, &lightProfile)
	p.StormUs = max(p.StormUs, 700_000)
	host := &p.Hosts[d.roll("voter", 3)]
	if c.broker {
		host = &p.Hosts[3+d.roll("broker", 2)]
	}
	p.Actions = slices.DeleteFunc(p.Actions, func(a plan.Action) bool { // a tool that is cut and repeated would say something else
		return a.Params["host"] == host.ID || a.Kind == "power" && slices.Contains(strings.Split(a.Params["hosts"], ","), host.ID)
	})
	if c.dirs > 0 {
		host.Params["dirs"] = number(c.dirs)
	}
	if c.format != "" {
		host.Params["format"] = c.format
	}
	if c.refuses != "" {
		host.Params["refuses"] = c.refuses
	}
	if c.stays {
		p.Params["calm_without"] = host.ID
	}
	if !c.newer && d.chance("oct24", 30) {
		for i := range p.Hosts {
			p.Hosts[i].Release = "4.0"
		}
	}
	d.formatSteps(p, host, c)
	d.writes(p, &lightProfile)
}

// formatSteps adds the actions of a case.
func (d dice) formatSteps(p *plan.Plan, host *plan.Host, c *formatCase) {
	at := plan.Int64(d.between("first-step", 100_000, 200_000))
	for i, s := range c.steps {
		a := plan.Action{ID: "step-" + number(int64(i+1)), Kind: s.kind, AtUs: at, Params: plan.Params{"host": host.ID, "down": micros(d.between("down", 1_000, 15_000))}}
		maps.Copy(a.Params, s.params)
		if s.expect != "" {
			a.Params["expect"] = s.expect
		}
		p.Actions = append(p.Actions, a)
		at += plan.Int64(d.between("step-"+number(int64(i)), 120_000, 170_000))
	}
	switch c.name {
	case "killed": // in the middle of its first format, and perhaps once more
		for i := range d.between("kills", 1, 3) {
			name := "kill-" + number(i)
			p.Actions = append(p.Actions, plan.Action{ID: name, Kind: "crash-op", AtUs: plan.Int64(i) * 40_000, Params: plan.Params{"host": host.ID,
				"n": number(1 + d.roll(name+"/n", 40)), "how": d.pick(name+"/how", "kill", "power"), "down": micros(d.between(name+"/down", 1_000, 30_000))}})
		}
	case "ambushed", "ambushed-broker": // behind the last rename of its first format, and when the one after that has just ended
		host.StartUs = min(host.StartUs, 50_000)
		p.Actions = append(p.Actions, plan.Action{ID: "kill-0", Kind: "crash-op", Params: plan.Params{"host": host.ID, "n": number(4 + d.roll("kill-0/n", 12)), "how": "kill", "down": "200ms"}},
			plan.Action{ID: "kill-1", Kind: "crash-op", AtUs: 150_000, Params: plan.Params{"host": host.ID, "n": number(1 + d.roll("kill-1/n", 3)), "how": "power", "down": "5ms"}})
	case "full": // while it is formatted for the first time
		p.Actions = append(p.Actions, plan.Action{ID: "full", Kind: "disk-full", AtUs: 0, Params: plan.Params{"host": host.ID,
			"free": number(d.roll("free", 900)), "for": micros(d.between("full-for", 60_000, 150_000))}})
	}
}

// formatScenario is that of the format tool.
const formatScenario = "bootstrap/format"

// FeaturesScenario is the cluster that `simrun features` asks unless it is told another.
const FeaturesScenario = "bootstrap/features"

// drawFeatures is a calm cluster and an operator's feature tool, with what it must answer.
func drawFeatures(d dice, p *plan.Plan) {
	controllers(p, 3, 0, 2)
	d.identify(p)
	d.calmBootstrap(p)
	p.StormUs = 17_000_000
	p.Params["level"] = d.pick("level", "3.9", "4.0-IV0", "4.1")
	for i := range p.Hosts {
		p.Hosts[i].StartUs = plan.Int64(d.roll(p.Hosts[i].ID+"/start", 200_000))
	}
	calls := []plan.Params{
		{"do": "describe", "expect": "ok"},
		{"do": "upgrade", "metadata": "4.2", "expect": "ok"},
		{"do": "upgrade", "metadata": "4.1", "dry_run": "true", "expect": "this is an upgrade"},
		{"do": "upgrade", "metadata": "4.5-IV0", "expect": "outside of 7 to 33"},
		{"do": "upgrade", "feature": "group.version=1,transaction.version=2", "expect": "ok"},
		{"do": "upgrade", "feature": "group.version=7", "expect": "group.version"},
		{"do": "disable", "feature": "group.version", "expect": "ok"},
		{"do": "upgrade", "feature": "color=1", "expect": "does not know the feature"},
		{"do": "upgrade", "metadata": "4.4", "feature": "metadata.version=22", "expect": "more than once"},
		{"do": "upgrade", "metadata": "4.3", "dry_run": "true", "expect": "ok"}, // 4.3 changes metadata: had it been written, there were no way back
		{"do": "downgrade", "metadata": "4.2-IV0", "expect": "ok"},
		{"do": "downgrade", "metadata": "3.9", "unsafe": "true", "expect": "metadata changed at 23"},
		// Of a leader that was elected early all voters have told what they support by now, of another one none has.
		{"do": "upgrade", "release_version": "4.4", "dry_run": "true", "expect": ""},
		{"do": "upgrade", "feature": "kraft.version=1", "dry_run": "true", "expect": ""},
		{"do": "downgrade", "metadata": "4.4", "expect": "this is a downgrade"},
		{"do": "describe", "expect": "ok"},
	}
	const firstCallUs = 6_000_000 // three voters that collide elect nobody for seconds, and then everybody has to register
	for i, params := range calls {
		if params["expect"] == "" {
			delete(params, "expect")
		}
		p.Actions = append(p.Actions, plan.Action{ID: "call-" + number(int64(i+1)), Kind: "features",
			AtUs: plan.Int64(firstCallUs + int64(i)*200_000 + d.roll("call-"+number(int64(i)), 100_000)), Params: params})
	}
	call := func(id string, atUs plan.Int64, params plan.Params) {
		p.Actions = append(p.Actions, plan.Action{ID: id, Kind: "features", AtUs: atUs, Params: params})
	}
	// Eligible leader replicas need 4.0-IV1, which this very request brings (KIP-1022): two of the three levels begin below it.
	call("dependency", firstCallUs+150_000, plan.Params{"do": "upgrade", "metadata": "4.2", "feature": "eligible.leader.replicas.version=1",
		"dry_run": "true", "expect": "ok"})
	// Voters tell the leader what they support every two fetch timeouts, one of two at a time: from then on the quorum goes up, and
	// never down.
	call("quorum-up", 15_000_000, plan.Params{"do": "upgrade", "feature": "kraft.version=1", "expect": "ok"})
	call("quorum-down", 15_500_000, plan.Params{"do": "downgrade", "feature": "kraft.version=0", "unsafe": "true",
		"expect": "kraft.version: downgrade from 1 to 0"})
	if d.chance("members", 60) { // as in a real cluster: whoever is registered is asked
		p.Params["members"] = "register"
	}
	d.remote(p, 50, 0)
}
