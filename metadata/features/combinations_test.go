package features

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryToolCall tries each command of kafka-features with each value of each flag and all values of the others: which calls are wrong by
// themselves, and which levels a right one asks for (metadata-bootstrap 5.9).
func TestEveryToolCall(t *testing.T) {
	lists := [][]string{
		nil, {"group.version=1"}, {"group.version"}, {"group.version=x"}, {"group.version=-1"}, {"=1"}, {""}, {"group.version=1", "group.version=0"},
		{"group.version", "group.version"}, {"color=1"}, {"metadata.version=22"}, {"share.version=1", "group.version=1"}, {"group.version=32768"},
	}
	versions := map[string]bool{"": true, "4.0": true, "4.2-IV1": true, "4.5-IV0": true, "4.5": false, "9.9": false, "4": false}
	right := 0
	for _, command := range []Command{Upgrade, Downgrade, Disable} {
		for _, list := range lists {
			for metadata, knownMetadata := range versions {
				for version, knownVersion := range versions {
					for _, unsafe := range []bool{false, true} {
						tool := Tool{Release: release(t, "upstream-4.5"), Command: command, Features: list, Metadata: metadata, ReleaseVersion: version, Unsafe: unsafe}
						levels, err := tool.Levels()
						if wrongCall(&tool, knownMetadata, knownVersion) {
							require.ErrorIs(t, err, ErrTool, "%+v", tool)
							require.NotContains(t, err.Error(), "\n")
							require.Empty(t, levels)
							continue
						}
						require.NoError(t, err, "%+v", tool)
						right++
						require.Equal(t, wantedNames(&tool), namesOf(levels), "%+v", tool)
						for _, l := range levels {
							require.GreaterOrEqual(t, l.Level, int16(0))
							require.True(t, command != Disable || l.Level == 0, "disable asks for level 0")
							require.True(t, command != Upgrade || version == "" || l.Level > 0, "an upgrade to a release leaves level 0 out")
						}
					}
				}
			}
		}
	}
	require.Greater(t, right, 50)
}

// wrongCall says whether the tool has to refuse by itself.
func wrongCall(tool *Tool, knownMetadata, knownVersion bool) bool {
	names := []string{}
	for _, f := range tool.Features {
		name, level, found := strings.Cut(f, "=")
		number := found && (level == "0" || level == "1" || level == "22")
		if name == "" || found == (tool.Command == Disable) || found && !number || slices.Contains(names, name) {
			return true
		}
		names = append(names, name)
	}
	switch {
	case tool.Unsafe && tool.Command == Upgrade, !knownMetadata, !knownVersion:
		return true
	case tool.Command == Disable:
		return tool.Metadata != "" || tool.ReleaseVersion != "" || len(names) == 0
	case tool.ReleaseVersion != "":
		return tool.Metadata != "" || len(names) > 0
	}
	return tool.Metadata == "" && len(names) == 0 || tool.Metadata != "" && slices.Contains(names, MetadataVersion)
}

// wantedNames are the features that a right call is about, ascending but for a metadata.version of its own flag.
func wantedNames(tool *Tool) (names []string) {
	if tool.ReleaseVersion != "" {
		for _, name := range tool.Release.FeatureNames() {
			level, err := tool.Release.ParseVersion(tool.ReleaseVersion)
			if err == nil && (name == MetadataVersion || tool.Command != Upgrade || tool.Release.DefaultLevel(name, level) > 0) {
				names = append(names, name)
			}
		}
		return names
	}
	for _, f := range tool.Features {
		name, _, _ := strings.Cut(f, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if tool.Metadata != "" {
		names = slices.Insert(names, 0, MetadataVersion)
	}
	return names
}

func namesOf(levels []Level) (names []string) {
	for _, l := range levels {
		names = append(names, l.Name)
	}
	return names
}

// TestEveryLevelOfEveryRelease: a feature may be at a level beside a metadata.version when the release knows both, the level is in production or
// unstable ones are allowed, and the metadata.version has what the level needs (metadata-bootstrap 5.6); a default never breaks that.
func TestEveryLevelOfEveryRelease(t *testing.T) {
	needs := map[string]int16{EligibleLeaderReplicas: 23}
	latest := map[string]map[string]int16{ // in production, of the facts' table
		"3.9":          {KRaftVersion: 1},
		"4.0":          {KRaftVersion: 1, GroupVersion: 1, TransactionVersion: 0},
		"upstream-4.5": {KRaftVersion: 1, GroupVersion: 1, TransactionVersion: 2, EligibleLeaderReplicas: 1, ShareVersion: 2, StreamsVersion: 1},
	}
	latest["kip1262"] = latest["upstream-4.5"]
	for _, name := range Names() {
		r := release(t, name)
		require.Len(t, r.Features, len(latest[name]), name)
		for _, f := range r.Features {
			require.Equal(t, latest[name][f.Name], f.LatestProduction, "%s of %s", f.Name, name)
			for level := int16(-1); level <= f.LatestTesting()+1; level++ {
				for version := r.Minimum; version <= r.LatestTesting; version++ {
					for _, unstable := range []bool{false, true} {
						least := max(needs[f.Name], 7)
						if f.Name == KRaftVersion && r.Layout == Oct24 {
							least = 21
						}
						may := level == 0 || level > 0 && level <= f.LatestTesting() && (unstable || level <= f.LatestProduction) && version >= least
						require.Equal(t, may, r.Check(f.Name, level, version, unstable) == nil, "%s=%d at %d of %s, unstable %t", f.Name, level, version, name, unstable)
					}
				}
			}
			for version := r.Minimum; version <= r.LatestTesting; version++ {
				require.NoError(t, r.Check(f.Name, r.DefaultLevel(f.Name, version), version, true), "the default of %s at %d of %s", f.Name, version, name)
			}
		}
	}
}
