package image

import (
	"github.com/kraftsim/kraftsim/metadata/image/ordered"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// Delta leads from one image to the next: records are replayed on it, and Apply returns what came of them. It holds both
// sides, so what it says of the difference is the real one, however the records were grouped (KAFKA-19497). The zero
// Delta is not ready; Reset, ResetToSnapshot or Between makes it so, and all of them keep no image longer than that.
type Delta struct {
	base    *Image
	next    Image // what the records make of base; its provenance is base's
	edit    *ordered.Edit
	records int64
	writes  int64
}

// NewDelta returns an empty delta on an image.
func NewDelta(base *Image) *Delta {
	d := &Delta{}
	d.Reset(base)
	return d
}

// Reset starts over with an empty delta on an image.
func (d *Delta) Reset(base *Image) { *d = Delta{base: base, next: *base} }

// ResetToSnapshot starts over with a delta that will lead from an image to the snapshot whose records are replayed next. What
// base has and they do not mention is deleted (metadata-bootstrap 7.2, point 6).
func (d *Delta) ResetToSnapshot(base *Image) {
	*d = Delta{base: base, next: *New()}
	d.next.provenance, d.next.plain = base.provenance, base.plain
}

// Between makes d the finished delta between two images; from New() it is what a new publisher is told first.
func (d *Delta) Between(base, next *Image) { *d = Delta{base: base, next: *next} }

// Base returns the image that the delta stands on.
func (d *Delta) Base() *Image { return d.base }

// Image returns what the records make of the base so far. It changes with the next Replay: read it at once, or Apply.
func (d *Delta) Image() *Image { return &d.next }

// Records returns how many records were replayed, those without effect included.
func (d *Delta) Records() int64 { return d.records }

// Unchanged tells whether no record had an effect.
func (d *Delta) Unchanged() bool { return d.writes == 0 }

// Changes returns how many changes the records made. One without effect makes none.
func (d *Delta) Changes() int64 { return d.writes }

// Apply returns the image that the records make of the base, at p. The delta stays what it is.
func (d *Delta) Apply(p Provenance) *Image {
	d.edit = nil // from here on the nodes are somebody else's too
	next := d.next
	next.provenance = p
	d.next.provenance = p
	return &next
}

// Replay adds what r does. The image keeps the texts and lists of r: nobody may write to them afterwards. The error wraps
// ErrNoPart or ErrImpossible, and the delta is as before then.
func (d *Delta) Replay(r records.Record) error {
	if err := d.replay(r); err != nil {
		return err
	}
	d.records++
	return nil
}

// editing returns the Edit of the next change. The first change has none: most deltas have one change only, and what it
// makes is not written to twice.
func (d *Delta) editing() *ordered.Edit {
	d.writes++
	if d.writes > 1 && d.edit == nil {
		d.edit = new(ordered.Edit)
	}
	return d.edit
}

// put sets an entry of one part of the next image and keeps the digest.
func put[K ordered.Key[K], V any](d *Delta, m *ordered.Map[K, V], key K, value V, hash uint64) *ordered.Entry[K, V] {
	e := &ordered.Entry[K, V]{Key: key, Value: value, Hash: hash}
	next, old := m.Set(d.editing(), e)
	*m = next
	d.next.digest += hash
	if old != nil {
		d.next.digest -= old.Hash
		if old.Hash == hash {
			return old
		}
	}
	return e
}

// drop removes an entry of one part of the next image, if it is there, and keeps the digest.
func drop[K ordered.Key[K], V any](d *Delta, m *ordered.Map[K, V], key K) (old *ordered.Entry[K, V]) {
	next, old := m.Remove(d.editing(), key)
	if old != nil {
		*m = next
		d.next.digest -= old.Hash
	}
	return old
}
