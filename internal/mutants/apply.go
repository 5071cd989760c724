package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Apply returns the patched content of every file that the patch touches, by its path below root. Nothing is written.
func (p *Patch) Apply(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range p.files {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.NewName)))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrPatch, p.File, err)
		}
		patched, err := applyFile(string(source), f)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %s: %w", ErrPatch, p.File, f.NewName, err)
		}
		out[f.NewName] = patched
	}
	return out, nil
}

// applyFile applies the hunks of one file, in order.
func applyFile(source string, f *gitdiff.File) (string, error) {
	lines := strings.SplitAfter(source, "\n")
	var out []string
	done := 0 // lines of source that are copied or replaced
	for n, h := range f.TextFragments {
		var before, after []string
		for _, l := range h.Lines {
			if l.Op != gitdiff.OpAdd {
				before = append(before, l.Line)
			}
			if l.Op != gitdiff.OpDelete {
				after = append(after, l.Line)
			}
		}
		at, err := locate(lines, done, before, int(h.OldPosition)-1)
		if err != nil {
			return "", fmt.Errorf("hunk %d (%s): %w", n+1, strings.TrimSpace(h.Header()), err)
		}
		out = append(append(out, lines[done:at]...), after...)
		done = at + len(before)
	}
	return strings.Join(append(out, lines[done:]...), ""), nil
}

// locate finds the place of a hunk at or behind line from: the stated one, or the only one.
func locate(lines []string, from int, before []string, stated int) (int, error) {
	var places []int
	for at := from; at+len(before) <= len(lines); at++ {
		if slices.Equal(lines[at:at+len(before)], before) {
			places = append(places, at)
		}
	}
	switch {
	case slices.Contains(places, stated):
		return stated, nil
	case len(places) == 1:
		return places[0], nil
	case len(places) == 0:
		return 0, fmt.Errorf("its context is not in the file any more")
	}
	return 0, fmt.Errorf("its context is in the file %d times, and not at line %d", len(places), stated+1)
}

// overlay writes the patched files and the overlay for the go tool into dir, and returns the overlay's path.
func (p *Patch) overlay(root, dir string) (string, error) {
	files, err := p.Apply(root)
	if err != nil {
		return "", err
	}
	return writeOverlay(files, root, dir)
}

// writeOverlay writes files, by their paths below root, and the overlay that puts them there.
func writeOverlay(files map[string]string, root, dir string) (string, error) {
	replace := map[string]string{}
	for name, content := range files {
		to := filepath.Join(dir, "src", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return "", fmt.Errorf("mutants: %w", err)
		}
		if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("mutants: %w", err)
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	return file, nil
}
