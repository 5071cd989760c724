package lint

import (
	"fmt"
	"strconv"
	"strings"
)

// modulePath is the path of this module.
const modulePath = "github.com/kraftsim/kraftsim"

// wall is a rule between rooms: no package in one of from imports one of to. Rooms are trees of directories.
type wall struct {
	from, to []string
	why      string
}

var walls = []wall{
	{[]string{"sim", "reports"}, []string{"raft", "metadata"},
		"the simulator knows no protocol; text reaches it through Describe hooks"},
	{[]string{"sim", "reports"}, []string{"invariants", "scenarios", "cmd"}, "the simulator stands below what it runs"},
	{[]string{"raft", "metadata"}, []string{"sim", "reports", "invariants", "scenarios", "cmd"},
		"the product never depends on its test bench"},
	{[]string{"raft"}, []string{"metadata"}, "metadata may import raft, never the reverse"},
	{[]string{"invariants"}, []string{"scenarios", "cmd"}, "invariants hold for every scenario"},
	{[]string{"scenarios"}, []string{"cmd"}, "a command is made of scenarios, never the reverse"},
}

// library says which rooms may import a package of another module, outside of tests. An empty list means tests only.
type library struct {
	path  string
	rooms []string
}

// libraries lists every module that this one may import. docs/dependencies.md gives the reason for each.
var libraries = []library{
	{"github.com/google/uuid", []string{"sim", "raft", "metadata", "invariants", "scenarios", "cmd", "examples"}},
	{"github.com/klauspost/compress", []string{"raft/record"}},
	{"github.com/twmb/franz-go/pkg/kmsg", []string{"raft/wire", "metadata/wire"}},
	{"golang.org/x/exp/slog", []string{"sim/cli", "sim/campaign", "scenarios"}},
	{"github.com/spf13/cobra", []string{"sim/cli", "cmd/simrun", "internal/mutants", "internal/dump"}},
	{"github.com/spf13/pflag", []string{"sim/cli", "cmd/simrun"}},
	{"github.com/vbauerster/mpb/v8", []string{"sim/cli", "sim/campaign"}},
	{"github.com/anishathalye/porcupine", []string{"invariants/linearizable"}},
	{"github.com/bluekeyes/go-gitdiff", []string{"internal/mutants"}},
	{"modernc.org/sqlite", []string{"sim/campaign"}},
	{"github.com/expr-lang/expr", []string{"sim/cli"}},
	{"pgregory.net/rapid", []string{"sim/simtest"}},
	{"github.com/chromedp", nil},
	{"github.com/santhosh-tekuri/jsonschema", nil},
	{"github.com/stretchr/testify", nil},
	{"github.com/google/go-cmp", nil},
	{"github.com/cockroachdb/datadriven", nil},
	{"github.com/rogpeppe/go-internal", nil},
	{"golang.org/x/tools", []string{"cmd/nodet", "internal"}},
}

// Imports checks the rules between rooms and the rooms in which a library may be used, over files that are not tests.
// Tests may import any library of the list, and cross walls.
func Imports(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		for _, spec := range file.Syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			message := wrongImport(file, imported)
			if message != "" {
				problems = append(problems, Problem{file.Path, tree.line(spec.Pos()), message})
			}
		}
	}
	return ordered(problems)
}

func wrongImport(file *GoFile, imported string) string {
	if imported == modulePath {
		return "" // the golden directories in the binary
	}
	if room, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
		if file.Test {
			return ""
		}
		return crossedWall(file.Dir(), room)
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "" // standard library
	}
	for _, lib := range libraries {
		if !within(imported, lib.path) {
			continue
		}
		if file.Test || withinAny(file.Dir(), lib.rooms) {
			return ""
		}
		return fmt.Sprintf("import of %s, which this room may not use", lib.path)
	}
	return fmt.Sprintf("import of %s, which is not on the list of libraries", imported)
}

func crossedWall(from, to string) string {
	for _, w := range walls {
		if withinAny(from, w.from) && withinAny(to, w.to) {
			return fmt.Sprintf("import of %s: %s", to, w.why)
		}
	}
	return ""
}

// within reports whether the slash separated name is root or lies below it.
func within(name, root string) bool { return name == root || strings.HasPrefix(name, root+"/") }

func withinAny(name string, roots []string) bool {
	for _, root := range roots {
		if within(name, root) {
			return true
		}
	}
	return false
}

// Dependencies checks that docs/dependencies.md names every library that a Go file imports.
func Dependencies(tree *Tree) []Problem {
	const page = "docs/dependencies.md"
	text, ok := tree.Texts[page]
	if !ok {
		return nil
	}
	var problems []Problem
	for _, lib := range libraries {
		if !strings.Contains(text, "`"+lib.path+"`") && tree.imports(lib.path) {
			problems = append(problems, Problem{File: page, Message: "no reason for " + lib.path})
		}
	}
	return problems
}

func (t *Tree) imports(library string) bool {
	for _, file := range t.Go {
		for _, spec := range file.Syntax.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil && within(imported, library) {
				return true
			}
		}
	}
	return false
}
