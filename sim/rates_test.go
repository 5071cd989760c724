package sim_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// modelTests has a measure for every field of the plan's models and for every clock and start of a host.
var modelTests = map[string]measure{
	"Network.Transport": transport, "Network.LatencyUs": latency, "Network.JitterUs": latencyJitter, "Network.Weights": latencyWeights,
	"Network.TailPpm": tail, "Network.TailUs": tail, "Network.ResetPpm": resets, "Network.LossPpm": losses,
	"Network.DuplicatePpm": duplicates, "Network.ReorderPpm": reordered, "Network.ReorderUs": reordered, "Network.CorruptPpm": corrupted,
	"Network.BytesPerSecond": bandwidth, "Network.QueueBytes": queues, "Network.CrossRackUs": crossRack,
	"Disk.FailedSync": failedSync,
	"Disk.Profile":    profile, "Disk.WriteNs": writeCost, "Disk.SyncNs": syncCost, "Disk.MetadataNs": metadataCost,
	"Disk.JitterPercent": diskJitter, "Disk.SlowSyncPpm": slowSync, "Disk.SlowSyncNs": slowSync,
	"Disk.ReadErrorPpm":  rateOf("read", func(d *plan.Disk) { d.ReadErrorPpm = 200_000 }),
	"Disk.WriteErrorPpm": rateOf("write", func(d *plan.Disk) { d.WriteErrorPpm = 200_000 }),
	"Disk.SyncErrorPpm":  rateOf("sync", func(d *plan.Disk) { d.SyncErrorPpm = 200_000 }),
	"Lanes.PostJitterUs": postJitter, "Lanes.WakeJitterUs": wakeJitter, "Lanes.SpuriousPpm": spurious,
	"Host.OffsetMs": clockOffset, "Host.DriftPpm": clockDrift, "Host.StartUs": startLate,
	"Host.Rack": rackPower,
}

// A new field of a model without a test is red, like a fault.
func TestEachRateHasAnEffectOfItsOwn(t *testing.T) {
	notFaults := map[string]bool{"Host.ID": true, "Host.Kind": true, "Host.Release": true, "Host.Params": true}
	for _, of := range []reflect.Type{reflect.TypeFor[plan.Network](), reflect.TypeFor[plan.Disk](), reflect.TypeFor[plan.Lanes](),
		reflect.TypeFor[plan.Host]()} {
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			if notFaults[name] {
				continue
			}
			t.Run(name, func(t *testing.T) {
				m := modelTests[name]
				require.NotNil(t, m, "write a test for this field")
				require.Positive(t, m(t, true), "the field has no effect")
				require.Zero(t, m(t, false), "the effect shows without the field")
			})
		}
	}
}

func datagrams(on bool) *plan.Plan {
	p := labPlan(1)
	p.Network.Transport = "datagram"
	if !on {
		p.Network = plan.Network{Transport: "datagram", LatencyUs: 100}
	}
	return p
}

// On the stream transport datagrams are perfect, and a plan that says otherwise is refused.
func transport(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	for field, rate := range map[string]*int64{"loss": &p.Network.LossPpm, "duplicate": &p.Network.DuplicatePpm, "reorder": &p.Network.ReorderPpm} {
		*rate = 1
		_, err := lab(func(*sim.World) {}).engine().Run(p, sim.Options{})
		require.ErrorContains(t, err, "network."+field+"_ppm: needs network.transport")
		*rate = 0
	}
	if on {
		p.Network.Transport, p.Network.LossPpm = "datagram", 500_000
	}
	_, v := traffic(t, p)
	return v.Stats["net-losses"]
}

func latency(t *testing.T, on bool) (slow int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Network.LatencyUs = 700
	}
	got, _ := traffic(t, p)
	for _, r := range got {
		if r.took >= 700*us {
			slow++
		}
	}
	return slow
}

func latencyJitter(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Network.JitterUs = 300
	}
	times := map[int64]bool{}
	got, _ := traffic(t, p)
	for _, r := range got {
		require.GreaterOrEqual(t, r.took, 100*us)
		require.LessOrEqual(t, r.took, 400*us+1)
		times[r.took/us] = true
	}
	return int64(len(times) / 20)
}

// latencyWeights: a table of two latencies in place of the uniform jitter.
func latencyWeights(t *testing.T, on bool) (slow int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Network.JitterUs, p.Network.Weights = 300, []int64{1, 0, 1}
	}
	got, _ := traffic(t, p)
	for _, r := range got {
		if r.took >= 400*us {
			require.GreaterOrEqual(t, r.took, 700*us)
			slow++
		}
	}
	return slow
}

func tail(t *testing.T, on bool) (slow int64) {
	t.Helper()
	p := labPlan(1)
	p.Network.TailUs = 9_000
	if on {
		p.Network.TailPpm = 20_000
	}
	got, v := traffic(t, p)
	for _, r := range got {
		if r.took >= 9*ms {
			slow++
		}
	}
	require.GreaterOrEqual(t, slow, v.Stats["net-tails"]-1, "one may still be under way at the end")
	return slow
}

func resets(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Network.ResetPpm = 100_000
	}
	closed := int64(0)
	var got []receipt
	l := lab(func(w *sim.World) {
		for i, h := range w.Hosts() {
			peer := w.Hosts()[1-i].ID()
			w.Install(h, func() sim.Process {
				p := talker(peer, w, &got)
				input := p.input
				p.input = func(env *sim.Env, in *sim.Input) error {
					if in.Kind == sim.InDisconnected {
						require.False(t, in.Refused)
						closed++
					}
					return input(env, in)
				}
				return p
			})
		}
	})
	v := l.run(t, p)
	require.Equal(t, on, v.Stats["net-resets"] > 0)
	require.LessOrEqual(t, closed, 2*v.Stats["net-resets"], "each end learns once")
	return closed
}

func losses(t *testing.T, on bool) int64 {
	t.Helper()
	p := datagrams(on)
	if on {
		p.Network.LossPpm = 100_000
	}
	got, v := traffic(t, p)
	n := count(got, "n1", 1, 0, 1000) + count(got, "n2", 1, 0, 1000)
	require.Equal(t, on, n < 190, "%d of about 198 arrived", n)
	return v.Stats["net-losses"]
}

func duplicates(t *testing.T, on bool) (twice int64) {
	t.Helper()
	p := datagrams(on)
	if on {
		p.Network.DuplicatePpm = 100_000
	}
	got, _ := traffic(t, p)
	seen := map[receipt]int{}
	for _, r := range got {
		r.at, r.took = 0, 0
		if seen[r]++; seen[r] > 1 {
			require.Equal(t, uint32(1), r.kind, "a connection duplicates nothing")
			twice++
		}
	}
	return twice
}

func reordered(t *testing.T, on bool) (back int64) {
	t.Helper()
	p := datagrams(on)
	p.Network.JitterUs = 5_000 // jitter alone reorders nothing
	if on {
		p.Network.ReorderPpm, p.Network.ReorderUs = 100_000, 3_000
	}
	got, v := traffic(t, p)
	last := map[string]uint64{}
	for _, r := range got {
		who := r.to + string(rune('0'+r.kind))
		if r.key < last[who] {
			require.Equal(t, uint32(1), r.kind, "a connection is FIFO")
			back++
		}
		last[who] = max(last[who], r.key)
	}
	require.Equal(t, on, v.Stats["net-reorders"] > 0)
	return back
}

// syncTimes runs a process that writes and syncs each millisecond, and returns how long after the handler's start each fsync
// was complete.
func syncTimes(t *testing.T, p *plan.Plan) []int64 {
	t.Helper()
	c := &stopwatch{}
	l := lab(func(w *sim.World) {
		w.Add(c)
		w.Install(w.Host("n1"), func() sim.Process {
			var fd int32
			p := every(ms, func(env *sim.Env, n int64) error {
				c.start = w.NowNs()
				if err := env.Files().WriteAt(fd, []byte("12345678"), n*8); err != nil {
					return err
				}
				return env.Files().Sync(fd)
			})
			wake := p.boot
			p.boot = func(env *sim.Env) (err error) {
				c.start = w.NowNs()
				if fd, err = env.Files().Open("/f", true); err != nil {
					return err
				}
				return wake(env)
			}
			return p
		})
	})
	require.Equal(t, plan.OK, l.run(t, p).Outcome)
	require.Greater(t, len(c.syncs), 50)
	require.Len(t, c.creates, 1)
	return c.syncs
}

// stopwatch notes when operations complete.
type stopwatch struct {
	w                      *sim.World
	start                  int64
	syncs, writes, creates []int64
}

func (c *stopwatch) Attach(w *sim.World) { *c = stopwatch{w: w} }
func (c *stopwatch) OnDisk(_ *sim.Host, _ *vdisk.Volume, op *vdisk.Op) {
	took := c.w.NowNs() - c.start
	switch op.Kind {
	case vdisk.OpSync:
		c.syncs = append(c.syncs, took)
	case vdisk.OpWrite:
		c.writes = append(c.writes, took)
	case vdisk.OpCreate:
		c.creates = append(c.creates, took)
	}
}
func (c *stopwatch) OnDiskCrash(*sim.Host, *vdisk.Volume) {}

func writeCost(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Disk.WriteNs = 50 * us
	}
	return longestSync(t, p)/us - 11
}

func syncCost(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Disk.SyncNs = 300 * us
	}
	return longestSync(t, p)/us - 11
}

func metadataCost(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Disk.MetadataNs = 90 * us
	}
	var booted int64
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return &program{boot: func(env *sim.Env) error { _, err := env.Files().Open("/f", true); return err }}
		})
		var look func()
		look = func() {
			if w.Host("n1").Booting() {
				booted = w.NowNs()
				w.At(w.NowNs()+us, 1, 1, look)
			}
		}
		w.At(500, 1, 0, look)
	})
	l.run(t, p)
	return booted / (2 * us)
}

func diskJitter(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Disk.JitterPercent = 100
	}
	different := map[int64]bool{}
	for _, took := range syncTimes(t, p) {
		require.GreaterOrEqual(t, took, 11*us)
		require.LessOrEqual(t, took, 22*us)
		different[took] = true
	}
	return int64(len(different)) - 1
}

func slowSync(t *testing.T, on bool) (slow int64) {
	t.Helper()
	p := labPlan(1)
	p.Disk.SlowSyncNs = 400 * us
	if on {
		p.Disk.SlowSyncPpm = 100_000
	}
	for _, took := range syncTimes(t, p) {
		if took >= 400*us {
			slow++
		}
	}
	return slow
}

func rateOf(class string, set func(*plan.Disk)) measure {
	return func(t *testing.T, on bool) int64 {
		p := labPlan(1)
		if on {
			set(&p.Disk)
		}
		seen := worker(t, p)
		if on {
			require.Len(t, seen, 1)
			require.InDelta(t, 20, seen[class], 15)
		}
		return seen[class]
	}
}

func postJitter(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Lanes.PostJitterUs = 300
	}
	delays := map[int64]bool{}
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			p := every(ms, func(env *sim.Env, n int64) error {
				if env.Lane() == 0 {
					env.Post(1, msg{1, uint64(w.NowNs())})
				}
				return nil
			})
			wake, boot := p.input, p.boot
			p.boot = func(env *sim.Env) error { env.Lanes("a", "b"); return boot(env) }
			p.input = func(env *sim.Env, in *sim.Input) error {
				if in.Kind == sim.InPost {
					require.Equal(t, sim.LaneID(1), env.Lane())
					delays[(w.NowNs()-int64(in.Msg.Key()))/us] = true
				}
				return wake(env, in)
			}
			return p
		})
	})
	l.run(t, p)
	require.NotEmpty(t, delays)
	return int64(len(delays)) - 1
}

func wakeJitter(t *testing.T, on bool) (late int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Lanes.WakeJitterUs = 300
	}
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			due := ms
			return every(ms, func(env *sim.Env, _ int64) error {
				require.GreaterOrEqual(t, env.MonotonicNs(), due, "a wake-up is never early")
				if env.MonotonicNs() > due {
					late++
				}
				due = env.MonotonicNs() + ms
				return nil
			})
		})
	})
	l.run(t, p)
	return late
}

func spurious(t *testing.T, on bool) (early int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Lanes.SpuriousPpm = 1_000_000
	}
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			due := int64(0)
			return &program{
				boot: func(env *sim.Env) error { due = ms; env.WakeAt(due); return nil },
				input: func(env *sim.Env, in *sim.Input) error {
					if env.MonotonicNs() < due {
						early++
						return nil
					}
					due = env.MonotonicNs() + ms
					env.WakeAt(due)
					return nil
				},
			}
		})
	})
	v := l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	require.InDelta(t, early, v.Stats["spurious-wakes"], 1, "one may be under way at the end")
	return early
}

// clocks returns what the clocks of n1 show when 80 ms of true time have passed.
func clocks(t *testing.T, p *plan.Plan) (wallMs, monotonicNs int64) {
	t.Helper()
	l := lab(func(w *sim.World) {
		w.At(80*ms, 1, 1, func() { wallMs, monotonicNs = w.Host("n1").WallMs(), w.Host("n1").MonotonicNs() })
	})
	l.run(t, p)
	return wallMs - 1_704_067_200_000, monotonicNs
}

func clockOffset(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Hosts[0].OffsetMs = 5_000
	}
	wallMs, monotonicNs := clocks(t, p)
	require.Equal(t, 80*ms, monotonicNs)
	return wallMs - 80
}

func clockDrift(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Hosts[0].DriftPpm = 100_000
	}
	wallMs, monotonicNs := clocks(t, p)
	require.Equal(t, wallMs, monotonicNs/ms)
	return monotonicNs/ms - 80
}

func startLate(t *testing.T, on bool) (bootMs int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Hosts[0].StartUs = 30_000
	}
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			return &program{boot: func(*sim.Env) error { bootMs = w.NowNs() / ms; return nil }}
		})
	})
	l.run(t, p)
	return bootMs
}
