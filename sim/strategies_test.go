package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// pinged makes n1 send a numbered datagram to n2 each millisecond and returns which arrived.
func pinged(t *testing.T, p *plan.Plan, furnish func(w *sim.World)) (arrived []uint64, v *plan.Verdict) {
	t.Helper()
	p.Network.Transport = "datagram"
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return every(ms, func(env *sim.Env, n int64) error {
				env.SendTo("n2", 1, msg{1, uint64(n)})
				return nil
			})
		})
		w.Install(w.Host("n2"), func() sim.Process {
			return &program{boot: func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(_ *sim.Env, in *sim.Input) error { arrived = append(arrived, in.Msg.Key()); return nil }}
		})
		if furnish != nil {
			furnish(w)
		}
	})
	return arrived, l.run(t, p)
}

func splitOff(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "split", "hosts", "n1", "for", "10ms")
	}
	arrived, _ := pinged(t, p, nil)
	return 99 - int64(len(arrived))
}

func flapped(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 10, "flap", "from", "n2", "to", "n1", "period", "10ms", "for", "50ms")
	}
	arrived, v := pinged(t, p, nil)
	if on {
		require.Equal(t, int64(5), v.Stats["flaps"])
		require.InDelta(t, 25, 99-len(arrived), 2, "the link is down for half of the time")
	}
	return 99 - int64(len(arrived))
}

func TestFlapByATimeout(t *testing.T) {
	p := labPlan(1)
	act(p, 10, "flap", "from", "n1", "to", "n2", "of", "heartbeat", "phase", "50", "down", "25", "for", "40ms")
	act(p, 90, "flap", "from", "n1", "to", "n2", "of", "nothing")
	act(p, 91, "flap", "from", "n1", "to", "n2")
	act(p, 95, "flap", "from", "n1", "to", "n2", "period", "4ms")
	arrived, v := pinged(t, p, func(w *sim.World) { w.SetTimeout("heartbeat", 20*ms) })
	require.Equal(t, int64(2+2), v.Stats["flaps"], "at 20 and 40 ms, at 95 and 99 ms")
	require.NotContains(t, arrived, uint64(22))
	require.Contains(t, arrived, uint64(30))
	require.NotContains(t, arrived, uint64(43))
	require.Contains(t, arrived, uint64(60))
	require.Equal(t, "no timeout is called nothing", v.Refused[0].Reason)
	require.Equal(t, "it needs a period, or of", v.Refused[1].Reason)
	require.Equal(t, plan.Params{"from": "n1", "to": "n2", "period": "20ms", "phase": "50", "down": "25", "for": "40ms"}, v.Resolved[0].As[0].Params)
}

func TestSplitNeedsSomebodyOutside(t *testing.T) {
	p := labPlan(1)
	act(p, 20, "split", "hosts", "n1,n2")
	_, v := pinged(t, p, nil)
	require.Equal(t, "nobody is outside of the set", v.Refused[0].Reason)
}

// targets is a catalogue in which "leader" stands for n2, and "heir" for nobody.
func targets(l lab) *sim.Engine {
	c := labCatalogue(lab(func(w *sim.World) {
		w.SetTargets(func(word string) ([]*sim.Host, string) {
			if word == "leader" {
				return w.Hosts()[1:], ""
			}
			return nil, "nobody follows"
		})
		l(w)
	}))
	c.Registry.AddTargets("leader", "heir")
	return sim.NewEngine(c)
}

func TestSymbolicTargets(t *testing.T) {
	var traced []string
	e := targets(func(w *sim.World) {
		w.Install(w.Host("n2"), func() sim.Process { return &program{} })
	})
	p := labPlan(1)
	act(p, 10, "kill", "host", "leader", "down", "1ms")
	act(p, 20, "kill", "host", "heir")
	act(p, 30, "isolate", "host", "leader", "for", "5ms")
	act(p, 40, "cut", "from", "n1,leader", "to", "leader", "for", "5ms")
	act(p, 50, "jump", "host", "n1", "by", "1ms")
	r, err := e.Run(p, sim.Options{Trace: func(l sim.TraceLine) {
		if l.What == "action" || l.What == "refused" {
			traced = append(traced, l.Text)
		}
	}})
	require.NoError(t, err)
	require.Equal(t, []plan.Refused{{Action: "kill-1", Reason: "nobody follows"}}, r.Verdict.Refused)
	require.Equal(t, int64(1), r.Verdict.Stats["crashes"])
	require.Equal(t, []string{"10ms kill host=n2 down=1ms #kill-0", "20ms kill host=heir #kill-1: nobody follows", "30ms isolate host=n2 for=5ms #isolate-2",
		"40ms cut from=n1,n2 to=n2 for=5ms #cut-3", "50ms jump host=n1 by=1ms #jump-4"}, traced)
	require.Len(t, r.Verdict.Resolved, 3)
	for _, x := range r.Verdict.Resolved { // in place of what it was, each does the same
		require.Len(t, x.As, 1)
		for i := range p.Actions {
			if p.Actions[i].ID == x.Action {
				p.Actions[i] = x.As[0]
			}
		}
	}
	again, err := e.Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, r.Verdict.TraceHash, again.Verdict.TraceHash)
	act(p, 60, "swap", "host", "n1", "with", "leader")
	_, err = e.Run(p, sim.Options{})
	require.ErrorContains(t, err, "leader", "this parameter takes ids only")
}

// steps is a process that does three disk operations per wake-up, with observations before, between and behind.
func steps() sim.Process {
	var fd int32
	p := every(10*ms, func(env *sim.Env, n int64) error {
		env.Observe(msg{1, uint64(n)})
		if err := env.Files().WriteAt(fd, make([]byte, 1600), 0); err != nil {
			return err
		}
		env.Observe(msg{2, uint64(n)})
		if err := env.Files().Sync(fd); err != nil {
			return err
		}
		env.Observe(msg{3, uint64(n)})
		return env.Files().Truncate(fd, 0)
	})
	wake := p.boot
	p.boot = func(env *sim.Env) (err error) {
		if fd, err = env.Files().Open("/f", true); err != nil {
			return err
		}
		return wake(env)
	}
	return p
}

// hook is a checker that calls a function at an observation.
type hook struct {
	w    *sim.World
	kind uint32
	key  uint64
	f    func(w *sim.World, h *sim.Host)
}

func (k *hook) Attach(w *sim.World) { k.w = w }
func (k *hook) OnProtocol(h *sim.Host, o sim.Observation) {
	if m := o.(msg); m.kind == k.kind && m.key == k.key && h.Boot() == 1 {
		k.f(k.w, h)
	}
}

// A crash at the n-th operation after an observation comes inside that operation, whether the handler that observed has issued it or not;
// and the line that it is resolved to does the same to the last bit.
func TestCrashAtAnOperationAfterAnObservation(t *testing.T) {
	for kind := uint32(1); kind <= 3; kind++ {
		for n := int64(1); n <= 5; n++ {
			t.Run(fmt.Sprintf("observation %d operation %d", kind, n), func(t *testing.T) {
				var last []string
				build := func(armed bool) *sim.Engine {
					return lab(func(w *sim.World) {
						w.Install(w.Host("n1"), steps)
						last = nil
						w.Add(&disks{f: func(h *sim.Host, op *vdisk.Op) {
							if h.Boot() == 1 && h.Up() {
								last = append(last, op.Kind.String())
							}
						}})
						if armed {
							w.Add(&hook{kind: kind, key: 3, f: func(w *sim.World, h *sim.Host) {
								require.Empty(t, w.CrashAtOp(h, 0, n, true, 5*ms, "aim"))
								require.Equal(t, "armed already", w.CrashAtOp(h, 0, n, true, 5*ms, "aim"))
							}})
						}
					}).engine()
				}
				p := labPlan(1)
				r, err := build(true).Run(p, sim.Options{})
				require.NoError(t, err)
				require.Equal(t, int64(1), r.Verdict.Stats["crashes-at-operation"])
				done := 1 + 3*2 + int64(kind) - 1 + n - 1 // the file, two wake-ups, what came before, what came between
				require.Len(t, last, int(done))
				require.Len(t, r.Verdict.Resolved, 1)
				p.Actions = append(p.Actions, r.Verdict.Resolved[0].As...)
				before := last
				again, err := build(false).Run(p, sim.Options{})
				require.NoError(t, err)
				require.Equal(t, before, last)
				require.Equal(t, int64(1), again.Verdict.Stats["crashes-at-operation"])
				require.Equal(t, r.Verdict.Stats["inputs"], again.Verdict.Stats["inputs"])
			})
		}
	}
}

// disks is a checker of disk operations.
type disks struct {
	f func(h *sim.Host, op *vdisk.Op)
}

func (*disks) Attach(*sim.World)                                   {}
func (d *disks) OnDisk(h *sim.Host, _ *vdisk.Volume, op *vdisk.Op) { d.f(h, op) }
func (d *disks) OnDiskCrash(*sim.Host, *vdisk.Volume)              {}

func TestCrashAtAnOperationOfABoot(t *testing.T) {
	p := labPlan(1)
	act(p, 1, "crash-op", "host", "n1", "n", "4", "boot", "2", "down", "1ms") // waits for the second
	act(p, 2, "crash-op", "host", "n1", "n", "3", "boot", "1", "down", "1ms")
	act(p, 50, "crash-op", "host", "n1", "n", "1", "boot", "1", "down", "1ms")
	act(p, 51, "crash-op", "host", "n1", "n", "1", "boot", "3", "down", "1ms")
	boots := []int64{}
	v := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { boots = append(boots, w.Host("n1").Volume().OpsSinceBoot()); return steps() })
	}).run(t, p)
	require.Equal(t, int64(2), v.Stats["crashes-at-operation"])
	require.Len(t, boots, 3)
	require.Len(t, v.Refused, 2)
	require.Equal(t, "boot 1 is over", v.Refused[0].Reason)
	require.Contains(t, v.Refused[1].Reason, "names no operation to come")
}

// A trap tears a write where it says, and the decision that this fixes does the same without the trap.
func TestTrapTearsAWrite(t *testing.T) {
	for lost := int64(0); lost <= 4; lost++ {
		build := func(trap bool) *sim.Engine {
			return lab(func(w *sim.World) {
				w.Install(w.Host("n1"), steps)
				if !trap {
					return
				}
				seen := 0
				w.SetTrap(func(h *sim.Host, op *vdisk.Op) (bool, int64) {
					if op.Kind != vdisk.OpWrite {
						return false, 0
					}
					if seen++; seen != 2 {
						return false, 0
					}
					w.Trapped(h, op, -1, "trap")
					return true, lost
				})
			}).engine()
		}
		p := labPlan(7)
		e := build(true)
		var size int64
		r, err := e.Run(p, sim.Options{RecordDecisions: true, Trace: func(l sim.TraceLine) {
			if l.Disk != nil && l.Disk.Kind == vdisk.OpWrite && l.AtUs >= 20_000 && l.AtUs < 25_000 {
				size = int64(len(l.Disk.Data))
			}
		}})
		require.NoError(t, err)
		require.Equal(t, int64(1), r.Verdict.Stats["crashes-at-operation"])
		require.Equal(t, max(0, min(1600, (4-lost)*512)), size, "lost %d", lost)
		torn := 0
		for _, d := range r.Decisions {
			if !d.Benign && !d.Spread {
				torn++
				p.Decisions = append(p.Decisions, plan.Decision{Name: d.Name, NameHash: plan.Uint64(d.Hash), Value: plan.Int64(d.Value)})
			}
		}
		require.Equal(t, lost > 0, torn == 1)
		p.Actions, p.Explicit = append(p.Actions, r.Verdict.Resolved[0].As...), true
		was := size
		size = 0
		again, err := build(false).Run(p, sim.Options{Trace: func(l sim.TraceLine) {
			if l.Disk != nil && l.Disk.Kind == vdisk.OpWrite && l.AtUs >= 20_000 && l.AtUs < 25_000 {
				size = int64(len(l.Disk.Data))
			}
		}})
		require.NoError(t, err)
		require.Equal(t, int64(1), again.Verdict.Stats["crashes-at-operation"])
		require.Equal(t, was, size)
	}
}
