package invariants

import (
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/sim"
)

var imagesEqualDoc = sim.InvariantDoc{
	Name:   "images-equal",
	Source: "known-bugs S8",
	Doc: "Published images with the same offset are equal on all nodes and over all their lives, and equal the controller's state at " +
		"that stable offset.",
}

var publishedOnceDoc = sim.InvariantDoc{
	Name:   "published-once",
	Source: "KIP-868; KAFKA-14538; KAFKA-14857; metadata-bootstrap 7.2",
	Doc: "A loader takes each record in once, in offset order, publishes nothing that is not stable, and nothing at all before it has " +
		"caught up with the first high watermark that its node learned.",
}

// imageTable holds the digest of the image at each offset at which somebody showed one.
type imageTable struct {
	origin int64
	rows   []imageRow
}

type imageRow struct {
	digest uint64
	image  *image.Image // that of the host, for the sentence about one that differs; nil where it was not told
	place  string       // which of the host's images it is, as evidence
	host   int32
	set    bool
}

func (t *imageTable) reset() {
	clear(t.rows) // the images of the run before
	t.origin, t.rows = -1, t.rows[:0]
}

// row returns the row of an offset, nil for an absurd one.
func (t *imageTable) row(offset int64) *imageRow {
	if t.origin < 0 {
		t.origin = max(offset-1024, 0)
	}
	if offset < t.origin || offset-t.origin >= min(int64(len(t.rows))+maxLeap, maxHeads) {
		return nil
	}
	for int64(len(t.rows)) <= offset-t.origin {
		t.rows = append(t.rows, imageRow{})
	}
	return &t.rows[offset-t.origin]
}

// loaderState follows a loader in one process life.
type loaderState struct {
	lastOffset   int64 // published, -1
	firstOffset  int64 // the first that was published, -1
	lastReplayed int64 // -1
	dirFailed    bool
}

// imageShown compares the digest of an image at an offset with what others showed there. img is that image, where it was told.
func (c *core) imageShown(r *replica, offset int64, digest uint64, img *image.Image, evidence string) {
	if offset < 0 {
		return
	}
	rule := &c.rules.imagesEqual
	rule.eval()
	row := c.images.row(offset)
	if row == nil {
		return
	}
	if img != nil && img.Digest() != digest { // not the one that the event speaks of
		img = nil
	}
	if !row.set {
		*row = imageRow{digest: digest, image: img, place: evidence, host: r.host, set: true}
		return
	}
	if row.digest != digest {
		rule.fail(evidence, twoImages(r.id, c.replicas[row.host].id, offset)+
			differing(img, row.image, held(evidence, r), held(row.place, c.replicas[row.host])))
	}
}

// twoImages begins the sentence about images that differ: of two replicas, or two that one replica has.
func twoImages(a, b string, offset int64) string {
	if a == b {
		return "two images at offset " + number(offset) + " on " + a + " differ"
	}
	return "the image at offset " + number(offset) + " on " + a + " differs from the one on " + b
}

// The bounds of the sentence about two images: how many fields it names, and how many letters of a value it shows.
const (
	maxDiffering = 3
	maxLetters   = 48
)

// held says who holds an image.
func held(evidence string, r *replica) string {
	switch evidence {
	case "published":
		return "published by " + r.id
	case "reverted":
		return "in the controller of " + r.id + " after it gave up"
	}
	return "in the controller of " + r.id
}

// differing names the fields in which two images differ and what they are on each side, "" where an image is not known.
func differing(a, b *image.Image, here, there string) (text string) {
	if a == nil || b == nil {
		return ""
	}
	told, more := int64(0), int64(0)
	for d := range image.Differences(a, b) {
		if told == maxDiffering {
			more++
			continue
		}
		name := d.Entry
		if d.Field != "" {
			name = d.Field + " of " + name
		}
		if told++; told == 1 { // who holds which is said once
			text = "; " + name + " is " + short(d.A) + " (" + here + ") and " + short(d.B) + " (" + there + ")"
		} else {
			text += ", " + name + " " + short(d.A) + " and " + short(d.B)
		}
	}
	if more > 0 {
		text += "; and " + number(more) + " more"
	}
	return text
}

// short is a value as far as a sentence has room for it.
func short(value string) string {
	letters := []rune(value)
	if len(letters) <= maxLetters {
		return value
	}
	return string(letters[:maxLetters-3]) + "..."
}

// imageAdvanced follows the loader's replay.
func (c *core) imageAdvanced(r *replica, from, to int64) {
	rule := &c.rules.publishedOnce
	rule.eval()
	s := &r.loader
	if from != s.lastReplayed || to < from {
		rule.fail("not-contiguous", r.id+" replays from offset "+number(from)+" to "+number(to)+" after it was at "+
			number(s.lastReplayed))
	}
	s.lastReplayed = to
}

// imagePublished checks a published image: where it stands in the stable log, and what is in it.
func (c *core) imagePublished(r *replica, offset int64, digest uint64, img *image.Image) {
	rule := &c.rules.publishedOnce
	rule.eval()
	if offset < r.loader.lastOffset {
		rule.fail("went-back", r.id+" publishes offset "+number(offset)+" after "+number(r.loader.lastOffset))
	}
	r.loader.lastOffset = offset
	if offset >= 0 && !c.stableAt(offset) {
		rule.fail("not-stable", r.id+" publishes an image at offset "+number(offset)+", which is not stable; exposed are records up to "+
			number(c.exposed.end))
	}
	c.publishedID(r, offset)
	c.imageShown(r, offset, digest, img, "published")
}

// imageTold follows an image that anybody was told in a process life. The loader may publish once it has everything below a high
// watermark that its node knows; the node never knows a lower one than the first. The event of either may come first, since the lanes
// of a node tell theirs when their disk operations are done.
func (c *core) imageTold(r *replica, offset int64) {
	if r.loader.firstOffset < 0 {
		r.loader.firstOffset = max(offset, 0)
		c.caughtUpFirst(r)
	}
}

// watermarkLearned follows the high watermarks that a node comes to know, in whatever role.
func (c *core) watermarkLearned(r *replica, hw int64) {
	if r.firstMark < 0 {
		r.firstMark = hw
		c.caughtUpFirst(r)
	}
}

// caughtUpFirst compares the first image with the first high watermark of a process life, when both are known.
func (c *core) caughtUpFirst(r *replica) {
	if r.loader.firstOffset < 0 || r.firstMark < 0 {
		return
	}
	rule := &c.rules.publishedOnce
	rule.eval()
	if r.loader.firstOffset < r.firstMark-1 {
		rule.fail("before-caught-up", r.id+" published the image at offset "+number(r.loader.firstOffset)+
			" first, and the high watermark that it knew was "+number(r.firstMark))
	}
}

// stableAt reports whether an offset is exposed and no transaction is open behind it.
func (c *core) stableAt(offset int64) bool {
	if offset < c.exposed.from {
		return true // forgotten: it was
	}
	i := c.exposed.containing(offset)
	if i < 0 {
		return false
	}
	b := c.ledger.at(c.exposed.entries[i].id)
	if b.factEnd == b.factStart || offset == b.end-1 {
		return !b.after.open
	}
	v := emptyView
	if b.parent != noBatch {
		v = c.ledger.at(b.parent).after
	}
	for k := b.factStart; k < b.factEnd && c.ledger.facts[k].offset <= offset; k++ {
		v.apply(&c.ledger.facts[k])
	}
	return !v.open
}
