package scenarios

import (
	"runtime/debug"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
)

// BenchmarkLarge measures events per second on a cluster of 2,000 topics with 3 partitions each. The run fills it first, which costs
// more than all that follows; events/cpu-s is what a storm that is 150 seconds longer has more, over the time that it takes more.
func BenchmarkLarge(b *testing.B) {
	c := Catalogue()
	e := sim.NewEngine(c)
	defer debug.SetGCPercent(debug.SetGCPercent(collectorPercent))
	var events [2]int64
	var seconds [2]float64
	for i := range b.N {
		for long := range 2 {
			p := c.Scenario("metadata/large").Draw(uint64(i + 1))
			if long == 1 {
				p.StormUs += 150_000_000
			}
			cpu := cpuSeconds()
			r, err := e.Run(p, sim.Options{})
			if err != nil {
				b.Fatal(err)
			}
			events[long] += int64(r.Verdict.Events)
			seconds[long] += cpuSeconds() - cpu
		}
	}
	b.ReportMetric(float64(events[1]-events[0])/(seconds[1]-seconds[0]), "events/cpu-s")
	b.ReportMetric(float64(events[0])/float64(b.N), "events/run")
	b.ReportMetric(seconds[0]/float64(b.N), "cpu-s/run")
}
