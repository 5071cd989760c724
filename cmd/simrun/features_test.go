package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFeaturesCommand: the operator's tool on a simulated cluster, with its exit codes.
func TestFeaturesCommand(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"describe", 0, "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.4-IV2\tFinalizedVersionLevel: "},
		{"upgrade --metadata 4.2", 0, "metadata.version was upgraded to 29 (4.2-IV1)\nanswered by c"},
		{"upgrade --feature metadata.version=29 --feature group.version=1 --dry-run", 0, "group.version can be upgraded to 1"},
		{"upgrade --metadata 4.5-IV0", 1, "could not upgrade metadata.version to 34 (4.5-IV0): INVALID_UPDATE_VERSION"},
		{"upgrade --release-version 4.4", 0, "kraft.version was upgraded to 1\n"},
		{"upgrade --release-version 4.4 --at 3s", 1, "voter 2 supports 0 to 0, or has not told this leader otherwise yet (ask again after twice the fetch timeout)\n7 out of 7 operations failed"},
		{"upgrade --metadata 4.5", 2, "--metadata: unknown metadata.version \"4.5\": release upstream-4.5 has no level of it in production; name one in full, as 4.5-IV0"},
		{"upgrade --feature group.version=1 --feature group.version=0", 2, "group.version is given more than once"},
		{"downgrade --feature metadata.version=7 --unsafe", 1, "metadata changed at"},
		{"disable --feature group.version", 0, "group.version was disabled"},
		{"version-mapping --release-version 3.9 --release 4.0", 0, "metadata.version=21 (3.9-IV0)\ngroup.version=0\nkraft.version=1\ntransaction.version=0\n"},
		{"feature-dependencies --feature eligible.leader.replicas.version=1 --feature group.version=1", 0,
			"eligible.leader.replicas.version=1 requires:\n    metadata.version=23 (4.0-IV1)\ngroup.version=1 has no dependencies\n"},
		{"upgrade", 2, "nothing to upgrade: give --feature, --metadata or --release-version"},
		{"upgrade --release-version 4.4 --metadata 3.9", 2, "--release-version excludes"},
		{"upgrade --feature group.version", 2, "is not NAME=LEVEL"},
		{"upgrade --metadata 9.9", 2, "--metadata: unknown metadata.version"},
		{"upgrade --unsafe", 2, "unknown flag: --unsafe"},
		{"disable", 2, "nothing to disable: give --feature\n"},
		{"disable --feature group.version=1", 2, "disable takes names without a level"},
		{"describe --scenario none", 2, "no such scenario"},
		{"describe --scenario kafka/s1", 2, "no controllers that a tool could ask"},
		{"describe --at 20s", 2, "must lie before the calm"},
		{"describe --at soon", 2, "want a duration"},
		{"describe --release 5.0", 2, "--release \"5.0\" is not one of"},
		{"describe now", 2, "takes flags only"},
		{"frob", 2, "is no command of features"},
		{"version-mapping --release-version 9.9", 2, "--release-version: unknown metadata.version"},
		{"feature-dependencies", 2, "--feature is missing"},
		{"feature-dependencies --feature color=1", 2, "unknown feature"},
	} {
		code, out, complaint := simrunHere(append([]string{"features"}, strings.Fields(c.args)...)...)
		require.Equal(t, c.code, code, "%s: %s%s", c.args, out, complaint)
		if c.code == 2 {
			require.Contains(t, complaint, c.want)
			require.Empty(t, out)
			require.Equal(t, 1, strings.Count(complaint, "\n"), "one line: %s", complaint)
			continue
		}
		require.Contains(t, out, c.want)
		require.Empty(t, complaint)
	}
}

// TestFeaturesCommandRepeats: the same call gives the same answer, as JSON too.
func TestFeaturesCommandRepeats(t *testing.T) {
	_, first, _ := simrunHere("features", "upgrade", "--metadata", "4.4", "--scenario", "kip1262/released", "--seed", "5", "--json")
	_, again, _ := simrunHere("features", "upgrade", "--metadata", "4.4", "--scenario", "kip1262/released", "--seed", "5", "--json")
	require.Equal(t, first, again)
	var report featuresReport
	require.NoError(t, json.Unmarshal([]byte(first), &report))
	require.Len(t, report.Answers, 1)
	require.NotEmpty(t, report.Answers[0].Lines)
	require.NotZero(t, report.Answers[0].AtUs)
}
