package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/kraftsim/kraftsim/internal/nodet"
)

// rules are all rules of this package, by the name of their subtest.
var rules = []struct {
	name string
	rule func(*Tree) []Problem
}{
	{"Imports", Imports},
	{"Dependencies", Dependencies},
	{"Rooms", Rooms},
	{"Names", Names},
	{"PackageComments", PackageComments},
	{"Documented", Documented},
	{"Lengths", Lengths},
	{"Reminders", Reminders},
	{"Formatted", Formatted},
	{"Hooks", Hooks},
	{"Machines", Machines},
	{"Markdown", Markdown},
}

// root is the module root, seen from the directory in which `go test` runs this package.
var root = filepath.Join("..", "..")

// TestModule holds this module against every rule.
func TestModule(t *testing.T) {
	require.FileExists(t, filepath.Join(root, "go.mod"))
	tree, err := ReadTree(os.DirFS(root))
	require.NoError(t, err)
	require.NotEmpty(t, tree.Go)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, problem := range r.rule(tree) {
				t.Error(problem)
			}
		})
	}
}

// TestDeterminism runs the determinism analyzer over every package of the module; the analyzer knows which of them are
// deterministic rooms. Its own tests show that each of its rules can fail.
func TestDeterminism(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo |
			packages.NeedModule,
		Dir: root,
	}, "./...")
	require.NoError(t, err)
	require.NotEmpty(t, loaded)
	var healthy []*packages.Package
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 {
			t.Errorf("package %s does not load: %v", pkg.PkgPath, pkg.Errors[0])
			continue
		}
		healthy = append(healthy, pkg)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{nodet.Analyzer}, healthy, nil)
	require.NoError(t, err)
	for _, action := range graph.Roots {
		if action.Err != nil {
			t.Errorf("package %s: %v", action.Package.PkgPath, action.Err)
		}
		for _, diagnostic := range action.Diagnostics {
			t.Errorf("%s: %s", action.Package.Fset.Position(diagnostic.Pos), diagnostic.Message)
		}
	}
}
