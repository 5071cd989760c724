package mutants

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// faultsOfPlans are all kinds of action and all fields of the models and of hosts, by the words of a header.
func faultsOfPlans() (names []string) {
	for _, k := range scenarios.Catalogue().Registry.Actions() {
		names = append(names, k.Name)
	}
	for model, of := range map[string]reflect.Type{"network": reflect.TypeFor[plan.Network](), "disk": reflect.TypeFor[plan.Disk](),
		"lanes": reflect.TypeFor[plan.Lanes](), "hosts": reflect.TypeFor[plan.Host]()} {
		for i := range of.NumField() {
			tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name := model + "." + tag; name != "hosts.id" && name != "hosts.kind" && name != "hosts.params" {
				names = append(names, name)
			}
		}
	}
	return append(names, "power by rack")
}

// noFaults are what a plan says that is no fault of its own: a cost, the extent of another fault, what ends one, and transports that Kafka does not use.
var noFaults = []string{
	"start", "network.transport", "network.loss_ppm", "network.duplicate_ppm", "network.reorder_ppm", "network.reorder_us", "network.latency_us", "network.jitter_us",
	"network.weights", "network.tail_us", "disk.write_ns", "disk.sync_ns", "disk.metadata_ns", "disk.jitter_percent", "disk.slow_sync_ns", "hosts.start_us",
	"hosts.release",
}

// TestEachFaultHasAMutant: each fault alone exposes a mutant, or docs/mutants.md names the mutants that were tried and in how many runs; not both.
func TestEachFaultHasAMutant(t *testing.T) {
	exposed, names := map[string]string{}, map[string]bool{}
	for _, p := range patches(t) {
		names[p.Name] = true
		for _, e := range p.Exposures() {
			for _, fault := range e.Faults {
				exposed[fault] = p.Name
			}
		}
	}
	excused := map[string]bool{}
	for _, cells := range section(t, "## Faults without a mutant of their own\n", 4) {
		tried := slices.ContainsFunc(strings.Split(cells[2], "`"), func(word string) bool { return names[word] })
		for _, word := range strings.Split(cells[1], ",") {
			word = strings.Trim(word, " `")
			if excused[word] = true; slices.Contains(noFaults, word) {
				require.NotEmpty(t, strings.TrimSpace(cells[2]), word)
				continue
			}
			require.True(t, tried, "docs/mutants.md names no mutant that was tried for %s", word)
			require.Regexp(t, measured, cells[2], "docs/mutants.md has no figures for %s", word)
		}
	}
	for _, fault := range faultsOfPlans() {
		if exposed[fault] == "" {
			require.True(t, excused[fault], "no mutant has the header `fault: %s`, and docs/mutants.md does not say why", fault)
		} else {
			require.False(t, excused[fault], "docs/mutants.md says that %s has no mutant, and %s has the header", fault, exposed[fault])
		}
		delete(excused, fault)
	}
	require.Empty(t, excused, "docs/mutants.md speaks of faults that do not exist")
}
