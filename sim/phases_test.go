package sim_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// A wake-up is never early, whatever the clock does, and however often the deadline moves.
func TestWakeUpsAreNeverEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := labPlan(rapid.Uint64().Draw(t, "seed"))
		p.Hosts[0].DriftPpm = rapid.Int32Range(-500_000, 500_000).Draw(t, "drift")
		p.Lanes.WakeJitterUs = rapid.Int64Range(0, 3_000).Draw(t, "jitter")
		for range rapid.IntRange(0, 4).Draw(t, "jumps") {
			act(p, rapid.Int64Range(0, 99).Draw(t, "at"), "jump", "host", "n1", "by", "-700ms")
		}
		act(p, rapid.Int64Range(0, 99).Draw(t, "pause"), "pause", "host", "n1", "for", "9ms")
		gaps := rapid.SliceOfN(rapid.Int64Range(1, 9*ms), 1, 20).Draw(t, "gaps")
		wakes, last := 0, int64(-1)
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				due := int64(0)
				next := func(env *sim.Env) {
					now := env.MonotonicNs()
					require.GreaterOrEqual(t, now, last, "monotonic")
					last = now
					env.WakeAt(now + 40*ms)
					env.Spend(gaps[wakes%len(gaps)] / 100)
					due = now + gaps[wakes%len(gaps)]
					env.WakeAt(due)
				}
				return &program{
					boot: func(env *sim.Env) error { next(env); return nil },
					input: func(env *sim.Env, in *sim.Input) error {
						require.Equal(t, sim.InWake, in.Kind)
						require.GreaterOrEqual(t, env.MonotonicNs(), due)
						wakes++
						next(env)
						return nil
					},
				}
			})
		})
		r, err := l.engine().Run(p, sim.Options{})
		require.NoError(t, err)
		require.NotEqual(t, plan.Violation, r.Verdict.Outcome)
		require.Positive(t, wakes)
	})
}

func TestDeadlineThatIsClearedOrFarAwayNeverComes(t *testing.T) {
	for _, deadline := range []int64{-1, 1<<63 - 1} {
		wakes := 0
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{
					boot:  func(env *sim.Env) error { env.WakeAt(ms); env.WakeAt(deadline); return nil },
					input: func(*sim.Env, *sim.Input) error { wakes++; return nil },
				}
			})
		})
		p := labPlan(1)
		p.Hosts[0].DriftPpm = -400_000
		l.run(t, p)
		require.Zero(t, wakes)
	}
}

func TestSpinIsAVerdict(t *testing.T) {
	for name, input := range map[string]func(env *sim.Env, n int) error{
		"wake": func(env *sim.Env, _ int) error { env.WakeAt(env.MonotonicNs() + 999*us); return nil },
		"post": func(env *sim.Env, n int) error { env.Post(0, msg{1, 1}); return nil },
	} {
		n := 0
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{
					boot:  func(env *sim.Env) error { env.Lanes("busy"); return input(env, 0) },
					input: func(env *sim.Env, _ *sim.Input) error { n++; return input(env, n) },
				}
			})
		})
		p := labPlan(1)
		p.StormUs = 10_000_000
		v := l.run(t, p)
		require.Equal(t, plan.Spin, v.Outcome, name)
		require.Equal(t, "spin/spin/busy", v.Fingerprint())
		require.InDelta(t, 1_001, n, 2)
	}
}

func TestALaneThatWaitsOrHasInputDoesNotSpin(t *testing.T) {
	slow := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { return every(ms, func(*sim.Env, int64) error { return nil }) })
	})
	p := labPlan(1)
	p.StormUs = 3_000_000
	require.Equal(t, plan.OK, slow.run(t, p).Outcome, "a millisecond apart")
	fed := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { return every(100*us, func(*sim.Env, int64) error { return nil }) })
		var feed func()
		feed = func() { w.Request(w.Host("n1"), 0, msg{1, 1}); w.At(w.NowNs()+50*ms, 1, 1, feed) }
		feed()
	})
	p = labPlan(1)
	p.StormUs = 3_000_000
	require.Equal(t, plan.OK, fed.run(t, p).Outcome, "there is other input between")
}

// goal is an obligation that a function decides.
type goal func() bool

func (g goal) Met() bool       { return g() }
func (g goal) Waiting() string { return "the goal waits" }

// In the calm everything is healed: hosts run, links pass, disks are quick and right, clocks jump no more.
func TestCalmHealsEverything(t *testing.T) {
	p := labPlan(1)
	p.Network = plan.Network{Transport: "datagram", LatencyUs: 40_000, JitterUs: 40_000, LossPpm: 900_000, TailPpm: 500_000, TailUs: 900_000}
	p.Disk = plan.Disk{WriteNs: 90 * ms, SyncNs: 90 * ms, MetadataNs: 10_000, SlowSyncPpm: 500_000, SlowSyncNs: 900 * ms, SyncErrorPpm: 900_000,
		WriteErrorPpm: 300_000, ReadErrorPpm: 900_000}
	act(p, 2, "disk-slow", "host", "n1", "percent", "9000")
	act(p, 3, "disk-full", "host", "n1", "free", "0")
	act(p, 4, "disk-error", "host", "n1", "on", "read")
	act(p, 5, "isolate", "host", "n2")
	act(p, 6, "clog", "from", "n1", "to", "n2", "add", "9s")
	act(p, 7, "filter", "from", "n1", "to", "n2", "kind", "1")
	act(p, 8, "crash-op", "host", "n1", "n", "1000")
	act(p, 95, "pause", "host", "n1", "for", "50s")
	act(p, 96, "kill", "host", "n2")
	done, started := int64(0), int64(0)
	l := lab(func(w *sim.World) {
		w.SetLiveness(sim.Liveness{SmallestTimeoutNs: 10 * ms, BoundNs: 100 * ms})
		w.AddObligation(goal(func() bool { return done >= 10 }))
		w.SetSupervisor(ms)
		w.Install(w.Host("n1"), func() sim.Process {
			return every(5*ms, func(env *sim.Env, n int64) error {
				fd, err := env.Files().Open("/f", true)
				if err == nil {
					err = env.Files().WriteAt(fd, make([]byte, 100), n*100)
				}
				if err == nil {
					err = env.Files().Sync(fd)
				}
				if err == nil {
					_, err = env.Files().ReadAt(fd, make([]byte, 10), 0)
				}
				if w.Calm() {
					require.NoError(t, err)
					env.SendTo("n2", 1, msg{1, uint64(w.NowNs())})
				}
				return nil
			})
		})
		w.Install(w.Host("n2"), func() sim.Process {
			started++
			return &program{
				boot: func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(_ *sim.Env, in *sim.Input) error {
					require.LessOrEqual(t, w.NowNs()-int64(in.Msg.Key()), ms, "a tenth of the smallest timeout, cost of the disk included")
					done++
					return nil
				},
			}
		})
	})
	v := l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome, "%+v", v)
	require.Equal(t, int64(2), started)
	require.Empty(t, v.Refused)
	require.Less(t, int64(v.VirtualUs), int64(190_000), "the calm ends as soon as every obligation is met")
}

// An operation that the storm made endless, and a stop that it began, do not outlast it.
func TestCalmFinishesWhatTheStormBegan(t *testing.T) {
	boots := map[string]int{}
	wrote := false
	p := labPlan(1)
	p.Disk.SyncNs, p.Disk.MetadataNs = ms, ms
	act(p, 1, "disk-slow", "host", "n1", "percent", "1000000")
	act(p, 98, "stop", "host", "n2", "grace", "10ms")
	l := lab(func(w *sim.World) {
		w.SetLiveness(sim.Liveness{SmallestTimeoutNs: 10 * ms, BoundNs: 100 * ms})
		w.AddObligation(goal(func() bool { return wrote && boots["n2"] == 2 && w.Host("n2").Up() }))
		w.Install(w.Host("n1"), func() sim.Process {
			boots["n1"]++
			return &program{
				boot: func(env *sim.Env) error { env.WakeAt(10 * ms); return nil },
				input: func(env *sim.Env, in *sim.Input) error {
					if in.Kind == sim.InPost {
						wrote = true
						return nil
					}
					if _, err := env.Files().Open("/f", true); err != nil {
						return err
					}
					env.Post(0, msg{1, 1})
					return env.Files().SyncDir("/")
				},
			}
		})
		w.Install(w.Host("n2"), func() sim.Process { boots["n2"]++; return &program{stop: func(*sim.Env) {}} })
	})
	v := l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome, "%+v", v)
	require.Equal(t, 1, boots["n1"])
}

func TestUnmetObligationIsStuck(t *testing.T) {
	l := lab(func(w *sim.World) {
		w.SetLiveness(sim.Liveness{SmallestTimeoutNs: ms, BoundNs: 70 * ms})
		w.AddObligation(goal(func() bool { return false }))
		w.Install(w.Host("n1"), func() sim.Process { return every(ms, func(*sim.Env, int64) error { return nil }) })
	})
	v := l.run(t, labPlan(1))
	require.Equal(t, plan.Stuck, v.Outcome)
	require.Equal(t, []string{"the goal waits"}, v.Waiting)
	require.Equal(t, int64(170_000), int64(v.VirtualUs))
}

func TestObligationWithoutABoundIsRefused(t *testing.T) {
	l := lab(func(w *sim.World) { w.AddObligation(goal(func() bool { return true })) })
	_, err := l.engine().Run(labPlan(1), sim.Options{})
	require.ErrorContains(t, err, "SetLiveness")
}

// Only the core is healed; without one the run is legitimately stuck, with the proof.
func TestCore(t *testing.T) {
	for _, hasCore := range []bool{true, false} {
		up := map[string]bool{}
		l := lab(func(w *sim.World) {
			w.SetLiveness(sim.Liveness{SmallestTimeoutNs: ms, BoundNs: 50 * ms, Core: func() ([]*sim.Host, bool, string) {
				if !hasCore {
					return nil, false, "both logs are gone"
				}
				return []*sim.Host{w.Host("n1")}, true, ""
			}})
			w.AddObligation(goal(func() bool {
				for _, h := range w.Hosts() {
					up[h.ID()] = h.Up()
				}
				return w.NowNs() > 120*ms
			}))
			for _, h := range w.Hosts() {
				w.Install(h, func() sim.Process { return every(ms, func(*sim.Env, int64) error { return nil }) })
			}
		})
		p := labPlan(1)
		act(p, 10, "power", "hosts", "n1,n2", "down", "95ms") // up again in the calm, were it not for the freeze
		v := l.run(t, p)
		if !hasCore {
			require.Equal(t, plan.LegitimatelyStuck, v.Outcome)
			require.Equal(t, []string{"both logs are gone"}, v.Waiting)
			require.False(t, v.Outcome.Finding())
			continue
		}
		require.Equal(t, plan.OK, v.Outcome)
		require.Equal(t, map[string]bool{"n1": true, "n2": false}, up)
	}
}

// A supervisor starts again what stopped with an error, at boot or later; without one it stays down until the calm.
func TestSupervisor(t *testing.T) {
	for _, supervised := range []bool{true, false} {
		boots := 0
		l := lab(func(w *sim.World) {
			if supervised {
				w.SetSupervisor(5 * ms)
			}
			w.Install(w.Host("n1"), func() sim.Process {
				boots++
				if boots == 1 {
					return &program{boot: func(*sim.Env) error { return errors.New("lab: the directory is not formatted") }}
				}
				return every(10*ms, func(*sim.Env, int64) error { return errors.New("lab: the log is torn") })
			})
		})
		v := l.run(t, labPlan(1))
		require.Equal(t, plan.OK, v.Outcome)
		require.Equal(t, "lab: the directory is not formatted", v.Stopped[0].Error)
		require.True(t, v.Stopped[0].AtBoot)
		if supervised {
			require.Greater(t, boots, 5)
			require.False(t, v.Stopped[1].AtBoot)
			require.Equal(t, "lab: the log is torn", v.Stopped[1].Error)
		} else {
			require.LessOrEqual(t, boots, 2)
			require.Len(t, v.Stopped, 1)
		}
	}
}

// What a handler did before it returned an error has happened.
func TestFatalErrorKeepsWhatWasDone(t *testing.T) {
	got := 0
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return every(10*ms, func(env *sim.Env, _ int64) error {
				env.Spend(ms)
				env.SendTo("n2", 1, msg{1, 1})
				return errors.New("lab: fatal")
			})
		})
		w.Install(w.Host("n2"), func() sim.Process {
			return &program{
				boot:  func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(*sim.Env, *sim.Input) error { got++; return nil },
			}
		})
	})
	l.run(t, labPlan(1))
	require.Equal(t, 1, got)
}

// A handler that starts at the very instant at which the one before it ends comes after all of its effects.
func TestEffectsOfALaneKeepTheirOrder(t *testing.T) {
	for seed := range uint64(30) {
		var got []uint64
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{input: func(env *sim.Env, in *sim.Input) error {
					if in.Msg.Key() == 1 {
						env.Spend(5 * us)
					}
					env.SendTo("n2", 1, in.Msg)
					return nil
				}}
			})
			w.Install(w.Host("n2"), func() sim.Process {
				return &program{
					boot:  func(env *sim.Env) error { env.Listen(1, 0); return nil },
					input: func(_ *sim.Env, in *sim.Input) error { got = append(got, in.Msg.Key()); return nil },
				}
			})
			w.At(10*us, 1, 1, func() { w.Request(w.Host("n1"), 0, msg{1, 1}) })
			w.At(15*us, 1, 2, func() { w.Request(w.Host("n1"), 0, msg{1, 2}) })
		})
		l.run(t, labPlan(seed))
		require.Equal(t, []uint64{1, 2}, got, "seed %d", seed)
	}
}
