package scenarios

import (
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// kafkaRow is a row of the table of Kafka's figures: a scenario with a number of voters, and no observers.
type kafkaRow struct {
	s      *kafkaScenario
	voters int64
}

// kafkaRows lists the rows of S1 to S7, and with others those of the other scenarios too.
func kafkaRows(c *sim.Catalogue, others bool) (rows []kafkaRow) {
	for _, have := range c.Scenarios {
		s, ok := have.(*kafkaScenario)
		if !ok {
			continue
		}
		if plain := s.name < "kafka/s8" && s.name > "kafka/s"; !plain && !others {
			continue
		}
		variants := s.variants
		if len(variants) == 0 {
			variants = []*kafkaScenario{s}
		}
		for _, v := range variants {
			for _, voters := range []int64{3, 5} {
				if voters >= v.voters[0] && voters <= v.voters[1] {
					rows = append(rows, kafkaRow{v, voters})
				}
			}
		}
	}
	return rows
}

// name is what a benchmark of the row is called: "s3/5", and "d6-s3/5" for S3 as a part of D6.
func (r *kafkaRow) name() string {
	name := strings.TrimPrefix(r.s.name, "kafka/")
	if r.s.as != "" {
		name += "-" + strings.TrimPrefix(r.s.as, "kafka/")
	}
	return fmt.Sprintf("%s/%d", name, r.voters)
}

// BenchmarkKafka plays Kafka's own scenarios as Kafka's figures were made: 3 and 5 voters, the first 200 seeds, all invariants on.
// The figure to compare is runs/s, on one core (-cpu 1); "set" is all rows of S1 to S7, one run of each in turn, of which Kafka's
// simulation, which polls, makes 20 a second. runs/cpu-s counts the time that the process got, for machines that are busy.
// Events are not alike: there one is a tick of a timer.
func BenchmarkKafka(b *testing.B) {
	c := Catalogue()
	e := sim.NewEngine(c)
	b.Run("set", func(b *testing.B) { benchmarkKafka(b, e, kafkaRows(c, false)) })
	for _, r := range kafkaRows(c, true) {
		b.Run(r.name(), func(b *testing.B) { benchmarkKafka(b, e, []kafkaRow{r}) })
	}
}

// TestKafkaRows: Kafka's table has 15 rows of S1 to S7, and every scenario has a row of its own, D6 one for each of its parts.
func TestKafkaRows(t *testing.T) {
	rows := kafkaRows(Catalogue(), false)
	require.Len(t, rows, 15)
	for _, r := range rows {
		require.False(t, r.s.dynamic || r.s.stable, r.s.name)
	}
	names := make(map[string]bool)
	for _, r := range kafkaRows(Catalogue(), true) {
		require.False(t, names[r.name()], r.name())
		names[r.name()] = true
	}
	for _, want := range []string{"s1/3", "s9/5", "d1/3", "d5/5", "d6-s1/3", "d6-s2-kill/5", "d6-s6/3"} {
		require.True(t, names[want], want)
	}
}

func benchmarkKafka(b *testing.B, e *sim.Engine, rows []kafkaRow) {
	b.Helper()
	var events, simulated, sent int64
	observers := func(s *kafkaScenario) int64 {
		if s.dynamic {
			return s.observers[0]
		}
		return 0
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectorPercent))
	cpu := cpuSeconds()
	b.ResetTimer()
	for i := range b.N {
		for _, row := range rows {
			r, err := e.Run(row.s.plan(uint64(i%200), row.voters, observers(row.s)), sim.Options{})
			if err != nil {
				b.Fatal(err)
			}
			events += int64(r.Verdict.Events)
			simulated += int64(r.Verdict.VirtualUs)
			sent += r.Verdict.Stats["messages"]
		}
	}
	b.StopTimer()
	runs := float64(b.N * len(rows))
	b.ReportMetric(runs/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(runs/(cpuSeconds()-cpu), "runs/cpu-s")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(events)/runs, "events/run")
	b.ReportMetric(float64(sent)/runs, "messages/run")
	b.ReportMetric(float64(simulated)/1000/runs, "sim-ms/run")
}

// collectorPercent is the garbage collector's setting in the workers of a campaign.
const collectorPercent = 400

// cpuSeconds is the processor time that the process has had.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
