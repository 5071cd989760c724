package features

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// Errors that callers match.
var (
	ErrUnknownRelease = errors.New("features: unknown release")
	ErrUnknownVersion = errors.New("features: unknown metadata.version")
	ErrUnstable       = errors.New("features: not yet stable")
	ErrUnknownFeature = errors.New("features: unknown feature")
	ErrUnknownLevel   = errors.New("features: unknown feature level")
	ErrDependency     = errors.New("features: dependency not met")
)

// Layout says which files a formatter leaves (metadata-bootstrap 1.6).
type Layout uint8

const (
	// Oct24: bootstrap.checkpoint in every directory; 0-0.checkpoint with control records only, for dynamic quorums.
	Oct24 Layout = iota
	// Aug26: 0-0.checkpoint with control and data records on every controller, nothing else.
	Aug26
)

// String returns the name that plans use.
func (l Layout) String() string {
	if l == Oct24 {
		return "oct24"
	}
	return "aug26"
}

// Release is what one version of the software knows. Values are shared and must not be changed.
type Release struct {
	Name             string
	Layout           Layout
	Minimum          int16 // lowest metadata.version it runs with
	MinimumBootstrap int16 // lowest that bootstrap records may carry
	LatestProduction int16
	LatestTesting    int16
	Features         []Feature // without metadata.version, ascending by name
	MetaProperties   int32     // highest version of meta.properties it reads
	clusterIDRecord  bool
}

var releases = []Release{
	oct24("3.3", 7, 7, nil),
	oct24("3.4", 8, 8, nil),
	oct24("3.5", 11, 11, nil),
	oct24("3.6", 14, 14, nil),
	oct24("3.7", 19, 19, nil),
	oct24("3.8", 20, 20, nil),
	oct24("3.9", 21, 21, features39),
	oct24("4.0", 22, 25, features40),
	{
		Name: "upstream-4.5", Layout: Aug26, Minimum: 7, MinimumBootstrap: 7, LatestProduction: 33, LatestTesting: 34,
		Features: features45, MetaProperties: 1,
	},
	{
		Name: "kip1262", Layout: Aug26, Minimum: 7, MinimumBootstrap: 7,
		LatestProduction: records.ClusterIdRecordSince, LatestTesting: records.ClusterIdRecordSince,
		Features: features45, MetaProperties: 2, clusterIDRecord: true,
	},
}

func oct24(name string, production, testing int16, known []Feature) Release {
	return Release{
		Name: name, Minimum: 1, MinimumBootstrap: 4, LatestProduction: production, LatestTesting: testing,
		Features: known, MetaProperties: 1,
	}
}

// Find returns the release of that name.
func Find(name string) (*Release, error) {
	for i := range releases {
		if releases[i].Name == name {
			return &releases[i], nil
		}
	}
	return nil, fmt.Errorf("%w %q, known are %s", ErrUnknownRelease, name, strings.Join(Names(), ", "))
}

// Names lists the releases, oldest first.
func Names() []string {
	names := make([]string, len(releases))
	for i := range releases {
		names[i] = releases[i].Name
	}
	return names
}

// SupportsClusterID tells whether a log at this metadata.version has a ClusterIdRecord (KIP-1262, facts
// metadata-bootstrap 4.2).
func (r *Release) SupportsClusterID(level int16) bool {
	return r.clusterIDRecord && level >= records.ClusterIdRecordSince
}

// DidMetadataChange tells whether a level added metadata, so that a downgrade across it is refused (5.3).
func (r *Release) DidMetadataChange(level int16) bool {
	if VersionName(level) == "" {
		return false
	}
	return versions[level-1].changed || r.clusterIDRecord && level == records.ClusterIdRecordSince
}

// Knows tells whether the release runs with this metadata.version at all.
func (r *Release) Knows(level int16) bool { return level >= r.Minimum && level <= r.LatestTesting }

// Latest is the highest metadata.version that may be used.
func (r *Release) Latest(unstable bool) int16 {
	if unstable {
		return r.LatestTesting
	}
	return r.LatestProduction
}

// ParseVersion reads a version string (metadata-bootstrap 1.5): N.M-IVk is that level; N.M, and anything with a further
// dot, is the newest production level of N.M.
func (r *Release) ParseVersion(text string) (int16, error) {
	parts := strings.Split(text, ".")
	key := text
	if len(parts) > 2 {
		key = parts[0] + "." + parts[1]
	}
	for level := r.LatestTesting; level >= r.Minimum; level-- {
		short, _, _ := strings.Cut(VersionName(level), "-")
		if VersionName(level) == key || short == key && level <= r.LatestProduction {
			return level, nil
		}
	}
	if level := r.testingOnly(key); level != 0 {
		return 0, fmt.Errorf("%w %q: release %s has no level of it in production; name one in full, as %s, which needs "+
			"unstable.feature.versions.enable", ErrUnknownVersion, text, r.Name, VersionName(level))
	}
	known := VersionName(r.Minimum) + " to " + VersionName(r.LatestProduction)
	if r.LatestTesting > r.LatestProduction {
		known += ", with unstable.feature.versions.enable to " + VersionName(r.LatestTesting)
	}
	return 0, fmt.Errorf("%w %q: release %s knows %s", ErrUnknownVersion, text, r.Name, known)
}

// testingOnly is the highest level of N.M where none of its levels is in production, else 0.
func (r *Release) testingOnly(key string) int16 {
	for level := r.LatestTesting; level > r.LatestProduction; level-- {
		if short, _, _ := strings.Cut(VersionName(level), "-"); short == key {
			return level
		}
	}
	return 0
}

// Feature returns the feature of that name, nil when the release does not have it. metadata.version is not one of them.
func (r *Release) Feature(name string) *Feature {
	i, found := slices.BinarySearchFunc(r.Features, name, func(f Feature, name string) int {
		return strings.Compare(f.Name, name)
	})
	if !found {
		return nil
	}
	return &r.Features[i]
}

// FeatureNames lists all features with metadata.version first.
func (r *Release) FeatureNames() []string {
	names := []string{MetadataVersion}
	for i := range r.Features {
		names = append(names, r.Features[i].Name)
	}
	return names
}

// DefaultLevel is the level of a feature at a metadata.version unless somebody says otherwise; 0 for unknown features.
func (r *Release) DefaultLevel(name string, metadataVersion int16) int16 {
	if f := r.Feature(name); f != nil {
		return f.Default(metadataVersion)
	}
	return 0
}

// Range is what a node of this release announces for a feature when it registers; ok is false for unknown features.
func (r *Release) Range(name string, unstable bool) (lowest, highest int16, ok bool) {
	if name == MetadataVersion {
		return r.Minimum, r.Latest(unstable), true
	}
	f := r.Feature(name)
	switch {
	case f == nil:
		return 0, 0, false
	case unstable:
		return 0, f.LatestTesting(), true
	}
	return 0, f.LatestProduction, true
}

// Check tells why a feature other than metadata.version cannot be at a level beside that metadata.version.
func (r *Release) Check(name string, level, metadataVersion int16, unstable bool) error {
	f := r.Feature(name)
	if f == nil {
		return fmt.Errorf("%w %q, release %s knows %s", ErrUnknownFeature, name, r.Name, strings.Join(r.FeatureNames(), ", "))
	}
	if level < 0 || level > f.LatestTesting() {
		return fmt.Errorf("%w %d of %s, known are 0 to %d", ErrUnknownLevel, level, name, f.LatestTesting())
	}
	if level > f.LatestProduction && !unstable {
		return fmt.Errorf("%w: level %d of %s", ErrUnstable, level, name)
	}
	if level == 0 {
		return nil
	}
	needs := max(f.Levels[level-1].Needs, minimumForFeatures)
	if metadataVersion < needs {
		return fmt.Errorf("%w: level %d of %s needs %s %d (%s), it is %d", ErrDependency, level, name, MetadataVersion,
			needs, VersionName(needs), metadataVersion)
	}
	return nil
}
