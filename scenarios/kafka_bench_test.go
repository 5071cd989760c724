package scenarios

import (
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
)

// BenchmarkKafka plays Kafka's own scenarios as Kafka's figures were made: 3 and 5 voters, no observers, all invariants on. The
// figure to compare is runs/s, on one core; Kafka's simulation, which polls, makes 20 over S1 to S7. Events are not
// alike: there one is a tick of a timer.
func BenchmarkKafka(b *testing.B) {
	for _, s := range kafkaScenarios() {
		for _, voters := range []int64{3, 5} {
			if voters >= s.voters[0] && voters <= s.voters[1] {
				b.Run(fmt.Sprintf("%s/%d", s.name[len("kafka/"):], voters), func(b *testing.B) { benchmarkKafka(b, s, voters) })
			}
		}
	}
}

// benchmarkKafka reports the means of the first 200 seeds, again and again.
func benchmarkKafka(b *testing.B, s *kafkaScenario, voters int64) {
	e := kafkaEngine(s)
	var events, simulated, sent int64
	b.ResetTimer()
	for i := range b.N {
		r, err := e.Run(s.plan(uint64(i%200), voters, 0), sim.Options{})
		if err != nil {
			b.Fatal(err)
		}
		events += int64(r.Verdict.Events)
		simulated += int64(r.Verdict.VirtualUs)
		sent += r.Verdict.Stats["messages"]
	}
	runs := float64(b.N)
	b.ReportMetric(runs/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(events)/runs, "events/run")
	b.ReportMetric(float64(sent)/runs, "messages/run")
	b.ReportMetric(float64(simulated)/1000/runs, "sim-ms/run")
}
