package image

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image/ordered"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Provenance says up to where the log is in an image. The zero image has Offset -1, Epoch -1.
type Provenance struct {
	Offset int64 // of the last record that the image contains
	Epoch  int32 // of that record
}

// AppendTo appends the offset and the epoch.
func (p Provenance) AppendTo(buf []byte) []byte {
	return record.AppendInt32(record.AppendInt64(buf, p.Offset), p.Epoch)
}

// Feature is the finalized level of one feature, never 0.
type Feature struct {
	Name  string
	Level int16
}

// noProducerID is the next producer id while no record named one.
const noProducerID int64 = -1

// Image is the metadata at one offset. It never changes: a Delta makes the next one, which shares with this what stays the
// same. Make the first with New. What its methods return is immutable too.
type Image struct {
	provenance Provenance
	digest     uint64
	mv         int16 // level of metadata.version, 0 = unknown
	features   []Feature
	clusterID  string
	producerID int64
	plain      bool // without members

	brokers      ordered.Map[idKey, Broker]
	controllers  ordered.Map[idKey, Controller]
	topicsByID   ordered.Map[uuidKey, Topic]
	topicsByName ordered.Map[textKey, Topic]
	partitions   ordered.Map[PartitionKey, Partition]
	members      ordered.Map[memberKey, struct{}] // where a broker is in the ISR or ELR; empty in a plain image
	configs      ordered.Map[ConfigKey, string]
	quotas       ordered.Map[QuotaKey, records.Float64Bits]
	acls         ordered.Map[uuidKey, ACL]
	scram        ordered.Map[ScramKey, ScramCredential]
	tokens       ordered.Map[textKey, Token]
}

// New returns the image of an empty log.
func New() *Image {
	return &Image{provenance: Provenance{Offset: -1, Epoch: -1}, producerID: noProducerID}
}

// NewPlain returns the image of an empty log for readers that never ask which partitions a broker is in, as a loader: it and what follows
// from it keep no index for that. The answer is the same, at the cost of a look at all partitions.
func NewPlain() *Image {
	i := New()
	i.plain = true
	return i
}

// Provenance returns the offset and epoch of the last record in the image.
func (i *Image) Provenance() Provenance { return i.provenance }

// Digest returns a hash of the content, provenance excluded. Cost: O(1).
func (i *Image) Digest() uint64 { return i.digest }

// Equal tells whether both images have the same content, provenance excluded. Cost: the size of the image, if the digests
// are equal.
func (i *Image) Equal(other *Image) bool {
	return i.digest == other.digest && bytes.Equal(i.AppendTo(nil), other.AppendTo(nil))
}

// Empty tells whether the image holds nothing at all. A cluster id alone does not count (metadata-bootstrap T17).
func (i *Image) Empty() bool {
	return len(i.features) == 0 && i.producerID == noProducerID && i.brokers.Len()+i.controllers.Len()+i.topicsByID.Len()+
		i.configs.Len()+i.quotas.Len()+i.acls.Len()+i.scram.Len()+i.tokens.Len() == 0
}

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

func (i *Image) findFeature(name string) (at int, found bool) {
	return slices.BinarySearchFunc(i.features, name, func(f Feature, name string) int { return cmp.Compare(f.Name, name) })
}

// ClusterID returns the cluster id, "" while no record named it.
func (i *Image) ClusterID() string { return i.clusterID }

// NextProducerID returns the first producer id that no block was handed out with, -1 while no record named it.
func (i *Image) NextProducerID() int64 { return i.producerID }
