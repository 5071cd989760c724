package simtest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Edit is a small change to a drawn plan, in three bytes: what, where, how much. Any three bytes mean something, and none makes a valid plan an
// invalid one, so that a fuzzer may play with them.
type Edit struct{ Op, At, Value byte }

// The operations. A plan without actions, or with a single host, has no use for some.
const (
	dropAction = iota
	moveAction // to Value/256 of the storm
	copyAction // the same once more, at Value/256 of the storm
	retarget   // its host, to another host
	stretchAction
	jitter   // of the network, up to 25 ms
	syncCost // up to 6 ms
	drift    // of a host's clocks
	storm    // its length, from a half to one and a half
	priority // the scheduler pct, of depth 1 to 4, or order of time again
	editOps
)

// Apply changes p and returns it.
func (e Edit) Apply(p *plan.Plan) *plan.Plan {
	v := int64(e.Value)
	switch e.Op % editOps {
	case jitter:
		p.Network.JitterUs = v * 100
	case syncCost:
		p.Disk.SyncNs = 20_000 + v*24_000
	case drift:
		if len(p.Hosts) > 0 {
			p.Hosts[int(e.At)%len(p.Hosts)].DriftPpm = int32(v-128) * 10
		}
	case storm:
		e.stretchStorm(p)
	case priority:
		if p.Scheduler = (plan.Scheduler{}); v%5 > 0 {
			p.Scheduler = plan.Scheduler{Policy: "pct", Depth: v % 5, Steps: 50 + 20*v, WindowUs: 100 * (1 + v)}
		}
	default:
		if len(p.Actions) > 0 {
			e.applyTo(p, int(e.At)%len(p.Actions))
		}
	}
	return p
}

func (e Edit) stretchStorm(p *plan.Plan) {
	was := p.StormUs
	p.StormUs = max(1, was*plan.Int64(128+int64(e.Value))/256)
	for i := range p.Actions {
		p.Actions[i].AtUs = min(p.Actions[i].AtUs, p.StormUs-1)
	}
}

func (e Edit) applyTo(p *plan.Plan, i int) {
	a := &p.Actions[i]
	at := p.StormUs * plan.Int64(e.Value) / 256
	switch e.Op % editOps {
	case dropAction:
		p.Actions = slices.Delete(p.Actions, i, i+1)
	case moveAction:
		a.AtUs = at
	case copyAction:
		c := *a
		c.Params, c.AtUs = c.Params.Clone(), at
		for n := 2; slices.ContainsFunc(p.Actions, func(x plan.Action) bool { return x.ID == c.ID }); n++ {
			c.ID = fmt.Sprintf("%s.%d", a.ID, n)
		}
		p.Actions = append(p.Actions, c)
	case retarget:
		host := p.Hosts[int(e.Value)%len(p.Hosts)]
		if slices.ContainsFunc(p.Hosts, func(h plan.Host) bool { return h.ID == a.Params["host"] && h.Kind == host.Kind }) {
			a.Params["host"] = host.ID
		}
	case stretchAction:
		if us, err := a.Params.DurationUs("for", -1); err == nil && us >= 0 {
			a.Params["for"] = plan.FormatDurationUs(max(1, us*(1+int64(e.Value))/64))
		}
	}
}

// seedBytes is how many bytes of a fuzzer's input are the seed.
const seedBytes = 4

// Decode makes a plan of a fuzzer's bytes: four for the seed, then edits of three each. Any bytes make a plan.
func Decode(s sim.Scenario, data []byte) *plan.Plan {
	var seed [seedBytes]byte
	n := copy(seed[:], data)
	p := s.Draw(uint64(binary.BigEndian.Uint32(seed[:])) + 1)
	for data = data[n:]; len(data) >= 3; data = data[3:] {
		Edit{data[0], data[1], data[2]}.Apply(p)
	}
	return p
}

// FuzzEdits makes a fuzz target of a scenario: the input is a seed and edits to its plan, so that what the fuzzer learns of coverage guides it
// to other plans near by. A plan that the scenario refuses is skipped; a finding fails.
func FuzzEdits(f *testing.F, c *sim.Catalogue, scenario string) {
	f.Helper()
	s := c.Scenario(scenario)
	if s == nil {
		f.Fatalf("simtest: no scenario %q", scenario)
	}
	e := sim.NewEngine(c)
	for op := range byte(editOps) {
		f.Add([]byte{0, 0, 0, op, op, 1, 100, dropAction, 0, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 256 {
			t.Skip("more edits than anybody reads")
		}
		p := Decode(s, data)
		if err := plan.Validate(p, c.Registry); err != nil {
			t.Skip(err)
		}
		Check(t, e, p)
	})
}

// EditedPlans is Plans with edits: the seed, the profile (where the catalogue has some and the scenario takes them), which actions stay,
// and up to eight edits. All of it shrinks: towards the scenario's own profile, fewer actions and no edits.
func EditedPlans(c *sim.Catalogue, scenario string) *rapid.Generator[*plan.Plan] {
	s := c.Scenario(scenario)
	if s == nil {
		panic(fmt.Sprintf("simtest: no scenario %q", scenario))
	}
	choices := []sim.Scenario{s}
	for _, f := range c.Profiles {
		if under := c.Under(s, f.Name); under != nil {
			choices = append(choices, under)
		}
	}
	edit := rapid.Custom(func(t *rapid.T) Edit {
		return Edit{Op: rapid.Byte().Draw(t, "op"), At: rapid.Byte().Draw(t, "at"), Value: rapid.Byte().Draw(t, "value")}
	})
	return rapid.Custom(func(t *rapid.T) *plan.Plan {
		p := Plans(choices[rapid.IntRange(0, len(choices)-1).Draw(t, "profile")]).Draw(t, "plan")
		for _, e := range rapid.SliceOfN(edit, 0, 8).Draw(t, "edits") {
			e.Apply(p)
		}
		return p
	})
}
