package features

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of release 4.0 against what the software of October 2024 says about itself.
func TestGoldenVersionsAndFeatures(t *testing.T) {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	text, err := os.ReadFile(filepath.Join(root, "primitives", "versions-and-features.json"))
	require.NoError(t, err)
	var golden struct {
		LatestProduction, LatestTesting, MinimumKRaft, MinimumBootstrap string
		Features                                                        []struct {
			Name                            string
			LatestProduction, LatestTesting int16
			UsedInProduction                bool
			Levels                          []struct {
				Level                    int16
				BootstrapMetadataVersion string
				Dependencies             map[string]int16
			}
		}
		MetadataVersions []struct {
			Text, ShortVersion                                                                string
			FeatureLevel                                                                      int16
			DidMetadataChange, IsProduction                                                   bool
			IsNoOpRecordSupported, IsMetadataTransactionSupported, IsScramSupported           bool
			IsControllerRegistrationSupported, IsDirectoryAssignmentSupported, IsElrSupported bool
			RegisterBrokerRecordVersion, PartitionRecordVersion, PartitionChangeRecordVersion int16
			FeatureDefaults                                                                   map[string]int16
		}
	}
	require.NoError(t, json.Unmarshal(text, &golden))
	r := release(t, "4.0")
	require.Equal(t, golden.LatestProduction, VersionName(r.LatestProduction))
	require.Equal(t, golden.LatestTesting, VersionName(r.LatestTesting))
	require.Equal(t, golden.MinimumKRaft, VersionName(r.Minimum))
	require.Equal(t, golden.MinimumBootstrap, VersionName(r.MinimumBootstrap))

	checked := 0
	for _, v := range golden.MetadataVersions {
		level := v.FeatureLevel
		if level < 1 { // before KRaft
			continue
		}
		checked++
		require.Equal(t, v.Text, VersionName(level))
		require.Equal(t, v.DidMetadataChange, r.DidMetadataChange(level), v.Text)
		require.Equal(t, v.IsProduction, level <= r.LatestProduction, v.Text)
		parsed, err := r.ParseVersion(v.Text)
		require.NoError(t, err)
		require.Equal(t, level, parsed)
		require.Equal(t, v.IsNoOpRecordSupported, SupportsNoOp(level), v.Text)
		require.Equal(t, v.IsMetadataTransactionSupported, SupportsTransactions(level), v.Text)
		require.Equal(t, v.IsScramSupported, SupportsScram(level), v.Text)
		require.Equal(t, v.IsControllerRegistrationSupported, SupportsControllerRegistration(level), v.Text)
		require.Equal(t, v.IsDirectoryAssignmentSupported, SupportsDirectoryAssignment(level), v.Text)
		require.Equal(t, v.IsElrSupported, SupportsElr(level), v.Text)
		require.Equal(t, v.RegisterBrokerRecordVersion, RegisterBrokerVersion(level), v.Text)
		require.Equal(t, v.PartitionRecordVersion, PartitionVersion(level), v.Text)
		require.Equal(t, v.PartitionChangeRecordVersion, PartitionVersion(level), v.Text)
		for i := range r.Features {
			f := &r.Features[i]
			require.Equal(t, v.FeatureDefaults[f.Name], f.Default(level), "%s at %s", f.Name, v.Text)
		}
	}
	require.Equal(t, int(r.LatestTesting), checked)

	for _, want := range golden.Features {
		if !want.UsedInProduction { // Kafka's own test feature
			continue
		}
		f := r.Feature(want.Name)
		require.NotNil(t, f, want.Name)
		require.Equal(t, want.LatestProduction, f.LatestProduction, want.Name)
		require.Equal(t, want.LatestTesting, f.LatestTesting(), want.Name)
		for _, level := range want.Levels {
			if level.Level == 0 {
				continue
			}
			got := f.Levels[level.Level-1]
			require.Equal(t, level.BootstrapMetadataVersion, VersionName(got.DefaultFrom), want.Name)
			require.Equal(t, level.Dependencies[MetadataVersion], got.Needs, want.Name)
		}
	}
}
