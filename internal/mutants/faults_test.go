package mutants

import (
	"os"
	"path/filepath"
	"reflect"
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

// TestEachFaultHasAMutant: each fault alone exposes a mutant, or docs/mutants.md says why there is none; not both.
func TestEachFaultHasAMutant(t *testing.T) {
	exposed := map[string]string{}
	for _, p := range patches(t) {
		for _, e := range p.Exposures() {
			for _, fault := range e.Faults {
				exposed[fault] = p.Name
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "mutants.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Faults without a mutant of their own\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	excused := map[string]bool{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(line, "| `") {
			continue
		}
		require.NotEmpty(t, strings.TrimSpace(cells[2]), line)
		for _, word := range strings.Split(cells[1], ",") {
			excused[strings.Trim(word, " `")] = true
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
