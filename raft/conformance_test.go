package raft

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a cell of the conformance table may name.
var (
	namedScript    = regexp.MustCompile(`\[([a-z0-9_]+)\]\(\.\./raft/testdata/([a-z0-9_]+)\.txt\)`)
	namedTest      = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")
	namedInvariant = regexp.MustCompile("(?:invariant|condition) `([a-z-]+)`")
	namedMutant    = regexp.MustCompile("invariant `([a-z-]+)`, mutant `([A-Za-z0-9]+)`")
	namedScenario  = regexp.MustCompile("scenario `([a-z0-9/-]+)`")
)

// TestConformanceTable keeps docs/conformance.md from going stale: what a row names exists, every script is named by a row,
// and a row without a test says why. Whoever adds a script says there which rule it pins.
func TestConformanceTable(t *testing.T) {
	rows := conformanceRows(t)
	page := ""
	behaviours := 0
	seen := map[string]bool{}
	for _, row := range rows {
		require.False(t, seen[row.id], "two rows %s", row.id)
		seen[row.id] = true
		if strings.HasPrefix(row.id, "B-raft-") {
			behaviours++
			require.Equal(t, fmt.Sprintf("B-raft-%03d", behaviours), row.id, "behaviours are numbered in order")
		}
		says := strings.HasPrefix(row.pinnedBy, "not applicable: ") || strings.HasPrefix(row.pinnedBy, "metadata, ")
		require.True(t, says || namesSomething(row.pinnedBy), "%s names no test and does not say why", row.id)
		page += row.pinnedBy + "\n"
	}
	require.Greater(t, behaviours, 400)
	require.Greater(t, len(rows)-behaviours, 450)

	t.Run("scripts", func(t *testing.T) { checkScripts(t, page) })
	t.Run("tests", func(t *testing.T) { checkTests(t, page) })
	t.Run("invariants and mutants", func(t *testing.T) { checkInvariants(t, page) })
}

type conformanceRow struct{ id, pinnedBy string }

// conformanceRows reads the rows of all tables of the page.
func conformanceRows(t *testing.T) (rows []conformanceRow) {
	t.Helper()
	content, err := os.ReadFile("../docs/conformance.md")
	require.NoError(t, err)
	for _, line := range strings.Split(string(content), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| row |") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		require.Len(t, cells, 3, "a row has three cells: %s", line)
		rows = append(rows, conformanceRow{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2])})
	}
	return rows
}

func namesSomething(cell string) bool {
	for _, kind := range []*regexp.Regexp{namedScript, namedTest, namedInvariant, namedScenario} {
		if kind.MatchString(cell) {
			return true
		}
	}
	return false
}

func checkScripts(t *testing.T, page string) {
	t.Helper()
	named := map[string]bool{}
	for _, link := range namedScript.FindAllStringSubmatch(page, -1) {
		require.Equal(t, link[1], link[2], "a link goes where it says")
		named[link[1]] = true
	}
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 150)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		require.True(t, named[name], "no row of docs/conformance.md names the script %s", name)
		delete(named, name)
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(content), "# "), "%s begins with its claim", file)
	}
	require.Empty(t, named, "docs/conformance.md names scripts that do not exist")
}

func checkTests(t *testing.T, page string) {
	t.Helper()
	sources := map[string]string{}
	for _, name := range namedTest.FindAllStringSubmatch(page, -1) {
		directory := name[1]
		if _, read := sources[directory]; !read {
			sources[directory] = concatenated(t, "../"+directory+"/*_test.go")
		}
		require.Contains(t, sources[directory], "\nfunc "+name[2]+"(", "docs/conformance.md names a test of %s", directory)
	}
}

func checkInvariants(t *testing.T, page string) {
	t.Helper()
	sources := concatenated(t, "../invariants/*.go") + concatenated(t, "../scenarios/*.go")
	for _, kind := range []*regexp.Regexp{namedInvariant, namedScenario} {
		for _, name := range kind.FindAllStringSubmatch(page, -1) {
			require.Contains(t, sources, `"`+name[1]+`"`, "docs/conformance.md names %s", name[0])
		}
	}
	patches, err := filepath.Glob("../mutants/*.patch")
	require.NoError(t, err)
	killers := map[string]string{}
	for _, patch := range patches {
		content, err := os.ReadFile(patch)
		require.NoError(t, err)
		header := map[string]string{}
		for _, line := range strings.Split(string(content), "\n") {
			if line == "" {
				break
			}
			key, value, _ := strings.Cut(line, ": ")
			header[key] = value
		}
		killers[header["name"]] = ", " + header["invariant"] + ","
	}
	for _, name := range namedMutant.FindAllStringSubmatch(page, -1) {
		require.Contains(t, killers[name[2]], ", "+name[1]+",", "mutant %s is not one that %s must notice", name[2], name[1])
	}
}

// concatenated returns the content of all files of a pattern.
func concatenated(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(content)
	}
	return all.String()
}
