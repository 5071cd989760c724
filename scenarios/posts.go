package scenarios

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/raft"
)

// The kinds of posts between the lanes of a node, and of local requests. Raft's own messages have kinds below 1000.
const (
	postWake uint32 = 1000 + iota
	postCommit
	postBootstrap
	postLeader
	postClusterID
	postRequest
	postHeard
	postSnapshot
	postSnapshotJob
	postSnapshotFrozen
	postSnapshotDone
)

// wakePost asks the raft lane for a poll.
type wakePost struct{}

func (wakePost) Kind() uint32               { return postWake }
func (wakePost) Key() uint64                { return 0 }
func (wakePost) AppendTo(buf []byte) []byte { return append(buf, 'w') }
func (wakePost) String() string             { return "wake" }

// commitPost carries committed batches to the lane of a listener.
type commitPost struct {
	listener int32
	batches  []raft.Batch
}

func (p *commitPost) Kind() uint32 { return postCommit }
func (p *commitPost) Key() uint64  { return uint64(p.batches[0].BaseOffset)<<4 | uint64(p.listener) }
func (p *commitPost) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'c', byte(p.listener)), uint64(p.batches[0].BaseOffset))
	return binary.BigEndian.AppendUint64(buf, uint64(p.batches[len(p.batches)-1].LastOffset))
}
func (p *commitPost) String() string {
	return fmt.Sprintf("committed offsets %d to %d", p.batches[0].BaseOffset, p.batches[len(p.batches)-1].LastOffset)
}

// bootstrapPost carries the content of 0-0.checkpoint.
type bootstrapPost struct {
	listener int32
	bytes    []byte
}

func (p *bootstrapPost) Kind() uint32 { return postBootstrap }
func (p *bootstrapPost) Key() uint64  { return uint64(p.listener) }
func (p *bootstrapPost) AppendTo(buf []byte) []byte {
	return append(append(buf, 'b', byte(p.listener)), p.bytes...)
}
func (p *bootstrapPost) String() string {
	return fmt.Sprintf("bootstrap checkpoint, %d bytes", len(p.bytes))
}

// leaderPost tells a listener the leader.
type leaderPost struct {
	listener int32
	leader   raft.LeaderAndEpoch
}

func (p *leaderPost) Kind() uint32 { return postLeader }
func (p *leaderPost) Key() uint64  { return uint64(p.leader.Epoch)<<4 | uint64(p.listener) }
func (p *leaderPost) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint32(append(buf, 'l', byte(p.listener)), uint32(p.leader.Epoch))
	return binary.BigEndian.AppendUint32(buf, uint32(p.leader.LeaderID))
}
func (p *leaderPost) String() string {
	return fmt.Sprintf("leader %d in epoch %d", p.leader.LeaderID, p.leader.Epoch)
}

// clusterIDPost tells the controller the id that the loader's publisher persisted.
type clusterIDPost struct{ id string }

func (p *clusterIDPost) Kind() uint32               { return postClusterID }
func (p *clusterIDPost) Key() uint64                { return 0 }
func (p *clusterIDPost) AppendTo(buf []byte) []byte { return append(append(buf, 'i'), p.id...) }
func (p *clusterIDPost) String() string             { return "cluster id " + p.id }

// request is an operation of a client or an operator on a controller.
type request struct{ op controller.Op }

func (r *request) Kind() uint32 { return postRequest }
func (r *request) Key() uint64  { return uint64(r.op.ID) }
func (r *request) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'r', byte(r.op.Kind)), uint64(r.op.ID))
	return append(append(buf, r.op.Name...), r.op.Value...)
}
func (r *request) String() string { return fmt.Sprintf("request %d: %s", r.op.ID, r.op.Kind) }
