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
	w := &World{registry: &plan.Registry{}}
	p := &plan.Plan{Format: plan.Format, Scenario: "ticker", Seed: 1, StormUs: 1 << 50, Hosts: []plan.Host{{ID: "n1", Kind: "ticker"}}}
	if err := w.reset(p, Options{}); err != nil {
		tb.Fatal(err)
	}
	w.Install(w.hosts[0], func() Process { return &ticker{lanes} })
	if err := w.scheduleActions(); err != nil {
		tb.Fatal(err)
	}
	return w
}
