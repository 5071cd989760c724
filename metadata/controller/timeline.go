package controller

import (
	"errors"
	"fmt"
	"sort"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrReplay says that a record cannot follow the state that it was replayed on. Fatal on active and standby (7.1, KAFKA-14275).
var ErrReplay = errors.New("controller: replay failed")

const noTransaction int64 = -1

// moment is the memory as one record left it.
type moment struct {
	offset           int64
	image            *image.Image
	transactionStart int64 // offset of the open transaction's Begin; noTransaction if none
	registered       registrations
}

// timeline is the controller's memory: an image for each record since the last stable offset, which may still be taken
// back. Images share what they have in common, so this is the original's copy-on-write registry with an in-memory snapshot
// at every offset (KAFKA-13100: none was missing only where somebody had thought of it).
type timeline struct {
	image            *image.Image // of the newest state, committed or not
	transactionStart int64        // the same
	registered       registrations
	stable           moment   // what no failover takes back
	moments          []moment // ascending by offset; those before head are stable
	head             int32

	delta   image.Delta // scratch; between replayStable and catchUp what there is more than in image
	pending pendingMoment
}

// pendingMoment is the moment of the newest record that only the delta has so far.
type pendingMoment struct {
	open       bool // the delta stands on the image
	changed    bool // and a record had an effect: the one at offset was the last
	offset     int64
	registered registrations
}

func newTimeline() timeline {
	t := timeline{stable: moment{offset: -1, image: image.New(), transactionStart: noTransaction}}
	t.goTo(&t.stable)
	return t
}

func (t *timeline) live() []moment { return t.moments[t.head:] }

func (t *timeline) goTo(m *moment) {
	t.image, t.transactionStart, t.registered = m.image, m.transactionStart, m.registered
}

// at returns the memory as of offset, which is not below the last stable one. Valid until the next change.
func (t *timeline) at(offset int64) *moment {
	live := t.live()
	n := sort.Search(len(live), func(i int) bool { return live[i].offset > offset })
	if n == 0 {
		return &t.stable
	}
	return &live[n-1]
}

// imageAt returns the image as of offset, which is not below the last stable one.
func (t *timeline) imageAt(offset int64) *image.Image { return t.at(offset).image }

// replay makes the change of r, which lies at offset. Markers change the transaction (3.4).
func (t *timeline) replay(offset int64, r records.Record) error {
	switch r.(type) {
	case *records.BeginTransactionRecord:
		if t.transactionStart != noTransaction {
			return fmt.Errorf("%w: offset %d begins a transaction inside the one from %d", ErrReplay, offset, t.transactionStart)
		}
		t.push(offset, t.image, offset)
	case *records.EndTransactionRecord:
		if t.transactionStart == noTransaction {
			return fmt.Errorf("%w: offset %d ends a transaction, none is open", ErrReplay, offset)
		}
		t.push(offset, t.image, noTransaction)
	case *records.AbortTransactionRecord:
		if t.transactionStart == noTransaction {
			return fmt.Errorf("%w: offset %d aborts a transaction, none is open", ErrReplay, offset)
		}
		before := t.at(t.transactionStart - 1)
		t.registered = before.registered
		t.push(offset, before.image, noTransaction)
	default:
		t.delta.Reset(t.image)
		if err := t.delta.Replay(r); err != nil {
			return fmt.Errorf("%w: offset %d: %w", ErrReplay, offset, err)
		}
		if !t.delta.Unchanged() {
			t.registered = t.registered.after(offset, r)
			t.push(offset, t.delta.Apply(image.Provenance{Offset: offset, Epoch: -1}), t.transactionStart)
		}
	}
	return nil
}

// replayStable is replay for a reader of committed batches. Nothing goes back to between two records that are committed outside of a
// transaction, so one moment stands for a run of them: the next image costs what they change together, not a path of nodes for each.
// The memory is that of all records only after the catchUp that has to follow.
func (t *timeline) replayStable(offset int64, r records.Record) error {
	if t.transactionStart != noTransaction || isMarker(r) {
		t.catchUp()
		return t.replay(offset, r)
	}
	p := &t.pending
	if !p.open {
		t.delta.Reset(t.image)
		p.open, p.registered = true, t.registered
	}
	before := t.delta.Changes()
	if err := t.delta.Replay(r); err != nil {
		return fmt.Errorf("%w: offset %d: %w", ErrReplay, offset, err)
	}
	if t.delta.Changes() != before {
		p.changed, p.offset, p.registered = true, offset, p.registered.after(offset, r)
	}
	return nil
}

// catchUp adds the moment of what replayStable has put off.
func (t *timeline) catchUp() {
	p := &t.pending
	if p.changed {
		t.registered = p.registered
		t.push(p.offset, t.delta.Apply(image.Provenance{Offset: p.offset, Epoch: -1}), t.transactionStart)
	}
	*p = pendingMoment{}
}

func isMarker(r records.Record) bool {
	switch r.(type) {
	case *records.BeginTransactionRecord, *records.EndTransactionRecord, *records.AbortTransactionRecord:
		return true
	}
	return false
}

// push adds a moment. Of several at one offset, which a snapshot has, the last one counts.
func (t *timeline) push(offset int64, img *image.Image, start int64) {
	m := moment{offset: offset, image: img, transactionStart: start, registered: t.registered}
	t.goTo(&m)
	if n := len(t.moments); n > int(t.head) && t.moments[n-1].offset == offset {
		t.moments[n-1] = m
		return
	}
	t.moments = append(t.moments, m)
}

// undo goes back to the state at offset to, which is not below the last stable one, and returns how many moments were
// taken back. redo may bring them again until the next replay.
func (t *timeline) undo(to int64) (undone int32) {
	n := len(t.moments)
	for n > int(t.head) && t.moments[n-1].offset > to {
		n--
		undone++
	}
	t.moments = t.moments[:n]
	t.goTo(t.at(to))
	return undone
}

// redo brings those of the last undone moments again that lie at or below upTo.
func (t *timeline) redo(undone int32, upTo int64) {
	for ; undone > 0; undone-- {
		n := len(t.moments)
		m := &t.moments[:n+1][n]
		if m.offset > upTo {
			return
		}
		t.moments = t.moments[:n+1]
		t.goTo(m)
	}
}

// settle forgets how to go back below offset.
func (t *timeline) settle(offset int64) {
	for int(t.head) < len(t.moments) && t.moments[t.head].offset <= offset {
		t.stable = t.moments[t.head]
		t.moments[t.head] = moment{}
		t.head++
	}
	switch {
	case int(t.head) == len(t.moments):
		t.moments, t.head = t.moments[:0], 0
	case t.head >= 64 && int(t.head) > len(t.moments)/2:
		n := copy(t.moments, t.moments[t.head:])
		t.moments, t.head = t.moments[:n], 0
	}
}

func (t *timeline) appendTo(buf []byte) []byte {
	buf = record.AppendUint64(record.AppendUint64(buf, t.image.Digest()), t.stable.image.Digest())
	buf = record.AppendInt32(record.AppendInt64(buf, t.transactionStart), int32(len(t.live())))
	buf = t.registered.appendTo(buf)
	for at := range t.live() {
		m := &t.live()[at]
		buf = record.AppendUint64(record.AppendInt64(record.AppendInt64(buf, m.offset), m.transactionStart), m.image.Digest())
	}
	return buf
}
