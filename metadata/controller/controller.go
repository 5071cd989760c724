package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrLoadBootstrap says that the 0-0 checkpoint came to an active controller, or cannot be read. Fatal (3.1).
var ErrLoadBootstrap = errors.New("controller: cannot load the bootstrap checkpoint")

const (
	inactive   int32 = -1
	noDeadline int64 = -1
)

// Controller is one controller of the quorum. All methods belong to its lane.
type Controller struct {
	cfg  Config
	deps Deps

	bootstrap      []records.Record
	clusterID      string // "" while unknown
	bootWithID     bool
	claimedEpoch   int32 // inactive, or the epoch in which this node is the active controller
	timeline       timeline
	committed      int64 // last offset of the last committed data batch, -1 for none
	committedEpoch int32
	stable         int64
	nextWrite      int64 // while active
	deferred       deferredOps
	noOpDeadlineNs int64
	brokers        heartbeats // while active
	elections      electionDeadlines

	// Reused memory.
	reader  image.BatchReader
	outcome outcome
	frames  [][]byte
	chunk   []byte // of encoded records, see frame
	config  records.ConfigRecord
	noOp    records.NoOpRecord
	result  Result
	event   Event
}

// New returns a controller that knows nothing of the log yet.
func New(cfg Config, deps Deps) (*Controller, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Defaults.complete(cfg.MinInSyncReplicas)
	c := &Controller{
		cfg: cfg, deps: deps, bootstrap: cfg.Bootstrap, clusterID: cfg.ClusterID, bootWithID: cfg.ClusterID != "",
		claimedEpoch: inactive, timeline: newTimeline(), committed: -1, committedEpoch: -1, stable: -1,
		nextWrite: -1, noOpDeadlineNs: noDeadline, elections: electionDeadlines{noDeadline, noDeadline},
	}
	c.brokers.reset()
	return c, nil
}

// Active tells whether this node believes to be the active controller.
func (c *Controller) Active() bool { return c.claimedEpoch != inactive }

// ClaimedEpoch returns the epoch of the leadership that Active speaks of, -1 when inactive.
func (c *Controller) ClaimedEpoch() int32 { return c.claimedEpoch }

// LastCommittedOffset returns the last offset of the last committed data batch, -1 for none.
func (c *Controller) LastCommittedOffset() int64 { return c.committed }

// LastStableOffset returns the last offset that no failover takes back, -1 for none.
func (c *Controller) LastStableOffset() int64 { return c.stable }

// StableDigest returns the image's digest as of LastStableOffset.
func (c *Controller) StableDigest() uint64 { return c.timeline.imageAt(c.stable).Digest() }

// Image returns the newest memory, uncommitted changes included.
func (c *Controller) Image() *image.Image { return c.timeline.image }

// ClusterID returns the id that this node's software goes by, "" while unknown.
func (c *Controller) ClusterID() string { return c.clusterID }

// SetClusterID tells the controller its node's cluster id when that is discovered after boot (KIP-1262, 4.7): the
// id was stable in the log and is persisted in the node's directories by now.
func (c *Controller) SetClusterID(id string) {
	c.clusterID = id
	c.observe(Event{Kind: ClusterIDLearned, Text: id})
}

// HandleLoadBootstrap takes the content of a 0-0.checkpoint. Its data records, if there are any, replace the bootstrap
// records (3.1). It comes before the first committed batch; on an active controller it is fatal.
func (c *Controller) HandleLoadBootstrap(_ int64, snapshot []byte) error {
	if c.Active() {
		return fmt.Errorf("%w: the controller is active in epoch %d", ErrLoadBootstrap, c.claimedEpoch)
	}
	file, err := bootstrap.ParseCheckpoint(snapshot)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLoadBootstrap, err)
	}
	if len(file.Entries) == 0 {
		return nil
	}
	if _, err := bootstrap.New(file.Entries, "the 0-0 checkpoint", c.cfg.Release.MinimumBootstrap); err != nil {
		return fmt.Errorf("%w: %w", ErrLoadBootstrap, err)
	}
	found := make([]records.Record, 0, len(file.Entries))
	for i := range file.Entries {
		found = append(found, file.Entries[i].Record)
	}
	c.bootstrap = found
	c.observe(Event{Kind: BootstrapLoaded, Count: int32(len(found))})
	return nil
}

// HandleCommit takes committed batches, in order and without gaps. The active controller replayed its records when it
// appended them and only moves its offsets; a standby replays them. Control batches move nothing (7.1).
func (c *Controller) HandleCommit(_ int64, batches []raft.Batch) error {
	for at := range batches {
		b := &batches[at]
		if b.Control {
			continue
		}
		if !c.Active() {
			for c.reader.Reset(b.Bytes); c.reader.Next(); {
				if err := c.replay(c.reader.Offset, c.reader.Record, c.timeline.replayStable); err != nil {
					return err
				}
			}
			c.timeline.catchUp()
			if err := c.reader.Err(); err != nil {
				return fmt.Errorf("%w: %w", ErrReplay, err)
			}
		}
		c.advance(b.LastOffset, b.Epoch)
	}
	return nil
}

// advance moves the committed offset and, outside transactions, the stable one; answers what was waiting.
func (c *Controller) advance(committed int64, epoch int32) {
	c.committed, c.committedEpoch = committed, epoch
	stable := committed
	if start := c.timeline.at(committed).transactionStart; start != noTransaction {
		stable = min(committed, start-1)
	}
	if stable > c.stable {
		c.stable = stable
		c.timeline.settle(stable)
	}
	c.observe(Event{
		Kind: Committed, Epoch: epoch, Offset: committed, Other: c.stable, Digest: c.timeline.stable.image.Digest(),
	})
	for {
		op, ok := c.deferred.pop(c.stable)
		if !ok {
			return
		}
		c.finish(&op)
	}
}

// replay makes the change of one record in memory, after the checks that any reader of the log makes (5.5).
func (c *Controller) replay(offset int64, r records.Record, change func(int64, records.Record) error) error {
	switch m := r.(type) {
	case *records.FeatureLevelRecord:
		if err := c.checkReplayedLevel(m); err != nil {
			return fmt.Errorf("%w: offset %d: %w", ErrReplay, offset, err)
		}
	case *records.ClusterIdRecord:
		c.timeline.catchUp()
		if err := c.checkReplayedID(m.ClusterId); err != nil {
			return fmt.Errorf("%w: offset %d: %w", ErrReplay, offset, err)
		}
	}
	began := c.timeline.transactionStart
	if err := change(offset, r); err != nil {
		return err
	}
	if r.APIKey() == records.AbortTransactionRecordKey {
		c.observe(Event{Kind: TransactionAborted, Offset: offset, Other: began})
	}
	return nil
}

func (c *Controller) checkReplayedLevel(m *records.FeatureLevelRecord) error {
	if m.Name == image.KRaftVersion || m.FeatureLevel == 0 {
		return nil
	}
	lowest, highest, ok := c.cfg.Release.Range(m.Name, c.cfg.UnstableFeatures)
	if !ok || m.FeatureLevel < lowest || m.FeatureLevel > highest {
		return fmt.Errorf("%s %d is outside of %d to %d, which release %s runs with", m.Name, m.FeatureLevel, lowest,
			highest, c.cfg.Release.Name)
	}
	return nil
}

// checkReplayedID: one key further than the software knows is an unknown record; a second value would be a second
// cluster (C3). Whether the id fits the node's own directories is the loader's to say, once it is stable (D6).
func (c *Controller) checkReplayedID(id string) error {
	switch known := c.timeline.image.ClusterID(); {
	case !c.cfg.knowsClusterID():
		return fmt.Errorf("%w: %d", records.ErrUnknownKey, records.ClusterIdRecordKey)
	case id == "":
		return errors.New("the cluster id is empty")
	case known != "" && known != id:
		return fmt.Errorf("cluster id %q after %q", id, known)
	}
	return nil
}

// AppendState appends the canonical bytes of the controller's state. The protocol view leaves out absolute times and
// operation ids.
func (c *Controller) AppendState(buf []byte, protocolView bool) []byte {
	buf = record.AppendInt32(record.AppendInt32(buf, c.claimedEpoch), c.committedEpoch)
	buf = record.AppendInt64(record.AppendInt64(buf, c.committed), c.stable)
	buf = record.AppendCompactString(record.AppendInt64(buf, c.nextWrite), c.clusterID)
	buf = record.AppendInt32(buf, int32(len(c.bootstrap)))
	buf = c.timeline.appendTo(buf)
	if protocolView {
		return buf
	}
	return c.brokers.appendTo(c.deferred.appendTo(record.AppendInt64(buf, c.noOpDeadlineNs)))
}
