package image

import (
	"cmp"
	"slices"
)

// Provenance says up to where the log is in an image. The zero image has Offset -1, Epoch -1.
type Provenance struct {
	Offset int64 // of the last record that the image contains
	Epoch  int32 // of that record
}

// Feature is the finalized level of one feature, never 0.
type Feature struct {
	Name  string
	Level int16
}

// ConfigKey names one configuration entry. Resource types are 2 topic, 4 broker, 8 broker logger, 16 client metrics,
// 32 group; the empty resource of type 4 is the default of all brokers.
type ConfigKey struct {
	Type     int8
	Resource string
	Name     string
}

// ScramKey names one SCRAM credential. Mechanisms are 1 SHA-256, 2 SHA-512.
type ScramKey struct {
	Mechanism int8
	User      string
}

// Image is the metadata at one offset. Make it with New.
type Image struct {
	provenance Provenance
	digest     uint64
	mv         int16 // level of metadata.version, 0 = unknown
	features   []Feature
	clusterID  string
	configs    map[ConfigKey]string
	scram      map[ScramKey]*ScramCredential
}

// New returns the image of an empty log.
func New() *Image {
	return &Image{
		provenance: Provenance{Offset: -1, Epoch: -1},
		configs:    make(map[ConfigKey]string),
		scram:      make(map[ScramKey]*ScramCredential),
	}
}

// Provenance returns the offset and epoch of the last record in the image.
func (i *Image) Provenance() Provenance { return i.provenance }

// SetProvenance moves the image's offset without changing its content.
func (i *Image) SetProvenance(p Provenance) { i.provenance = p }

// Digest returns a hash of the content, provenance excluded.
func (i *Image) Digest() uint64 { return i.digest }

// MetadataVersion returns the level of metadata.version, 0 while it is unknown.
func (i *Image) MetadataVersion() int16 { return i.mv }

// Features returns all finalized features with a level, metadata.version included, ascending by name. Read only.
func (i *Image) Features() []Feature { return i.features }

// FeatureLevel returns the finalized level of a feature, 0 if it has none.
func (i *Image) FeatureLevel(name string) int16 {
	if at, found := i.findFeature(name); found {
		return i.features[at].Level
	}
	return 0
}

// ClusterID returns the cluster id, "" while no record named it.
func (i *Image) ClusterID() string { return i.clusterID }

// Config returns the value of one configuration entry.
func (i *Image) Config(key ConfigKey) (value string, found bool) {
	value, found = i.configs[key]
	return value, found
}

// ConfigKeys returns the keys of all configuration entries, ascending by type, resource, name.
func (i *Image) ConfigKeys() []ConfigKey {
	keys := make([]ConfigKey, 0, len(i.configs))
	for key := range i.configs {
		keys = append(keys, key)
	}
	slices.SortStableFunc(keys, func(a, b ConfigKey) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Name, b.Name))
	})
	return keys
}

// Scram returns one SCRAM credential, nil if there is none. Read only.
func (i *Image) Scram(key ScramKey) *ScramCredential { return i.scram[key] }

// ScramKeys returns the keys of all SCRAM credentials, ascending by user, mechanism.
func (i *Image) ScramKeys() []ScramKey {
	keys := make([]ScramKey, 0, len(i.scram))
	for key := range i.scram {
		keys = append(keys, key)
	}
	slices.SortStableFunc(keys, func(a, b ScramKey) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Mechanism, b.Mechanism))
	})
	return keys
}

// Clone returns an independent copy. Cost: the size of the image.
func (i *Image) Clone() *Image {
	c := New()
	c.provenance, c.digest, c.mv, c.clusterID = i.provenance, i.digest, i.mv, i.clusterID
	c.features = slices.Clone(i.features)
	for _, key := range i.ConfigKeys() {
		c.configs[key] = i.configs[key]
	}
	for _, key := range i.ScramKeys() {
		c.scram[key] = i.scram[key]
	}
	return c
}

func (i *Image) findFeature(name string) (at int, found bool) {
	return slices.BinarySearchFunc(i.features, name, func(f Feature, name string) int { return cmp.Compare(f.Name, name) })
}
