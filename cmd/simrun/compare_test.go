package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/cli"
)

func compared(t *testing.T, args ...string) (string, int) {
	t.Helper()
	a, out := app(), &bytes.Buffer{}
	a.Stdout, a.Stderr = out, &bytes.Buffer{}
	code := a.Main(append([]string{"compare"}, args...))
	return out.String(), code
}

// The sheet depends on the seeds alone, whatever the workers.
func TestCompareIsDeterministic(t *testing.T) {
	for _, args := range [][]string{{"kip1262", "--seeds", "34", "--shrink-runs", "8"}, {"pre-vote", "--seeds", "6"}} {
		one, code := compared(t, append(args, "--workers", "1")...)
		require.Equal(t, cli.ExitOK, code, one)
		three, code := compared(t, append(args, "--workers", "3")...)
		require.Equal(t, cli.ExitOK, code)
		require.Equal(t, strings.Replace(one, "--workers 1", "--workers 3", 1), three)
	}
}

// What a signal ends is told as far as it came, and no run that was not made counts.
func TestCompareInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := inParallel(ctx, &bytes.Buffer{}, "run", 9, 2, func(*sim.Engine, int) error { return os.ErrInvalid })
	require.NoError(t, err, "no number is taken any more")
	c := comparison{seeds: 34, first: 1, workers: 2}
	s := compareSheet{Variants: scenarios.KIPVariants(), Plans: c.seeds}
	require.NoError(t, c.sheet(ctx, &bytes.Buffer{}, scenarios.Catalogue(), &s))
	require.True(t, s.Interrupted)
	require.Zero(t, s.Runs)
	require.NotEmpty(t, s.Rows)
	text := &bytes.Buffer{}
	require.NoError(t, s.print(text))
	require.Contains(t, text.String(), "Interrupted: these are the results so far, of 0 of 136 runs.\n")
}

// Every row is there, variants without an outcome are told apart from cases that were not reached, and plans run as written.
func TestCompareSheet(t *testing.T) {
	dir := t.TempDir()
	text, code := compared(t, "kip1262", "--seeds", "80", "--shrink-runs", "20", "--out", dir, "--json")
	require.Equal(t, cli.ExitOK, code, text)
	var s compareSheet
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	rows := map[string]compareRow{}
	for _, r := range s.Rows {
		rows[r.Name] = r
		for _, c := range r.Cells {
			require.Equal(t, c.Runs, c.OK+c.Hazard+c.Stuck+c.Finding+c.NotReached, r.Name)
			if !c.Applies {
				require.Zero(t, c.Runs, r.Name)
			}
			for _, e := range c.Shortest {
				require.FileExists(t, e.File)
				out := &bytes.Buffer{}
				a := app()
				a.Stdout, a.Stderr = out, &bytes.Buffer{}
				require.Contains(t, []int{cli.ExitOK, cli.ExitFinding}, a.Main([]string{"run", "--plan", e.File}), out.String())
				require.Contains(t, out.String(), strings.TrimPrefix(e.Target, "hazard/"))
			}
		}
	}
	for _, name := range []string{"C1", "C8", "T1", "T32"} {
		require.Contains(t, rows, name)
	}
	require.False(t, rows["T7"].Cells[1].Applies, "final-mar has no leader without an id")
	require.Positive(t, rows["C2"].Cells[3].OK)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, entries, "T32 is a hazard everywhere")
}

func TestCompareRefuses(t *testing.T) {
	for _, args := range [][]string{{"nonsense"}, {"kip1262", "--seeds", "0"}, {"kip1262", "--workers", "0"}, {"kip1262", "x"}, {"pre-vote", "--seeds", "-1"},
		{"kip1262", "--shrink-runs", "-1"}} {
		_, code := compared(t, args...)
		require.Equal(t, cli.ExitUsage, code, args)
	}
	_, code := compared(t, "--help")
	require.Equal(t, cli.ExitOK, code)
}
