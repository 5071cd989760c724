package features

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionMapping(t *testing.T) {
	for _, c := range []struct{ release, version, want string }{
		{"4.0", "", "metadata.version=22 (4.0-IV0) group.version=1 kraft.version=1 transaction.version=0 "},
		{"4.0", "3.9.1", "metadata.version=21 (3.9-IV0) group.version=0 kraft.version=1 transaction.version=0 "},
		{"upstream-4.5", "4.4", "metadata.version=33 (4.4-IV2) eligible.leader.replicas.version=1 group.version=1 kraft.version=1 " +
			"share.version=2 streams.version=1 transaction.version=2 "},
	} {
		levels, err := release(t, c.release).VersionMapping(c.version)
		require.NoError(t, err)
		text := ""
		for _, l := range levels {
			text += l.Text() + " "
		}
		require.Equal(t, c.want, text)
	}
	_, err := release(t, "4.0").VersionMapping("9.9")
	require.ErrorIs(t, err, ErrUnknownVersion)
}

func TestDependencies(t *testing.T) {
	r := release(t, "upstream-4.5")
	needs, err := r.Dependencies(Level{EligibleLeaderReplicas, 1})
	require.NoError(t, err)
	require.Equal(t, []Level{{MetadataVersion, 23}}, needs)
	for _, l := range []Level{{GroupVersion, 1}, {EligibleLeaderReplicas, 0}, {MetadataVersion, 33}} {
		needs, err = r.Dependencies(l)
		require.NoError(t, err)
		require.Empty(t, needs)
	}
	for _, c := range []struct {
		level Level
		want  error
	}{{Level{"color", 1}, ErrUnknownFeature}, {Level{GroupVersion, 2}, ErrUnknownLevel}, {Level{MetadataVersion, 99}, ErrUnknownLevel}} {
		_, err = r.Dependencies(c.level)
		require.ErrorIs(t, err, c.want)
	}
	for _, text := range []string{"", "x", "=1", "x=", "x=-1", "x=32768", "x=one"} {
		_, err := ParseLevel(text)
		require.ErrorIs(t, err, ErrUnknownLevel, text)
	}
	l, err := ParseLevel(" group.version = 1 ")
	require.NoError(t, err)
	require.Equal(t, Level{GroupVersion, 1}, l)
}

// Both tables against Kafka's own.
func TestGoldenMappingAndDependencies(t *testing.T) {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	text, err := os.ReadFile(filepath.Join(root, "primitives", "versions-and-features.json"))
	require.NoError(t, err)
	var golden struct {
		Features []struct {
			Name             string
			UsedInProduction bool
			Levels           []struct {
				Level        int16
				Dependencies map[string]int16
			}
		}
		MetadataVersions []struct {
			Text            string
			FeatureLevel    int16
			FeatureDefaults map[string]int16
		}
	}
	require.NoError(t, json.Unmarshal(text, &golden))
	r, checked := release(t, "4.0"), 0
	for _, v := range golden.MetadataVersions {
		if v.FeatureLevel < 1 {
			continue
		}
		levels, err := r.VersionMapping(v.Text)
		require.NoError(t, err)
		require.Equal(t, Level{MetadataVersion, v.FeatureLevel}, levels[0])
		for _, l := range levels[1:] {
			require.Equal(t, v.FeatureDefaults[l.Name], l.Level, "%s at %s", l.Name, v.Text)
			checked++
		}
	}
	for _, f := range golden.Features {
		for _, l := range f.Levels {
			if !f.UsedInProduction {
				continue
			}
			needs, err := r.Dependencies(Level{f.Name, l.Level})
			require.NoError(t, err)
			want := 0
			for name, level := range l.Dependencies {
				if level > 0 {
					want++
					require.Contains(t, needs, Level{name, level})
				}
			}
			require.Len(t, needs, want, "%s=%d", f.Name, l.Level)
			checked++
		}
	}
	require.Greater(t, checked, 10)
}
