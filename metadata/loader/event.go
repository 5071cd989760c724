package loader

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
)

// EventKind says what happened; see the constants for the fields of Event that have a meaning.
type EventKind uint8

// The kinds of events. Events say where to look; they are no ground truth.
const (
	_ EventKind = iota
	// ImageAdvanced: the image moved to (Offset, Epoch) from Other, published or not; Count records were replayed. Flag
	// says that the offset ends a batch.
	ImageAdvanced
	// ImagePublished: the publishers were told what changed from Other to (Offset, Epoch); Flag as above.
	ImagePublished
	// CaughtUp: the loader publishes from now on; Offset is the image's.
	CaughtUp
	// PublisherInitialized: publisher Text was told the full state at (Offset, Epoch).
	PublisherInitialized
	// PublisherFailed: publisher Text returned an error.
	PublisherFailed
	// TransactionAborted: the changes since the Begin at Other were dropped at Offset; Count of them.
	TransactionAborted
	// LoadFailed: the log cannot be applied; the image stays where it is (brokers).
	LoadFailed
	// ClusterIDPersisted: directory Index holds cluster id Text durably, written now.
	ClusterIDPersisted
	// ClusterIDKnown: every usable directory holds Text, and the node goes by it from now on.
	ClusterIDKnown
	// DirectoryFailed: directory Index could not be written and is not used any more.
	DirectoryFailed
	// SnapshotLoaded: a snapshot replaces what was read before; the image moves to (Offset, Epoch) from Other. Count records
	// were in it. ImageAdvanced follows.
	SnapshotLoaded
)

// String returns the kind's name.
func (k EventKind) String() string {
	switch k {
	case ImageAdvanced:
		return "image-advanced"
	case ImagePublished:
		return "image-published"
	case CaughtUp:
		return "caught-up"
	case PublisherInitialized:
		return "publisher-initialized"
	case PublisherFailed:
		return "publisher-failed"
	case TransactionAborted:
		return "transaction-aborted"
	case LoadFailed:
		return "load-failed"
	case ClusterIDPersisted:
		return "cluster-id-persisted"
	case ClusterIDKnown:
		return "cluster-id-known"
	case DirectoryFailed:
		return "directory-failed"
	case SnapshotLoaded:
		return "snapshot-loaded"
	}
	panic(fmt.Sprintf("loader: no event kind %d", uint8(k)))
}

// Event is one protocol event. The loader reuses the struct.
type Event struct {
	Kind          EventKind
	Flag          bool
	Epoch         int32
	Count         int32
	Index         int32 // of a directory, in the order of the ensemble
	Offset, Other int64
	Digest        uint64 // of the image
	Text          string
	Err           error
	Image         *image.Image // nil for events of publishers
}

// Observer hears protocol events; it may not call back. The event is valid during the call.
type Observer interface {
	Observe(e *Event)
}
