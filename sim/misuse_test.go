package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Mistakes of those who write programs and scenarios are said aloud, with what to do about them.
func TestMistakesPanicWithAdvice(t *testing.T) {
	for _, c := range []struct {
		name string
		boot func(env *sim.Env)
		want string
	}{
		{"listen", func(env *sim.Env) { env.Lanes("a", "b"); env.Listen(1, 2) },
			"sim: Listen: n1 has no lane 2, only 2: name them with Env.Lanes first"},
		{"listen late", func(env *sim.Env) { env.Spend(us); env.Listen(1, -1) },
			"sim: Listen: n1 has no lane -1, only 1: name them with Env.Lanes first"},
		{"post to a lane", func(env *sim.Env) { env.Post(1, msg{1, 1}) }, "sim: Post: n1 has no lane 1, only 1: name them with Env.Lanes first"},
		{"post", func(env *sim.Env) { env.Post(0, nil) }, "sim: Post: the message is nil, on n1"},
		{"send", func(env *sim.Env) { env.Send(env.Dial("n2", 1), nil) }, "sim: Send: the message is nil, on n1"},
		{"send to", func(env *sim.Env) { env.SendTo("n2", 1, nil) }, "sim: SendTo: the message is nil, on n1"},
		{"observe", func(env *sim.Env) { env.Observe(nil) }, "sim: Observe(nil) on n1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := lab(func(w *sim.World) {
				w.Install(w.Host("n1"), func() sim.Process {
					return &program{boot: func(env *sim.Env) error { c.boot(env); return nil }}
				})
			})
			require.PanicsWithValue(t, c.want, func() { l.run(t, labPlan(1)) })
		})
	}
}

func TestMistakesOfAScenarioPanicWithAdvice(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(w *sim.World)
		want  string
	}{
		{"kind", func(w *sim.World) {
			w.Handle("teapot", sim.ActionHandler{Do: func(*sim.World, *sim.Act) string { return "" }})
		},
			"sim: Handle(teapot): no such kind of action: add it to Catalogue.Registry with AddAction"},
		{"handler", func(w *sim.World) { w.Handle("kill", sim.ActionHandler{}) }, "sim: Handle(kill): ActionHandler.Do is nil"},
		{"invariant", func(w *sim.World) { w.Violate("elsewhere", "x", "y") },
			"sim: invariant elsewhere is not declared: add it to Catalogue.Invariants"},
		{"condition", func(w *sim.World) { w.Sometimes("elsewhere") },
			"sim: sometimes-condition elsewhere is not declared: add it to Catalogue.Sometimes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogue := lab(c.build).catalogue()
			catalogue.Invariants = []sim.InvariantDoc{{Name: "here"}}
			catalogue.Sometimes = []sim.SometimesDoc{{Name: "here"}}
			require.PanicsWithValue(t, c.want, func() { _, _ = sim.NewEngine(catalogue).Run(labPlan(1), sim.Options{}) })
		})
	}
	declared := lab(func(w *sim.World) { *w.Sometimes("here")++; w.Violate("here", "x", "y") }).catalogue()
	declared.Invariants, declared.Sometimes = []sim.InvariantDoc{{Name: "here"}}, []sim.SometimesDoc{{Name: "here"}}
	r, err := sim.NewEngine(declared).Run(labPlan(1), sim.Options{})
	require.NoError(t, err)
	require.Equal(t, "violation/here/x", r.Verdict.Fingerprint())
	require.Equal(t, map[string]int64{"here": 1}, r.Verdict.Sometimes)
	v := lab(func(w *sim.World) { *w.Sometimes("any")++; w.Violate("any", "x", "y") }).run(t, labPlan(1))
	require.Equal(t, "violation/any/x", v.Fingerprint(), "a catalogue that lists none allows any")
}

func TestACatalogueWithoutRegistryIsRefused(t *testing.T) {
	c := lab(func(*sim.World) {}).catalogue()
	require.NoError(t, c.Check())
	c.Registry = nil
	_, err := sim.NewEngine(c).Run(labPlan(1), sim.Options{})
	require.EqualError(t, err, "sim: Catalogue.Registry is required: sim.NewRegistry()")
	_, err = sim.NewEngine(nil).Run(labPlan(1), sim.Options{})
	require.EqualError(t, err, "sim: Catalogue is nil: an engine needs one")
}

// An unknown name does not resolve: a connection is refused, a datagram vanishes.
func TestANameThatDoesNotResolve(t *testing.T) {
	refused := 0
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return &program{
				boot: func(env *sim.Env) error { env.SendTo("nowhere", 1, msg{1, 1}); env.Dial("nowhere", 1); return nil },
				input: func(_ *sim.Env, in *sim.Input) error {
					require.Equal(t, sim.InDisconnected, in.Kind)
					require.True(t, in.Refused)
					refused++
					return nil
				},
			}
		})
	})
	require.Equal(t, plan.OK, l.run(t, labPlan(1)).Outcome)
	require.Equal(t, 1, refused)
}

// A datagram that meets a cut is lost, what a connection carries is held.
func TestACutLosesDatagramsAndHoldsStreams(t *testing.T) {
	p := labPlan(1)
	act(p, 20, "cut", "from", "n1", "to", "n2", "for", "30ms")
	arrived := 0
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return every(10*ms, func(env *sim.Env, n int64) error { env.SendTo("n2", 1, msg{1, uint64(n)}); return nil })
		})
		w.Install(w.Host("n2"), func() sim.Process {
			return &program{
				boot:  func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(*sim.Env, *sim.Input) error { arrived++; return nil },
			}
		})
	})
	v := l.run(t, p)
	require.Equal(t, int64(3), v.Stats["net-lost"])
	require.Zero(t, v.Stats["net-held"])
	require.Positive(t, arrived)
}

// A kind of the scenario's own is undone when its time is up, or else by the calm, once.
func TestActionsOfAScenarioAreUndone(t *testing.T) {
	var log []string
	p := labPlan(1)
	act(p, 10, "tea", "for", "20ms")
	act(p, 50, "tea")
	act(p, 60, "tea", "for", "90ms")
	act(p, 70, "tea", "for", "1ms")
	l := lab(func(w *sim.World) {
		w.SetLiveness(sim.Liveness{SmallestTimeoutNs: ms, BoundNs: 500 * ms})
		w.Handle("tea", sim.ActionHandler{
			Do: func(w *sim.World, a *sim.Act) string {
				if a.ID == "tea-3" {
					return "no tea left"
				}
				return ""
			},
			Undo: func(w *sim.World, a *sim.Act) {
				log = append(log, a.ID+" "+plan.FormatDurationUs(w.NowNs()/us))
			},
		})
	})
	c := l.catalogue()
	c.Registry.AddAction(plan.Kind{Name: "tea", Doc: "a break", Fields: []plan.Field{{Name: "for", Type: plan.DurationField}}})
	r, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"tea-0 30ms", "tea-1 100ms", "tea-2 100ms"}, log)
	require.Equal(t, []plan.Refused{{Action: "tea-3", Reason: "no tea left"}}, r.Verdict.Refused)
}

// Without a String method the trace prints a digest of the bytes: two messages of one name are told apart.
func TestTraceTellsMessagesWithoutStringApart(t *testing.T) {
	sent := func(what byte) (lines []string) {
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{boot: func(env *sim.Env) error { env.SendTo("n2", 1, blob{what}); env.Observe(blob{what}); return nil }}
			})
		})
		_, err := l.engine().Run(labPlan(1), sim.Options{Trace: func(line sim.TraceLine) {
			if line.What == "send" || line.What == "protocol" {
				lines = append(lines, line.Text)
			}
		}})
		require.NoError(t, err)
		require.Len(t, lines, 2)
		return lines
	}
	one, two := sent(1), sent(2)
	require.Regexp(t, "^to n2: kind 9 key 9, 1 bytes [0-9a-f]{16}$", one[0])
	require.NotEqual(t, one[0], two[0])
	require.NotEqual(t, one[1], two[1])
}

// blob is a message that says nothing of itself but its bytes.
type blob struct{ b byte }

func (blob) Kind() uint32               { return 9 }
func (blob) Key() uint64                { return 9 }
func (m blob) AppendTo(b []byte) []byte { return append(b, m.b) }
