package sim_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// ping is a message: a kind, a key that says what it is, and canonical bytes.
type ping struct{ number uint64 }

func (p ping) Kind() uint32             { return 1 }
func (p ping) Key() uint64              { return p.number }
func (p ping) AppendTo(b []byte) []byte { return binary.BigEndian.AppendUint64(b, p.number) }
func (p ping) String() string           { return fmt.Sprint("ping ", p.number) }

// pinger sends a ping each 10 ms, and answers those that it gets.
type pinger struct{ next uint64 }

func (p *pinger) Boot(env *sim.Env) error {
	env.Listen(1, 0)
	if env.HostID() == "n1" {
		env.WakeAt(env.MonotonicNs() + 10_000_000)
	}
	return nil
}

func (p *pinger) Input(env *sim.Env, in *sim.Input) error {
	switch in.Kind {
	case sim.InWake:
		p.next++
		env.SendTo("n2", 1, ping{p.next})
		env.WakeAt(env.MonotonicNs() + 10_000_000)
	case sim.InMessage:
		if env.HostID() == "n2" {
			env.SendTo(in.From, 1, in.Msg)
		} else {
			env.Observe(in.Msg.(ping)) // tells the checkers and the trace
		}
	}
	return nil
}

func (p *pinger) Stop(env *sim.Env) { env.Exit() }
func (p *pinger) AppendState(b []byte, _ sim.View) []byte {
	return binary.BigEndian.AppendUint64(b, p.next)
}

// pings is the scenario: what a seed stands for, and what runs where.
type pings struct{}

func (pings) Name() string { return "pings" }
func (pings) Doc() string  { return "two hosts, one asks, one answers" }
func (pings) Draw(seed uint64) *plan.Plan {
	return &plan.Plan{Format: plan.Format, Scenario: "pings", Seed: plan.Uint64(seed), StormUs: 60_000,
		Hosts:   []plan.Host{{ID: "n1", Kind: "pinger"}, {ID: "n2", Kind: "pinger"}},
		Network: plan.Network{Transport: "datagram", LatencyUs: 500, JitterUs: 2_000, LossPpm: 200_000},
		Actions: []plan.Action{{ID: "a1", AtUs: 25_000, Kind: "kill", Params: plan.Params{"host": "n2", "down": "12ms"}}},
	}
}
func (pings) Build(w *sim.World, p *plan.Plan) error {
	for _, h := range w.Hosts() {
		w.Install(h, func() sim.Process { return &pinger{} })
	}
	return nil
}

func pingCatalogue() *sim.Catalogue {
	return &sim.Catalogue{Program: "pings", Scenarios: []sim.Scenario{pings{}}, Registry: sim.NewRegistry()}
}

// A seed becomes a plan, the plan runs, and the verdict is data.
func Example() {
	engine := sim.NewEngine(pingCatalogue())
	first, err := engine.Run(pings{}.Draw(7), sim.Options{})
	if err != nil {
		fmt.Println(err) // the plan can't be run; what happens in a run is in the verdict
		return
	}
	again, _ := engine.Run(pings{}.Draw(7), sim.Options{})
	fmt.Println(first.Verdict.Outcome, first.Verdict.TraceHash == again.Verdict.TraceHash)
	// Output: ok true
}

// The full trace is a replay: each line has the id of its event and the id of the event that caused it.
func ExampleOptions_trace() {
	options := sim.Options{Trace: func(l sim.TraceLine) {
		if l.AtUs >= 20_000 && l.AtUs < 42_000 {
			line := fmt.Sprintf("%6d us  #%d from #%d  %s %s %s", l.AtUs, l.ID, l.Cause, l.Host, l.What, l.Text)
			fmt.Println(strings.TrimSpace(line))
		}
	}}
	_, _ = sim.NewEngine(pingCatalogue()).Run(pings{}.Draw(7), options)
	// Output:
	// 20000 us  #6 from #3  n1 input wake
	// 20000 us  #6 from #6  n1 send to n2: ping 2
	// 22272 us  #7 from #6  n2 input message from n1: ping 2
	// 22272 us  #7 from #7  n2 send to n1: ping 2
	// 23216 us  #8 from #7  n1 input message from n2: ping 2
	// 23216 us  #8 from #8  n1 protocol ping 2
	// 25000 us  #9 from #9  n2 down killed
	// 25000 us  #9 from #-1   action 25ms kill host=n2 down=12ms #a1
	// 30000 us  #10 from #6  n1 input wake
	// 30000 us  #10 from #10  n1 send to n2: ping 3
	// 37000 us  #11 from #9  n2 boot
	// 40000 us  #12 from #10  n1 input wake
	// 40000 us  #12 from #12  n1 send to n2: ping 4
}

// Faults are actions of the plan. Each has one line of text that is read back to the same action.
func ExampleFaults() {
	registry := sim.NewRegistry()
	for _, line := range []string{
		"12.5ms kill host=n1 down=20ms #a1",
		"1s cut from=n1 to=n2,n3 for=3s #a2",
		"2s crash-op host=n2 n=4 how=power #a3",
	} {
		action, err := registry.ParseAction(line)
		fmt.Println(registry.FormatAction(&action) == line, err)
	}
	_, err := registry.ParseAction("1s pause host=n1")
	fmt.Println(err)
	// Output:
	// true <nil>
	// true <nil>
	// true <nil>
	// plan: action "1s pause host=n1": params.for: missing: pause needs it (how long)
}

// brownout is a scenario with a kind of action of its own: while it lasts, a host answers nothing.
type brownout struct{ pings }

func (brownout) Build(w *sim.World, p *plan.Plan) error {
	w.Handle("brownout", sim.ActionHandler{
		Do: func(w *sim.World, a *sim.Act) (refused string) {
			h := a.Host("host")
			if h == nil {
				return "" // a.Error says why, and is the refusal
			}
			if !h.Up() {
				return "down already"
			}
			fmt.Println(plan.FormatDurationUs(w.NowNs()/1000), "lights out on", h.ID())
			return ""
		},
		Undo: func(w *sim.World, a *sim.Act) {
			fmt.Println(plan.FormatDurationUs(w.NowNs()/1000), "lights on again on", a.Host("host").ID())
		},
	})
	return pings{}.Build(w, p)
}

// A kind of action needs an entry in the registry and a handler. The parameter "for" is its duration; the calm ends what
// still lasts.
func ExampleWorld_Handle() {
	catalogue := &sim.Catalogue{Program: "pings", Scenarios: []sim.Scenario{brownout{}}, Registry: sim.NewRegistry()}
	catalogue.Registry.AddAction(plan.Kind{Name: "brownout", Doc: "a host goes dark", Fields: []plan.Field{
		{Name: "host", Type: plan.HostField, Required: true, Doc: "the host"},
		{Name: "for", Type: plan.DurationField, Doc: "how long; absent: until the calm"},
	}})
	p := brownout{}.Draw(7)
	for _, line := range []string{"10ms brownout host=n1 for=5ms #b1", "26ms brownout host=n2 #b2", "50ms brownout host=n2 #b3"} {
		action, err := catalogue.Registry.ParseAction(line)
		if err != nil {
			fmt.Println(err)
			return
		}
		p.Actions = append(p.Actions, action)
	}
	r, _ := sim.NewEngine(catalogue).Run(p, sim.Options{})
	fmt.Println(r.Verdict.Refused)
	// Output:
	// 10ms lights out on n1
	// 15ms lights on again on n1
	// 50ms lights out on n2
	// 60ms lights on again on n2
	// [{b2 down already}]
}

// keeper writes a note, sends it, and only then flushes it: the wrong order.
type keeper struct{ program }

// The order of calls is the order in which a crash may cut them: here the message leaves although the note is lost.
func ExampleEnv_Files() {
	var sent, kept bool
	scenario := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return &keeper{program{boot: func(env *sim.Env) error {
				if env.Host().Boot() > 1 {
					_, err := env.Files().Open("/note", false)
					kept = err == nil
					return nil
				}
				fd, err := env.Files().Open("/note", true)
				if err != nil {
					return err
				}
				if err := env.Files().WriteAt(fd, []byte("vote for n2"), 0); err != nil {
					return err
				}
				env.SendTo("n2", 1, ping{1})
				if err := env.Files().Sync(fd); err != nil {
					return err
				}
				return env.Files().SyncDir("/")
			}}}
		})
		w.Install(w.Host("n2"), func() sim.Process {
			return &program{
				boot:  func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(*sim.Env, *sim.Input) error { sent = true; return nil },
			}
		})
	})
	for seed := uint64(1); ; seed++ {
		p := scenario.Draw(seed)
		act(p, 0, "crash-op", "host", "n1", "n", "3", "how", "power", "down", "10ms") // in the middle of the fsync
		p.Hosts[0].StartUs = 1
		sent, kept = false, false
		if r, err := scenario.engine().Run(p, sim.Options{}); err != nil || r.Verdict.Outcome != plan.OK {
			fmt.Println(err)
			return
		}
		if sent && !kept {
			fmt.Println("the message left, the note is lost")
			return
		}
	}
	// Output: the message left, the note is lost
}
