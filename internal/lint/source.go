package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// Ceilings for hand-written files that are not tests. The aim is well below: files of 80 to 300 lines, functions of at
// most 70.
const (
	maxFileLines     = 600
	maxFunctionLines = 90
)

// Names checks that no package is called by a word that says nothing about what it holds.
func Names(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		switch name := strings.TrimSuffix(file.Syntax.Name.Name, "_test"); name {
		case "util", "utils", "common", "misc", "helper", "helpers", "shared", "base":
			problems = append(problems, Problem{file.Path, tree.line(file.Syntax.Name.Pos()),
				"package " + name + ": name it after the noun that it holds"})
		}
	}
	return ordered(problems)
}

// PackageComments checks that each package has a package comment, in a file that is not a test, and that it starts with
// the words that godoc expects.
func PackageComments(tree *Tree) []Problem {
	commented := map[string]bool{}
	var packages []*GoFile // the first file of each
	for _, file := range tree.Go {
		if file.Test {
			continue
		}
		dir := file.Dir()
		if _, seen := commented[dir]; !seen {
			commented[dir] = false
			packages = append(packages, file)
		}
		if doc := file.Syntax.Doc.Text(); startsLikePackageComment(doc, file.Syntax.Name.Name) {
			commented[dir] = true
		}
	}
	var problems []Problem
	for _, file := range packages {
		if !commented[file.Dir()] {
			problems = append(problems, Problem{File: file.Dir(), Message: "no package comment for package " + file.Syntax.Name.Name})
		}
	}
	return ordered(problems)
}

func startsLikePackageComment(doc, name string) bool {
	if name == "main" {
		return strings.TrimSpace(doc) != ""
	}
	return strings.HasPrefix(doc, "Package "+name+" ") || strings.HasPrefix(doc, "Package "+name+"\n")
}

// selfEvident are methods whose contract is that of a well-known interface.
var selfEvident = []string{"Error", "String", "Unwrap", "Len", "Less", "Swap", "Push", "Pop"}

// Documented checks that every exported name of a library package has a doc comment. Generated files, tests and
// commands are left out; so are fields and the methods of interfaces.
func Documented(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		if file.Test || file.Generated || file.Syntax.Name.Name == "main" {
			continue
		}
		for _, decl := range file.Syntax.Decls {
			for _, name := range undocumented(decl) {
				problems = append(problems, Problem{file.Path, tree.line(name.Pos()), "exported " + name.Name + " has no comment"})
			}
		}
	}
	return ordered(problems)
}

func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		bare := d.Doc.Text() == "" && d.Name.IsExported()
		if bare && (d.Recv == nil || exportedReceiver(d) && !slices.Contains(selfEvident, d.Name.Name)) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(d, spec)...)
		}
		return names
	}
	return nil
}

// exportedReceiver reports whether the receiver's type, without pointer and type parameters, is exported.
func exportedReceiver(d *ast.FuncDecl) bool {
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}

// undocumentedSpec returns the bare exported names of one spec. A comment on a group of constants or variables covers
// them all, and so does one at the end of the line.
func undocumentedSpec(group *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		alone := len(group.Specs) == 1 && group.Doc.Text() != ""
		if s.Name.IsExported() && !alone && s.Doc.Text() == "" && s.Comment.Text() == "" {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if group.Doc.Text() != "" || s.Doc.Text() != "" || s.Comment.Text() != "" {
			return nil
		}
		var names []*ast.Ident
		for _, name := range s.Names {
			if name.IsExported() {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// Lengths checks the ceilings on files and functions.
func Lengths(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		if file.Test || file.Generated {
			continue
		}
		if lines := bytes.Count(file.Text, []byte("\n")); lines > maxFileLines {
			problems = append(problems, Problem{file.Path, 0, fmt.Sprintf("%d lines, the ceiling is %d", lines, maxFileLines)})
		}
		for _, decl := range file.Syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := tree.line(f.End()) - tree.line(f.Pos()) + 1; lines > maxFunctionLines {
				problems = append(problems, Problem{file.Path, tree.line(f.Pos()),
					fmt.Sprintf("function %s has %d lines, the ceiling is %d", f.Name.Name, lines, maxFunctionLines)})
			}
		}
	}
	return ordered(problems)
}

var (
	reminder         = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	reasonedReminder = regexp.MustCompile(`\bTODO\([^)]+\): \S`)
)

// Reminders checks that a reminder left in a comment says whose or which issue it is and what is to be done, in the
// form TODO(issue 7): what.
func Reminders(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		for _, group := range file.Syntax.Comments {
			for _, comment := range group.List {
				for i, text := range strings.Split(comment.Text, "\n") {
					if reminder.MatchString(text) && !reasonedReminder.MatchString(text) {
						problems = append(problems, Problem{file.Path, tree.line(comment.Pos()) + i, "reminder without owner and reason"})
					}
				}
			}
		}
	}
	return ordered(problems)
}

// Formatted checks that every Go file is as gofmt would write it.
func Formatted(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		formatted, err := format.Source(file.Text)
		switch {
		case err != nil:
			problems = append(problems, Problem{File: file.Path, Message: err.Error()})
		case !bytes.Equal(formatted, file.Text):
			problems = append(problems, Problem{File: file.Path, Message: "not formatted by gofmt"})
		}
	}
	return ordered(problems)
}

// Hooks checks that the product and the rooms carry no switch for mutants or tests: no build tag but those that name
// an architecture, an operating system or a tool's file set.
func Hooks(tree *Tree) []Problem {
	var problems []Problem
	for _, file := range tree.Go {
		if file.Test || !withinAny(file.Dir(), []string{"raft", "metadata", "invariants"}) {
			continue
		}
		for _, group := range file.Syntax.Comments {
			for _, comment := range group.List {
				if comment.Pos() < file.Syntax.Package && strings.HasPrefix(comment.Text, "//go:build ") && wrongTag(comment.Text) {
					problems = append(problems, Problem{file.Path, tree.line(comment.Pos()), "build tag in product code: " + comment.Text})
				}
			}
		}
	}
	return ordered(problems)
}

var allowedTags = []string{"ignore", "js", "wasm", "linux", "darwin", "windows", "unix", "amd64", "arm64", "386"}

func wrongTag(line string) bool {
	words := strings.FieldsFunc(strings.TrimPrefix(line, "//go:build "), func(r rune) bool { return strings.ContainsRune(" !&|()", r) })
	for _, word := range words {
		if !slices.Contains(allowedTags, word) && token.IsIdentifier(word) {
			return true
		}
	}
	return false
}
