package controller

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
)

// EventKind says what happened; see the constants for the fields of Event that have a meaning.
type EventKind uint8

// The kinds of events. Epoch is the claimed epoch while active, else that of the last committed batch. Events say where
// to look; they are no ground truth.
const (
	_ EventKind = iota
	// BootstrapLoaded: the 0-0 checkpoint replaced the bootstrap records; Count of them.
	BootstrapLoaded
	// ControllerClaimed: active in Epoch; Offset is the next write offset, Other the last stable one, Digest as of
	// Other.
	ControllerClaimed
	// ActivationCompleted: Count records were appended from Offset to Other (both -1 for none). Level is the bootstrap
	// records' metadata.version, FormattedAtBoot and VersionKnown speak of the state that the decision was made on,
	// Text is the cluster id among the records, ClusterIDs how many ClusterIdRecords there are.
	ActivationCompleted
	// ActivationStable: the records of the activation in Epoch are stable; Offset is the last of them.
	ActivationStable
	// Renounced: not active any more; Offset is the stable offset that memory went back to, Digest as of there, Epoch
	// the one that was claimed.
	Renounced
	// TransactionAborted: an AbortTransactionRecord at Offset was replayed; Other is where the transaction began.
	TransactionAborted
	// Committed: Offset is the last committed offset of a data batch, Other the last stable one, Digest as of Other.
	Committed
	// OpStarted: operation OpID begins.
	OpStarted
	// OpAppended: OpID, 0 for one of the controller's own, wrote Count records, the last at Offset.
	OpAppended
	// OpDone: OpID is answered with Code; Offset is that of its last record, -1 for none.
	OpDone
	// NoOpWritten: the periodic record was appended at Offset.
	NoOpWritten
	// ClusterIDLearned: Text is now the node's own cluster id.
	ClusterIDLearned
	// SnapshotLoaded: memory is that of a snapshot now, which ends with Offset; Count records were in it, Digest is its image's.
	SnapshotLoaded
	// BrokerSessionExpired: broker Count with epoch Other was silent for too long; Offset is where it was fenced.
	BrokerSessionExpired
)

// String returns the kind's name.
func (k EventKind) String() string {
	switch k {
	case BootstrapLoaded:
		return "bootstrap-loaded"
	case ControllerClaimed:
		return "controller-claimed"
	case ActivationCompleted:
		return "activation-completed"
	case ActivationStable:
		return "activation-stable"
	case Renounced:
		return "renounced"
	case TransactionAborted:
		return "transaction-aborted"
	case Committed:
		return "committed"
	case OpStarted:
		return "op-started"
	case OpAppended:
		return "op-appended"
	case OpDone:
		return "op-done"
	case NoOpWritten:
		return "no-op-written"
	case ClusterIDLearned:
		return "cluster-id-learned"
	case SnapshotLoaded:
		return "snapshot-loaded"
	case BrokerSessionExpired:
		return "broker-session-expired"
	}
	panic(fmt.Sprintf("controller: no event kind %d", uint8(k)))
}

// Event is one protocol event. The controller reuses the struct.
type Event struct {
	Kind            EventKind
	FormattedAtBoot bool // the process booted with a cluster id
	VersionKnown    bool // metadata.version was known outside open transactions
	Level           int16
	Code            ErrorCode
	OpKind          OpKind
	Epoch           int32
	Count           int32
	ClusterIDs      int32
	Offset, Other   int64
	OpID            int64
	Digest          uint64
	Text            string
	Image           *image.Image // newest memory, uncommitted changes included
	Stable          *image.Image // memory as of the last stable offset
}

func (c *Controller) observe(e Event) {
	if c.deps.Observer == nil {
		return
	}
	if e.Epoch == 0 {
		e.Epoch = c.epoch()
	}
	c.event = e
	c.event.Image, c.event.Stable = c.timeline.image, c.timeline.stable.image
	c.deps.Observer.Observe(&c.event)
}

func (c *Controller) epoch() int32 {
	if c.claimedEpoch >= 0 {
		return c.claimedEpoch
	}
	return c.committedEpoch
}
