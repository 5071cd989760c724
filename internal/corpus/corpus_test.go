package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Each capsule of the corpus runs on this build as its folder says, and meets most of the faults that it lists.
func TestCorpus(t *testing.T) {
	c := scenarios.Catalogue()
	entries, err := corpus.Read(filepath.Join("..", "..", corpus.Dir), c.Registry)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	e := sim.NewEngine(c)
	matched, decisions := int64(0), int64(0)
	for _, entry := range entries {
		t.Run(entry.Folder+"/"+entry.Name, func(t *testing.T) {
			report, err := entry.Check(e)
			require.NoError(t, err)
			require.Empty(t, report.Problem)
			matched, decisions = matched+report.Matched, decisions+report.Decisions
			if report.FirstUnknown != "" {
				t.Logf("%d of %d decisions came up; not: %s", report.Matched, report.Decisions, report.FirstUnknown)
			}
		})
	}
	require.GreaterOrEqual(t, matched*2, decisions, "most of the faults that the plans list have to come up")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// one returns the text of some capsule of the corpus.
func one(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", corpus.Dir, "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return string(text)
}

// What is wrong with a capsule is one line that names the file.
func TestReadRefusesBadCapsules(t *testing.T) {
	good := one(t)
	for name, x := range map[string]struct{ file, text, want string }{
		"truncated":     {"mutants/a.json", good[:len(good)/2], "ends too early"},
		"empty":         {"mutants/a.json", "", "ends too early"},
		"format":        {"mutants/a.json", strings.Replace(good, `"format": 1`, `"format": 7`, 1), "7 is not known"},
		"unknown field": {"mutants/a.json", strings.Replace(good, `"engine"`, `"colour": 1, "engine"`, 1), "colour"},
		"fingerprint":   {"mutants/a.json", strings.Replace(good, `"fingerprint": "`, `"fingerprint": "x`, 1), "not what the capsule's own verdict shows"},
		"a plan":        {"mutants/a.json", `{"format": 1, "scenario": "raft/storm-3"}`, "scenario"},
		"a story":       {"mutants/a.md", "once", "no capsule"},
		"a folder":      {"elsewhere/a.json", good, "belongs to none"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, x.file, x.text)
			_, err := corpus.Read(dir, scenarios.Catalogue().Registry)
			require.ErrorContains(t, err, x.want)
			require.NotContains(t, err.Error(), "\n")
			require.Contains(t, err.Error(), filepath.Join(dir, filepath.Dir(x.file)))
		})
	}
	dir := t.TempDir()
	write(t, dir, "mutants/a.json", good)
	entries, err := corpus.Read(dir, scenarios.Catalogue().Registry)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

type fixedRunner struct{ v plan.Verdict }

func (r *fixedRunner) Run(*plan.Plan, sim.Options) (sim.Result, error) {
	return sim.Result{Verdict: &r.v}, nil
}

// A finding is a problem in every folder; a hazard that is not met is one in hazards alone.
func TestCheckJudgesByFolder(t *testing.T) {
	capsule := &plan.Capsule{Fingerprint: "hazard/late", Plan: &plan.Plan{Decisions: []plan.Decision{{Name: "net/reset a", NameHash: 3, Value: 1}}}}
	bad := plan.Verdict{Outcome: plan.Violation, Broken: []plan.Broken{{Invariant: "x", Detail: "why"}}}
	met := plan.Verdict{Outcome: plan.OK, Broken: []plan.Broken{{Invariant: "x", Hazard: "late"}}}
	for _, x := range []struct {
		folder string
		v      plan.Verdict
		want   string
	}{
		{corpus.Mutants, plan.Verdict{Outcome: plan.OK}, ""}, {corpus.Mutants, bad, "why"}, {corpus.Hazards, bad, "why"},
		{corpus.Hazards, met, ""}, {corpus.Hazards, plan.Verdict{Outcome: plan.OK}, "not met any more"}, {corpus.Fixed, bad, "why"},
	} {
		report, err := (&corpus.Entry{Folder: x.folder, Capsule: capsule}).Check(&fixedRunner{x.v})
		require.NoError(t, err)
		if x.want == "" {
			require.Empty(t, report.Problem)
		} else {
			require.Contains(t, report.Problem, x.want)
		}
		require.Equal(t, "net/reset a", report.FirstUnknown)
	}
}
