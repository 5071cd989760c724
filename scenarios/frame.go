package scenarios

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// frame is a message of raft as bytes on a connection. It goes by the name and hashes as the message that is in it. Where a plan has
// structs on the wire, a greeting still is a frame, for its version, but one without bytes.
type frame struct {
	plain   raft.Message // normalized
	bytes   []byte
	version int16
	damaged bool
	anyBit  bool // the plan lets any bit of a frame flip
	header  bool // the plan lets bits flip that no checksum covers and that a follower compares
}

// Kind is sim.Message.
func (f *frame) Kind() uint32 { return f.plain.Kind() }

// Key is sim.Message.
func (f *frame) Key() uint64 { return f.plain.Key() }

// AppendTo is sim.Message: the message, or the bytes where they are no longer that.
func (f *frame) AppendTo(buf []byte) []byte {
	if f.damaged {
		return append(buf, f.bytes...)
	}
	return f.plain.AppendTo(buf)
}

// Carried is sim.Carrier.
func (f *frame) Carried() sim.Message {
	if f.damaged {
		return f
	}
	return f.plain
}

// String describes a damaged frame, the only one that traces show.
func (f *frame) String() string { return fmt.Sprintf("%v, with a bit flipped", f.plain) }

// encode turns a message into a frame.
func (n *node) encode(m raft.Message, version int16) (*frame, error) {
	plain, err := wire.Normalize(m, version)
	if err != nil {
		return nil, err
	}
	f := n.c.memory.frames.next()
	*f = frame{plain: plain, version: version, anyBit: n.c.corruptAny && m.Kind()>>1 != uint32(wire.APIVersions), header: n.c.corruptHeader}
	if !n.c.bytesOnWire {
		return f, nil
	}
	buf := &n.c.memory.wire
	if m.Kind()&1 == 0 {
		*buf, err = wire.AppendRequest((*buf)[:0], plain, version, n.clientID())
	} else {
		*buf, err = wire.AppendResponse((*buf)[:0], plain, version)
	}
	if err != nil {
		return nil, err
	}
	f.bytes = n.env.Alloc(len(*buf))
	copy(f.bytes, *buf)
	return f, nil
}

func (n *node) clientID() string { return "raft-client-" + n.h.id }

// errOutOfStep: what arrived is no answer to what was asked, or the stream of frames has lost its step.
var errOutOfStep = errors.New("scenarios: frame out of step")

// decode turns a frame back into its message. On an error a node of Kafka's closes the connection.
func (f *frame) decode() (raft.Message, error) {
	if f.bytes == nil {
		return f.plain, nil
	}
	body, rest, ok, err := wire.NextFrame(f.bytes)
	if err != nil {
		return nil, err
	}
	if !ok || len(rest) > 0 {
		return nil, errOutOfStep // the length is not that of the frame: what follows is read in the wrong place
	}
	key := int16(f.plain.Kind() >> 1)
	if f.plain.Kind()&1 == 1 {
		m, err := wire.DecodeResponse(key, f.version, body)
		if err == nil && wire.Correlation(m) != wire.Correlation(f.plain) {
			err = errOutOfStep
		}
		return m, err
	}
	header, m, err := wire.DecodeRequest(body)
	if err == nil && (header.APIKey != key || header.Version != f.version) {
		err = errOutOfStep // the answer to another RPC, or in another version: the client closes
	}
	return m, err
}

// receive hands a message to raft, as it came or out of its frame.
func (n *node) receive(env *sim.Env, nowMs int64, in *sim.Input) error {
	f, ok := in.Msg.(*frame)
	if !ok {
		m := in.Msg.(raft.Message)
		if m.Kind() == raft.KindApiVersionsResponse {
			if taken, err := n.greeted(env, nowMs, in.Conn, m); taken {
				return err
			}
		}
		n.fetchReceived(env, in.Conn, m)
		return n.replica.Receive(nowMs, in.Conn, m)
	}
	m, err := f.decode()
	if err != nil {
		*n.c.w.Stat("wire-refused")++
		n.unlink(in.Conn)
		env.CloseConn(in.Conn)
		return n.replica.Disconnected(nowMs, in.Conn, false)
	}
	switch m.Kind() {
	case raft.KindApiVersionsRequest:
		if taken, err := n.greetedBy(env, in.Conn, f); taken {
			return err
		}
	case raft.KindApiVersionsResponse:
		if taken, err := n.greeted(env, nowMs, in.Conn, m); taken {
			return err
		}
	}
	if f.damaged {
		n.c.decay.tookDamaged(f, m)
	}
	n.fetchReceived(env, in.Conn, m)
	return n.replica.Receive(nowMs, in.Conn, m)
}

// Bits is vnet.Corruptible. What a greeting tells would be believed for as long as its connection lives, and raft has no way to
// find out: its bits stay as they are. In plans that let bits flip where a checksum covers them, these are those of the first batch in an
// answer to a Fetch, from its magic on (formats 3).
func (f *frame) Bits() int64 {
	if f.anyBit {
		return int64(len(f.bytes)) * 8
	}
	if f.header {
		return f.comparedBits()
	}
	_, size := f.covered()
	return size * 8
}

// comparedBits is the number of bits of the first batch that no checksum covers and of which none may flip unnoticed: those of the base
// offset, which follows from what stands before, and the upper ones of the leader epoch, which would be above that of the fetch.
func (f *frame) comparedBits() int64 {
	if _, size := f.covered(); size == 0 {
		return 0
	}
	return 64 + 12
}

// comparedBit is the place of one of them in the frame. The epochs of plans are far below 2^19, and a sign never flips.
func (f *frame) comparedBit(bit int64) (at, mask int64) {
	from, _ := f.covered()
	from -= coveredFrom
	if bit < 64 {
		return from + bit/8, 1 << (bit % 8)
	}
	bit += 19 - 64 // of the epoch, counted from its lowest
	return from + coveredFrom - 4 + 3 - bit/8, 1 << (bit % 8)
}

// Flip is vnet.Corruptible.
func (f *frame) Flip(bit int64) vnet.Payload {
	from := int64(0)
	if f.header && !f.anyBit {
		at, mask := f.comparedBit(bit)
		c := *f
		c.bytes = bytes.Clone(f.bytes)
		c.bytes[at] ^= byte(mask)
		c.damaged = true
		return &c
	}
	if !f.anyBit {
		from, _ = f.covered()
	}
	c := *f
	c.bytes = bytes.Clone(f.bytes)
	c.bytes[from+bit/8] ^= 1 << (bit % 8)
	c.damaged = true
	return &c
}

// coveredFrom is where, in a batch, begins what its checksum covers or is: magic, checksum, attributes and so on. What stands
// before, base offset, length and leader epoch, nothing covers.
const coveredFrom = 16

// covered is the part of the frame's bytes that the checksum of its first batch covers.
func (f *frame) covered() (from, size int64) {
	m, ok := f.plain.(*raft.FetchResponse)
	if !ok || len(m.Records) < record.BatchOverhead {
		return 0, 0
	}
	at := bytes.Index(f.bytes, m.Records)
	if at < 0 {
		return 0, 0
	}
	batch := min(12+int64(binary.BigEndian.Uint32(m.Records[8:])), int64(len(m.Records)))
	return int64(at) + coveredFrom, batch - coveredFrom
}
