package sim

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// ticker is a process of many lanes, each of which wakes itself again and again: the kernel without a program.
type ticker struct{ lanes int }

func (t *ticker) Boot(env *Env) error {
	names := make([]string, t.lanes)
	for i := range names {
		names[i] = "lane-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	env.Lanes(names...)
	for i := range names {
		env.Post(LaneID(i), tick{})
	}
	return nil
}

func (t *ticker) Input(env *Env, in *Input) error {
	// A deadline two milliseconds away: no two wake-ups of a lane count as spinning.
	env.WakeAt(env.MonotonicNs() + 2_000_000 + int64(in.Lane)*7_919)
	return nil
}

func (t *ticker) Stop(env *Env)                            { env.Exit() }
func (t *ticker) AppendState(buf []byte, view View) []byte { return buf }

type tick struct{}

func (tick) Kind() uint32               { return 1 }
func (tick) Key() uint64                { return 0 }
func (tick) AppendTo(buf []byte) []byte { return append(buf, 't') }

// BenchmarkKernel measures the bare event loop with 64 pending events: nanoseconds per event.
func BenchmarkKernel(b *testing.B) {
	w := tickingWorld(b, 64)
	for range 1000 {
		w.step()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		w.step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func tickingWorld(tb testing.TB, lanes int) *World {
	tb.Helper()
	p := benchPlan()
	p.Hosts = p.Hosts[:1]
	return furnished(tb, p, func(*Host) Process { return &ticker{lanes} })
}

// A request and its response on a connection between two hosts, over and over.
type echo struct {
	peer string
	ask  bool
	conn Conn
}

func (p *echo) Boot(env *Env) error {
	env.Listen(1, 0)
	if p.ask {
		p.conn = env.Dial(p.peer, 1)
	}
	return nil
}

func (p *echo) Input(env *Env, in *Input) error {
	switch in.Kind {
	case InConnected:
		env.Send(p.conn, tick{})
	case InMessage:
		env.Send(in.Conn, in.Msg)
	}
	return nil
}

func (p *echo) Stop(env *Env)                            { env.Exit() }
func (p *echo) AppendState(buf []byte, view View) []byte { return buf }

// BenchmarkNetwork measures one message between two hosts: latency and order drawn, sent, arrived, handled, hashed.
func BenchmarkNetwork(b *testing.B) {
	p := benchPlan()
	p.Network = plan.Network{LatencyUs: 200, JitterUs: 300}
	benchWorld(b, p, func(h *Host) Process { return &echo{peer: "n2", ask: h.ID() == "n1"} })
}

// logger appends a record and syncs it each millisecond.
type logger struct {
	fd     int32
	offset int64
	record []byte
}

func (p *logger) Boot(env *Env) (err error) {
	p.record = make([]byte, 100)
	env.WakeAt(env.MonotonicNs() + million)
	p.fd, err = env.Files().Open("/log", true)
	return err
}

func (p *logger) Input(env *Env, in *Input) error {
	env.WakeAt(env.MonotonicNs() + million)
	if p.offset == 100_000 { // a segment is full
		p.offset = 0
		if err := env.Files().Truncate(p.fd, 0); err != nil {
			return err
		}
	}
	if err := env.Files().WriteAt(p.fd, p.record, p.offset); err != nil {
		return err
	}
	p.offset += 100
	return env.Files().Sync(p.fd)
}

func (p *logger) Stop(env *Env)                            { env.Exit() }
func (p *logger) AppendState(buf []byte, view View) []byte { return buf }

// BenchmarkDisk measures a third of a write with its fsync: the wake-up and the two completions are three events.
func BenchmarkDisk(b *testing.B) {
	p := benchPlan()
	p.Disk = plan.Disk{WriteNs: 5_000, SyncNs: 300_000, JitterPercent: 50}
	benchWorld(b, p, func(*Host) Process { return &logger{} })
}

func benchPlan() *plan.Plan {
	return &plan.Plan{Format: plan.Format, Scenario: "bench", Seed: 1, StormUs: 1 << 50,
		Hosts: []plan.Host{{ID: "n1", Kind: "node"}, {ID: "n2", Kind: "node"}}}
}

func benchWorld(b *testing.B, p *plan.Plan, factory func(h *Host) Process) {
	b.Helper()
	w := furnished(b, p, factory)
	for w.eventID < 50_000 {
		w.step()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for until := w.eventID + int64(b.N); w.eventID < until; {
		w.step()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func furnished(tb testing.TB, p *plan.Plan, factory func(h *Host) Process) *World {
	tb.Helper()
	w := &World{registry: &plan.Registry{}}
	if err := w.reset(p, Options{}); err != nil {
		tb.Fatal(err)
	}
	for _, h := range w.hosts {
		w.Install(h, func() Process { return factory(h) })
	}
	if err := w.scheduleActions(); err != nil {
		tb.Fatal(err)
	}
	return w
}

// The steady state of kernel, network and disk allocates nothing.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	network, storage := benchPlan(), benchPlan()
	network.Network = plan.Network{LatencyUs: 200, JitterUs: 300}
	storage.Disk = plan.Disk{WriteNs: 5_000, SyncNs: 300_000, JitterPercent: 50}
	for name, w := range map[string]*World{
		"kernel":  tickingWorld(t, 64),
		"network": furnished(t, network, func(h *Host) Process { return &echo{peer: "n2", ask: h.ID() == "n1"} }),
		"disk":    furnished(t, storage, func(*Host) Process { return &logger{} }),
	} {
		for w.eventID < 50_000 {
			w.step()
		}
		allocs := testing.AllocsPerRun(10, func() {
			for until := w.eventID + 1_000; w.eventID < until; {
				w.step()
			}
		})
		if allocs > 1 {
			t.Errorf("%s: %.0f allocations in a thousand events", name, allocs)
		}
	}
}
