package loader

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft"
)

// Kafka's values of SnapshotConfig.
const (
	DefaultSnapshotMaxBytes    int64 = 20 << 20
	DefaultSnapshotIntervalNs  int64 = 3_600_000_000_000
	DefaultSnapshotAppendCount int32 = 1024
)

// SnapshotConfig is what a SnapshotGenerator is built with.
type SnapshotConfig struct {
	// MaxBytes is metadata.log.max.record.bytes.between.snapshots, default 20 MiB, at least 1.
	MaxBytes int64
	// IntervalNs is metadata.log.max.snapshot.interval.ms, default an hour; 0 is off. There is no timer: it is looked at
	// when metadata changes.
	IntervalNs int64
}

// SnapshotLane takes jobs to the lane that writes snapshots. Submit returns at once; JobDone is called on the loader's lane
// when the job is over, whatever came of it.
type SnapshotLane interface {
	Submit(job *SnapshotJob)
	MonotonicNs() int64
}

// SnapshotJob is a snapshot to write: an image and its position, captured in one step (KB-40). It is immutable, as the image is, so that
// nothing has to be encoded before the lane of snapshots gets to it.
type SnapshotJob struct {
	ID          raft.OffsetAndEpoch
	TimestampMs int64 // append time of the last batch that the image contains
	Image       *image.Image
}

// SnapshotGenerator asks for a snapshot when enough was read since the last one (metadata-bootstrap 7.3). It is the first
// publisher of a node.
type SnapshotGenerator struct {
	cfg    SnapshotConfig
	lane   SnapshotLane
	bytes  int64 // read since the last snapshot
	lastNs int64 // when the counters were reset
	busy   bool  // a job is under way
}

// NewSnapshotGenerator returns a generator that counts from now on.
func NewSnapshotGenerator(cfg SnapshotConfig, lane SnapshotLane) (*SnapshotGenerator, error) {
	if cfg.MaxBytes < 1 || cfg.IntervalNs < 0 {
		return nil, fmt.Errorf("%w: a snapshot every %d bytes or %d ns", ErrConfig, cfg.MaxBytes, cfg.IntervalNs)
	}
	return &SnapshotGenerator{cfg: cfg, lane: lane, lastNs: lane.MonotonicNs()}, nil
}

// Name implements Publisher.
func (g *SnapshotGenerator) Name() string { return "SnapshotGenerator" }

// OnControllerChange implements Publisher; every node makes snapshots.
func (g *SnapshotGenerator) OnControllerChange(raft.LeaderAndEpoch) {}

// OnMetadataUpdate implements Publisher.
func (g *SnapshotGenerator) OnMetadataUpdate(_ *image.Delta, img *image.Image, m *Manifest) error {
	if m.Kind != LogDelta {
		g.reset()
		return nil
	}
	g.bytes += m.Bytes
	due := g.bytes >= g.cfg.MaxBytes || g.cfg.IntervalNs != 0 && g.lane.MonotonicNs()-g.lastNs >= g.cfg.IntervalNs
	if !due || g.busy || !m.BatchAligned {
		return nil
	}
	g.reset()
	g.busy = true
	g.lane.Submit(capture(img, m))
	return nil
}

// capture takes the image as of now. The id is exclusive: one more than the last offset in it (KAFKA-14618).
func capture(img *image.Image, m *Manifest) *SnapshotJob {
	return &SnapshotJob{
		ID:          raft.OffsetAndEpoch{Offset: m.Provenance.Offset + 1, Epoch: m.Provenance.Epoch},
		TimestampMs: m.AppendTimestampMs, Image: img,
	}
}

func (g *SnapshotGenerator) reset() { g.bytes, g.lastNs = 0, g.lane.MonotonicNs() }

// JobDone says that the job is over, and the next one may be asked for.
func (g *SnapshotGenerator) JobDone() { g.busy = false }

// RaftSnapshots is what SnapshotJob.Write asks of raft.
type RaftSnapshots interface {
	CreateSnapshot(nowMs int64, id raft.OffsetAndEpoch, lastContainedTimestampMs int64) (*raft.SnapshotWriter, error)
}

// ErrContent says that the image holds what its metadata.version cannot express: no snapshot is made of it, and the log stays as it is.
// The node goes on (metadata-bootstrap 7.2).
var ErrContent = errors.New("loader: the image cannot be written as a snapshot")

// Write encodes and writes the snapshot, on the lane of snapshots as in Kafka, with recordsPerAppend records in each append. frozen is
// false when there was nothing to write. An error is fatal, as one of the disk or of an id that raft cannot have handed out is, unless it
// wraps ErrContent. The replica learns of a frozen snapshot by Replica.SnapshotFrozen, on its own lane.
func (j *SnapshotJob) Write(nowMs int64, client RaftSnapshots, recordsPerAppend int32) (frozen bool, err error) {
	rest, err := j.Image.AppendFrames(nil)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrContent, err)
	}
	w, err := client.CreateSnapshot(nowMs, j.ID, j.TimestampMs)
	if err != nil || w == nil {
		return false, err
	}
	for len(rest) > 0 {
		n := min(len(rest), max(int(recordsPerAppend), 1))
		if err := w.Append(nowMs, rest[:n]...); err != nil {
			return false, err
		}
		rest = rest[n:]
	}
	return true, w.Freeze(nowMs)
}
