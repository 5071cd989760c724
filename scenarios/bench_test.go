package scenarios

import (
	"runtime/debug"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
)

// BenchmarkStorm measures events per second in the storm: three voters, two brokers, real bytes on disk, structs on the
// wire, all invariants on, trace hash on.
func BenchmarkStorm(b *testing.B) { benchmarkScenarios(b, "raft/storm-3") }

// BenchmarkStormChanges measures the same where the storm has everything of raft in it: voters that come and go, snapshots of tiny
// segments with the prefix deleted below them, lagging nodes that are sent to one, replaced disks, releases that change.
func BenchmarkStormChanges(b *testing.B) {
	benchmarkScenarios(b, "reconfig/churn", "reconfig/lagging-snapshot", "raft/snapshots", "reconfig/replaced-disk", "reconfig/mixed-releases",
		"raft/dynamic-3")
}

// BenchmarkQuiet measures simulated seconds per second on Kafka's default timers.
func BenchmarkQuiet(b *testing.B) { benchmarkScenarios(b, "raft/quiet") }

// BenchmarkBootstrap measures runs per second of the shortest scenario.
func BenchmarkBootstrap(b *testing.B) { benchmarkScenarios(b, "kip1262/draft") }

// benchmarkScenarios runs seeds of the scenarios in turn. events/cpu-s counts the time that the process got, for machines that are busy.
func benchmarkScenarios(b *testing.B, names ...string) {
	b.Helper()
	c := Catalogue()
	var list []sim.Scenario
	for _, name := range names {
		list = append(list, c.Scenario(name))
	}
	e := sim.NewEngine(c)
	var events, simulated, records, syncs, decisions int64
	defer debug.SetGCPercent(debug.SetGCPercent(collectorPercent))
	b.ReportAllocs()
	cpu := cpuSeconds()
	b.ResetTimer()
	for i := range b.N {
		r, err := e.Run(list[i%len(list)].Draw(uint64(i%1000)+1), sim.Options{})
		if err != nil {
			b.Fatal(err)
		}
		events += int64(r.Verdict.Events)
		simulated += int64(r.Verdict.VirtualUs)
		records += r.Verdict.Stats["batches"]
		syncs += r.Verdict.Stats["fsyncs"]
		decisions += int64(r.Verdict.Decisions)
	}
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(float64(events)/seconds, "events/s")
	b.ReportMetric(float64(events)/(cpuSeconds()-cpu), "events/cpu-s")
	b.ReportMetric(float64(simulated)/1e6/seconds, "x-real-time")
	b.ReportMetric(float64(b.N)/seconds, "runs/s")
	b.ReportMetric(float64(events)/float64(b.N), "events/run")
	b.ReportMetric(float64(records)/float64(b.N), "batches/run")
	b.ReportMetric(float64(syncs)/float64(b.N), "fsyncs/run")
	b.ReportMetric(float64(decisions)/float64(b.N), "decisions/run")
}
