package history_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
)

// BenchmarkRecord records a storm of some ten thousand events.
func BenchmarkRecord(b *testing.B) {
	e := sim.NewEngine(scenarios.Catalogue())
	p := e.Catalogue().Scenario("raft/storm-3").Draw(4)
	events := 0
	for b.Loop() {
		h, err := history.Record(e, p)
		if err != nil {
			b.Fatal(err)
		}
		events = len(h.Events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
	b.ReportMetric(float64(events), "events")
}
