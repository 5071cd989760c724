package scenarios

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// modelFaults are the fields of a plan's models that break something, with the counter of the verdict that shows it. What is not here is
// a cost or says how much of another field: latencies, jitter, durations.
var modelFaults = map[string]string{
	"network.tail_ppm": "net-tails", "network.reset_ppm": "net-resets", "network.corrupt_ppm": "net-corrupted",
	"network.bytes_per_second": "net-queued", "network.queue_bytes": "net-overflows", "network.cross_rack_us": "net-cross-rack",
	"disk.profile": "names-out-of-order", "disk.failed_sync": "fsyncs-kept-dirty", "disk.slow_sync_ppm": "slow-fsyncs",
	"disk.read_error_ppm": "read-errors", "disk.write_error_ppm": "write-errors", "disk.sync_error_ppm": "fsync-errors",
	"lanes.post_jitter_us": "late-posts", "lanes.wake_jitter_us": "late-wakes", "lanes.spurious_ppm": "spurious-wakes",
}

// datagramFaults never strike Kafka's connections; sim.TestEachRateHasAnEffectOfItsOwn has them.
var datagramFaults = map[string]string{
	"network.loss_ppm": "net-losses", "network.duplicate_ppm": "net-duplicates", "network.reorder_ppm": "net-reorders",
}

// modelCosts say how long something takes or how much of a fault there is.
var modelCosts = []string{"network.transport", "network.latency_us", "network.jitter_us", "network.weights", "network.tail_us", "network.reorder_us",
	"disk.write_ns", "disk.sync_ns", "disk.metadata_ns", "disk.jitter_percent", "disk.slow_sync_ns"}

// fieldsOf are the names of a model's fields that are set in a plan, by reflection, so that no new one is forgotten.
func fieldsOf(p *plan.Plan, all bool) (names []string) {
	for model, x := range map[string]any{"network": p.Network, "disk": p.Disk, "lanes": p.Lanes} {
		v := reflect.ValueOf(x)
		for i := range v.NumField() {
			if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); all || !v.Field(i).IsZero() {
				names = append(names, model+"."+tag)
			}
		}
	}
	return names
}

// TestEachFaultFires walks the whole table of faults: each kind of action and each field of the models can be said in a plan, is drawn by
// a scenario, prints as a line that reads back to the same, and is counted when it strikes. docs/faults.md has a row for each
// (TestFaultPage) that names the counter, and mutants.TestEachFaultHasAMutant asks for one that it alone exposes.
func TestEachFaultFires(t *testing.T) {
	c := Catalogue()
	wanted := map[string]string{} // fault -> counter
	for _, k := range c.Registry.Actions() {
		wanted[k.Name] = "fault-" + k.Name
	}
	for fault, counter := range modelFaults {
		wanted[fault] = counter
	}
	for _, name := range fieldsOf(&plan.Plan{}, true) {
		_, strikes := modelFaults[name]
		_, datagram := datagramFaults[name]
		require.True(t, strikes || datagram || contains(modelCosts, name), "%s is no fault and no cost: add it to one of the lists", name)
	}
	delete(wanted, "start") // an operator's, which the others do by themselves: below
	e := sim.NewEngine(c)
	drawn := make([][]string, len(c.Scenarios)) // by each scenario so far
	for seed := uint64(1); seed <= 300 && len(wanted) > 0; seed++ {
		for k, s := range c.Scenarios {
			if seed > 12 && !anyWanted(wanted, drawn[k]) {
				continue
			}
			p := s.Draw(seed)
			linesReadBack(t, c.Registry, p)
			present := fieldsOf(p, false)
			for i := range p.Actions {
				present = append(present, p.Actions[i].Kind)
			}
			drawn[k] = append(drawn[k], present...)
			if !anyWanted(wanted, present) {
				continue
			}
			v := verdictOf(t, e, p, sim.Options{})
			for _, fault := range present {
				if v.Stats[wanted[fault]] > 0 {
					delete(wanted, fault)
				}
			}
		}
	}
	require.Empty(t, wanted, "faults that no scenario made happen")
	p := quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5")
	p.Actions = []plan.Action{{ID: "k", Kind: "kill", AtUs: 100_000, Params: plan.Params{"host": "c1"}},
		{ID: "s", Kind: "start", AtUs: 200_000, Params: plan.Params{"host": "c1"}}}
	linesReadBack(t, c.Registry, p)
	require.Positive(t, verdictOf(t, e, p, sim.Options{}).Stats["fault-start"])
}

func contains(list []string, name string) bool {
	for _, x := range list {
		if x == name {
			return true
		}
	}
	return false
}

func anyWanted(wanted map[string]string, present []string) bool {
	for _, fault := range present {
		if _, ok := wanted[fault]; ok {
			return true
		}
	}
	return false
}

// linesReadBack prints each action as a line and the plan as a document, and reads both.
func linesReadBack(t *testing.T, registry *plan.Registry, p *plan.Plan) {
	t.Helper()
	for i := range p.Actions {
		line := registry.FormatAction(&p.Actions[i])
		back, err := registry.ParseAction(line)
		require.NoError(t, err, line)
		if len(p.Actions[i].Params) == 0 {
			back.Params = p.Actions[i].Params // none, nil or empty
		}
		require.Equal(t, p.Actions[i], back, line)
		require.Equal(t, line, registry.FormatAction(&back))
	}
	text, err := plan.Encode(p)
	require.NoError(t, err)
	back, err := plan.Decode(text)
	require.NoError(t, err, p.Scenario)
	again, err := plan.Encode(back)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

// TestFaultPageNamesCounters: the row of each field that strikes by chance says where it is counted.
func TestFaultPageNamesCounters(t *testing.T) {
	page, err := os.ReadFile("../docs/faults.md")
	require.NoError(t, err)
	for _, list := range []map[string]string{modelFaults, datagramFaults} {
		for fault, counter := range list {
			_, name, _ := strings.Cut(fault, ".")
			_, row, found := strings.Cut(string(page), "\n| `"+name+"` |")
			require.True(t, found, name)
			row, _, _ = strings.Cut(row, "\n")
			require.Contains(t, row, "`"+counter+"`", "the row of %s", name)
		}
	}
}
