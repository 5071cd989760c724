package mutants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Dir is where the patches lie, below the module root.
const Dir = "mutants"

// ErrPatch marks a patch that cannot be read or does not apply.
var ErrPatch = errors.New("mutants: bad patch")

// Patch is one planted bug: a header of `key: value` lines, an empty line, and a unified diff against the module root.
type Patch struct {
	File       string   `json:"-"`                  // base name
	ID         string   `json:"id"`                 // entry of the catalogue of known bugs, "KB-01"; several patches may share it
	Name       string   `json:"name"`               // unique, "ReinitAsLeader"
	Reference  string   `json:"reference"`          // issue, KIP or paper
	Rule       string   `json:"rule"`               // the rule that is broken, one sentence
	Invariants []string `json:"invariants"`         // which must catch it: any of these
	Scenarios  []string `json:"scenarios"`          // where to look
	Fault      string   `json:"fault,omitempty"`    // that alone exposes it: without it the same seeds leave it alive
	Outcomes   []string `json:"outcomes,omitempty"` // rows of the table in docs/faults.md that it breaks, as "bit flip of quorum-state"
	Outside    string   `json:"outside,omitempty"`  // why it touches scenarios/ and not the product, "" for all others
	files      []*gitdiff.File
}

// ReadPatches reads all patches of a module, ascending by file name.
func ReadPatches(root string) ([]*Patch, error) {
	dir := filepath.Join(root, Dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s does not exist", ErrPatch, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	var patches []*Patch
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".patch") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("mutants: %w", err)
		}
		p, err := ParsePatch(e.Name(), string(text))
		if err != nil {
			return nil, err
		}
		for _, other := range patches {
			if other.Name == p.Name {
				return nil, fmt.Errorf("%w: %s and %s are both named %s", ErrPatch, other.File, p.File, p.Name)
			}
		}
		patches = append(patches, p)
	}
	return patches, nil
}

// ParsePatch reads one patch. Every key of the header but "outside", "fault" and "outcome" must be there, once.
func ParsePatch(file, text string) (*Patch, error) {
	p := &Patch{File: file}
	header, diff, found := strings.Cut(text, "\n\n")
	if !found {
		return nil, fmt.Errorf("%w: %s: no empty line between header and diff", ErrPatch, file)
	}
	if err := p.parseHeader(header); err != nil {
		return nil, err
	}
	files, preamble, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrPatch, file, err)
	}
	if strings.TrimSpace(preamble) != "" || len(files) == 0 {
		return nil, fmt.Errorf("%w: %s: the part behind the header is no unified diff", ErrPatch, file)
	}
	p.files = files
	for _, f := range files {
		if err := p.checkFile(f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Patch) parseHeader(header string) error {
	values := map[string]string{}
	for i, line := range strings.Split(header, "\n") {
		key, value, found := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if _, twice := values[key]; !found || value == "" || twice {
			return fmt.Errorf("%w: %s:%d: want a new key and its value, got %q", ErrPatch, p.File, i+1, line)
		}
		values[key] = value
	}
	take := func(key string) string {
		v := values[key]
		delete(values, key)
		return v
	}
	p.ID, p.Name, p.Reference, p.Rule = take("id"), take("name"), take("reference"), take("rule")
	p.Invariants, p.Scenarios = list(take("invariant")), list(take("scenarios"))
	p.Outside, p.Fault = take("outside"), take("fault")
	if parts := take("outcome"); parts != "" {
		for _, part := range strings.Split(parts, ";") { // their names have commas
			p.Outcomes = append(p.Outcomes, strings.TrimSpace(part))
		}
	}
	for key, missing := range map[string]bool{
		"id": p.ID == "", "name": p.Name == "", "reference": p.Reference == "", "rule": p.Rule == "",
		"invariant": len(p.Invariants) == 0, "scenarios": len(p.Scenarios) == 0,
	} {
		if missing {
			return fmt.Errorf("%w: %s: the header lacks %q", ErrPatch, p.File, key)
		}
	}
	for key := range values {
		return fmt.Errorf("%w: %s: the header has an unknown key %q", ErrPatch, p.File, key)
	}
	return nil
}

// list splits a list with commas.
func list(text string) (words []string) {
	for _, w := range strings.Split(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// checkFile refuses what no mutant may do: touch anything but the sources of the product, or add and remove files.
func (p *Patch) checkFile(f *gitdiff.File) error {
	name := f.NewName
	switch {
	case f.IsBinary || f.IsNew || f.IsDelete || f.IsRename || f.IsCopy || f.OldName != f.NewName:
		return fmt.Errorf("%w: %s: %s: only changes of existing text files", ErrPatch, p.File, name)
	case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || path.Clean(name) != name:
		return fmt.Errorf("%w: %s: %s is no Go source of the product", ErrPatch, p.File, name)
	case strings.HasPrefix(name, "raft/"), strings.HasPrefix(name, "metadata/"):
		return nil
	case strings.HasPrefix(name, "scenarios/") && p.Outside != "":
		return nil
	}
	return fmt.Errorf("%w: %s: %s is not below raft or metadata", ErrPatch, p.File, name)
}

// Select returns the patches that one of the words names: by id, by name or by file name, with or without folder and .patch, in any case. No word selects all. A
// word that names none is returned.
func Select(patches []*Patch, words []string) (selected []*Patch, unknown string) {
	if len(words) == 0 {
		return patches, ""
	}
	for _, w := range words {
		n := 0
		for _, p := range patches {
			if !strings.EqualFold(w, p.ID) && !strings.EqualFold(w, p.Name) && !strings.EqualFold(strings.TrimSuffix(filepath.Base(w), ".patch"), strings.TrimSuffix(p.File, ".patch")) {
				continue
			}
			n++
			if !slices.Contains(selected, p) {
				selected = append(selected, p)
			}
		}
		if n == 0 {
			return nil, w
		}
	}
	return selected, ""
}
