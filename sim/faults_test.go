package sim_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// measure runs a program with a fault or without, and returns how much of the fault's effect there was.
type measure func(t *testing.T, on bool) int64

// faultTests has a measure for every fault of the core.
var faultTests = map[string]measure{
	"kill": killed, "power": powerLost, "crash-op": crashedAtOperation, "stop": stopped, "start": started, "pause": paused,
	"jump": jumped, "cut": cut, "isolate": isolated, "clog": clogged, "filter": filtered, "disk-error": diskErrors,
	"disk-full": diskFull, "disk-slow": diskSlow, "wipe": wipedBytes,
	"flip": flippedBits, "swap": swappedDisks, "disk-stuck": diskStuck, "names": wrongNames,
	"split": splitOff, "flap": flapped,
	"lost-write": lostWrites, "misdirected-write": misdirectedWrites, "read-only": readOnly, "restore": restored, "clone": cloned,
	"throttle": throttled,
}

// A new fault without a test is red, and so is a fault that does nothing, or a test that sees an effect without it.
func TestEachFaultHasAnEffectOfItsOwn(t *testing.T) {
	for _, kind := range sim.Faults() {
		t.Run(kind.Name, func(t *testing.T) {
			m := faultTests[kind.Name]
			require.NotNil(t, m, "write a test for this fault")
			require.Positive(t, m(t, true), "the fault has no effect")
			require.Zero(t, m(t, false), "the effect shows without the fault")
		})
	}
}

// writer appends 8 bytes to a file each millisecond and syncs the first of them only.
func writer(found *[]int64) func() sim.Process {
	return func() sim.Process {
		var fd int32
		p := every(ms, func(env *sim.Env, n int64) error {
			size, err := env.Files().Size(fd)
			if err != nil {
				return err
			}
			if err := env.Files().WriteAt(fd, make([]byte, 8), size); err != nil || size > 0 {
				return err
			}
			return env.Files().Sync(fd)
		})
		wake := p.boot
		p.boot = func(env *sim.Env) (err error) {
			if fd, err = env.Files().Open("/f", true); err != nil {
				return err
			}
			size, _ := env.Files().Size(fd)
			*found = append(*found, size)
			if err := env.Files().SyncDir("/"); err != nil {
				return err
			}
			return wake(env)
		}
		return p
	}
}

// found runs the writer and returns the size of its file at each boot.
func found(t *testing.T, p *plan.Plan) (sizes []int64, v *plan.Verdict) {
	t.Helper()
	p.Hosts[0].StartUs = 500 // it writes at 1.5 ms, 2.5 ms, ...
	l := lab(func(w *sim.World) { w.Install(w.Host("n1"), writer(&sizes)) })
	v = l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	require.Empty(t, v.Refused)
	return sizes, v
}

func killed(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "kill", "host", "n1", "down", "5ms")
	}
	sizes, _ := found(t, p)
	if len(sizes) < 2 {
		return 0
	}
	require.Equal(t, int64(19*8), sizes[1], "the page cache survives a kill")
	return 1
}

func powerLost(t *testing.T, on bool) (lost int64) {
	t.Helper()
	for seed := range uint64(20) {
		p := labPlan(seed)
		if on {
			act(p, 20, "power", "hosts", "n1", "down", "5ms")
		}
		sizes, _ := found(t, p)
		if len(sizes) == 2 {
			require.GreaterOrEqual(t, sizes[1], int64(8), "what was synced is lost")
			require.LessOrEqual(t, sizes[1], int64(19*8))
			lost += 19*8 - sizes[1]
		}
	}
	return lost
}

// A power loss takes the page cache of a process that was killed before.
func TestPowerLossAfterKill(t *testing.T) {
	lost := int64(0)
	for seed := range uint64(20) {
		p := labPlan(seed)
		act(p, 20, "kill", "host", "n1")
		act(p, 21, "power", "hosts", "n1,n2", "down", "5ms")
		sizes, v := found(t, p)
		require.Len(t, sizes, 2)
		require.Equal(t, int64(1), v.Stats["power-losses"])
		lost += 19*8 - sizes[1]
	}
	require.Positive(t, lost)
}

func crashedAtOperation(t *testing.T, on bool) int64 {
	t.Helper()
	names := []string{"/a", "/b", "/c", "/d", "/e"}
	var left []string
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return &program{
				boot: func(env *sim.Env) error {
					if env.Host().Boot() > 1 {
						var err error
						left, err = env.Files().List("/")
						return err
					}
					env.WakeAt(10 * ms)
					return nil
				},
				input: func(env *sim.Env, _ *sim.Input) error {
					for _, name := range names {
						if _, err := env.Files().Open(name, true); err != nil {
							return err
						}
					}
					return nil
				},
			}
		})
	})
	p := labPlan(1)
	if on {
		act(p, 5, "crash-op", "host", "n1", "n", "3", "how", "kill", "down", "1ms")
	}
	v := l.run(t, p)
	if v.Stats["crashes-at-operation"] == 0 {
		return 0
	}
	require.Contains(t, [][]string{{"a", "b"}, {"a", "b", "c"}}, left)
	return 1
}

// Armed on a host that is down, crash-op hits an operation of the next boot.
func TestCrashOpInBoot(t *testing.T) {
	var sizes []int64
	p := labPlan(1)
	p.Hosts[0].StartUs = 10_000
	act(p, 5, "crash-op", "host", "n1", "n", "1", "how", "power", "down", "1ms")
	l := lab(func(w *sim.World) { w.Install(w.Host("n1"), writer(&sizes)) })
	v := l.run(t, p)
	require.Equal(t, int64(1), v.Stats["crashes-at-operation"])
	require.Equal(t, int64(1), v.Stats["crashes-in-handler"])
	require.Len(t, sizes, 2)
}

func stopped(t *testing.T, on bool) int64 {
	t.Helper()
	boots, stops := 0, int64(0)
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			boots++
			return &program{stop: func(env *sim.Env) { stops++; env.Spend(3 * ms); env.Exit() }}
		})
	})
	p := labPlan(1)
	if on {
		act(p, 10, "stop", "host", "n1", "down", "10ms")
		act(p, 30, "start", "host", "n1")
	}
	v := l.run(t, p)
	require.Zero(t, v.Stats["crashes"])
	if on {
		require.Equal(t, int64(1), v.Stats["graceful-stops"])
		require.Equal(t, 2, boots, "up again 10 ms after its end, so that start is refused")
		require.Len(t, v.Refused, 1)
	}
	return stops
}

func TestStopKillsAfterTheGrace(t *testing.T) {
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { return &program{stop: func(*sim.Env) {}} })
	})
	p := labPlan(1)
	act(p, 10, "stop", "host", "n1", "grace", "20ms")
	require.Equal(t, int64(1), l.run(t, p).Stats["crashes"])
}

func started(t *testing.T, on bool) int64 {
	t.Helper()
	var up bool
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { return &program{} })
		w.At(50*ms, 1, 1, func() { up = w.Host("n1").Up() })
	})
	p := labPlan(1)
	act(p, 10, "kill", "host", "n1")
	if on {
		act(p, 20, "start", "host", "n1")
	}
	l.run(t, p)
	if up {
		return 1
	}
	return 0
}

func paused(t *testing.T, on bool) int64 {
	t.Helper()
	last, gap := int64(0), int64(0)
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return every(ms, func(env *sim.Env, _ int64) error {
				if now := env.MonotonicNs(); last > 0 {
					gap = max(gap, now-last)
				}
				last = env.MonotonicNs()
				return nil
			})
		})
	})
	p := labPlan(1)
	if on {
		act(p, 10, "pause", "host", "n1", "for", "30ms")
	}
	l.run(t, p)
	return gap / (20 * ms)
}

// An operation that was under way when a pause began and a crash in the pause finds there is in progress: it may have happened.
func TestPauseKeepsAnOperationInProgress(t *testing.T) {
	happened := map[bool]int{}
	for seed := range uint64(40) {
		p := labPlan(seed)
		p.Disk.SyncNs = 5 * ms
		act(p, 3, "pause", "host", "n1", "for", "50ms") // the first sync lasts from 1 to 6 ms
		act(p, 20, "kill", "host", "n1")
		p.Disk.MetadataNs = 2 * ms
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{boot: func(env *sim.Env) error {
					if env.Host().Boot() > 1 {
						return nil
					}
					env.Spend(2 * ms)
					_, err := env.Files().Open("/f", true) // from 2 to 4 ms
					return err
				}}
			})
			w.At(30*ms, 1, 1, func() {
				_, ok := w.Host("n1").Volume().File("/f")
				happened[ok]++
			})
		})
		l.run(t, p)
	}
	require.Len(t, happened, 2, "some seeds have the file, some do not: %v", happened)
}

func jumped(t *testing.T, on bool) int64 {
	t.Helper()
	jump := int64(0)
	l := lab(func(w *sim.World) {
		var wall, mono int64
		w.Install(w.Host("n1"), func() sim.Process {
			return every(ms, func(env *sim.Env, n int64) error {
				if n > 1 {
					require.Equal(t, int64(1), (env.MonotonicNs()-mono)/ms, "the monotonic clock does not jump")
					if d := env.WallMs() - wall; d != 1 {
						jump = d
					}
				}
				wall, mono = env.WallMs(), env.MonotonicNs()
				return nil
			})
		})
	})
	p := labPlan(1)
	if on {
		act(p, 10, "jump", "host", "n1", "by", "-3s")
	}
	l.run(t, p)
	return -jump
}

// traffic makes both hosts send each other a datagram (kind 1) and a message on a connection (kind 2) per millisecond, and
// returns when what arrived where.
type receipt struct {
	at   int64
	to   string
	kind uint32
	key  uint64
	took int64
}

func traffic(t *testing.T, p *plan.Plan) (got []receipt, v *plan.Verdict) {
	t.Helper()
	l := lab(func(w *sim.World) {
		for i, h := range w.Hosts() {
			peer := w.Hosts()[1-i]
			w.Install(h, func() sim.Process { return talker(peer.ID(), w, &got) })
		}
	})
	v = l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	return got, v
}

func talker(peer string, w *sim.World, got *[]receipt) *program {
	var out sim.Conn
	up := false
	p := every(ms, func(env *sim.Env, _ int64) error {
		at := uint64(w.NowNs())
		env.SendTo(peer, 1, msg{1, at})
		if out == 0 {
			out = env.Dial(peer, 1)
		}
		if up {
			env.Send(out, msg{2, at})
		}
		return nil
	})
	wake, boot := p.input, p.boot
	p.boot = func(env *sim.Env) error { env.Listen(1, 0); return boot(env) }
	p.input = func(env *sim.Env, in *sim.Input) error {
		switch in.Kind {
		case sim.InConnected:
			up = true
		case sim.InDisconnected:
			if in.Conn == out {
				out, up = 0, false
			}
		case sim.InMessage:
			m := in.Msg.(msg)
			*got = append(*got, receipt{w.NowNs(), env.HostID(), m.kind, m.key, w.NowNs() - int64(m.key)})
		}
		return wake(env, in)
	}
	return p
}

// count counts receipts between two times in milliseconds.
func count(got []receipt, to string, kind uint32, fromMs, untilMs int64) (n int64) {
	for _, r := range got {
		if r.to == to && r.kind == kind && r.at >= fromMs*ms && r.at < untilMs*ms {
			n++
		}
	}
	return n
}

func cut(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "cut", "from", "n1", "to", "n2", "for", "30ms")
	}
	got, _ := traffic(t, p)
	require.Positive(t, count(got, "n1", 1, 25, 50), "a cut is one-way")
	require.Positive(t, count(got, "n1", 2, 25, 50))
	require.Positive(t, count(got, "n2", 1, 55, 90), "a cut ends")
	missing := 25 - count(got, "n2", 1, 25, 50) + 25 - count(got, "n2", 2, 25, 50)
	late := count(got, "n2", 2, 50, 52) - 2 // what the cut held back arrives when it is mended
	require.Equal(t, on, late > 20, "%d late", late)
	return missing
}

// A partial cut between some pairs leaves the others alone.
func TestCutIsPartial(t *testing.T) {
	got := map[string]int{}
	p := labPlan(1)
	p.Hosts = append(p.Hosts, plan.Host{ID: "n3", Kind: "node"})
	act(p, 0, "cut", "from", "n1,n2", "to", "n2")
	l := lab(func(w *sim.World) {
		for _, h := range w.Hosts() {
			w.Install(h, func() sim.Process {
				p := every(ms, func(env *sim.Env, _ int64) error {
					for _, o := range w.Hosts() {
						if o.ID() != env.HostID() && !w.Calm() {
							env.SendTo(o.ID(), 1, msg{1, 0})
						}
					}
					return nil
				})
				wake, boot := p.input, p.boot
				p.boot = func(env *sim.Env) error { env.Listen(1, 0); return boot(env) }
				p.input = func(env *sim.Env, in *sim.Input) error {
					if in.Kind == sim.InMessage {
						got[in.From+env.HostID()]++
					}
					return wake(env, in)
				}
				return p
			})
		}
	})
	l.run(t, p)
	require.Zero(t, got["n1n2"])
	for _, pair := range []string{"n1n3", "n3n1", "n2n1", "n2n3", "n3n2"} {
		require.Positive(t, got[pair], pair)
	}
}

func isolated(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "isolate", "host", "n2", "for", "30ms")
	}
	got, _ := traffic(t, p)
	require.Positive(t, count(got, "n1", 1, 55, 90))
	return 50 - count(got, "n1", 1, 25, 50) - count(got, "n2", 1, 25, 50)
}

func clogged(t *testing.T, on bool) (slow int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "clog", "from", "n1", "to", "n2", "add", "5ms", "for", "30ms")
	}
	got, _ := traffic(t, p)
	for _, r := range got {
		if r.took > 4*ms {
			require.Equal(t, "n2", r.to, "a clog is one-way")
			slow++
		}
	}
	return slow
}

func filtered(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "filter", "from", "n1", "to", "n2", "kind", "1", "for", "30ms")
	}
	got, _ := traffic(t, p)
	require.Equal(t, int64(25), count(got, "n2", 2, 25, 50), "another kind passes")
	require.Positive(t, count(got, "n1", 1, 25, 50), "a filter is one-way")
	return 25 - count(got, "n2", 1, 25, 50)
}

// A message that a filter catches on a connection holds back what follows it.
func TestFilterOnAConnectionHoldsBack(t *testing.T) {
	p := labPlan(1)
	act(p, 20, "filter", "from", "n1", "to", "n2", "kind", "2", "for", "30ms")
	got, v := traffic(t, p)
	require.Zero(t, count(got, "n2", 2, 25, 50))
	require.Greater(t, count(got, "n2", 2, 50, 52), int64(25), "all arrive when it ends")
	require.Positive(t, v.Stats["net-filtered"])
}

// worker writes, syncs and reads a file each millisecond and counts the errors by operation.
func worker(t *testing.T, p *plan.Plan) map[string]int64 {
	t.Helper()
	seen := map[string]int64{}
	note := func(name string, err error) {
		switch {
		case errors.Is(err, vdisk.ErrIO):
			seen[name]++
		case errors.Is(err, vdisk.ErrNoSpace):
			seen["full"]++
		}
	}
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			var fd int32
			p := every(ms, func(env *sim.Env, n int64) error {
				note("write", env.Files().WriteAt(fd, make([]byte, 64), n*64))
				note("sync", env.Files().Sync(fd))
				_, err := env.Files().ReadAt(fd, make([]byte, 8), 0)
				note("read", err)
				return nil
			})
			wake := p.boot
			p.boot = func(env *sim.Env) (err error) {
				err = env.Files().MkdirAll("/data")
				note("write", err)
				fd, err = env.Files().Open("/data/f", true)
				note("write", err)
				if err != nil && !errors.Is(err, vdisk.ErrIO) && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return wake(env)
			}
			return p
		})
	})
	require.Equal(t, plan.OK, l.run(t, p).Outcome)
	return seen
}

func diskErrors(t *testing.T, on bool) (errs int64) {
	t.Helper()
	for _, class := range []string{"read", "write", "sync"} {
		for _, ppm := range []string{"", "300000"} {
			p := labPlan(1)
			if on {
				act(p, 20, "disk-error", "host", "n1", "on", class, "for", "30ms", "path", "/data")
				if ppm != "" {
					p.Actions[0].Params["ppm"] = ppm
				}
			}
			seen := worker(t, p)
			if on {
				require.Len(t, seen, 1, "only the class that was asked for")
				require.Positive(t, seen[class])
				require.Equal(t, ppm == "", seen[class] >= 29, "%s %s: %d", class, ppm, seen[class])
				require.LessOrEqual(t, seen[class], int64(30))
			}
			errs += seen[class]
		}
	}
	return errs
}

func TestDiskErrorOfAnotherPath(t *testing.T) {
	p := labPlan(1)
	act(p, 20, "disk-error", "host", "n1", "on", "write", "path", "/other")
	require.Empty(t, worker(t, p))
}

func diskFull(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "disk-full", "host", "n1", "free", "640", "for", "30ms")
	}
	seen := worker(t, p)
	if on {
		require.InDelta(t, 20, seen["full"], 1, "ten writes fit, twenty do not")
	}
	return seen["full"]
}

func diskSlow(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "disk-slow", "host", "n1", "percent", "1000", "for", "30ms")
	}
	return longestSync(t, p)/us - 11
}

// longestSync runs the worker and returns how long a write and its fsync took at most: from the handler's start, 1 µs for
// the write, 10 µs for the sync.
func longestSync(t *testing.T, p *plan.Plan) (longest int64) {
	t.Helper()
	for _, took := range syncTimes(t, p) {
		longest = max(longest, took)
	}
	return longest
}

func TestOverlappingDiskFaultIsRefused(t *testing.T) {
	p := labPlan(1)
	act(p, 20, "disk-error", "host", "n1", "on", "read", "for", "30ms")
	act(p, 30, "disk-error", "host", "n1", "on", "write", "for", "1ms")
	act(p, 30, "disk-error", "host", "n2", "on", "write", "for", "1ms")
	act(p, 60, "disk-error", "host", "n1", "on", "write", "for", "10ms")
	l := lab(func(*sim.World) {})
	v := l.run(t, p)
	require.Equal(t, []plan.Refused{{Action: "disk-error-1", Reason: "such a fault is on already"}}, v.Refused)
	require.Equal(t, int64(3), v.Stats["fault-actions"])
}

// A kind of action of a scenario asks the budget, and a refused one is in the verdict with the reason.
func TestScenarioActionsAskTheBudget(t *testing.T) {
	wiped := []string{}
	l := lab(func(w *sim.World) {
		w.Budget().SetVoters([]string{"n1", "n2", "n3"})
		w.Handle("replace", sim.ActionHandler{Do: func(w *sim.World, a *sim.Act) string {
			h := a.Host("host")
			if why := w.Budget().Allow(h.ID()); why != "" {
				return why
			}
			w.Budget().Damage(h.ID())
			wiped = append(wiped, h.ID())
			return ""
		}})
	})
	c := l.catalogue()
	c.Registry.AddAction(plan.Kind{Name: "replace", Doc: "a disk is replaced", Fields: []plan.Field{{Name: "host", Type: plan.HostField, Required: true}}})
	p := labPlan(1)
	p.Hosts = append(p.Hosts, plan.Host{ID: "n3", Kind: "node"})
	act(p, 10, "replace", "host", "n1")
	act(p, 20, "replace", "host", "n2")
	act(p, 30, "replace", "host", "n1")
	for _, unrestricted := range []bool{false, true} {
		wiped = nil
		p.Unrestricted = unrestricted
		r, err := sim.NewEngine(c).Run(p, sim.Options{})
		require.NoError(t, err)
		if unrestricted {
			require.Equal(t, []string{"n1", "n2", "n1"}, wiped)
			require.Empty(t, r.Verdict.Refused)
			continue
		}
		require.Equal(t, []string{"n1", "n1"}, wiped)
		require.Len(t, r.Verdict.Refused, 1)
		require.Contains(t, r.Verdict.Refused[0].Reason, "1 of 3 voters are damaged")
	}
}

// What a plan says that can't be is an error that names the field, before anything runs.
func TestUnfitPlansAreErrors(t *testing.T) {
	for field, spoil := range map[string]func(p *plan.Plan){
		"scenario":              func(p *plan.Plan) { p.Scenario = "other" },
		"hosts[0].drift_ppm":    func(p *plan.Plan) { p.Hosts[0].DriftPpm = 600_000 },
		"hosts[1].id":           func(p *plan.Plan) { p.Hosts[1].ID = "n1" },
		"actions[0].kind":       func(p *plan.Plan) { act(p, 1, "meteor") },
		"actions[0].params.for": func(p *plan.Plan) { act(p, 1, "pause", "host", "n1", "for", "soon") },
	} {
		p := labPlan(1)
		spoil(p)
		_, err := lab(func(*sim.World) {}).engine().Run(p, sim.Options{})
		require.ErrorContains(t, err, field)
	}
}
