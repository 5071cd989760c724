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
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// Capsules. A mutant that was killed once has a minimal plan that kills it, in testdata/corpus/mutants under the name of its patch. Running
// that first makes a hunt one run long.

// shrinkRuns bounds the shrinking of a kill, capsuleTime the wall time of each call of a built program on a capsule. shrinkTime bounds a
// shrinking by wall time: far above what it takes, since what it cuts short is not minimal, and only a busy machine would be to blame.
const (
	shrinkRuns  = 1000
	capsuleTime = 3 * time.Minute
	shrinkTime  = 15 * time.Minute
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

// shrunk shortens a kill into a bare capsule, and keeps that when it kills the mutant again and passes on this program. Where time ends it
// keeps what it has by then; note says so.
func (x *product) shrunk(ctx context.Context, k *Kill, dir string, catalogue *sim.Catalogue) (note string, kept bool, err error) {
	return x.shorten(ctx, catalogue.Scenario(k.Scenario).Draw(k.Seed), k.Runs, dir, catalogue)
}

// shorten is shrunk for a plan that kills, which came up in so many runs.
func (x *product) shorten(ctx context.Context, p *plan.Plan, runs int64, dir string, catalogue *sim.Catalogue) (note string, kept bool, err error) {
	r := x.remote(ctx, catalogue, shrinkTime)
	defer r.child.stop()
	first, err := r.Run(p, sim.Options{})
	if err != nil {
		return fmt.Sprintf("not shrunk: %v", err), false, ctx.Err()
	}
	goal := first.Verdict.Fingerprint()
	if r.failsClean != "" {
		return "not shrunk: the clean program fails by the plan, too: " + r.failsClean, false, ctx.Err()
	}
	small, stats := shrink.Shrink(r, p, goal, shrinkRuns, nil)
	if !stats.Reproduced {
		return fmt.Sprintf("not shrunk: a second run does not show %q", goal), false, ctx.Err()
	}
	note = fmt.Sprintf("%s in %d runs, %s", goal, stats.Runs, minimalOr(stats.Minimal && !r.expired, r.expired))
	r.deadline = time.Now().Add(candidateTime)
	last, err := r.Run(small, sim.Options{})
	if err != nil {
		return err.Error(), false, ctx.Err()
	}
	c := plan.NewCapsule(sim.EngineVersion, small, last.Verdict, nil, goal).Bare()
	c.Rate = &plan.FailureRate{Failures: 1, Runs: plan.Int64(runs)}
	kept, problem, err := x.keep(ctx, c, dir, catalogue)
	if problem != "" {
		note = problem
	}
	return note, kept, err
}

func minimalOr(minimal, expired bool) string {
	switch {
	case minimal:
		return "minimal"
	case expired:
		return "not minimal: its time ended"
	}
	return "not minimal: its runs ended"
}

// keep writes a capsule into the corpus if the mutant's own program shows a kill by it, and this one none.
func (x *product) keep(ctx context.Context, c *plan.Capsule, dir string, catalogue *sim.Catalogue) (kept bool, problem string, err error) {
	fresh := filepath.Join(x.dir, x.patch.capsuleName())
	data, err := plan.EncodeCapsule(c)
	if err != nil {
		return false, "", fmt.Errorf("mutants: %w", err)
	}
	if err := outfile.Write(fresh, data); err != nil {
		return false, "", fmt.Errorf("mutants: %w", err)
	}
	e := &corpus.Entry{File: fresh, Folder: corpus.Mutants, Capsule: c}
	again, err := x.killedBy(ctx, e)
	if err != nil {
		return false, "", err
	}
	if again == nil {
		return false, fmt.Sprintf("the capsule shows %s, which is no kill", c.Fingerprint), nil
	}
	report, err := e.Check(campaign.Guard(func() campaign.Runner { return sim.NewEngine(catalogue) }))
	if err != nil || report.Problem != "" {
		return false, report.Problem, err
	}
	if err := outfile.Write(x.capsuleFile(dir), data); err != nil {
		return false, "", fmt.Errorf("mutants: %w", err)
	}
	return true, "", nil
}
