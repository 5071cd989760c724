package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"
)

// Problem is one place where a rule does not hold. Line is 0 when it is about a file or directory as a whole.
type Problem struct {
	File    string // slash separated, relative to the module root
	Line    int
	Message string
}

// String renders the problem as file:line: message.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// GoFile is one parsed Go file.
type GoFile struct {
	Path      string // relative to the module root
	Text      []byte
	Syntax    *ast.File
	Test      bool // a _test.go file
	Generated bool // carries the standard "Code generated" line
}

// Dir returns the directory of the file relative to the module root, "." for the root itself.
func (f *GoFile) Dir() string { return path.Dir(f.Path) }

// Tree is a module as the rules see it.
type Tree struct {
	Fset  *token.FileSet
	Go    []*GoFile         // outside testdata, ordered by path
	Texts map[string]string // every UTF-8 file outside testdata/golden, by path
	exist map[string]bool   // every file and directory
}

// skipped are directories that no rule looks into: the version store, what runs leave behind, and files that other
// programs wrote.
var skipped = map[string]bool{".git": true, "artifacts": true, "out": true, "capsules": true, "testdata/golden": true}

var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// ReadTree reads the module whose root is fsys. A Go file that does not parse is an error.
func ReadTree(fsys fs.FS) (*Tree, error) {
	tree := &Tree{Fset: token.NewFileSet(), Texts: map[string]string{}, exist: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		tree.exist[name] = true
		if entry.IsDir() {
			if skipped[name] {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		return tree.readFile(fsys, name)
	})
	return tree, err
}

func (t *Tree) readFile(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return nil
	}
	t.Texts[name] = string(text)
	if !strings.HasSuffix(name, ".go") || inTestdata(name) {
		return nil
	}
	syntax, err := parser.ParseFile(t.Fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("lint: %w", err)
	}
	t.Go = append(t.Go, &GoFile{
		Path:      name,
		Text:      text,
		Syntax:    syntax,
		Test:      strings.HasSuffix(name, "_test.go"),
		Generated: generatedLine.Match(text),
	})
	return nil
}

func inTestdata(name string) bool {
	return strings.HasPrefix(name, "testdata/") || strings.Contains(name, "/testdata/")
}

// line returns the line of a position.
func (t *Tree) line(at token.Pos) int { return t.Fset.Position(at).Line }

// paths returns the paths of all text files that end in suffix, ascending.
func (t *Tree) paths(suffix string) []string {
	var paths []string
	for name := range t.Texts {
		if strings.HasSuffix(name, suffix) {
			paths = append(paths, name)
		}
	}
	sort.Strings(paths)
	return paths
}

// ordered sorts problems by file and line.
func ordered(problems []Problem) []Problem {
	sort.SliceStable(problems, func(i, j int) bool {
		if problems[i].File != problems[j].File {
			return problems[i].File < problems[j].File
		}
		return problems[i].Line < problems[j].Line
	})
	return problems
}
