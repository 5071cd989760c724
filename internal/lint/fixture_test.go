package lint

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// fixture builds a tree from texts by path.
func fixture(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := ReadTree(fsys)
	require.NoError(t, err)
	return tree
}

// check requires that the rule finds exactly the wanted problems, given as file:line: and the start of the message.
func check(t *testing.T, rule func(*Tree) []Problem, files map[string]string, want ...string) {
	t.Helper()
	problems := rule(fixture(t, files))
	require.Len(t, problems, len(want), "%v", problems)
	for i, problem := range problems {
		require.True(t, strings.HasPrefix(problem.String(), want[i]), "got  %s\nwant %s", problem, want[i])
	}
}

func importing(pkg string, paths ...string) string {
	var b strings.Builder
	b.WriteString("package " + pkg + "\n")
	for _, path := range paths {
		b.WriteString("import _ \"" + path + "\"\n")
	}
	return b.String()
}

func TestImports(t *testing.T) {
	const m = modulePath + "/"
	check(t, Imports, map[string]string{
		"sim/world.go":             importing("sim", "sort", m+"sim/decide", "github.com/google/uuid", m+"raft"),
		"sim/cli/run.go":           importing("cli", m+"sim", "github.com/spf13/cobra", "golang.org/x/exp/slog", m+"scenarios"),
		"reports/html.go":          importing("reports", m+"metadata/image"),
		"raft/replica.go":          importing("raft", m+"raft/record", m+"sim/check", "golang.org/x/exp/slog"),
		"raft/wire/fetch.go":       importing("wire", "github.com/twmb/franz-go/pkg/kmsg", m+"metadata"),
		"raft/record/batch.go":     importing("record", "github.com/klauspost/compress/zstd"),
		"raft/replica_test.go":     importing("raft", m+"sim", "github.com/stretchr/testify/require"),
		"metadata/loader.go":       importing("metadata", m+"raft", "github.com/stretchr/testify/require"),
		"metadata/wire/broker.go":  importing("wire", "github.com/twmb/franz-go/pkg/kmsg"),
		"scenarios/cluster.go":     importing("scenarios", m+"sim", m+"raft", m+"metadata", "golang.org/x/exp/slog"),
		"scenarios/other_test.go":  importing("scenarios", "example.com/unlisted"),
		"simulator/other.go":       importing("simulator", m+"raft"),
		"invariants/elections.go":  importing("invariants", m+"sim", m+"raft", m+"metadata"),
		"internal/nodet/nodet.go":  importing("nodet", "golang.org/x/tools/go/analysis"),
		"testdata/case/ignored.go": importing("ignored", "example.com/unlisted"),
	},
		"metadata/loader.go:3: import of github.com/stretchr/testify, which this room may not use",
		"raft/replica.go:3: import of sim/check: the product never depends on its test bench",
		"raft/replica.go:4: import of golang.org/x/exp/slog, which this room may not use",
		"raft/wire/fetch.go:3: import of metadata: metadata may import raft, never the reverse",
		"reports/html.go:2: import of metadata/image: the simulator knows no protocol",
		"scenarios/other_test.go:2: import of example.com/unlisted, which is not on the list",
		"sim/cli/run.go:5: import of scenarios: the simulator stands below what it runs",
		"sim/world.go:5: import of raft: the simulator knows no protocol",
	)
}

func TestDependencies(t *testing.T) {
	files := map[string]string{
		"raft/a_test.go":       importing("raft", "pgregory.net/rapid", "github.com/google/go-cmp/cmp"),
		"docs/dependencies.md": "# Dependencies\n\n* `pgregory.net/rapid`: properties\n",
	}
	check(t, Dependencies, files, "docs/dependencies.md: no reason for github.com/google/go-cmp")
	delete(files, "docs/dependencies.md")
	check(t, Dependencies, files)
}

func TestRooms(t *testing.T) {
	const m = modulePath + "/"
	files := map[string]string{
		"docs/seams.md": "# Seams\n\n| room | imports | gives |\n|---|---|---|\n| `sim/plan` | standard library | plans |\n" +
			"| `sim` `sim/shrink` | `sim`, `sim/plan` | worlds |\n| `raft/...` | `raft/...`, `sim/vnet` | a replica |\n" +
			"| `raft/wire` | `raft` | bytes |\n| `gone` | `sim` | nothing |\n| `cmd/a` | everything above it | main |\n\n" +
			"| room | imports |\n|---|---|\n| `other` | `tables` |\n",
		"sim/plan/a.go":      importing("plan", "sort", m+"sim"),
		"sim/plan/a_test.go": importing("plan", m+"raft"),
		"sim/a.go":           importing("sim", m+"sim/plan"),
		"sim/shrink/a.go":    importing("shrink", m+"sim", m+"raft"),
		"raft/a.go":          importing("raft", m+"raft/log"),
		"raft/log/a.go":      importing("log", m+"raft/record"),
		"raft/wire/a.go":     importing("wire", m+"raft", m+"raft/log"),
		"stray/a.go":         importing("stray", m+"sim"),
		"stray/b.go":         importing("stray", m+"sim"),
		"cmd/a/a.go":         importing("main", m+"raft/wire", m+"stray"),
		"root.go":            importing("kraftsim"),
	}
	check(t, Rooms, files,
		"cmd/a/a.go:3: import of stray, which its row",
		"docs/seams.md:7: no room of this row imports sim/vnet",
		"docs/seams.md:9: no package is a room of this row",
		"raft/wire/a.go:3: import of raft/log",
		"sim/plan/a.go:3: import of sim",
		"sim/shrink/a.go:3: import of raft",
		"stray: no row",
	)
	delete(files, "docs/seams.md")
	check(t, Rooms, files)
}

func TestNames(t *testing.T) {
	check(t, Names, map[string]string{
		"raft/util/a.go":        "package util\n",
		"raft/common/a_test.go": "package common_test\n",
		"raft/commons/a.go":     "package commons\n",
	},
		"raft/common/a_test.go:1: package common",
		"raft/util/a.go:1: package util",
	)
}

func TestPackageComments(t *testing.T) {
	check(t, PackageComments, map[string]string{
		"a/a.go":      "package a\n",
		"a/a_test.go": "// Package a is only described in its test.\npackage a\n",
		"b/b.go":      "package b\n",
		"b/doc.go":    "// Package b teaches.\npackage b\n",
		"c/c.go":      "// This package is not named.\npackage c\n",
		"cmd/d/d.go":  "// Command d runs.\npackage main\n",
		"e/a_test.go": "package e\n",
	},
		"a: no package comment for package a",
		"c: no package comment for package c",
	)
}

func TestDocumented(t *testing.T) {
	check(t, Documented, map[string]string{
		"a/a.go": `package a

type Bare struct{}

// Told says what it is.
type Told[T any] struct{}

func (Bare) Method() {}

func (t *Told[T]) Method() {}

func (t *Told[T]) String() string { return "" }

func (hidden) Method() {}

type hidden struct{}

func Function() {}

const Constant = 1

// Both are told by the group.
const (
	First = iota
	Second
)

var (
	Variable int
	Noted    int // at the end of the line
	unseen   int
)
`,
		"a/made.go":   "// Code generated by gen. DO NOT EDIT.\n\npackage a\n\nfunc Made() {}\n",
		"a/a_test.go": "package a\n\nfunc Helper() {}\n",
		"cmd/b/b.go":  "package main\n\nfunc Exported() {}\n",
	},
		"a/a.go:3: exported Bare",
		"a/a.go:8: exported Method",
		"a/a.go:10: exported Method",
		"a/a.go:18: exported Function",
		"a/a.go:20: exported Constant",
		"a/a.go:29: exported Variable",
	)
}

func TestLengths(t *testing.T) {
	function := func(lines int) string {
		return "func f() {\n" + strings.Repeat("\tf()\n", lines-2) + "}\n"
	}
	long := "package a\n\n" + strings.Repeat("// x\n", maxFileLines)
	check(t, Lengths, map[string]string{
		"a/long.go":      long,
		"a/long_test.go": long,
		"a/made.go":      "// Code generated by gen. DO NOT EDIT.\n\n" + long,
		"a/fits.go":      "package a\n\n" + function(maxFunctionLines),
		"a/function.go":  "package a\n\n" + function(maxFunctionLines+1),
	},
		"a/function.go:3: function f has 91 lines",
		"a/long.go: 602 lines",
	)
}

func TestReminders(t *testing.T) {
	check(t, Reminders, map[string]string{
		"a/a.go": "package a\n\n// TODO: later\n\n// TODO(issue 3): cut at the snapshot\n\n/*\nFIXME\n*/\n\nvar todo = \"TODO\"\n",
	},
		"a/a.go:3: reminder",
		"a/a.go:8: reminder",
	)
}

func TestFormatted(t *testing.T) {
	check(t, Formatted, map[string]string{
		"a/a.go":      "package a\n\nvar   x = 1\n",
		"a/b.go":      "package a\n\nvar y = 1\n",
		"a/c_test.go": "package a\nfunc f(){}\n",
	},
		"a/a.go: not formatted",
		"a/c_test.go: not formatted",
	)
}

func TestHooks(t *testing.T) {
	check(t, Hooks, map[string]string{
		"raft/a.go":      "//go:build mutant\n\npackage raft\n",
		"raft/b.go":      "//go:build linux && !386\n\npackage raft\n",
		"raft/c_test.go": "//go:build mutant\n\npackage raft\n",
		"sim/a.go":       "//go:build race\n\npackage sim\n",
	},
		"raft/a.go:1: build tag in product code",
	)
}

func TestMachines(t *testing.T) {
	check(t, Machines, map[string]string{
		"a.md":                "see /" + "work/notes and testdata" + "/" + "work/notes\n",
		"b.sh":                "cd /" + "home/someone/x\n",
		"c.mod":               "fine\nGOPROXY=https://proxy" + ".golang.org\n",
		"testdata/x":          "/" + "root/x\n",
		"testdata/golden/y":   "/" + "root/x\n",
		"docs/simulated.md":   "a path of a simulated host: /data/dir0\n",
		"binary":              "\xff\xfe/" + "root/x\n",
		"docs/modulepaths.md": "golang.org/x/tools\n",
	},
		"a.md:1: path or host",
		"b.sh:1: path or host",
		"c.mod:2: path or host",
	)
}

func TestMarkdown(t *testing.T) {
	check(t, Markdown, map[string]string{
		"README.md": "# One\n\n[docs](docs) [page](docs/page.md#a-heading-of-it) [web](https://example.com) [self](#two)\n\n## Two\n",
		"docs/page.md": "# Page\n\n## A heading, of it\n\n[up](../README.md)\n[gone](gone.md)\n[no](../README.md#three)\n" +
			"`[not](a/link)`\n\n```\n# not a heading\n[not](a/link)\n```\n",
		"docs/none.md":     "## Only a second\n",
		"docs/two.md":      "# A\n\n# B\n",
		"testdata/case.md": "no heading\n",
	},
		"docs/none.md: a page has exactly one",
		"docs/page.md:6: link to gone.md",
		"docs/page.md:7: link to ../README.md#three: no such heading",
		"docs/two.md: a page has exactly one",
	)
}

// TestEveryRuleHasFixture sees to it that a rule added to the list gets a test that shows it fail.
func TestEveryRuleHasFixture(t *testing.T) {
	fixtures := map[string]func(*testing.T){
		"Imports": TestImports, "Dependencies": TestDependencies, "Names": TestNames,
		"PackageComments": TestPackageComments, "Documented": TestDocumented, "Lengths": TestLengths,
		"Reminders": TestReminders, "Formatted": TestFormatted, "Hooks": TestHooks, "Machines": TestMachines,
		"Markdown": TestMarkdown, "Rooms": TestRooms,
	}
	for _, r := range rules {
		require.Contains(t, fixtures, r.name)
	}
}

func TestReadTreeRefusesBrokenSource(t *testing.T) {
	_, err := ReadTree(fstest.MapFS{"a.go": &fstest.MapFile{Data: []byte("package\n")}})
	require.ErrorContains(t, err, "lint: a.go")
}
