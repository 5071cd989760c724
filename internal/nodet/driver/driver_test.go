package driver

import (
	"go/ast"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
)

// functions reports every function declaration, last first, with the type of its first result.
var functions = &analysis.Analyzer{
	Name: "functions",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.Files {
			for i := len(file.Decls) - 1; i >= 0; i-- {
				if f, ok := file.Decls[i].(*ast.FuncDecl); ok {
					pass.Reportf(f.Pos(), "%s of %s", f.Name.Name, pass.TypesInfo.Defs[f.Name].Type())
				}
			}
		}
		return nil, nil
	},
}

// module writes a module of the given files into a directory of its own.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func TestRun(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod":      "module example.test\n\ngo 1.26\n",
		"a/a.go":      "package a\n\nimport \"example.test/b\"\n\nfunc First() b.B { return b.New() }\n\nfunc Second() {}\n",
		"a/a_test.go": "package a\n\nfunc helper() {}\n",
		"b/b.go":      "package b\n\nimport \"strings\"\n\ntype B struct{ *strings.Reader }\n\nfunc New() B { return B{} }\n",
	})
	findings, err := Run(functions, dir, "./...")
	require.NoError(t, err)
	var messages []string
	for _, finding := range findings {
		messages = append(messages, finding.Message)
	}
	require.Equal(t, []string{
		"First of func() example.test/b.B", "Second of func()", "New of func() example.test/b.B",
	}, messages, "ordered by position, without tests")

	findings, err = Run(functions, dir, "./b")
	require.NoError(t, err)
	require.Len(t, findings, 1)
	require.Equal(t, filepath.Join(dir, "b", "b.go")+":7:1: New of func() example.test/b.B", findings[0].String())
}

func TestRunRefuses(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod":   "module example.test\n\ngo 1.26\n",
		"bad/b.go": "package bad\n\nvar x undefined\n",
	})
	_, err := Run(functions, dir, "./bad")
	require.ErrorContains(t, err, "undefined: undefined")
	_, err = Run(functions, dir, "./absent")
	require.ErrorContains(t, err, "absent")
	_, err = Run(&analysis.Analyzer{Name: "needy", Requires: []*analysis.Analyzer{functions}}, dir, "./bad")
	require.ErrorContains(t, err, "needy")
}
