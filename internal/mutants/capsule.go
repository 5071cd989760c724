package mutants

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Capsules. A mutant that was killed once has a minimal plan that kills it, in testdata/corpus/mutants under the name of its patch. Running
// that first makes a hunt one run long.

// shrinkRuns bounds the shrinking of a kill, capsuleTime the wall time of each call of a built program on a capsule.
const (
	shrinkRuns  = 600
	capsuleTime = 3 * time.Minute
)

// capsuleName is the base name of a patch's capsule.
func (p *Patch) capsuleName() string { return strings.TrimSuffix(p.File, ".patch") + ".json" }

// readCapsule returns the capsule of a patch in a corpus; nil when it has none.
func readCapsule(dir string, p *Patch, catalogue *sim.Catalogue) (*corpus.Entry, error) {
	file := filepath.Join(dir, corpus.Mutants, p.capsuleName())
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c, err := plan.ReadCapsuleFile(file, catalogue.Registry)
	if err != nil {
		return nil, err
	}
	return &corpus.Entry{File: file, Folder: corpus.Mutants, Name: p.Name, Capsule: c}, nil
}

// checkCapsules runs the capsules of the patches on this program, which is the clean one. It returns what is wrong with them.
func checkCapsules(dir string, patches []*Patch, catalogue *sim.Catalogue) (problems []string, err error) {
	runner := campaign.Guard(func() campaign.Runner { return sim.NewEngine(catalogue) })
	for _, p := range patches {
		e, err := readCapsule(dir, p, catalogue)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue
		}
		report, err := e.Check(runner)
		if err != nil {
			return nil, err
		}
		if report.Problem != "" {
			problems = append(problems, report.Problem)
		}
	}
	return problems, nil
}

// replayed runs a capsule in a built program and returns the verdict of the run.
func (x *product) replayed(ctx context.Context, file string) (*plan.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, capsuleTime)
	defer cancel()
	var out, problem bytes.Buffer
	cmd := exec.CommandContext(ctx, x.binary, "replay", file, "--quiet", "--json")
	cmd.Stdout, cmd.Stderr = &out, &problem
	failed := cmd.Run() // a run with a finding exits with 1
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var line struct {
			Type string `json:"type"`
			plan.Verdict
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Type == "verdict" {
			return &line.Verdict, nil
		}
	}
	return nil, fmt.Errorf("mutants: replay of %s: %w: %s", file, orNoVerdict(failed), firstLines(problem.String(), 2))
}

// orNoVerdict gives a failure that has no error of its own one.
func orNoVerdict(err error) error {
	if err == nil {
		return errors.New("no verdict")
	}
	return err
}

// killedBy runs a capsule in the mutant and returns the kill, nil when no invariant of the header was broken.
func (x *product) killedBy(ctx context.Context, e *corpus.Entry) (*Kill, error) {
	v, err := x.replayed(ctx, e.File)
	if err != nil {
		return nil, err
	}
	var r result
	r.fill(v)
	name := r.brokenAmong(x.patch.Invariants)
	if !r.Outcome.Finding() || name == "" || !r.counts() {
		return nil, nil
	}
	return &Kill{Invariant: name, Evidence: r.Evidence, Detail: r.Detail, Scenario: e.Capsule.Plan.Scenario, Seed: uint64(e.Capsule.Plan.Seed),
		Runs: 1, Capsule: true}, nil
}

// shrunk lets the mutant shorten its kill into a bare capsule, and keeps that when it kills the mutant again and passes on this program.
// Where a script is shortened until it fails without the bug, too, or where runs take too long, it keeps the plan as it was drawn, with its
// faults listed.
func (x *product) shrunk(ctx context.Context, k *Kill, dir string, catalogue *sim.Catalogue) (problem string, err error) {
	for _, runs := range []int64{shrinkRuns, listRuns} {
		if problem, err = x.shrunkIn(ctx, runs, k, dir, catalogue); problem == "" || err != nil {
			return problem, err
		}
	}
	return problem, nil
}

// listRuns is a budget of runs that is spent when the faults of a plan are listed.
const listRuns = 2

func (x *product) shrunkIn(ctx context.Context, runs int64, k *Kill, dir string, catalogue *sim.Catalogue) (problem string, err error) {
	file := filepath.Join(dir, corpus.Mutants, x.patch.capsuleName())
	fresh := filepath.Join(x.dir, x.patch.capsuleName())
	limited, cancel := context.WithTimeout(ctx, capsuleTime)
	defer cancel()
	text, failed := exec.CommandContext(limited, x.binary, "shrink", fmt.Sprintf("%s:%d", k.Scenario, k.Seed), "--bare", "--budget",
		fmt.Sprint(runs), "--out", fresh).CombinedOutput()
	if failed != nil {
		return fmt.Sprintf("not shrunk: %v: %s", failed, firstLines(string(text), 6)), ctx.Err()
	}
	c, err := plan.ReadCapsuleFile(fresh, catalogue.Registry)
	if err != nil {
		return "", err
	}
	e := &corpus.Entry{File: fresh, Folder: corpus.Mutants, Capsule: c}
	again, err := x.killedBy(ctx, e)
	if err != nil {
		return "", err
	}
	if again == nil {
		return fmt.Sprintf("the capsule shows %s, which is no kill", c.Fingerprint), nil
	}
	report, err := e.Check(campaign.Guard(func() campaign.Runner { return sim.NewEngine(catalogue) }))
	if err != nil || report.Problem != "" {
		return report.Problem, err
	}
	data, err := plan.EncodeCapsule(c)
	if err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	return "", plan.WriteFile(file, data)
}
