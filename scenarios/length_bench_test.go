package scenarios

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// steady is a cluster of counters on a healthy network that appends for ever, for measuring: the counters of Kafka's own simulation
// with all invariants on, without snapshots unless said so.
type steady struct {
	engine   *sim.Engine
	scenario *kafkaScenario
	plan     *plan.Plan
}

// newSteady makes one whose script is the given phases, once a leader is elected.
func newSteady(voters, observers int64, params plan.Params, script ...phase) *steady {
	s := &kafkaScenario{name: "kafka/steady", doc: "a counter for measuring", voters: [2]int64{voters, voters}, observers: [2]int64{observers, observers},
		routerMs: 1, script: append([]phase{{name: "agree on a leader", until: untilAgreed()}}, script...), cluster: &kafkaCluster{}}
	c := Catalogue()
	c.Scenarios = append(c.Scenarios, s)
	p := s.plan(1, voters, observers)
	p.Params["snapshots"] = "false"
	for k, v := range params {
		p.Params[k] = v
	}
	return &steady{sim.NewEngine(c), s, p}
}

func (s *steady) run(t testing.TB) *plan.Verdict {
	t.Helper()
	r, err := s.engine.Run(s.plan, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.OK, r.Verdict.Outcome, r.Verdict)
	return r.Verdict
}

// window is what happens between two lengths of the log.
type window struct {
	events          int64
	cpu             float64 // seconds of processor time
	mallocs, memory uint64
}

// opens and closes are what phases do at its ends.
func (w *window) opens(p *play) {
	w.mallocs, w.memory = allocated()
	w.events, w.cpu = p.w.EventID(), cpuSeconds()
}

func (w *window) closes(p *play) {
	w.cpu = cpuSeconds() - w.cpu
	w.events = p.w.EventID() - w.events
	mallocs, memory := allocated()
	w.mallocs, w.memory = mallocs-w.mallocs, memory-w.memory
}

func allocated() (mallocs, bytes uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs, m.TotalAlloc
}

const (
	windowRecords = 1000  // of a window at a length of the log
	phaseRecords  = 5_000 // that a log grows by in a phase
)

// growth is the phases in which a log gets so many records. A phase that lasts too long counts as stuck, so there are many.
func growth(records int64) (script []phase) {
	for some := int64(phaseRecords); some < records; some += phaseRecords {
		script = append(script, phase{name: "the log grows", until: untilAll(some)})
	}
	return append(script, phase{name: "the log grows", until: untilAll(records)})
}

// grown runs a cluster of three until its log has so many records, and measures the next ones.
func grown(t testing.TB, records int64, params plan.Params) (w window, v *plan.Verdict) {
	t.Helper()
	script := append(growth(records), phase{name: "the window", do: w.opens, until: untilAll(records + windowRecords)},
		phase{name: "the end", do: w.closes})
	return w, newSteady(3, 0, params, script...).run(t)
}

// BenchmarkLogLength is the cost of an event with all invariants on behind a log of so many records, one a batch. It must not grow with
// the log: within 1.5 times from a thousand to a million. The longest takes ten seconds and 3.4 GB.
func BenchmarkLogLength(b *testing.B) {
	benchmarkLength(b, plan.Params{}, 1_000, 10_000, 100_000, 1_000_000)
}

// BenchmarkSnapshotCount is the same where every eleventh record is followed by a snapshot on each node, and none goes: up to nine thousand.
func BenchmarkSnapshotCount(b *testing.B) {
	benchmarkLength(b, plan.Params{"snapshots": "true"}, 1_000, 10_000, 100_000)
}

func benchmarkLength(b *testing.B, params plan.Params, lengths ...int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(collectorPercent))
	for _, records := range lengths {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			var cpu float64
			var events int64
			for range b.N {
				w, _ := grown(b, records, params)
				cpu += w.cpu
				events += w.events
			}
			b.ReportMetric(cpu*1e9/float64(events), "cpu-ns/event")
			b.ReportMetric(float64(events)/float64(b.N), "events")
		})
	}
}

// BenchmarkNodes is the events a second of healthy clusters: three voters and so many observers beside them, or only voters up to five.
func BenchmarkNodes(b *testing.B) {
	for _, nodes := range []int64{3, 5, 9, 25, 100} {
		for _, records := range []int64{1_000, 10_000} {
			b.Run(fmt.Sprintf("%d/%d", nodes, records), func(b *testing.B) {
				voters := min(nodes, 5)
				s := newSteady(voters, nodes-voters, nil, growth(records)...)
				var events int64
				defer debug.SetGCPercent(debug.SetGCPercent(collectorPercent))
				cpu := cpuSeconds()
				b.ResetTimer()
				for range b.N {
					events += int64(s.run(b).Events)
				}
				b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
				b.ReportMetric(float64(events)/(cpuSeconds()-cpu), "events/cpu-s")
				b.ReportMetric(float64(events)/float64(b.N), "events/run")
			})
		}
	}
}
