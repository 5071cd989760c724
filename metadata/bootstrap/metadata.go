package bootstrap

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// Errors that callers match.
var (
	// ErrNoVersion: bootstrap records without a metadata.version.
	ErrNoVersion = errors.New("bootstrap: no metadata.version among the bootstrap records")
	// ErrOldVersion: the metadata.version is older than the release can bootstrap.
	ErrOldVersion = errors.New("bootstrap: metadata.version of the bootstrap records is too old")
)

// Entry is one bootstrap record and the version it is written with.
type Entry struct {
	Record  records.Record
	Version int16
}

// Metadata is the bootstrap records of one node, in the order in which they are to be written. It is not changed
// after New.
type Metadata struct {
	Entries []Entry
	Source  string // where they come from, for messages
	version int16
}

// New checks that the records name a metadata.version of at least minimum; the last one counts.
func New(entries []Entry, source string, minimum int16) (*Metadata, error) {
	m := &Metadata{Entries: entries, Source: source}
	level, found := m.feature(features.MetadataVersion)
	if !found {
		return nil, fmt.Errorf("%w of %s", ErrNoVersion, source)
	}
	if level < minimum {
		return nil, fmt.Errorf("%w: %s says %d (%s), the minimum is %d (%s)", ErrOldVersion, source,
			level, features.VersionName(level), minimum, features.VersionName(minimum))
	}
	m.version = level
	return m, nil
}

// Default is what a node without any file bootstraps with: the latest production metadata.version and nothing else
// (metadata-bootstrap 2.4 step 5).
func Default(release *features.Release) *Metadata {
	return &Metadata{
		Entries: []Entry{{Record: &records.FeatureLevelRecord{
			Name: features.MetadataVersion, FeatureLevel: release.LatestProduction,
		}}},
		Source:  "the default bootstrap",
		version: release.LatestProduction,
	}
}

// MetadataVersion is the level in the records.
func (m *Metadata) MetadataVersion() int16 { return m.version }

// FeatureLevel is the level of any feature in the records; 0 when they do not name it.
func (m *Metadata) FeatureLevel(name string) int16 {
	level, _ := m.feature(name)
	return level
}

func (m *Metadata) feature(name string) (level int16, found bool) {
	for i := range m.Entries {
		if r, ok := m.Entries[i].Record.(*records.FeatureLevelRecord); ok && r.Name == name {
			level, found = r.FeatureLevel, true
		}
	}
	return level, found
}

// ClusterID is the id in a ClusterIdRecord among the records (KIP-1262).
func (m *Metadata) ClusterID() (id string, ok bool) {
	for i := range m.Entries {
		if r, is := m.Entries[i].Record.(*records.ClusterIdRecord); is {
			id, ok = r.ClusterId, true
		}
	}
	return id, ok
}
