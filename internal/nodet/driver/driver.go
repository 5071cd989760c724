// Package driver runs one analyzer over packages of this module, inside the calling process.
//
// The problem: a test wants the findings of the determinism analyzer as values, in seconds, without building a second
// binary. The usual driver (go/analysis/checker on go/packages) loads more than an analyzer without facts and
// prerequisites needs, and brings two more modules along. This one asks the go command for the files and export data of
// each package, type checks the packages that the patterns name, and runs the analyzer on those.
//
//	findings, err := driver.Run(nodet.Analyzer, "/path/to/module", "./raft/...", "./sim")
//
// Findings come ordered by file, line and column. Test files are left out. A package that does not compile is an error
// that names it, never an empty list of findings.
package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"golang.org/x/tools/go/analysis"
)

// Finding is one diagnostic of the analyzer.
type Finding struct {
	Position token.Position
	Message  string
}

// String renders the finding as file:line:column: message.
func (f Finding) String() string { return f.Position.String() + ": " + f.Message }

// listed is what the go command says about a package.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	Export     string
	GoFiles    []string
	DepOnly    bool
	Error      *struct{ Err string }
}

// Run loads the packages that patterns name, as seen from the module directory dir, and runs the analyzer on each. The
// analyzer must need neither facts nor other analyzers.
func Run(a *analysis.Analyzer, dir string, patterns ...string) ([]Finding, error) {
	if len(a.Requires) > 0 || len(a.FactTypes) > 0 {
		return nil, fmt.Errorf("driver: analyzer %s needs other analyzers or facts", a.Name)
	}
	packages, err := list(dir, patterns)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("driver: no export data for %s", path)
		}
		return os.Open(exports[path])
	})
	var findings []Finding
	for _, p := range packages {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		found, err := p.analyze(a, fset, imports)
		if err != nil {
			return nil, fmt.Errorf("driver: package %s: %w", p.ImportPath, err)
		}
		findings = append(findings, found...)
	}
	Sort(findings)
	return findings, nil
}

// list runs `go list` for the packages and what they depend on. It builds what it lists, from the build cache.
func list(dir string, patterns []string) ([]*listed, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,DepOnly,Error", "--"},
		patterns...)
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("driver: go list: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var packages []*listed
	for decoder := json.NewDecoder(&stdout); ; {
		p := &listed{}
		err := decoder.Decode(p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("driver: output of go list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("driver: package %s: %s", p.ImportPath, p.Error.Err)
		}
		packages = append(packages, p)
	}
}

func (p *listed) analyze(a *analysis.Analyzer, fset *token.FileSet, imports types.Importer) ([]Finding, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return Analyze(a, fset, imports, p.ImportPath, files)
}

// Analyze type checks the files as the package with the given import path and runs the analyzer on it. Findings come
// in the order in which the analyzer made them.
func Analyze(a *analysis.Analyzer, fset *token.FileSet, imports types.Importer, path string, files []*ast.File) (
	[]Finding, error) {
	info := &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		Scopes:       map[ast.Node]*types.Scope{},
		Instances:    map[*ast.Ident]types.Instance{},
		FileVersions: map[*ast.File]string{},
	}
	config := types.Config{Importer: imports, Sizes: types.SizesFor("gc", "amd64")}
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	pass := &analysis.Pass{
		Analyzer: a, Fset: fset, Files: files, Pkg: pkg, TypesInfo: info, TypesSizes: config.Sizes,
		ResultOf: map[*analysis.Analyzer]any{},
		ReadFile: os.ReadFile,
		Report: func(d analysis.Diagnostic) {
			findings = append(findings, Finding{Position: fset.Position(d.Pos), Message: d.Message})
		},
	}
	_, err = a.Run(pass)
	return findings, err
}

// Sort orders findings by file, line, column and message.
func Sort(findings []Finding) {
	sort.SliceStable(findings, func(i, j int) bool {
		a, b := findings[i], findings[j]
		switch {
		case a.Position.Filename != b.Position.Filename:
			return a.Position.Filename < b.Position.Filename
		case a.Position.Line != b.Position.Line:
			return a.Position.Line < b.Position.Line
		case a.Position.Column != b.Position.Column:
			return a.Position.Column < b.Position.Column
		}
		return a.Message < b.Message
	})
}
