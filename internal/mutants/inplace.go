package mutants

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// applyInPlace is Apply for the compiler's eyes: the same code, with every line that the patch leaves alone at its old line number. Where
// lines stand is part of what other packages were compiled against. What is longer than what it replaces is put on one line.
func (p *Patch) applyInPlace(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range p.files {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.NewName)))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrPatch, p.File, err)
		}
		level := *f
		level.TextFragments = nil
		for _, h := range f.TextFragments {
			short, ok := inPlace(h)
			if !ok {
				return nil, errWhole
			}
			level.TextFragments = append(level.TextFragments, short)
		}
		if out[f.NewName], err = applyFile(string(source), &level); err != nil {
			return nil, fmt.Errorf("%w: %s: %s: %w", ErrPatch, p.File, f.NewName, err)
		}
	}
	return out, nil
}

// inPlace returns a hunk that leaves as many lines as it finds. ok is false where that can't be done.
func inPlace(h *gitdiff.TextFragment) (short *gitdiff.TextFragment, ok bool) {
	copied := *h
	copied.Lines = nil
	var gone int
	var added []string
	flush := func() bool {
		if len(added) > gone {
			if gone == 0 { // behind the line before
				last := len(copied.Lines) - 1
				if last < 0 || copied.Lines[last].Op != gitdiff.OpContext {
					return false
				}
				before := copied.Lines[last].Line
				copied.Lines[last].Op = gitdiff.OpDelete
				added = append([]string{before}, added...)
				gone = 1
			}
			one, ok := oneLine(strings.Join(added, ""))
			if !ok {
				return false
			}
			added = []string{one}
		}
		for _, line := range added {
			copied.Lines = append(copied.Lines, gitdiff.Line{Op: gitdiff.OpAdd, Line: line})
		}
		for n := len(added); n < gone; n++ {
			copied.Lines = append(copied.Lines, gitdiff.Line{Op: gitdiff.OpAdd, Line: "\n"})
		}
		gone, added = 0, nil
		return true
	}
	for _, l := range h.Lines {
		switch l.Op {
		case gitdiff.OpAdd:
			added = append(added, l.Line)
			continue
		case gitdiff.OpDelete:
			if added != nil && !flush() {
				return nil, false
			}
			gone++
		case gitdiff.OpContext:
			if !flush() {
				return nil, false
			}
		}
		copied.Lines = append(copied.Lines, l)
	}
	return &copied, flush()
}

// oneLine puts lines of Go on one, without their comments, and with the semicolons that ends of lines stand for. ok is false for what is
// no sequence of whole tokens on lines, as a piece of a raw string, and for a directive.
func oneLine(text string) (one string, ok bool) {
	if strings.Contains(text, "//go:") || strings.Contains(text, "/*") || strings.Contains(text, "`") {
		return "", false
	}
	files := token.NewFileSet()
	ok = true
	var s scanner.Scanner
	s.Init(files.AddFile("", -1, len(text)), []byte(text), func(token.Position, string) { ok = false }, 0)
	var words []string
	for {
		_, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return strings.Join(words, " ") + "\n", ok
		case kind.IsLiteral():
			words = append(words, literal)
		default:
			words = append(words, kind.String())
		}
	}
}
