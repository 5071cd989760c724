// Package lint keeps the rules of the house: who may import whom, and what a tidy tree looks like.
//
// The problem: rules that live in a page only are broken by the third contributor, and linters bought elsewhere know
// nothing of this house. Here each rule is a function from a file tree to a list of problems, and the tests of this
// package run all of them over the module, so that `go test ./...` is the one command that enforces them:
//
//	problems := lint.Imports(tree)   // []Problem, empty when the rule holds
//
// A tree is read from an fs.FS, hence every rule is also tested on a small in-memory tree that breaks it: a rule that
// cannot fail is no rule. Rules skip what does not exist yet. They look at files as they are, whatever their build
// tags, and never build anything; the one exception is the determinism analyzer of internal/nodet, which needs types
// and which the tests of this package run over the module as well.
//
// Guarantees: problems come ordered by file and line, and reading a tree costs one parse of each Go file.
//
// Refused: a script of greps (no fixtures, no positions), and a plugin for a linter (a second tool to install).
package lint
