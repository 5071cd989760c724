package scenarios

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Every parameter that the sources read is in the tables, and every one in the tables is read.
func TestParametersAreThoseThatAreRead(t *testing.T) {
	tables := map[string]bool{}
	for _, family := range parameters() {
		for _, f := range append(family.Plan, family.Host...) {
			require.NotEmpty(t, f.Doc, f.Name)
			tables[f.Name] = false
		}
	}
	for _, name := range []string{fromParam, treePrefix + "*", treeEmpty + "*", namesParam, "play", caseParam, "broken", "half", "twin", "measure", whatIfParam, rowParam, wholeParam} { // read otherwise
		tables[name] = true
	}
	read := regexp.MustCompile(`r\.(?:text|number|within|word)\("([a-z_]+)"`)
	for _, file := range []string{"settings.go", "kafka_cluster.go", "kip1262_choices.go", "members.go"} {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range read.FindAllStringSubmatch(string(source), -1) {
			_, known := tables[m[1]]
			require.True(t, known, "%s reads %q: give it a row in parameters.go", file, m[1])
			tables[m[1]] = true
		}
	}
	for name, used := range tables {
		require.True(t, used, "nobody reads %s", name)
	}
}

// What the scenarios draw is within the ranges.
func TestDrawnPlansAreValid(t *testing.T) {
	c := Catalogue()
	for _, s := range c.Scenarios {
		for seed := range uint64(200) {
			require.NoError(t, plan.Validate(s.Draw(seed), c.Registry), "%s:%d", s.Name(), seed)
		}
	}
}

// A plan that means nothing is refused before it runs, by Validate and by Engine.Run alike.
func TestPlansOutOfRange(t *testing.T) {
	c := Catalogue()
	engine := sim.NewEngine(c)
	for _, x := range []struct {
		name, want string
		edit       func(p *plan.Plan)
	}{
		{"unknown", "params.election_timout_ms: raft/storm-3 has no such parameter: the nearest are election_timeout_ms, ",
			func(p *plan.Plan) { p.Params["election_timout_ms"] = "9" }},
		{"of another family", "params.append_ms: raft/storm-3 has no such parameter", func(p *plan.Plan) { p.Params["append_ms"] = "9" }},
		{"unknown at a host", "hosts[0].params.nodeid: ", func(p *plan.Plan) { p.Hosts[0].Params["nodeid"] = "9" }},
		{"format", `hosts[0].params.format: "fulll" is not one of full, first, none, tree, golden:*, two-ids, level-only, cut`,
			func(p *plan.Plan) { p.Hosts[0].Params["format"] = "fulll" }},
		{"golden case", `hosts[0].params.format: golden case "nope" is not there: the cases are `,
			func(p *plan.Plan) { p.Hosts[0].Params["format"] = "golden:nope" }},
		{"node ids", "hosts[1].params.node_id: 1 is the node id of c1 already",
			func(p *plan.Plan) { p.Hosts[1].Params["node_id"] = "01" }},
		{"release", `hosts[2].release: "9.9" is not one of `, func(p *plan.Plan) { p.Hosts[2].Release = "9.9" }},
		{"directory id", `hosts[2].params.directory_id: "x" is not an id`, func(p *plan.Plan) { p.Hosts[2].Params["directory_id"] = "x" }},
		{"zero directory id", `hosts[1].params.directory_id: AAAAAAAAAAAAAAAAAAAAAA is the zero id`, func(p *plan.Plan) {
			p.Hosts[1].Params["directory_id"] = "AAAAAAAAAAAAAAAAAAAAAA"
		}},
		{"no directory id", `hosts[1].params.directory_id: missing`, func(p *plan.Plan) {
			p.Params["quorum"] = "dynamic"
			delete(p.Hosts[1].Params, "directory_id")
		}},
		{"directory ids", ` is the directory id of c1 already: choose another`, func(p *plan.Plan) {
			p.Hosts[1].Params["directory_id"] = p.Hosts[0].Params["directory_id"]
		}},
		{"bootstrap, no host", `hosts[1].params.bootstrap: "nohost" is no host of the plan`, func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "c1,nohost" }},
		{"bootstrap, port", `hosts[1].params.bootstrap: "c1:99999999" is no host`, func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "c1:99999999" }},
		{"bootstrap, number", `hosts[1].params.bootstrap: "9223372036854775807" is no host`, func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "9223372036854775807" }},
		{"bootstrap, blank", `hosts[1].params.bootstrap: " " is no host`, func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = " " }},
		{"bootstrap, empty", `hosts[1].params.bootstrap: "" is no host`, func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "" }},
		{"bootstrap, twice", `hosts[1].params.bootstrap: c1 is listed twice`, func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "c1,c2,c1" }},
		{"host kind", `hosts[2].kind: "witch" is not one of controller, observer, broker, operator`, func(p *plan.Plan) { p.Hosts[2].Kind = "witch" }},
		{"port", "hosts[2].params.port: 65536 is not in the range from 0 to 65535", func(p *plan.Plan) { p.Hosts[2].Params["port"] = "65536" }},
		{"upgrade", "actions[0].params.level: 128 is not in the range from 1 to 127", func(p *plan.Plan) {
			p.Actions = []plan.Action{{ID: "u", Kind: "upgrade", Params: plan.Params{"level": "128"}}}
		}},
		{"down", "actions[0].params.down: -1ms is not in the range", func(p *plan.Plan) {
			p.Actions = []plan.Action{{ID: "u", Kind: "kill", Params: plan.Params{"host": "c1", "down": "-1ms"}}}
		}},
		{"period", "workload[0].params.period: 99us is not in the range", func(p *plan.Plan) { p.Workload[0].Params["period"] = "99us" }},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := c.Scenario("raft/storm-3").Draw(1)
			x.edit(p)
			err := plan.Validate(p, c.Registry)
			require.ErrorContains(t, err, x.want)
			_, ran := engine.Run(p, sim.Options{})
			require.Equal(t, err, ran)
		})
	}
	for _, name := range []string{"max_batch_records", "records_per_batch", "listener_max_bytes", "fetch_max_bytes", "max_batch_bytes",
		"election_timeout_ms", "fetch_timeout_ms", "request_timeout_ms", "fetch_max_wait_ms", "clean_interval_ms"} {
		for _, value := range []string{"0", "-1", "99999999999", "x", ""} {
			p := c.Scenario("raft/storm-3").Draw(1)
			p.Params[name] = value
			require.ErrorContains(t, plan.Validate(p, c.Registry), "params."+name+": ")
		}
	}
	jump := c.Scenario("raft/storm-3").Draw(1)
	jump.Actions = []plan.Action{{ID: "j", Kind: "jump", Params: plan.Params{"host": "c1", "by": "-5s"}}}
	require.NoError(t, plan.Validate(jump, c.Registry), "a clock may jump back")
}

// What these checks leave alone: other clusters' hosts and nowhere as bootstrap servers, a twin's disk, and no directory id where
// nobody lists it.
func TestPlansWithinTheRules(t *testing.T) {
	c := Catalogue()
	for name, edit := range map[string]func(p *plan.Plan){
		"nowhere":    func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "nowhere" },
		"itself too": func(p *plan.Plan) { p.Hosts[1].Params["bootstrap"] = "c2,c1" },
		"static":     func(p *plan.Plan) { delete(p.Hosts[1].Params, "directory_id") },
		"unformatted": func(p *plan.Plan) {
			p.Params["quorum"] = "dynamic"
			for i := range p.Hosts {
				delete(p.Hosts[i].Params, "directory_id")
				p.Hosts[i].Params["format"] = "none"
			}
		},
		"twin": func(p *plan.Plan) {
			p.Hosts[1].Params["twin"], p.Hosts[1].Params["directory_id"] = "true", p.Hosts[0].Params["directory_id"]
		},
	} {
		p := c.Scenario("raft/storm-3").Draw(1)
		edit(p)
		require.NoError(t, plan.Validate(p, c.Registry), name)
	}
}
