package scenarios

import (
	"runtime/debug"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// BenchmarkLarge measures events per second on a cluster of 2,000 topics with 3 partitions each. The run fills it first, which costs
// more than all that follows; events/cpu-s is what happens in a storm that is 150 seconds longer, from the event on with which the
// shorter run ends.
func BenchmarkLarge(b *testing.B) {
	c := Catalogue()
	e := sim.NewEngine(c)
	defer debug.SetGCPercent(debug.SetGCPercent(collectorPercent))
	run := func(seed, longerUs, mark int64) (events, atMark int64, seconds, sinceMark float64) {
		p := c.Scenario("metadata/large").Draw(uint64(seed))
		p.StormUs += plan.Int64(longerUs)
		start := cpuSeconds()
		middle := start
		r, err := e.Run(p, sim.Options{Digests: func(event int64, _ uint64) {
			if atMark == 0 && event >= mark {
				atMark, middle = event, cpuSeconds()
			}
		}})
		if err != nil {
			b.Fatal(err)
		}
		end := cpuSeconds()
		return int64(r.Verdict.Events), atMark, end - start, end - middle
	}
	var short, steady int64
	var filling, since float64
	for i := range b.N {
		events, _, seconds, _ := run(int64(i)+1, 0, 0)
		short, filling = short+events, filling+seconds
		all, from, _, seconds := run(int64(i)+1, 150_000_000, events)
		steady, since = steady+all-from, since+seconds
	}
	b.ReportMetric(float64(steady)/since, "events/cpu-s")
	b.ReportMetric(float64(short)/float64(b.N), "events/run")
	b.ReportMetric(filling/float64(b.N), "cpu-s/run")
}
