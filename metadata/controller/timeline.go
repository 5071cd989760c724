package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrReplay says that a record cannot follow the state that it was replayed on. Fatal on active and standby (7.1, KAFKA-14275).
var ErrReplay = errors.New("controller: replay failed")

const noTransaction int64 = -1

// entry is one change of the timeline, with everything needed to take it back and to make it again.
type entry struct {
	offset           int64
	forward, inverse image.Change
	startBefore      int64 // offset of the open transaction's Begin before and after; noTransaction if none
	startAfter       int64
	digestAfter      uint64
}

// timeline is the controller's memory: an image and the changes since the last stable offset, which may still be taken
// back. The original has a copy-on-write registry with an in-memory snapshot for each append; a list of undo entries
// has a snapshot at every offset for free (KAFKA-13100: none was missing only where somebody had thought of it).
type timeline struct {
	image            *image.Image
	transactionStart int64 // of the newest state, committed or not
	entries          []entry
	head             int32 // entries before it are stable
	markers          int32 // live entries that open or close a transaction
	stableDigest     uint64
}

func newTimeline() timeline { return timeline{image: image.New(), transactionStart: noTransaction} }

func (t *timeline) live() []entry { return t.entries[t.head:] }

// replay makes the change of r, which lies at offset. Markers change the transaction (3.4).
func (t *timeline) replay(offset int64, r records.Record) error {
	switch r.(type) {
	case *records.BeginTransactionRecord:
		if t.transactionStart != noTransaction {
			return fmt.Errorf("%w: offset %d begins a transaction inside the one from %d", ErrReplay, offset, t.transactionStart)
		}
		t.mark(offset, offset)
	case *records.EndTransactionRecord:
		if t.transactionStart == noTransaction {
			return fmt.Errorf("%w: offset %d ends a transaction, none is open", ErrReplay, offset)
		}
		t.mark(offset, noTransaction)
	case *records.AbortTransactionRecord:
		if t.transactionStart == noTransaction {
			return fmt.Errorf("%w: offset %d aborts a transaction, none is open", ErrReplay, offset)
		}
		t.abort(offset)
	default:
		var c image.Change
		if err := image.ChangeOf(r, &c); err != nil {
			return fmt.Errorf("%w: offset %d: %w", ErrReplay, offset, err)
		}
		if c.Part != image.PartNone {
			t.push(offset, &c)
		}
	}
	return nil
}

func (t *timeline) push(offset int64, c *image.Change) {
	t.entries = append(t.entries, entry{
		offset: offset, forward: *c, inverse: t.image.Set(c),
		startBefore: t.transactionStart, startAfter: t.transactionStart, digestAfter: t.image.Digest(),
	})
}

func (t *timeline) mark(offset, start int64) {
	t.entries = append(t.entries, entry{
		offset: offset, startBefore: t.transactionStart, startAfter: start, digestAfter: t.image.Digest(),
	})
	t.transactionStart = start
	t.markers++
}

// abort takes the changes of the open transaction back, as changes of their own at the Abort's offset: the Abort may
// itself be taken back while the transaction's beginning is committed.
func (t *timeline) abort(offset int64) {
	for at := len(t.entries) - 1; at >= int(t.head) && t.entries[at].offset >= t.transactionStart; at-- {
		if c := t.entries[at].inverse; c.Part != image.PartNone {
			t.push(offset, &c)
		}
	}
	t.mark(offset, noTransaction)
}

// undo goes back to the state at offset to, which is not below the last stable one, and returns how many entries were
// taken back. redo may bring them again until the next replay.
func (t *timeline) undo(to int64) (undone int32) {
	for n := len(t.entries); n > int(t.head) && t.entries[n-1].offset > to; n-- {
		e := &t.entries[n-1]
		t.image.Set(&e.inverse)
		t.transactionStart = e.startBefore
		t.countMarker(e, -1)
		t.entries = t.entries[:n-1]
		undone++
	}
	return undone
}

// redo makes those of the last undone entries again that lie at or below upTo.
func (t *timeline) redo(undone int32, upTo int64) {
	for ; undone > 0; undone-- {
		n := len(t.entries)
		e := &t.entries[:n+1][n]
		if e.offset > upTo {
			return
		}
		t.entries = t.entries[:n+1]
		t.image.Set(&e.forward)
		t.transactionStart = e.startAfter
		t.countMarker(e, 1)
	}
}

func (t *timeline) countMarker(e *entry, by int32) {
	if e.startBefore != e.startAfter {
		t.markers += by
	}
}

// transactionStartAt returns where the transaction began that was open at offset, noTransaction if none was.
func (t *timeline) transactionStartAt(offset int64) int64 {
	start := noTransaction
	if t.markers == 0 {
		return start // stable offsets lie outside transactions, and nothing opened one since
	}
	for at := range t.live() {
		e := &t.live()[at]
		if e.offset > offset {
			break
		}
		start = e.startAfter
	}
	return start
}

// digestAt returns the image's digest as of offset, which is not below the last stable one.
func (t *timeline) digestAt(offset int64) uint64 {
	digest := t.stableDigest
	for at := range t.live() {
		e := &t.live()[at]
		if e.offset > offset {
			break
		}
		digest = e.digestAfter
	}
	return digest
}

// settle forgets how to go back below offset.
func (t *timeline) settle(offset int64) {
	for int(t.head) < len(t.entries) && t.entries[t.head].offset <= offset {
		e := &t.entries[t.head]
		t.stableDigest = e.digestAfter
		t.countMarker(e, -1)
		t.head++
	}
	switch {
	case int(t.head) == len(t.entries):
		t.entries, t.head = t.entries[:0], 0
	case t.head >= 64 && int(t.head) > len(t.entries)/2:
		n := copy(t.entries, t.entries[t.head:])
		t.entries, t.head = t.entries[:n], 0
	}
}

// featureAt returns a feature's level as of offset (not below the last stable one), 0 if it had none.
func (t *timeline) featureAt(name string, offset int64) int16 {
	for at := range t.live() {
		e := &t.live()[at]
		if e.offset > offset && e.forward.Part == image.PartFeature && e.forward.Name == name {
			return e.inverse.Level
		}
	}
	return t.image.FeatureLevel(name)
}

// clusterIDAt returns the cluster id as of offset (not below the last stable one).
func (t *timeline) clusterIDAt(offset int64) string {
	for at := range t.live() {
		e := &t.live()[at]
		if e.offset > offset && e.forward.Part == image.PartClusterID {
			return e.inverse.Value
		}
	}
	return t.image.ClusterID()
}

// configAt returns a configuration value as of offset (not below the last stable one).
func (t *timeline) configAt(key image.ConfigKey, offset int64) (value string, found bool) {
	for at := range t.live() {
		e := &t.live()[at]
		c := &e.forward
		if e.offset > offset && c.Part == image.PartConfig &&
			key == (image.ConfigKey{Type: c.Type, Resource: c.Resource, Name: c.Name}) {
			return e.inverse.Value, !e.inverse.Deleted
		}
	}
	return t.image.Config(key)
}

func (t *timeline) appendTo(buf []byte) []byte {
	buf = record.AppendUint64(record.AppendUint64(buf, t.image.Digest()), t.stableDigest)
	buf = record.AppendInt32(record.AppendInt64(buf, t.transactionStart), int32(len(t.live())))
	for at := range t.live() {
		e := &t.live()[at]
		buf = record.AppendInt64(record.AppendInt64(buf, e.offset), e.startAfter)
		buf = e.forward.AppendTo(buf)
	}
	return buf
}
