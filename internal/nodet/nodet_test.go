package nodet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"
)

// testRooms makes rooms of the packages under testdata/src that the cases treat as such. Package partly has one file
// that declares itself part of a room, and package excluded has none.
const testRooms = "room,mainpkg/..."

func TestCases(t *testing.T) {
	require.NoError(t, Analyzer.Flags.Set("rooms", testRooms))
	t.Cleanup(func() { _ = Analyzer.Flags.Set("rooms", "") })
	analysistest.Run(t, analysistest.TestData(), Analyzer, "room", "partly", "excluded", "mainpkg")
}

// TestEveryRuleHasCases sees to it that no rule is without a refused case in the test data.
func TestEveryRuleHasCases(t *testing.T) {
	var all strings.Builder
	paths, err := filepath.Glob("testdata/src/room/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, rule := range append([]string{ruleDirective}, liftable...) {
		require.Contains(t, all.String(), "want `\\["+rule+`\]`, "no refused case for rule %s", rule)
	}
}

func TestIsRoom(t *testing.T) {
	for path, want := range map[string]bool{
		Module + "/sim":                             true,
		Module + "/sim/vnet":                        true,
		Module + "/sim/cli":                         false,
		Module + "/sim/vnet/deeper":                 false,
		Module + "/sim/digest":                      true,
		Module + "/sim/swarm":                       true,
		Module + "/raft":                            true,
		Module + "/raft/record":                     true,
		Module + "/raftlike":                        false,
		Module + "/metadata/records":                true,
		Module + "/metadata/osfiles":                false,
		Module + "/metadata/recordjson":             false,
		Module + "/metadata/files/filestest":        false,
		Module + "/scenarios":                       true,
		Module + "/scenarios_test":                  false,
		Module + "/reports":                         false,
		Module + "/reports/story":                   true,
		Module + "/raft [" + Module + "/raft.test]": false,
		Module + "/raft_test":                       false,
		"example.com/raft":                          false,
	} {
		require.Equal(t, want, IsRoom(path), path)
	}
}

func TestMatches(t *testing.T) {
	require.True(t, matches("a,b/...", "a"))
	require.True(t, matches("a,b/...", "b"))
	require.True(t, matches("a,b/...", "b/c"))
	require.False(t, matches("a,b/...", "a/c"))
	require.False(t, matches("a,b/...", "bc"))
}

func TestVerbsOf(t *testing.T) {
	for format, want := range map[string]string{
		"":                 "",
		"%d %s":            "ds",
		"100%% of %+v":     "v",
		"%-5.2f|%#x|% d":   "fxd",
		"%*d%v":            "*dv",
		"%[2]d %[1]d":      "",
		"trailing %":       "",
		"%q of %08b%%%05s": "qbs",
	} {
		require.Equal(t, want, string(verbsOf(format)), format)
	}
}
