package features

import (
	"slices"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/stretchr/testify/require"
)

func release(t *testing.T, name string) *Release {
	t.Helper()
	r, err := Find(name)
	require.NoError(t, err)
	return r
}

func TestTableIsOrdered(t *testing.T) {
	for i, v := range versions {
		require.Equal(t, int16(i+1), v.level, v.name)
	}
	for i := range releases {
		r := &releases[i]
		require.LessOrEqual(t, r.LatestProduction, r.LatestTesting)
		require.True(t, slices.IsSortedFunc(r.Features, func(a, b Feature) int {
			if a.Name < b.Name {
				return -1
			}
			return 1
		}), r.Name)
	}
}

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		release, text string
		want          int16
	}{
		{"4.0", "3.9", 21}, {"4.0", "3.9.1", 21}, {"4.0", "3.9-IV0", 21}, {"4.0", "3.3-IV3", 7}, {"4.0", "3.7", 19},
		{"4.0", "4.0", 22}, {"4.0", "4.0-IV3", 25}, {"4.0", "4.0.0-IV3", 22}, {"4.0", "4.1", 0}, {"4.0", "", 0},
		{"4.0", "x", 0}, {"3.9", "4.0", 0}, {"4.0", "3.0", 1}, {"upstream-4.5", "3.0", 0}, {"upstream-4.5", "4.0", 25},
		{"upstream-4.5", "4.4", 33}, {"upstream-4.5", "4.5", 0}, {"upstream-4.5", "4.5-IV0", 34}, {"kip1262", "4.5", 34},
		{"kip1262", "4.5.2", 34}, {"kip1262", "4.5-IV1", 0}, {"4.0", "3", 0},
	} {
		got, err := release(t, c.release).ParseVersion(c.text)
		if c.want == 0 {
			require.ErrorIs(t, err, ErrUnknownVersion, "%s in %s", c.text, c.release)
			continue
		}
		require.NoError(t, err, "%s in %s", c.text, c.release)
		require.Equal(t, c.want, got, "%s in %s", c.text, c.release)
	}
}

// Level 34 is upstream's empty placeholder in one row and ClusterIdRecord in the other (metadata-bootstrap 4.2).
func TestClusterIDLevel(t *testing.T) {
	upstream, ours := release(t, "upstream-4.5"), release(t, "kip1262")
	level := records.ClusterIdRecordSince
	require.Equal(t, "4.5-IV0", VersionName(level))
	require.False(t, upstream.SupportsClusterID(level))
	require.False(t, upstream.DidMetadataChange(level))
	require.Equal(t, level-1, upstream.Latest(false))
	require.Equal(t, level, upstream.Latest(true))
	require.True(t, ours.SupportsClusterID(level))
	require.False(t, ours.SupportsClusterID(level-1))
	require.True(t, ours.DidMetadataChange(level))
	require.Equal(t, level, ours.Latest(false))
	for l := int16(1); l < level; l++ { // up to 33 nothing differs
		require.Equal(t, upstream.DidMetadataChange(l), ours.DidMetadataChange(l))
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		release, feature string
		level, version   int16
		unstable         bool
		want             error
	}{
		{"4.0", GroupVersion, 1, 22, false, nil},
		{"4.0", GroupVersion, 1, 6, false, ErrDependency},
		{"4.0", GroupVersion, 0, 1, false, nil},
		{"4.0", GroupVersion, 2, 22, false, ErrUnknownLevel},
		{"4.0", GroupVersion, -1, 22, false, ErrUnknownLevel},
		{"4.0", TransactionVersion, 2, 24, false, ErrUnstable},
		{"4.0", TransactionVersion, 2, 24, true, nil},
		{"4.0", ShareVersion, 1, 22, false, ErrUnknownFeature},
		{"4.0", KRaftVersion, 1, 20, false, ErrDependency},
		{"4.0", KRaftVersion, 1, 21, false, nil},
		{"upstream-4.5", KRaftVersion, 1, 7, false, nil},
		{"upstream-4.5", EligibleLeaderReplicas, 1, 22, false, ErrDependency},
		{"upstream-4.5", EligibleLeaderReplicas, 1, 23, false, nil},
		{"3.8", KRaftVersion, 0, 20, false, ErrUnknownFeature},
	} {
		require.ErrorIs(t, release(t, c.release).Check(c.feature, c.level, c.version, c.unstable), c.want, "%+v", c)
	}
}

func TestDefaults(t *testing.T) {
	r := release(t, "upstream-4.5")
	for _, c := range []struct {
		feature     string
		below, from int16
		want        int16
	}{
		{KRaftVersion, 20, 21, 1}, {TransactionVersion, 23, 24, 2}, {GroupVersion, 21, 22, 1},
		{EligibleLeaderReplicas, 25, 26, 1}, {ShareVersion, 27, 28, 1}, {StreamsVersion, 28, 29, 1},
	} {
		require.Zero(t, r.DefaultLevel(c.feature, c.below), c.feature)
		require.Equal(t, c.want, r.DefaultLevel(c.feature, c.from), c.feature)
	}
	require.Equal(t, int16(2), r.DefaultLevel(ShareVersion, 31))
	require.Zero(t, r.DefaultLevel("none", 33))
	lowest, highest, ok := r.Range(MetadataVersion, false)
	require.Equal(t, []any{int16(7), int16(33), true}, []any{lowest, highest, ok})
	_, highest, _ = release(t, "4.0").Range(TransactionVersion, true)
	require.Equal(t, int16(2), highest)
	_, _, ok = r.Range("none", true)
	require.False(t, ok)
	_, err := Find("9.9")
	require.ErrorIs(t, err, ErrUnknownRelease)
}
