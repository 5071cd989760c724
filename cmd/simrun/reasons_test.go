package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/stretchr/testify/require"
)

// metadataOf is the metadata log's directory of a copy of a case that has one.
func metadataOf(t *testing.T) (from, partition string) {
	t.Helper()
	for _, name := range goldenCases(t) {
		found, err := filepath.Glob(filepath.Join(goldenDir(t), name, "*", "__cluster_metadata-0"))
		require.NoError(t, err)
		if len(found) == 1 {
			from = copyTree(t, filepath.Join(goldenDir(t), name))
			rel, err := filepath.Rel(filepath.Join(goldenDir(t), name), found[0])
			require.NoError(t, err)
			return from, filepath.Join(from, rel)
		}
	}
	t.Skip("no case has a metadata log")
	return "", ""
}

// An epoch that no election can go beyond is refused, and the reason is told in one line.
func TestGoldenEpochWithoutRoom(t *testing.T) {
	from, partition := metadataOf(t)
	state := `{"leaderId":-1,"leaderEpoch":2147483647,"votedId":-1,"data_version":1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA"}`
	require.NoError(t, os.WriteFile(filepath.Join(partition, "quorum-state"), []byte(state), 0o600))
	code, _, stderr := simrun(t, "run", "--from", from)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "quorum-state: leader epoch: 2147483647 leaves no room for elections: the largest is 2147483647\n")
	require.Equal(t, 1, strings.Count(stderr, "\n"))

	state = strings.Replace(state, "2147483647", "2147480000", 1)
	require.NoError(t, os.WriteFile(filepath.Join(partition, "quorum-state"), []byte(state), 0o600))
	_, err := scenarios.PlanFrom(os.DirFS(from), 1, scenarios.FromOptions{Where: from})
	require.NoError(t, err, "thousands of elections are left")
}

// The last line says why the node does not run.
func TestGoldenLastLineHasTheReason(t *testing.T) {
	from, partition := metadataOf(t)
	require.NoError(t, os.WriteFile(filepath.Join(partition, "quorum-state"), []byte("leader 1"), 0o600))
	code, stdout, _ := simrun(t, "run", "--from", from)
	require.Equal(t, 1, code)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Regexp(t, `^missing: node \d+ does not run: .*quorum-state.*$`, lines[len(lines)-1])
}
