package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestExplainScripts runs explain and replay --step as they are typed.
func TestExplainScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "script", "explain.txt"), filepath.Join("testdata", "script", "step.txt")},
	})
}

// TestStoriesInDocs keeps docs/stories in step with the program, by three of its pages.
func TestStoriesInDocs(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for _, name := range []string{"t33-joined-wrong-cluster", "sole-voter-unflushed", "leader-at-a-stale-address"} {
		page := filepath.Join(t.TempDir(), name+".md")
		plan := "scenarios/testdata/findings/" + name + ".json"
		app := &cli.App{Catalogue: scenarios.Catalogue(), Stdout: io.Discard}
		require.Zero(t, app.Main([]string{"explain", plan, "--as-is", "--markdown", page}))
		made, err := os.ReadFile(page)
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join("docs", "stories", name+".md"))
		require.NoError(t, err)
		require.Equal(t, string(made), string(have), "go run ./cmd/simrun explain %s --as-is --markdown docs/stories/%s.md", plan, name)
	}
}
