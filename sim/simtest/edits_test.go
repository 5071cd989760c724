package simtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/simtest"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// No bytes make a plan that an engine refuses.
func TestEditsKeepPlansValid(t *testing.T) {
	c := register.Catalogue()
	s := c.Scenario("register/fixed")
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 120).Draw(t, "data")
		p := simtest.Decode(s, data)
		if err := plan.Validate(p, c.Registry); err != nil {
			t.Fatalf("%v", err)
		}
		if again := simtest.Decode(s, data); !equal(p, again) {
			t.Fatalf("another plan from the same bytes")
		}
	})
}

func equal(a, b *plan.Plan) bool {
	x, errX := plan.Encode(a)
	y, errY := plan.Encode(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Each edit does what it says.
func TestEdits(t *testing.T) {
	draw := func() *plan.Plan { return scenario("register/fixed").Draw(3) } // four actions
	for op := range byte(10) {
		changed := false
		for value := range byte(200) {
			p := simtest.Edit{Op: op, At: 1, Value: value}.Apply(draw())
			changed = changed || !equal(p, draw())
		}
		if op == 3 || op == 4 { // no action of this scenario has a host or a length
			require.False(t, changed)
			continue
		}
		require.True(t, changed, "operation %d does nothing", op)
	}
	require.Len(t, simtest.Edit{Op: 0, At: 5}.Apply(draw()).Actions, 3)
	twice := simtest.Edit{Op: 2, At: 0, Value: 128}.Apply(draw())
	require.Len(t, twice.Actions, 5)
	require.Equal(t, twice.StormUs/2, twice.Actions[4].AtUs)
	require.Equal(t, "power-0.2", twice.Actions[4].ID)
	pct := simtest.Edit{Op: 9, Value: 7}.Apply(draw())
	require.Equal(t, "pct", pct.Scheduler.Policy)
	require.Equal(t, int64(2), pct.Scheduler.Depth)
	p := simtest.Edit{Op: 3, Value: 0}.Apply(&plan.Plan{Hosts: []plan.Host{{ID: "a", Kind: "x"}, {ID: "b", Kind: "x"}},
		Actions: []plan.Action{{ID: "k", Params: plan.Params{"host": "b", "for": "64ms"}}}})
	require.Equal(t, "a", p.Actions[0].Params["host"])
	require.Equal(t, "2ms", simtest.Edit{Op: 4, Value: 1}.Apply(p).Actions[0].Params["for"])
}

// A planted bug shrinks through rapid: what is left of a plan with four power losses and edits is one of them.
func TestAPlantedBugShrinksThroughRapid(t *testing.T) {
	c := register.Catalogue()
	c.Profiles = swarm.StockProfiles() // this scenario takes none
	e, plans := sim.NewEngine(c), simtest.EditedPlans(c, "register/broken")
	var last *plan.Plan
	property := func(t *rapid.T) {
		p := plans.Draw(t, "plan")
		r, err := e.Run(p, sim.Options{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		if r.Verdict.Outcome.Finding() {
			last = p
			t.Fatalf("found")
		}
	}
	failed := !t.Run("shrinks", func(t *testing.T) {
		failing := &quiet{TB: t}
		rapid.Check(failing, property)
		if failing.failed {
			return
		}
		t.Fatal("the bug was not found")
	})
	require.False(t, failed)
	require.NotNil(t, last)
	require.Len(t, last.Actions, 1, "one power loss is all it takes")
	require.Equal(t, "power", last.Actions[0].Kind)
	require.Zero(t, last.Scheduler)
}

// quiet takes the failure that rapid reports.
type quiet struct {
	rapid.TB
	failed bool
}

func (q *quiet) Helper()               {}
func (q *quiet) Name() string          { return "shrinks" }
func (q *quiet) Log(...any)            {}
func (q *quiet) Logf(string, ...any)   {}
func (q *quiet) Fatalf(string, ...any) { q.failed = true }
func (q *quiet) Errorf(string, ...any) { q.failed = true }
func (q *quiet) Error(...any)          { q.failed = true }
func (q *quiet) FailNow()              { q.failed = true }
func (q *quiet) Fail()                 { q.failed = true }
func (q *quiet) Failed() bool          { return q.failed }

func FuzzRegisterEdits(f *testing.F) { simtest.FuzzEdits(f, register.Catalogue(), "register/fixed") }
