package features

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestToolLevels(t *testing.T) {
	text := func(levels []Level) string {
		var all []string
		for _, l := range levels {
			all = append(all, l.Text())
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		tool Tool
		want string
	}{
		{Tool{Command: Upgrade, Metadata: "3.9"}, "metadata.version=21 (3.9-IV0)"},
		{Tool{Command: Upgrade, Features: []string{"metadata.version=21"}}, "metadata.version=21 (3.9-IV0)"},
		{Tool{Command: Downgrade, Features: []string{"share.version=1", "group.version=0"}}, "group.version=0 share.version=1"},
		{Tool{Command: Upgrade, Metadata: "4.4", Features: []string{"kraft.version=1"}}, "metadata.version=33 (4.4-IV2) kraft.version=1"},
		{Tool{Command: Upgrade, ReleaseVersion: "4.0"}, "metadata.version=25 (4.0-IV3) group.version=1 kraft.version=1 transaction.version=2"},
		{Tool{Command: Downgrade, ReleaseVersion: "4.0", Unsafe: true}, "metadata.version=25 (4.0-IV3) eligible.leader.replicas.version=0 " +
			"group.version=1 kraft.version=1 share.version=0 streams.version=0 transaction.version=2"},
		{Tool{Command: Disable, Features: []string{"group.version"}}, "group.version=0"},
		{Tool{Command: Upgrade, Features: []string{"no.such=9"}}, "no.such=9"}, // the controller's business
	} {
		c.tool.Release = release(t, "upstream-4.5")
		levels, err := c.tool.Levels()
		require.NoError(t, err)
		require.Equal(t, c.want, text(levels))
	}
	for _, c := range []struct {
		tool Tool
		want string
	}{
		{Tool{}, "no command"},
		{Tool{Command: Upgrade}, "nothing to upgrade"},
		{Tool{Command: Upgrade, Unsafe: true, Metadata: "3.9"}, "--unsafe is for downgrade"},
		{Tool{Command: Disable, Metadata: "3.9"}, "disable takes --feature NAME only"},
		{Tool{Command: Disable, Features: []string{"group.version=1"}}, "without a level"},
		{Tool{Command: Upgrade, ReleaseVersion: "4.0", Metadata: "3.9"}, "excludes"},
		{Tool{Command: Upgrade, ReleaseVersion: "4.0", Features: []string{"group.version=1"}}, "excludes"},
		{Tool{Command: Upgrade, ReleaseVersion: "9.9"}, "unknown metadata.version"},
		{Tool{Command: Upgrade, Metadata: "9.9"}, "--metadata: "},
		{Tool{Command: Upgrade, Features: []string{"group.version"}}, "is not NAME=LEVEL"},
		{Tool{Command: Upgrade, Features: []string{"group.version=1", "group.version=0"}}, "more than once"},
		{Tool{Command: Upgrade, Metadata: "3.9", Features: []string{"metadata.version=21"}}, "more than once"},
	} {
		c.tool.Release = release(t, "upstream-4.5")
		_, err := c.tool.Levels()
		require.ErrorIs(t, err, ErrTool, c.want)
		require.ErrorContains(t, err, c.want)
	}
	_, err := ParseCommand("describe")
	require.ErrorIs(t, err, ErrTool)
	for c := Upgrade; c <= Disable; c++ {
		parsed, err := ParseCommand(c.String())
		require.NoError(t, err)
		require.Equal(t, c, parsed)
	}
}

func TestToolAnswers(t *testing.T) {
	levels := []Level{{MetadataVersion, 21}, {GroupVersion, 1}}
	for _, c := range []struct {
		tool    Tool
		refusal string
		want    string
	}{
		{Tool{Command: Upgrade}, "", "metadata.version was upgraded to 21 (3.9-IV0); group.version was upgraded to 1"},
		{Tool{Command: Downgrade, DryRun: true}, "", "metadata.version can be downgraded to 21 (3.9-IV0); group.version can be downgraded to 1"},
		{Tool{Command: Disable}, "", "metadata.version was disabled; group.version was disabled"},
		{Tool{Command: Upgrade}, "no", "could not upgrade metadata.version to 21 (3.9-IV0): no; could not upgrade group.version to 1: no; 2 out of 2 operations failed"},
		{Tool{Command: Disable, DryRun: true}, "no", "can't disable metadata.version: no; can't disable group.version: no; 2 out of 2 operations failed"},
	} {
		require.Equal(t, c.want, strings.Join(c.tool.Answer(levels, c.refusal), "; "))
	}
	require.Equal(t, "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.4-IV2\tFinalizedVersionLevel: 3.9-IV0\tEpoch: 7",
		release(t, "upstream-4.5").Describe(MetadataVersion, 21, false, 7))
	require.Equal(t, "Feature: group.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\tFinalizedVersionLevel: 0\tEpoch: -1",
		release(t, "4.0").Describe(GroupVersion, 0, false, -1))
}
