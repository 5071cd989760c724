package scenarios

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestFaultPage keeps docs/faults.md in step with the code: each kind of action has one row that begins with what the
// registry says of it, each field of the models has one, and no row speaks of something that does not exist.
func TestFaultPage(t *testing.T) {
	page, err := os.ReadFile("../docs/faults.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, line := range strings.Split(string(page), "\n") {
		if name, _, found := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); found && strings.HasPrefix(line, "| `") {
			require.NotContains(t, rows, name, "two rows")
			rows[name] = line
		}
	}
	for _, k := range append(sim.Faults(), actionKinds()...) {
		want := "| `" + k.Name + "` | " + fieldList(k.Fields) + " | " + k.Doc + " | "
		requireRow(t, rows, k.Name, want)
	}
	for _, model := range []any{plan.Network{}, plan.Disk{}, plan.Lanes{}} {
		v := reflect.TypeOf(model)
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Field(i).Tag.Get("json"), ",")
			requireRow(t, rows, name, "| `"+name+"` | ")
		}
	}
	for _, name := range []string{"offset_ms", "drift_ppm", "start_us", "rack"} {
		requireRow(t, rows, name, "| `"+name+"` | ")
	}
	require.Empty(t, rows, "rows without anything behind them")
}

func requireRow(t *testing.T, rows map[string]string, name, want string) {
	t.Helper()
	row := rows[name]
	delete(rows, name)
	require.True(t, strings.HasPrefix(row, want), "the row of %s is %q, it should begin with %q", name, row, want)
	for _, cell := range strings.Split(strings.Trim(row, "|"), "|") {
		require.NotEmpty(t, strings.TrimSpace(cell), "%s has an empty cell", name)
	}
}

// fieldList is a kind's parameters as the page has them: those that may be absent in brackets.
func fieldList(fields []plan.Field) string {
	var list []string
	for _, f := range fields {
		if f.Required {
			list = append(list, "`"+f.Name+"`")
		} else {
			list = append(list, "[`"+f.Name+"`]")
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, " ")
}

// TestHazardTable keeps the table of docs/findings.md in step with the declared hazards: a row for each, and none for anything else.
func TestHazardTable(t *testing.T) {
	page, err := os.ReadFile("../docs/findings.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## Declared hazards\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string]string{}
	for _, line := range strings.Split(section, "\n") {
		if name, _, found := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); found && strings.HasPrefix(line, "| `") {
			require.NotContains(t, rows, name, "two rows")
			rows[name] = line
		}
	}
	for _, h := range hazardDocs() {
		where := "any"
		if h.Scenario != "" {
			where = "`" + strings.ReplaceAll(h.Scenario, ",", "`, `") + "`"
		}
		requireRow(t, rows, h.ID, "| `"+h.ID+"` | `"+h.Invariant+"` | "+where+" | ")
	}
	require.Empty(t, rows, "rows without a hazard")
}

// TestSeamsPage looks up each func of docs/seams.md in the sources: the page may leave functions out, and shows none that is
// spelled otherwise in the code.
func TestSeamsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/seams.md")
	require.NoError(t, err)
	sources := map[string]bool{}
	for _, room := range []string{"../sim", "../raft", "../metadata"} {
		require.NoError(t, filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			for _, line := range strings.Split(string(content), "\n") {
				if head, _, found := strings.Cut(line, " {"); found && strings.HasPrefix(line, "func ") {
					sources[head] = true
				}
			}
			return err
		}))
	}
	found := 0
	for _, line := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(line, "func ") {
			head, _, _ := strings.Cut(line, "//")
			require.True(t, sources[strings.TrimSpace(head)], "not in the code: %s", head)
			found++
		}
	}
	require.Greater(t, found, 50)
}
