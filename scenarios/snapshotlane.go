package scenarios

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// The lane of snapshots: the generator captures an image on the loader's lane and posts it here; here it is encoded,
// written and frozen, as on the thread of Kafka's generator (metadata-bootstrap 7.3); the raft lane learns of it when all of that is on the disk, and the generator that the next one may come.

// snapshotLane is loader.SnapshotLane.
type snapshotLane node

// Submit implements loader.SnapshotLane.
func (l *snapshotLane) Submit(job *loader.SnapshotJob) {
	l.env.Observe(&snapshotNote{id: job.ID})
	l.env.Post(laneSnapshot, (*jobPost)(job))
}

// MonotonicNs implements loader.SnapshotLane.
func (l *snapshotLane) MonotonicNs() int64 { return l.env.MonotonicNs() }

func (n *node) inputSnapshot(env *sim.Env, in *sim.Input) error {
	job, ok := in.Msg.(*jobPost)
	if !ok {
		return nil // a wake-up that nobody asked for
	}
	frozen, err := (*loader.SnapshotJob)(job).Write(env.WallMs(), n.replica, n.c.snapshots.recordsPerAppend)
	switch {
	case errors.Is(err, loader.ErrContent):
		*n.c.w.Stat("snapshots-without-content")++
		n.c.triggers.notMade(env.Host(), job.ID, err)
	case err != nil:
		return err
	}
	if frozen {
		env.Post(laneRaft, &frozenPost{id: job.ID})
	}
	env.Post(laneLoader, snapshotDone{})
	return nil
}

// jobPost is an image on its way to the lane of snapshots.
type jobPost loader.SnapshotJob

func (p *jobPost) Kind() uint32 { return postSnapshotJob }
func (p *jobPost) Key() uint64  { return uint64(p.ID.Offset) }
func (p *jobPost) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'j'), uint64(p.ID.Offset))
	buf = binary.BigEndian.AppendUint32(buf, uint32(p.ID.Epoch))
	return binary.BigEndian.AppendUint64(buf, p.Image.Digest())
}
func (p *jobPost) String() string {
	return fmt.Sprintf("write snapshot %d of epoch %d", p.ID.Offset, p.ID.Epoch)
}

// frozenPost tells the raft lane of a snapshot that is durable.
type frozenPost struct{ id raft.OffsetAndEpoch }

func (p *frozenPost) Kind() uint32 { return postSnapshotFrozen }
func (p *frozenPost) Key() uint64  { return uint64(p.id.Offset) }
func (p *frozenPost) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'f'), uint64(p.id.Offset))
	return binary.BigEndian.AppendUint32(buf, uint32(p.id.Epoch))
}
func (p *frozenPost) String() string {
	return fmt.Sprintf("snapshot %d of epoch %d is frozen", p.id.Offset, p.id.Epoch)
}

// snapshotDone tells the loader lane that the job is over.
type snapshotDone struct{}

func (snapshotDone) Kind() uint32               { return postSnapshotDone }
func (snapshotDone) Key() uint64                { return 0 }
func (snapshotDone) AppendTo(buf []byte) []byte { return append(buf, 'd') }
func (snapshotDone) String() string             { return "snapshot job is over" }

// snapshotPost carries the content of a snapshot to the lane of a listener.
type snapshotPost struct {
	listener int32
	id       raft.OffsetAndEpoch
	bytes    []byte
}

func (p *snapshotPost) Kind() uint32 { return postSnapshot }
func (p *snapshotPost) Key() uint64  { return uint64(p.id.Offset)<<4 | uint64(p.listener) }
func (p *snapshotPost) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 's', byte(p.listener)), uint64(p.id.Offset))
	return append(binary.BigEndian.AppendUint32(buf, uint32(p.id.Epoch)), p.bytes...)
}
func (p *snapshotPost) String() string {
	return fmt.Sprintf("snapshot %d of epoch %d, %d bytes", p.id.Offset, p.id.Epoch, len(p.bytes))
}
