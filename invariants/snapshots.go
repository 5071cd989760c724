package invariants

import (
	"strconv"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var snapshotFitDoc = sim.InvariantDoc{
	Name:   "snapshot-fit",
	Source: "KAFKA-14238, KAFKA-14618; kraft-protocol S20, 4.2, 4.6",
	Doc: "A snapshot that gets its final name ends at a committed offset, at the end of a batch of its epoch; the log below a start " +
		"above 0 is deleted only when a durable snapshot reaches past it.",
}

var snapshotContentDoc = sim.InvariantDoc{
	Name:   "snapshot-content",
	Source: "known-bugs S8, KB-40; kraft-protocol 4.3",
	Doc: "A snapshot that gets its final name is whole, its records add up to the state at its offset that loaders and controllers show, " +
		"and it carries the kraft.version and the voters that were in force there.",
}

// snapshotFile is a complete snapshot of a volume, by its committed name.
type snapshotFile struct {
	path   string
	offset int64
	epoch  int32
}

// parseSnapshot returns the id in the name of a complete snapshot other than the 0-0 checkpoint.
func (r *replica) parseSnapshot(path string) (f snapshotFile, ok bool) {
	dir, name := splitPath(path)
	const size = len(bootstrapName)
	if len(name) != size || name == bootstrapName || name[31:] != ".checkpoint" || !r.isPartition(dir) {
		return f, false
	}
	offset, err := strconv.ParseInt(name[:20], 10, 64)
	epoch, err2 := strconv.ParseInt(name[21:31], 10, 32)
	return snapshotFile{path: path, offset: offset, epoch: int32(epoch)}, err == nil && err2 == nil
}

// loadSnapshots reads the names from the volume.
func (c *core) loadSnapshots(r *replica) {
	r.snapshots = r.snapshots[:0]
	r.disk.Walk(func(path string, _ []byte) {
		if f, ok := r.parseSnapshot(path); ok {
			r.snapshots = append(r.snapshots, f)
		}
	})
}

// snapshotGone follows a name that is no more.
func (c *core) snapshotGone(r *replica, path string) {
	for i := range r.snapshots {
		if r.snapshots[i].path == path {
			r.snapshots = append(r.snapshots[:i], r.snapshots[i+1:]...)
			return
		}
	}
}

// snapshotNamed follows a snapshot to its final name.
func (c *core) snapshotNamed(r *replica, path string) {
	f, ok := r.parseSnapshot(path)
	if !ok {
		return
	}
	c.snapshotGone(r, path)
	r.snapshots = append(r.snapshots, f)
	if !r.up || !r.server {
		return
	}
	where := "snapshot " + number(f.offset) + " of epoch " + number(int64(f.epoch)) + " on " + r.id
	c.rules.snapshotFit.eval()
	id := c.prefixAt(f.offset)
	switch {
	case id == noBatch:
		c.rules.snapshotFit.fail("not-committed", where+" does not end with a committed batch; exposed are records up to "+
			number(c.exposed.end))
		return
	case c.ledger.at(id).epoch != f.epoch:
		c.rules.snapshotFit.fail("other-epoch", where+" ends with a batch of epoch "+number(int64(c.ledger.at(id).epoch)))
	}
	c.snapshotContent(r, &f, id, where)
}

// snapshotContent compares the records with the image that others showed at the offset, and the header with the log.
func (c *core) snapshotContent(r *replica, f *snapshotFile, id batchID, where string) {
	rule := &c.rules.snapshotContent
	rule.eval()
	data, _ := r.disk.File(f.path)
	header, err := raftlog.CheckSnapshot(data)
	if err != nil {
		rule.fail("not-whole", where+" can't be read: "+err.Error())
		return
	}
	after := c.ledger.at(id).after
	if !c.ledger.at(id).rooted { // what came before the run is in nobody's log
		after = emptyView
		after.kraftVersion = header.KRaftVersion
	}
	if header.KRaftVersion != after.kraftVersion {
		rule.fail("kraft-version", where+" says kraft.version "+number(int64(header.KRaftVersion))+", the log "+
			number(int64(after.kraftVersion)))
	}
	if after.voters != noSet && header.KRaftVersion > 0 {
		if header.Voters == nil || !c.ledger.sets[after.voters].sameIDs(&c.ledger.sets[c.ledger.setOfVoters(header.Voters)]) {
			rule.fail("voters", where+" has other voters than the log, which says "+c.ledger.sets[after.voters].text())
		}
	}
	digest, err := digestOf(data)
	if err != nil {
		rule.fail("records", where+" can't be replayed: "+err.Error())
		return
	}
	if row := c.images.row(f.offset - 1); row != nil && row.set && row.digest != digest {
		rule.fail("other-state", where+" differs from the image that "+c.replicas[row.host].id+" showed at offset "+number(f.offset-1))
	}
}

// digestOf replays the records of a snapshot.
func digestOf(data []byte) (uint64, error) {
	var delta image.Delta
	var reader image.BatchReader
	for len(data) > 0 {
		b, rest, err := record.NextBatch(data)
		if err != nil {
			return 0, err
		}
		data = rest
		if b.IsControl() {
			continue
		}
		for reader.Reset(b); reader.Next(); {
			if err := delta.Replay(reader.Record); err != nil {
				return 0, err
			}
		}
		if err := reader.Err(); err != nil {
			return 0, err
		}
	}
	img := image.New()
	img.Apply(&delta, image.Provenance{})
	return img.Digest(), nil
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
	for i := range r.snapshots {
		f := &r.snapshots[i]
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

// prefixDeleted checks the deletion of the log below its new start.
func (c *core) prefixDeleted(r *replica) {
	if !r.up || !r.server {
		return
	}
	rule := &c.rules.snapshotFit
	rule.eval()
	for i := range r.snapshots {
		if f := &r.snapshots[i]; f.offset >= r.log.start && r.durably(f) {
			return
		}
	}
	rule.fail("start-not-covered", r.id+" deleted its log below offset "+number(r.log.start)+", and no durable snapshot reaches that far")
}

// snapshotDelivered follows a snapshot into a listener, which may jump forward by it and never back.
func (c *core) snapshotDelivered(r *replica, name string, offset int64) {
	x := r.listenerOf(name)
	rule := &c.rules.listenerOrder
	rule.eval()
	if x.next > offset {
		rule.fail("snapshot-back", r.id+" gave listener "+name+" the snapshot "+number(offset)+" behind offset "+number(x.next))
	}
	x.next = offset
	safe := &c.rules.stateMachineSafety
	safe.eval()
	i := c.exposed.index(offset)
	if i < 0 {
		safe.fail("not-committed", r.id+" gave listener "+name+" the snapshot "+number(offset)+", exposed are "+number(c.exposed.end))
		return
	}
	x.position = i + 1
}
