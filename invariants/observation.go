package invariants

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft"
)

// The observations of a node, told through Env.Observe at the point in program order where the thing happens. Whoever adapts
// a node to the simulator allocates them; a checker keeps none of them. AppendTo is canonical and enters the behaviour hash,
// so it holds what the protocol says and no wall clock.

// RaftObservation is a protocol event of the replica.
type RaftObservation struct{ E raft.Event }

// AppendTo implements sim.Observation.
func (o *RaftObservation) AppendTo(buf []byte) []byte {
	e := &o.E
	// The fields stand one behind the other, written in words of eight: who reads words that were written in parts waits.
	head := uint64('R')<<24 | uint64(e.Kind)<<16 | uint64(e.Role)<<8 | uint64(bit(e.Flag))
	offset, other := uint64(e.Offset), uint64(e.Other)
	const size = 4*8 + len(e.Peer.DirectoryID)
	n := len(buf)
	if cap(buf)-n < size {
		buf = append(buf, make([]byte, size)...)
	}
	buf = buf[:n+size]
	b := (*[size]byte)(buf[n:])
	binary.BigEndian.PutUint64(b[:8], head<<32|uint64(uint32(e.Epoch)))
	binary.BigEndian.PutUint64(b[8:16], uint64(uint32(e.Leader))<<32|offset>>32)
	binary.BigEndian.PutUint64(b[16:24], offset<<32|other>>32)
	binary.BigEndian.PutUint64(b[24:32], other<<32|uint64(uint32(e.Peer.ID)))
	*(*[16]byte)(b[32:]) = e.Peer.DirectoryID
	return buf
}

// String is the line in traces.
func (o *RaftObservation) String() string {
	e := &o.E
	s := fmt.Sprintf("%s: %s, epoch %d, leader %d", e.Kind, e.Role, e.Epoch, e.Leader)
	if e.Offset != 0 || e.Other != 0 {
		s += fmt.Sprintf(", offset %d, other %d", e.Offset, e.Other)
	}
	if e.Peer.ID >= 0 {
		s += ", peer " + e.Peer.String()
	}
	if e.Flag {
		s += ", flag"
	}
	return s
}

// MetadataObservation is a protocol event of the controller. The image in it never changes; it
// is what the controller has in memory, and no part of the hash.
type MetadataObservation struct{ E controller.Event }

// AppendTo implements sim.Observation.
func (o *MetadataObservation) AppendTo(buf []byte) []byte {
	e := &o.E
	buf = append(buf, 'C', byte(e.Kind), byte(e.OpKind), bit(e.FormattedAtBoot)|bit(e.VersionKnown)<<1)
	buf = binary.BigEndian.AppendUint16(buf, uint16(e.Level))
	buf = binary.BigEndian.AppendUint16(buf, uint16(e.Code))
	buf = binary.BigEndian.AppendUint32(buf, uint32(e.Epoch))
	buf = binary.BigEndian.AppendUint32(buf, uint32(e.Count))
	buf = binary.BigEndian.AppendUint32(buf, uint32(e.ClusterIDs))
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.Offset))
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.Other))
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.OpID))
	buf = binary.BigEndian.AppendUint64(buf, e.Digest)
	return append(buf, e.Text...)
}

// String is the line in traces.
func (o *MetadataObservation) String() string {
	e := &o.E
	s := fmt.Sprintf("%s: epoch %d, offset %d, other %d", e.Kind, e.Epoch, e.Offset, e.Other)
	if e.OpID != 0 {
		s += fmt.Sprintf(", operation %d, code %v", e.OpID, e.Code)
	}
	if e.Count != 0 {
		s += fmt.Sprintf(", %d records", e.Count)
	}
	if e.Text != "" {
		s += ", " + e.Text
	}
	return s
}

// LoaderObservation is a protocol event of the loader or of its publishers. The image in it is good during the call only
// and is not looked at.
type LoaderObservation struct{ E loader.Event }

// AppendTo implements sim.Observation.
func (o *LoaderObservation) AppendTo(buf []byte) []byte {
	e := &o.E
	buf = append(buf, 'L', byte(e.Kind), bit(e.Flag), bit(e.Err != nil))
	buf = binary.BigEndian.AppendUint32(buf, uint32(e.Epoch))
	buf = binary.BigEndian.AppendUint32(buf, uint32(e.Count))
	buf = binary.BigEndian.AppendUint32(buf, uint32(e.Index))
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.Offset))
	buf = binary.BigEndian.AppendUint64(buf, uint64(e.Other))
	buf = binary.BigEndian.AppendUint64(buf, e.Digest)
	return append(buf, e.Text...)
}

// String is the line in traces.
func (o *LoaderObservation) String() string {
	e := &o.E
	s := fmt.Sprintf("%s: offset %d, epoch %d, other %d", e.Kind, e.Offset, e.Epoch, e.Other)
	if e.Count != 0 {
		s += fmt.Sprintf(", %d records", e.Count)
	}
	if e.Text != "" {
		s += fmt.Sprintf(", %s (directory %d)", e.Text, e.Index)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// CommitDelivered is the call of a listener with committed batches, as it leaves the replica.
type CommitDelivered struct {
	Listener string
	Batches  []raft.Batch
}

// AppendTo implements sim.Observation.
func (o *CommitDelivered) AppendTo(buf []byte) []byte {
	buf = append(append(buf, 'D'), o.Listener...)
	for i := range o.Batches {
		b := &o.Batches[i]
		buf = binary.BigEndian.AppendUint64(buf, uint64(b.BaseOffset))
		buf = binary.BigEndian.AppendUint64(buf, uint64(b.LastOffset))
		buf = binary.BigEndian.AppendUint32(buf, uint32(b.Epoch))
	}
	return buf
}

// String is the line in traces.
func (o *CommitDelivered) String() string {
	if len(o.Batches) == 0 {
		return "delivered to " + o.Listener + ": nothing"
	}
	return fmt.Sprintf("delivered to %s: offsets %d to %d", o.Listener, o.Batches[0].BaseOffset,
		o.Batches[len(o.Batches)-1].LastOffset)
}

// OperationAnswered is the answer to an operation, as it leaves the controller. Offset is that of the last record written for it, -1 for
// none.
type OperationAnswered struct {
	OpID, Offset int64
	Result       controller.Result
}

// AppendTo implements sim.Observation.
func (o *OperationAnswered) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, 'O'), uint64(o.OpID))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(buf, uint16(o.Result.Code)), uint64(o.Offset))
}

// String is the line in traces.
func (o *OperationAnswered) String() string {
	return fmt.Sprintf("answered operation %d, %v, offset %d", o.OpID, o.Result.Code, o.Offset)
}

// LeaderDelivered is the call of a listener with a leader.
type LeaderDelivered struct {
	Listener string
	Leader   raft.LeaderAndEpoch
}

// AppendTo implements sim.Observation.
func (o *LeaderDelivered) AppendTo(buf []byte) []byte {
	buf = append(append(buf, 'A'), o.Listener...)
	buf = binary.BigEndian.AppendUint32(buf, uint32(o.Leader.LeaderID))
	return binary.BigEndian.AppendUint32(buf, uint32(o.Leader.Epoch))
}

// String is the line in traces.
func (o *LeaderDelivered) String() string {
	return fmt.Sprintf("told %s: leader %d in epoch %d", o.Listener, o.Leader.LeaderID, o.Leader.Epoch)
}

// BootstrapDelivered is the call of a listener with the 0-0 checkpoint.
type BootstrapDelivered struct {
	Listener string
	Bytes    int32
}

// AppendTo implements sim.Observation.
func (o *BootstrapDelivered) AppendTo(buf []byte) []byte {
	return binary.BigEndian.AppendUint32(append(append(buf, 'B'), o.Listener...), uint32(o.Bytes))
}

// String is the line in traces.
func (o *BootstrapDelivered) String() string {
	return fmt.Sprintf("delivered to %s: bootstrap checkpoint of %d bytes", o.Listener, o.Bytes)
}

// SnapshotDelivered is the call of a listener with a snapshot.
type SnapshotDelivered struct {
	Listener string
	ID       raft.OffsetAndEpoch
	Bytes    int32
}

// AppendTo implements sim.Observation.
func (o *SnapshotDelivered) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(append(append(buf, 'S'), o.Listener...), uint64(o.ID.Offset))
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(buf, uint32(o.ID.Epoch)), uint32(o.Bytes))
}

// String is the line in traces.
func (o *SnapshotDelivered) String() string {
	return fmt.Sprintf("delivered to %s: snapshot %d of epoch %d, %d bytes", o.Listener, o.ID.Offset, o.ID.Epoch, o.Bytes)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
