package loader

import (
	"errors"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft"
)

// ErrFatal is wrapped by a publisher's error that must stop the node.
var ErrFatal = errors.New("loader: fatal")

// ErrDuplicateName says that a publisher of that name is installed already.
var ErrDuplicateName = errors.New("loader: publisher installed twice")

// Publisher is told about every published image, on the loader's lane.
type Publisher interface {
	// Name is unique among the publishers of a loader.
	Name() string
	// OnMetadataUpdate tells that img is the metadata now and d what changed since the last call. d and m are valid during
	// the call only; img may be kept.
	OnMetadataUpdate(d *image.Delta, img *image.Image, m *Manifest) error
	// OnControllerChange tells the leader, which is the active controller.
	OnControllerChange(l raft.LeaderAndEpoch)
}

// ManifestKind says where a publication comes from.
type ManifestKind uint8

// The kinds of manifests.
const (
	// LogDelta: changes that follow the last publication.
	LogDelta ManifestKind = iota
	// FullState: everything, for a publisher that has seen nothing.
	FullState
	// Snapshot: the difference between what was and a snapshot that was loaded.
	Snapshot
)

// Manifest describes one publication.
type Manifest struct {
	Kind              ManifestKind
	Provenance        image.Provenance
	AppendTimestampMs int64 // of the last batch
	BatchAligned      bool  // the offset is the last of its batch: a snapshot may be taken
	Batches           int32 // since the last publication, for LogDelta
	Bytes             int64 // the same; of the snapshot itself for Snapshot
	Leader            raft.LeaderAndEpoch
}

// Guard is asked before an image with a cluster id is published. The ClusterIDPublisher is one.
type Guard interface {
	// CheckClusterID tells why this node cannot live in a cluster of that id. The error stops the node.
	CheckClusterID(id string) error
}
