package loader

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrLoad says that a committed record cannot be applied. Fatal on controllers (7.2, KAFKA-14275).
var ErrLoad = errors.New("loader: cannot apply the log")

// ErrConfig names a field of Config that no loader can run with.
var ErrConfig = errors.New("loader: bad configuration")

// DefaultRetryNs is how often a loader that has not caught up looks whether it has, with publishers waiting: 100 ms.
const DefaultRetryNs int64 = 100_000_000

const (
	noDeadline    int64 = -1
	noTransaction int64 = -1
)

// Config is what a loader is built with.
type Config struct {
	// Release is what this node's software knows; records beyond it are load failures.
	Release *features.Release
	// StopOnLoadFailure is true on nodes with the controller role. Others keep their last good image.
	StopOnLoadFailure bool
	// RetryNs is DefaultRetryNs in Kafka; other values are simulation only, at least 1.
	RetryNs int64
}

// RaftClient is what the loader asks of raft.
type RaftClient interface {
	HighWatermark() (offset int64, known bool)
}

// Deps are the loader's neighbours. Observer and Guard may be nil.
type Deps struct {
	Raft     RaftClient
	Observer Observer
	Guard    Guard
}

// Loader is the metadata loader of one node. All methods belong to its lane.
type Loader struct {
	cfg  Config
	deps Deps

	image      *image.Image
	leader     raft.LeaderAndEpoch
	caughtUp   bool
	seenRecord bool // the image holds at least one record
	failed     bool // a broker whose log could not be applied

	// What was read and is not in the image yet.
	delta            image.Delta
	transactionStart int64
	read             image.Provenance
	manifest         Manifest

	publishers []Publisher // told the full state
	waiting    []Publisher // not yet
	deadlineNs int64

	// Reused memory.
	reader image.BatchReader
	full   image.Delta
	event  Event
}

// New returns a loader that has read nothing.
func New(cfg Config, deps Deps) (*Loader, error) {
	switch {
	case cfg.Release == nil:
		return nil, fmt.Errorf("%w: no release", ErrConfig)
	case cfg.RetryNs < 1:
		return nil, fmt.Errorf("%w: retry after %d ns", ErrConfig, cfg.RetryNs)
	}
	l := &Loader{
		cfg: cfg, deps: deps, image: image.NewPlain(), leader: raft.LeaderAndEpoch{LeaderID: -1},
		transactionStart: noTransaction, read: image.Provenance{Offset: -1, Epoch: -1}, deadlineNs: noDeadline,
	}
	l.delta.Reset(l.image)
	return l, nil
}

// Image returns the newest image: stable, and published unless the loader is catching up.
func (l *Loader) Image() *image.Image { return l.image }

// LastAppliedOffset returns the image's offset, -1 before the first.
func (l *Loader) LastAppliedOffset() int64 { return l.image.Provenance().Offset }

// CaughtUp tells whether the loader publishes.
func (l *Loader) CaughtUp() bool { return l.caughtUp }

// Install adds a publisher. It is told the full state at the next Poll that finds the loader caught up.
func (l *Loader) Install(nowNs int64, p Publisher) error {
	for _, list := range [][]Publisher{l.publishers, l.waiting} {
		for _, other := range list {
			if other.Name() == p.Name() {
				return fmt.Errorf("%w: %s", ErrDuplicateName, p.Name())
			}
		}
	}
	l.waiting = append(l.waiting, p)
	l.deadlineNs = nowNs
	return nil
}

// HandleLoadBootstrap takes the content of 0-0.checkpoint, which means nothing to a loader: its data records are the
// active controller's to write (7.2, point 8).
func (l *Loader) HandleLoadBootstrap(_ int64, _ []byte) {}

// HandleLeaderChange passes the leader on.
func (l *Loader) HandleLeaderChange(_ int64, leader raft.LeaderAndEpoch) {
	l.leader = leader
	for _, p := range l.publishers {
		p.OnControllerChange(leader)
	}
}

// DeadlineNs returns when Poll wants to be called, -1 for not at all.
func (l *Loader) DeadlineNs() int64 { return l.deadlineNs }

// Poll tells waiting publishers the full state if the loader has caught up, and comes back later if not. Calls before
// the deadline do nothing.
func (l *Loader) Poll(nowNs int64) error {
	if l.deadlineNs == noDeadline || nowNs < l.deadlineNs {
		return nil
	}
	if l.catchingUp() {
		l.deadlineNs = nowNs + l.cfg.RetryNs
		return nil
	}
	l.deadlineNs = noDeadline
	for len(l.waiting) > 0 {
		p := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.publishers = append(l.publishers, p)
		if err := l.initialize(p); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loader) initialize(p Publisher) error {
	l.full.Between(image.New(), l.image)
	at := l.image.Provenance()
	m := Manifest{
		Kind: FullState, Provenance: at, AppendTimestampMs: l.manifest.AppendTimestampMs, BatchAligned: true, Leader: l.leader,
	}
	err := p.OnMetadataUpdate(&l.full, l.image, &m)
	p.OnControllerChange(l.leader)
	l.observe(Event{Kind: PublisherInitialized, Text: p.Name(), Offset: at.Offset, Epoch: at.Epoch})
	return l.publisherError(p, err)
}

func (l *Loader) publisherError(p Publisher, err error) error {
	if err == nil {
		return nil
	}
	l.observe(Event{Kind: PublisherFailed, Text: p.Name(), Err: err})
	if errors.Is(err, ErrFatal) {
		return fmt.Errorf("loader: publisher %s: %w", p.Name(), err)
	}
	return nil
}

// catchingUp is the rule of 7.2, point 2, with its latch.
func (l *Loader) catchingUp() bool {
	if l.caughtUp {
		return false
	}
	highWatermark, known := l.deps.Raft.HighWatermark()
	if !known || l.LastAppliedOffset() < highWatermark-1 || !l.seenRecord {
		return true
	}
	l.caughtUp = true
	l.observe(Event{Kind: CaughtUp, Offset: l.LastAppliedOffset(), Epoch: l.image.Provenance().Epoch})
	return false
}

func (l *Loader) observe(e Event) {
	if l.deps.Observer == nil {
		return
	}
	l.event = e
	l.event.Digest, l.event.Image = l.image.Digest(), l.image
	l.deps.Observer.Observe(&l.event)
}

// checkRecord refuses what the software does not know (5.5, 6.1). Unstable levels pass: only controllers are strict
// there.
func (l *Loader) checkRecord(r records.Record) error {
	switch m := r.(type) {
	case *records.FeatureLevelRecord:
		if m.Name == image.MetadataVersion && m.FeatureLevel != 0 && !l.cfg.Release.Knows(m.FeatureLevel) {
			return fmt.Errorf("%s %d is outside of %d to %d, which release %s knows", m.Name, m.FeatureLevel,
				l.cfg.Release.Minimum, l.cfg.Release.LatestTesting, l.cfg.Release.Name)
		}
	case *records.ClusterIdRecord:
		if !l.cfg.Release.SupportsClusterID(l.cfg.Release.LatestTesting) {
			return fmt.Errorf("%w: %d", records.ErrUnknownKey, m.APIKey())
		}
		if m.ClusterId == "" {
			return errors.New("the cluster id is empty")
		}
		for _, known := range [2]string{l.image.ClusterID(), l.delta.Image().ClusterID()} {
			if known != "" && known != m.ClusterId {
				return fmt.Errorf("cluster id %q after %q", m.ClusterId, known)
			}
		}
	}
	return nil
}

// AppendState appends the canonical bytes of the loader's state. The image is there by its digest. The protocol view
// leaves out absolute times and byte counts.
func (l *Loader) AppendState(buf []byte, protocolView bool) []byte {
	buf = record.AppendUint64(l.image.Provenance().AppendTo(buf), l.image.Digest())
	buf = record.AppendInt32(record.AppendInt32(buf, l.leader.LeaderID), l.leader.Epoch)
	buf = record.AppendInt64(buf, l.transactionStart)
	buf = record.AppendBool(record.AppendBool(record.AppendBool(buf, l.caughtUp), l.seenRecord), l.failed)
	buf = record.AppendInt32(record.AppendInt32(buf, int32(len(l.publishers))), int32(len(l.waiting)))
	buf = record.AppendUint64(record.AppendInt64(l.read.AppendTo(buf), l.delta.Records()), l.delta.Image().Digest())
	if protocolView {
		return buf
	}
	return record.AppendInt64(record.AppendInt64(buf, l.deadlineNs), l.manifest.Bytes)
}
