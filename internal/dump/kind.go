package dump

import "strings"

// kind is a sort of file.
type kind struct {
	name string // shown, and given to --as
	dump func(f *file) error
}

// The kinds of files.
var (
	segmentKind        = &kind{"log", dumpSegment}
	checkpointKind     = &kind{"checkpoint", dumpCheckpoint}
	bootstrapKind      = &kind{"bootstrap-checkpoint", dumpBootstrap}
	offsetIndexKind    = &kind{"index", dumpOffsetIndex}
	timeIndexKind      = &kind{"timeindex", dumpTimeIndex}
	txnIndexKind       = &kind{"txnindex", dumpTxnIndex}
	producerStateKind  = &kind{"producer-state", dumpProducerState}
	epochKind          = &kind{"leader-epoch-checkpoint", dumpEpochs}
	offsetsKind        = &kind{"offset-checkpoint", dumpOffsets}
	partitionKind      = &kind{"partition.metadata", dumpPartitionMetadata}
	quorumStateKind    = &kind{"quorum-state", dumpQuorumState}
	metaPropertiesKind = &kind{"meta.properties", dumpMetaProperties}
	cleanShutdownKind  = &kind{"clean-shutdown", dumpCleanShutdown}
	lockKind           = &kind{"lock", nil}
	unknownKind        = &kind{"unknown", nil}
)

// named returns the kinds that Options.As may choose.
func named() []*kind {
	return []*kind{segmentKind, checkpointKind, bootstrapKind, offsetIndexKind, timeIndexKind, txnIndexKind,
		producerStateKind, epochKind, offsetsKind, partitionKind, quorumStateKind, metaPropertiesKind}
}

// Kinds returns the names that Options.As may have.
func Kinds() []string {
	var names []string
	for _, k := range named() {
		names = append(names, k.name)
	}
	return names
}

func kindNamed(name string) *kind {
	for _, k := range named() {
		if k.name == name {
			return k
		}
	}
	return nil
}

// leftovers are suffixes of files that Kafka removes or replaces at start: snapshots that were not frozen, segments on
// their way out or not yet in, and files that were being replaced (formats.md 6 to 9).
var leftovers = []string{".deleted", ".part", ".cleaned", ".swap", ".tmp"}

// fullNames are files known by their whole name.
var fullNames = map[string]*kind{
	"bootstrap.checkpoint":             bootstrapKind,
	"leader-epoch-checkpoint":          epochKind,
	"partition.metadata":               partitionKind,
	"recovery-point-offset-checkpoint": offsetsKind,
	"replication-offset-checkpoint":    offsetsKind,
	"log-start-offset-checkpoint":      offsetsKind,
	"cleaner-offset-checkpoint":        offsetsKind,
	".kafka_cleanshutdown":             cleanShutdownKind,
	".lock":                            lockKind,
}

// suffixes are files known by how their name ends, in this order.
var suffixes = []struct {
	suffix string
	kind   *kind
}{
	{".log", segmentKind},
	{".checkpoint", checkpointKind},
	{".index", offsetIndexKind},
	{".timeindex", timeIndexKind},
	{".txnindex", txnIndexKind},
	{".snapshot", producerStateKind},
	{"quorum-state", quorumStateKind},
	{"meta.properties", metaPropertiesKind},
}

// classify tells the kind of a file by its name; nil: unknown. leftover is the suffix that marks it as left over.
func classify(name string) (k *kind, leftover string) {
	for _, suffix := range leftovers {
		if rest, ok := strings.CutSuffix(name, suffix); ok {
			if k, _ := classify(rest); k != nil {
				return k, suffix
			}
			return nil, ""
		}
	}
	if k := fullNames[name]; k != nil {
		return k, ""
	}
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			return s.kind, ""
		}
	}
	return nil, ""
}
