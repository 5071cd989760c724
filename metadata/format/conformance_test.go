package format

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// namedTest is a test that a row names: package directory, function, and the name of a case in its table.
var namedTest = regexp.MustCompile("`([a-z/0-9]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([^`]+))?`")

// behaviourRows is how many lines the catalogue of Kafka's tests has for formatter, meta.properties, activation, feature control,
// loader and bootstrap files.
const behaviourRows = 112

// TestConformanceTable keeps the behaviours of docs/metadata.md from going stale: the rows are all there, in order, each names
// tests and cases that exist or says why there is none.
func TestConformanceTable(t *testing.T) {
	content, err := os.ReadFile("../../docs/metadata.md")
	require.NoError(t, err)
	sources := map[string]string{}
	rows := 0
	for _, line := range strings.Split(string(content), "\n") {
		if !strings.HasPrefix(line, "| B-meta-") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		require.Len(t, cells, 3, line)
		require.Equal(t, fmt.Sprintf("B-meta-%03d", rows), strings.TrimSpace(cells[0]))
		named := namedTest.FindAllStringSubmatch(cells[2], -1)
		require.True(t, len(named) > 0 || strings.HasPrefix(strings.TrimSpace(cells[2]), "not applicable: "),
			"row %d names no test and does not say why", rows)
		for _, n := range named {
			source, read := sources[n[1]]
			if !read {
				source = testSources(t, "../../"+n[1])
				sources[n[1]] = source
			}
			body, found := cutFunction(source, n[2])
			require.True(t, found, "row %d names %s of %s, which is not there", rows, n[2], n[1])
			require.True(t, n[3] == "" || strings.Contains(body, `"`+n[3]+`"`), "row %d: %s has no case %q", rows, n[2], n[3])
		}
	}
	require.Equal(t, behaviourRows, rows)
}

// testSources returns the tests of a package.
func testSources(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*_test.go")
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(content)
	}
	return all.String()
}

// cutFunction returns the text of a top-level function.
func cutFunction(source, name string) (body string, found bool) {
	_, body, found = strings.Cut(source, "\nfunc "+name+"(")
	body, _, _ = strings.Cut(body, "\n}\n")
	return body, found
}
