// Package fakesim is a catalogue whose runs are arithmetic over the plan, for the tests of the shells around the simulator.
//
// The shells (campaign, cli) must cope with programs under test that panic, hang, eat all memory or print rubbish, and that
// break determinism. No honest scenario does that on demand; these do. Nothing outside of tests imports the package.
package fakesim

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// BadSeed is the seed at which the scenarios under "bad/" misbehave.
const BadSeed = 13

// OnceEnv is the variable with the file of bad/once.
const OnceEnv = "KRAFTSIM_FAKESIM_ONCE"

// FixedEnv is the variable with the name of a scenario whose bug is fixed.
const FixedEnv = "KRAFTSIM_FAKESIM_FIXED"

// Catalogue has the scenarios:
//
//	toy/clean     always ok
//	toy/hazard    meets the declared hazard "late" at every fifth seed
//	toy/buggy     violates "agree" where an action cuts and another crashes, every seventh seed
//	bad/panic     panics at BadSeed
//	bad/exit      ends the process at BadSeed
//	bad/once      kills its process at BadSeed, unless the file that OnceEnv names exists; it makes that file
//	bad/hang      never returns at BadSeed
//	bad/memory    allocates without end at BadSeed
//	bad/rubbish   prints to standard output
//	bad/refuse    refuses the plan of BadSeed
//	bad/draw      panics in Draw at BadSeed
//	bad/format    draws a plan without format at BadSeed
//	bad/stops     has a process that stops by itself at BadSeed, which is no finding
//	bad/flaky     behaves differently from process to process at BadSeed
//	cold/clean    ok, but never meets its sometimes-condition and its hazard
//	canary/bug    as toy/buggy: the planted bug
func Catalogue() *sim.Catalogue {
	c := &sim.Catalogue{Program: "simrun", Registry: new(plan.Registry)}
	c.Registry.AddAction(plan.Kind{Name: "cut", Doc: "cuts a link", Fields: []plan.Field{
		{Name: "from", Type: plan.HostField, Required: true, Doc: "sender"},
		{Name: "to", Type: plan.HostsField, Required: true, Doc: "receivers"},
	}})
	c.Registry.AddAction(plan.Kind{Name: "crash", Doc: "stops a process", Fields: []plan.Field{
		{Name: "host", Type: plan.HostField, Required: true, Doc: "victim"},
	}})
	c.Registry.AddAction(plan.Kind{Name: "noise", Doc: "does nothing"})
	for _, name := range []string{"toy/clean", "toy/hazard", "toy/buggy", "bad/panic", "bad/exit", "bad/once", "bad/hang", "bad/memory",
		"bad/rubbish", "bad/refuse", "bad/draw", "bad/format", "bad/stops", "bad/flaky", "cold/clean"} {
		c.Scenarios = append(c.Scenarios, scenario(name))
	}
	c.Invariants = []sim.InvariantDoc{{Name: "agree", Source: "paper", Doc: "All hosts agree."}}
	c.Sometimes = []sim.SometimesDoc{
		{Name: "third", Scenario: "toy/", DuePerMillion: 300_000, Doc: "the seed is a multiple of three"},
		{Name: "never", Scenario: "cold/", DuePerMillion: 500_000, Doc: "never met"},
	}
	c.Hazards = []sim.HazardDoc{
		{ID: "late", Invariant: "agree", Scenario: "toy/hazard", DuePerMillion: 100_000, Doc: "A late host may differ."},
		{ID: "lost", Invariant: "agree", Scenario: "cold/", DuePerMillion: 100_000, Doc: "Never met."},
	}
	planted := *c
	planted.Scenarios = []sim.Scenario{scenario("canary/bug")}
	c.Canary = &sim.Canary{Scenario: "canary/bug", Catalogue: &planted, Fingerprint: "violation/agree/two values", Seeds: 20, Actions: 2}
	return c
}

type scenario string

func (s scenario) Name() string { return string(s) }
func (s scenario) Doc() string  { return "A fake for tests: " + string(s) + "." }

func (s scenario) Draw(seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: string(s), Seed: plan.Uint64(seed), StormUs: 1_000_000}
	if seed == BadSeed && s == "bad/draw" {
		panic("fakesim: no plan for seed 13")
	}
	if seed == BadSeed && s == "bad/format" {
		p.Format = 0
	}
	for i := range 3 {
		p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("n%d", i+1), Kind: "node"})
	}
	add := func(kind string, params plan.Params) {
		n := len(p.Actions) + 1
		p.Actions = append(p.Actions, plan.Action{
			ID: "a" + strconv.Itoa(n), AtUs: plan.Int64(1000 * n), Kind: kind, Params: params})
	}
	for i := range int(seed % 5) {
		add("crash", plan.Params{"host": fmt.Sprintf("n%d", i%3+1)})
		add("noise", nil)
	}
	if seed%7 == 0 {
		add("cut", plan.Params{"from": "n1", "to": "n2"})
		add("crash", plan.Params{"host": "n2"})
	}
	return p
}

func (s scenario) Build(*sim.World, *plan.Plan) error { return errors.New("fakesim: no world here") }

// Runner runs the plans of Catalogue.
type Runner struct{ runs int64 }

// Run computes a verdict from the plan, or misbehaves.
func (r *Runner) Run(p *plan.Plan, o sim.Options) (sim.Result, error) {
	r.runs++
	if Catalogue().Scenario(p.Scenario) == nil {
		return sim.Result{}, &plan.FieldError{Field: "scenario", Problem: fmt.Sprintf("%q is not known", p.Scenario)}
	}
	if len(p.Hosts) < 2 {
		return sim.Result{}, &plan.FieldError{Field: "hosts", Problem: "at least two are needed"}
	}
	if p.Seed == BadSeed {
		misbehave(p.Scenario)
	}
	if p.Seed == BadSeed && p.Scenario == "bad/refuse" {
		return sim.Result{}, &plan.FieldError{Field: "params.colour", Problem: "is not known"}
	}
	v := verdict(p)
	if p.Seed == BadSeed && p.Scenario == "bad/stops" {
		v.Stopped = []plan.Stopped{{Host: "n1", Error: "no disk"}, {Host: "n1", Error: "no disk"}}
	}
	var result sim.Result
	if p.Scenario == "bad/flaky" && p.Seed == BadSeed {
		v.TraceHash ^= plan.Hex64(os.Getpid())
	}
	for i := range int64(v.Events) {
		digest := decide.Combine(uint64(v.TraceHash), uint64(i))
		if p.Scenario == "bad/flaky" && i < 3 {
			digest = uint64(i)
		}
		if o.Trace != nil {
			o.Trace(sim.TraceLine{ID: i, Cause: i - 1, AtUs: i * 10, Host: "n1", Lane: "raft", Boot: 1, What: "input",
				Text: fmt.Sprintf("tick %d", i), Digest: digest})
		}
		if o.Digests != nil {
			o.Digests(i, digest)
		}
		if o.RecordDecisions {
			result.Decisions = append(result.Decisions, plan.DrawnDecision{
				Hash: decide.Combine(uint64(p.Seed), uint64(i)), Value: i, Benign: i != 1, Name: "toy/tick n1"})
		}
	}
	v.TraceHash = plan.Hex64(decide.Combine(uint64(v.TraceHash), uint64(v.Events)))
	result.Verdict = v
	return result, nil
}

func misbehave(scenario string) {
	switch scenario {
	case "bad/panic":
		var list []int
		_ = list[len(scenario)]
	case "bad/exit":
		fmt.Fprintln(os.Stderr, "fatal error: all goroutines are asleep - deadlock!")
		os.Exit(2)
	case "bad/once":
		file, err := os.OpenFile(os.Getenv(OnceEnv), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = file.Close()
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	case "bad/hang":
		for n := uint64(1); n != 0; n += 2 {
		}
	case "bad/memory":
		var all [][]byte
		for {
			block := make([]byte, 1<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			all = append(all, block)
			time.Sleep(time.Duration(len(all)%2) * time.Millisecond)
		}
	case "bad/rubbish":
		fmt.Println(`{"id":1,"error":"I am no answer"}`)
		fmt.Print(strings.Repeat("x", 1<<16))
	}
}

func verdict(p *plan.Plan) *plan.Verdict {
	seed := uint64(p.Seed)
	v := &plan.Verdict{
		Outcome: plan.OK, Events: plan.Int64(5 + seed%4), VirtualUs: plan.Int64(1_500_000 + 1000*(seed%10)), Decisions: 3,
		Stats:         map[string]int64{"elections": int64(1 + seed%3), "fsyncs": 10, "records": 4},
		Evaluated:     map[string]int64{"agree": 5},
		BehaviourHash: plan.Hex64(decide.HashString(p.Scenario)),
	}
	v.TraceHash = plan.Hex64(decide.Combine(decide.HashString(p.Scenario), seed+uint64(len(p.Actions))<<32))
	if seed%3 == 0 && strings.HasPrefix(p.Scenario, "toy/") {
		v.Sometimes = map[string]int64{"third": 2}
	}
	cut := int64(0)
	for i := range p.Actions {
		switch p.Actions[i].Kind {
		case "crash":
			v.Stats["crashes"]++
		case "cut":
			cut++
		}
	}
	if p.Scenario == "toy/hazard" && seed%5 == 0 {
		v.Broken = append(v.Broken, plan.Broken{Invariant: "agree", Detail: "n1 is late", Evidence: "late", Hazard: "late", Event: 2})
	}
	if (p.Scenario == "toy/buggy" || p.Scenario == "canary/bug") && p.Scenario != os.Getenv(FixedEnv) && cut > 0 && v.Stats["crashes"] > 0 {
		v.Outcome = plan.Violation
		v.Broken = append(v.Broken, plan.Broken{Invariant: "agree", Detail: "n1 and n2 differ", Evidence: "two values", AtUs: 40, Event: 4})
	}
	return v
}
