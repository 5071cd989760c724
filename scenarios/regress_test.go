package scenarios

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/stretchr/testify/require"
)

// Do NOT edit testdata/regress.txt, and do not write it anew to make a test pass. The hashes are a contract: a capsule that
// somebody kept replays to the last bit as long as they hold, on every machine and architecture. A change of behaviour that is
// meant to be moves them; then write them anew with
//
//	go test ./scenarios -run TestRegress -update
//
// raise sim.EngineVersion, and say in CHANGELOG.md what moved and why, in the same commit.

const regressFile = "testdata/regress.txt"

// regressSeeds are the seeds pinned of each scenario.
func regressSeeds() []uint64 { return []uint64{1, 17, 4_242_424_242} }

func regressTable(t *testing.T) string {
	t.Helper()
	c := Catalogue()
	e := sim.NewEngine(c)
	var b strings.Builder
	b.WriteString("# Do NOT edit: see regress_test.go. Token, outcome, events, trace hash, behaviour hash.\n")
	for _, s := range c.Scenarios {
		for _, seed := range regressSeeds() {
			v := verdictOf(t, e, s.Draw(seed), sim.Options{})
			fmt.Fprintf(&b, "%s:%d %s %d %s %s\n", s.Name(), seed, v.Outcome, int64(v.Events), v.TraceHash, v.BehaviourHash)
		}
	}
	return b.String()
}

// TestRegress compares runs with those of the file, line by line.
func TestRegress(t *testing.T) {
	got := regressTable(t)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(regressFile, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(regressFile)
	require.NoError(t, err)
	wanted := strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n")
	for i, line := range strings.Split(got, "\n") {
		require.Less(t, i, len(wanted), "a line too many: %s", line)
		require.Equal(t, wanted[i], line)
	}
	require.Len(t, strings.Split(got, "\n"), len(wanted))
}
