package invariants

import (
	"math"
	"strconv"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var snapshotFitDoc = sim.InvariantDoc{
	Name:   "snapshot-fit",
	Source: "KAFKA-14238, KAFKA-14618; kraft-protocol S20, 4.2, 4.6",
	Doc: "A snapshot that gets its final name ends at a committed offset, at the end of a batch of its epoch; the log below a start " +
		"above 0 is deleted only when a durable snapshot reaches past it.",
}

// snapshotFile is a complete snapshot of a volume, by its committed name.
type snapshotFile struct {
	path         string
	offset       int64
	epoch        int32
	voters       int32 // voter set in its header, noSet: none
	kraftVersion int16
	durable      bool // the platter has all of it under its name
}

// parseSnapshot returns the id in the name of a complete snapshot other than the 0-0 checkpoint.
func (r *replica) parseSnapshot(path string) (f snapshotFile, ok bool) {
	dir, name := r.split(path)
	const size = len(bootstrapName)
	if len(name) != size || name == bootstrapName || name[31:] != ".checkpoint" || !r.isPartition(dir) {
		return f, false
	}
	if offset, ok := digits(name[:20]); ok {
		if epoch, ok := digits(name[21:31]); ok && epoch <= math.MaxInt32 {
			return snapshotFile{path: path, offset: offset, epoch: int32(epoch), voters: noSet}, true
		}
	}
	offset, err := strconv.ParseInt(name[:20], 10, 64)
	epoch, err2 := strconv.ParseInt(name[21:31], 10, 32)
	return snapshotFile{path: path, offset: offset, epoch: int32(epoch), voters: noSet}, err == nil && err2 == nil
}

// digits reads a number of 63 bits that consists of digits alone; false: it is another text, or a larger number.
func digits(s string) (v int64, ok bool) {
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 || v > (math.MaxInt64-9)/10 {
			return 0, false
		}
		v = 10*v + int64(d)
	}
	return v, true
}

// loadSnapshots reads names and headers from the volume.
func (c *core) loadSnapshots(r *replica) {
	r.snapshots.reset()
	r.disk.Walk(func(path string, data []byte) {
		if f, ok := r.parseSnapshot(path); ok {
			c.readHeader(&f, data)
			f.durable = r.durably(&f)
			r.snapshots.add(f)
		}
	})
}

// readHeader takes voters and kraft.version from the first batch.
func (c *core) readHeader(f *snapshotFile, data []byte) {
	if b, _, err := record.NextBatch(data); err == nil && len(b) > 0 && b.Verify() == nil {
		v := c.replayFile(b)
		f.voters, f.kraftVersion = v.voters, v.kraftVersion
	}
}

// snapshotGone follows a name that is no more.
func (c *core) snapshotGone(r *replica, path string) {
	if f, ok := r.parseSnapshot(path); ok {
		r.snapshots.remove(path, f.offset)
	}
}

// snapshotNamed follows a snapshot to its final name.
func (c *core) snapshotNamed(r *replica, path string) {
	f, ok := r.parseSnapshot(path)
	if !ok {
		return
	}
	data, _ := r.disk.File(path)
	c.readHeader(&f, data)
	r.snapshots.remove(path, f.offset)
	r.snapshots.add(f)
	if !r.up || !r.server {
		return
	}
	r.votersUnsure = true
	*c.times.snapshots++
	if c.voterChangeOpen(r) {
		*c.times.snapshotInChange++
	}
	if f.offset < c.exposed.from {
		return // frozen after a newer one had taken its place
	}
	c.rules.snapshotFit.eval()
	i := c.exposed.index(f.offset)
	if f.offset <= 0 || i < 0 {
		c.rules.snapshotFit.fail("not-committed", f.text(r)+" does not end with a committed batch; exposed are records up to "+
			number(c.exposed.end))
		return
	}
	e := &c.exposed.entries[i]
	if b := c.ledger.at(e.id); b.epoch != f.epoch {
		c.rules.snapshotFit.fail("other-epoch", f.text(r)+" ends with a batch of epoch "+number(int64(b.epoch)))
	}
	c.snapshotContent(r, &f, e, data)
}

// text names the snapshot in sentences.
func (f *snapshotFile) text(r *replica) string {
	return "snapshot " + number(f.offset) + " of epoch " + number(int64(f.epoch)) + " on " + r.id
}

// prefixAt returns the committed batch that ends at an offset, noBatch when there is none.
func (c *core) prefixAt(offset int64) batchID {
	if i := c.exposed.index(offset); offset > 0 && i >= 0 {
		return c.exposed.entries[i].id
	}
	return noBatch
}

// covered reports whether a durable snapshot is ahead of the whole log, by its offset or by its epoch: then the log may give
// way to it.
func (c *core) covered(r *replica) bool {
	epoch := int32(-1)
	if id := r.log.last(); id != noBatch {
		epoch = c.ledger.at(id).epoch
	}
	for i := range r.snapshots.files {
		f := &r.snapshots.files[i]
		if (f.offset > r.log.end || f.epoch > epoch) && r.durably(f) {
			return true
		}
	}
	return false
}

// durably reports whether the platter has all of a snapshot under its name.
func (r *replica) durably(f *snapshotFile) bool {
	data, ok := r.disk.File(f.path)
	platter, durable := r.disk.DurableFile(f.path)
	return ok && durable && string(data) == string(platter)
}

// snapshotsSynced follows a committed fsync of the partition directory.
func (r *replica) snapshotsSynced() {
	r.snapshots.synced(r.durably)
}

// startCovered reports whether a snapshot on the platter stands for what lies below the log start. Its name may have been on
// the platter before the fsync of the directory that made it sure.
func (r *replica) startCovered() bool {
	if r.log.start == 0 {
		return true
	}
	for _, f := range r.snapshots.files[r.snapshots.from(r.log.start):] {
		if f.durable {
			return true
		}
	}
	return false
}

// durableEnd is the offset up to which the replica holds everything durably, as log or as frozen snapshot.
func (r *replica) durableEnd() int64 {
	if !r.startCovered() {
		return 0
	}
	return r.log.durableEnd()
}

// prefixDeleted checks the deletion of the log below its new start.
func (c *core) prefixDeleted(r *replica) {
	if !r.up || !r.server {
		return
	}
	*c.times.prefixDeleted++
	c.forget()
	rule := &c.rules.snapshotFit
	rule.eval()
	above := r.snapshots.files[r.snapshots.from(r.log.start):]
	for i := range above {
		if r.durably(&above[i]) {
			return
		}
	}
	rule.fail("start-not-covered", r.id+" deleted its log below offset "+number(r.log.start)+", and no durable snapshot reaches that far")
}
