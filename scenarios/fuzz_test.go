package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

var errBuilt = errors.New("built")

// builder is a scenario that furnishes the world and stops there.
type builder struct{ sim.Scenario }

func (b builder) Build(w *sim.World, p *plan.Plan) error {
	if err := b.Scenario.Build(w, p); err != nil {
		return err
	}
	return errBuilt
}

// FuzzPlan: bytes are refused with an error, or make a world. Nothing panics.
func FuzzPlan(f *testing.F) {
	c := Catalogue()
	for i, s := range c.Scenarios {
		for seed := uint64(1); seed <= 3; seed++ {
			text, err := plan.Encode(s.Draw(seed))
			require.NoError(f, err)
			f.Add(text)
		}
		c.Scenarios[i] = builder{s}
	}
	cases, err := filepath.Glob("../testdata/golden/formatted/*/dir0")
	require.NoError(f, err)
	for _, dir := range cases {
		p, err := PlanFrom(os.DirFS(dir), 1, FromOptions{})
		require.NoError(f, err)
		text, err := plan.Encode(p)
		require.NoError(f, err)
		f.Add(text)
	}
	e := sim.NewEngine(c)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := plan.Decode(text)
		if err != nil {
			require.ErrorIs(t, err, plan.ErrInput)
			return
		}
		if _, err := e.Run(p, sim.Options{}); !errors.Is(err, errBuilt) {
			require.Error(t, err)
			require.NotEmpty(t, err.Error())
		}
	})
}

// TestBuildNamesTheField: a plan that a scenario can't run is refused with the field that is wrong.
func TestBuildNamesTheField(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for field, edit := range map[string]func(p *plan.Plan){
		"params.variant":                    func(p *plan.Plan) { p.Params["variant"] = "final" },
		"params.election_timeout_ms":        func(p *plan.Plan) { p.Params["election_timeout_ms"] = "-1" },
		"params.fetch_max_bytes":            func(p *plan.Plan) { p.Params["fetch_max_bytes"] = "99999999999" },
		"params.quorum":                     func(p *plan.Plan) { p.Params["quorum"] = "both" },
		"hosts[0].kind":                     func(p *plan.Plan) { p.Hosts[0].Kind = "zookeeper" },
		"hosts[0].release":                  func(p *plan.Plan) { p.Hosts[0].Release = "2.8" },
		"hosts[0].params.node_id":           func(p *plan.Plan) { p.Hosts[0].Params["node_id"] = "4294967297" },
		"hosts[0].params.port":              func(p *plan.Plan) { p.Hosts[0].Params["port"] = "70000" },
		"hosts[0].params.dirs":              func(p *plan.Plan) { p.Hosts[0].Params["dirs"] = "65" },
		"hosts[0].params.dir_names":         func(p *plan.Plan) { p.Hosts[0].Params["dir_names"] = "a/../b" },
		"hosts[0].params.directory_id":      func(p *plan.Plan) { p.Hosts[0].Params["directory_id"] = "x" },
		"hosts[0].params.format":            func(p *plan.Plan) { p.Hosts[0].Params["format"] = "golden:none" },
		"hosts[0].params.file:dir0/x":       func(p *plan.Plan) { p.Hosts[0].Params["format"], p.Hosts[0].Params["file:dir0/x"] = "tree", "!" },
		"hosts[0].params.file:dir0/../../x": func(p *plan.Plan) { p.Hosts[0].Params["format"], p.Hosts[0].Params["file:dir0/../../x"] = "tree", "" },
		"hosts[0].params.file:x/y": func(p *plan.Plan) {
			p.Hosts[0].Params["format"], p.Hosts[0].Params["file:x"], p.Hosts[0].Params["file:x/y"] = "tree", "", ""
		},
		"workload[0].params.period": func(p *plan.Plan) { p.Workload[0].Params["period"] = "1us" },
	} {
		t.Run(field, func(t *testing.T) {
			p := c.Scenario("raft/storm-3").Draw(1)
			edit(p)
			_, err := e.Run(p, sim.Options{})
			require.ErrorContains(t, err, field)
		})
	}
}
