package mutants

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// classesOf are the classes of the table of declared outcomes that a fault belongs to, by the words of a header.
var classesOf = map[string][]string{
	"kill": {"crash"}, "crash-op": {"crash", "power loss"}, "stop": {"crash"}, "pause": {"crash"}, "crash-after": {"crash"}, "tear": {"crash"},
	"power": {"power loss"}, "disk.profile": {"power loss, posix"},
	"cut": {network}, "isolate": {network}, "split": {network}, "flap": {network}, "clog": {network}, "filter": {network}, "throttle": {network}, "names": {network},
	"network.reset_ppm": {network}, "network.tail_ppm": {network}, "network.bytes_per_second": {network}, "network.cross_rack_us": {network},
	"jump": {"jump, drift"}, "hosts.drift_ppm": {"jump, drift"},
	"disk.read_error_ppm": {"read error"}, "disk.write_error_ppm": {"write error"}, "disk.sync_error_ppm": {"fsync error"}, "disk.failed_sync": {"fsync error"},
	"disk-full": {"disk full"}, "read-only": {"read-only"},
	"disk-slow": {"slow or stuck"}, "disk-stuck": {"slow or stuck"}, "disk.slow_sync_ppm": {"slow or stuck"},
	"swap": {"swap, clone"}, "clone": {"swap, clone"}, "wipe": {"wipe"}, "restore": {"old copy"},
	"flip": {"bit flip"}, "lost-write": {"lost write"}, "misdirected-write": {"misdirected write"},
}

const network = "partition, delay, reset"

// wholeParts are the components that a class strikes as a whole: a fault of the class strikes no other.
var wholeParts = []string{"process", "disk", "network", "clock"}

// outcomeRows are the rows of the table in docs/faults.md, as class and component.
func outcomeRows(t *testing.T) (rows [][2]string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "faults.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "<!-- outcomes:")
	require.True(t, found)
	table, _, found = strings.Cut(table, "<!-- end of outcomes -->")
	require.True(t, found)
	for _, line := range strings.Split(table, "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 6 && !strings.Contains(line, "---") {
			rows = append(rows, [2]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
		}
	}
	return rows[1:] // the first is the head
}

// TestEachOutcomeHasAMutant: each row of the table of declared outcomes has a mutant that breaks it, exposed by a fault of the row's class alone.
func TestEachOutcomeHasAMutant(t *testing.T) {
	rows := outcomeRows(t)
	broken := map[[2]string]string{}
	for _, p := range patches(t) {
		var classes []string // of the faults that expose it
		for _, e := range p.Exposures() {
			for _, fault := range e.Faults {
				classes = append(classes, classesOf[fault]...)
			}
		}
		for _, class := range classes {
			for _, part := range wholeParts {
				broken[[2]string{class, part}] = p.Name
			}
		}
		for _, o := range p.Outcomes {
			class, part, _ := strings.Cut(o, " of ")
			require.Contains(t, rows, [2]string{class, part}, "%s: the table has no such row", p.File)
			require.Contains(t, classes, class, "%s: no fault of its header is of the class", p.File)
			broken[[2]string{class, part}] = p.Name
		}
	}
	for _, row := range rows {
		require.NotEmpty(t, broken[row], "no mutant breaks %q of %q", row[0], row[1])
	}
}

// measured is what the reason has to hold where there is no mutant: in how many runs nothing came of it, or of how many.
var measured = regexp.MustCompile(`\d[\d,]* runs`)

// section returns the rows of the table below a heading of docs/mutants.md that have so many cells, without its head.
func section(t *testing.T, heading string, cells int) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "mutants.md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(page), heading)
	require.True(t, found, heading)
	text, _, _ = strings.Cut(text, "\n## ")
	for _, line := range strings.Split(text, "\n") {
		if row := strings.Split(line, "|"); len(row) == cells && !strings.Contains(line, "|---") {
			rows = append(rows, row)
		}
	}
	require.NotEmpty(t, rows, heading)
	return rows[1:]
}
