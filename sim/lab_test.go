package sim_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The seeds of rapid are pinned, so that a run of the tests is repeatable.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20262")
	}
	os.Exit(m.Run())
}

const (
	us = int64(1_000)
	ms = int64(1_000_000)
)

// msg is every message and observation of these tests.
type msg struct {
	kind uint32
	key  uint64
}

func (m msg) Kind() uint32 { return m.kind }
func (m msg) Key() uint64  { return m.key }
func (m msg) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, m.kind), m.key)
}

// program is a process made of functions; each may be nil.
type program struct {
	boot  func(env *sim.Env) error
	input func(env *sim.Env, in *sim.Input) error
	stop  func(env *sim.Env)
}

func (p *program) Boot(env *sim.Env) error {
	if p.boot == nil {
		return nil
	}
	return p.boot(env)
}

func (p *program) Input(env *sim.Env, in *sim.Input) error {
	if p.input == nil {
		return nil
	}
	return p.input(env, in)
}

func (p *program) Stop(env *sim.Env) {
	if p.stop == nil {
		env.Exit()
		return
	}
	p.stop(env)
}

func (p *program) AppendState(b []byte, _ sim.View) []byte { return b }

// lab is a scenario made of a function.
type lab func(w *sim.World)

func (lab) Name() string                             { return "lab" }
func (lab) Doc() string                              { return "a test" }
func (lab) Draw(seed uint64) *plan.Plan              { return labPlan(seed) }
func (l lab) Build(w *sim.World, _ *plan.Plan) error { l(w); return nil }
func (l lab) engine() *sim.Engine                    { return sim.NewEngine(l.catalogue()) }
func (l lab) catalogue() *sim.Catalogue              { return labCatalogue(l) }
func labCatalogue(s sim.Scenario) *sim.Catalogue {
	return &sim.Catalogue{Program: "lab", Scenarios: []sim.Scenario{s}, Registry: sim.NewRegistry()}
}

// labPlan has two hosts, a storm of 100 ms, and costs that are easy to tell apart.
func labPlan(seed uint64) *plan.Plan {
	return &plan.Plan{Format: plan.Format, Scenario: "lab", Seed: plan.Uint64(seed), StormUs: 100_000,
		Hosts:   []plan.Host{{ID: "n1", Kind: "node"}, {ID: "n2", Kind: "node"}},
		Network: plan.Network{LatencyUs: 100},
		Disk:    plan.Disk{WriteNs: 1_000, SyncNs: 10_000, MetadataNs: 1_000},
	}
}

// run runs a plan and fails the test when it can't be run.
func (l lab) run(t testing.TB, p *plan.Plan) *plan.Verdict {
	t.Helper()
	r, err := l.engine().Run(p, sim.Options{})
	require.NoError(t, err)
	return r.Verdict
}

// act appends an action at a time in milliseconds: act(p, 10, "kill", "host", "n1", "down", "5ms").
func act(p *plan.Plan, atMs int64, kind string, params ...string) {
	a := plan.Action{ID: fmt.Sprintf("%s-%d", kind, len(p.Actions)), AtUs: plan.Int64(atMs * 1000), Kind: kind, Params: plan.Params{}}
	for i := 0; i < len(params); i += 2 {
		a.Params[params[i]] = params[i+1]
	}
	p.Actions = append(p.Actions, a)
}

// every makes a process that wakes each period and calls f with the number of the wake-up in this boot, from 1.
func every(periodNs int64, f func(env *sim.Env, n int64) error) *program {
	n := int64(0)
	return &program{
		boot: func(env *sim.Env) error { env.WakeAt(env.MonotonicNs() + periodNs); return nil },
		input: func(env *sim.Env, in *sim.Input) error {
			if in.Kind != sim.InWake {
				return nil
			}
			n++
			env.WakeAt(env.MonotonicNs() + periodNs)
			return f(env, n)
		},
	}
}
