// Package corpus keeps failures that are known as capsules beside the sources, so that each build runs them again.
//
// The problem: a seed that failed once says nothing a month later, since whatever changes what scenarios draw changes what the seed means.
// A shrunk plan does not depend on that: it lists its actions and its faults one by one. So testdata/corpus holds bare capsules
// (plan.Capsule.Bare) of minimal plans, in folders that say what a clean build has to make of them:
//
//	mutants/   kills of planted bugs, one per patch in mutants/: no finding on a clean build; `simrun mutants` starts each hunt with them
//	hazards/   declared hazards: the hazard is met, and there is no finding
//	fixed/     failures of this code that were fixed: no finding
//
// Guarantees: Read refuses a bad capsule with one line that names file and field. Check runs a plan once, and tells how many of the
// decisions that it lists came up again: a plan that does not meet its own faults any more tests nothing.
//
// Smallest example:
//
//	entries, err := corpus.Read("testdata/corpus", catalogue.Registry)
//	report, err := entries[0].Check(sim.NewEngine(catalogue))
//
// Refused: capsules with hashes (each change of behaviour would have to write all of them again), lists of seeds.
package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// Dir is where the corpus lies, below the module root.
const Dir = "testdata/corpus"

// The folders of the corpus.
const (
	Mutants = "mutants"
	Hazards = "hazards"
	Fixed   = "fixed"
)

// Entry is one capsule of the corpus.
type Entry struct {
	File    string // path as given to Read, with the rest
	Folder  string
	Name    string // base name without .json
	Capsule *plan.Capsule
}

// Report is what a clean build made of an entry.
type Report struct {
	// Problem says in one line what is wrong, "" when nothing is.
	Problem string
	// Matched of the Decisions that the plan lists came up with the value that it fixes; FirstUnknown is the first that did not come up.
	Matched, Decisions int64
	FirstUnknown       string
}

// Read reads all capsules below dir, ascending by folder and name. A folder that does not exist has none; a file or folder that belongs to
// no rule is an error, as is a capsule that can't be read or whose verdict does not show its fingerprint.
func Read(dir string, r *plan.Registry) ([]*Entry, error) {
	var entries []*Entry
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	for _, folder := range folders {
		if name := folder.Name(); !folder.IsDir() || name != Mutants && name != Hazards && name != Fixed {
			return nil, fmt.Errorf("corpus: %s belongs to none of the folders %s, %s and %s", filepath.Join(dir, name), Mutants, Hazards, Fixed)
		}
		files, err := os.ReadDir(filepath.Join(dir, folder.Name()))
		if err != nil {
			return nil, fmt.Errorf("corpus: %w", err)
		}
		for _, f := range files {
			name, isCapsule := strings.CutSuffix(f.Name(), ".json")
			e := &Entry{File: filepath.Join(dir, folder.Name(), f.Name()), Folder: folder.Name(), Name: name}
			if !isCapsule {
				return nil, fmt.Errorf("corpus: %s is no capsule: its name does not end with .json", e.File)
			}
			if e.Capsule, err = plan.ReadCapsuleFile(e.File, r); err != nil {
				return nil, err
			}
			if !e.Capsule.Consistent() {
				return nil, plan.InFile(e.File, &plan.FieldError{Field: "fingerprint",
					Problem: fmt.Sprintf("%q is not what the capsule's own verdict shows", e.Capsule.Fingerprint)})
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Check runs the entry's plan on a clean build. An error means that the plan can't be run.
func (e *Entry) Check(r shrink.Runner) (Report, error) {
	result, err := r.Run(e.Capsule.Plan, sim.Options{RecordDecisions: true})
	if err != nil {
		return Report{}, plan.InFile(e.File, err)
	}
	v := result.Verdict
	report := Report{Decisions: int64(len(e.Capsule.Plan.Decisions)), FirstUnknown: e.Capsule.FirstUnknown(result.Decisions)}
	fixed := make([]plan.DrawnDecision, len(e.Capsule.Plan.Decisions))
	for i, d := range e.Capsule.Plan.Decisions {
		fixed[i] = plan.DrawnDecision{Hash: uint64(d.NameHash), Value: int64(d.Value)}
	}
	report.Matched = plan.Matched(fixed, result.Decisions)
	switch {
	case v.Outcome.Finding():
		report.Problem = fmt.Sprintf("%s: a finding on the clean build: %s%s", e.File, v.Fingerprint(), detail(v))
	case e.Folder == Hazards && !shrink.Shows(v, e.Capsule.Fingerprint):
		report.Problem = fmt.Sprintf("%s: %s is not met any more, the run ends with %s", e.File, e.Capsule.Fingerprint, v.Outcome)
	}
	return report, nil
}

func detail(v *plan.Verdict) string {
	switch {
	case len(v.Broken) > 0:
		return ": " + v.Broken[0].Detail
	case len(v.Waiting) > 0:
		return ": " + v.Waiting[0]
	}
	return ""
}
