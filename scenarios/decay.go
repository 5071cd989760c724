package scenarios

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// decay keeps the account of bits that flipped, at rest and under way: whose replica is damaged and until when, and from when on
// what goes wrong may be the declared consequence. A bit that a batch's checksum covers harms nobody before a recovery finds it
// and cuts the log there, as Kafka does (KB-44); a bit that no checksum covers may do anything from the start.
type decay struct {
	c     *cluster
	gone  bool      // something that was acknowledged may be
	wild  bool      // a bit flipped that no checksum covers
	hosts []decayed // by host
}

// decayed is one host's part of the account.
type decayed struct {
	end    int64     // the largest log end offset that it had
	goal   int64     // the log end offset that it must have again, -1: not damaged
	latent bool      // a recovery will find it, or whoever reads the snapshot after it
	booted bool      // since then
	hidden []wayward // sectors that went astray, which the page cache hides
	struck bool      // damage has shown
	barred bool      // it refused to start since then
}

// wayward is a sector that is not what was written there: lost, or misdirected where it belongs or where it landed.
type wayward struct {
	at    vdisk.Flipped
	class faultClass
	parts sectorParts
	// leftover: it was written to a file that had another name than it would get. Where that name is still there after a power loss, nobody
	// reads the file.
	leftover bool
	// written is what the sector should hold, where it ends with a base offset, length or epoch of a batch that goes on behind it, and bare where
	// that begins in it. Lost alone, these bytes leave the checksum right.
	written []byte
	bare    int
	flushed bool // the fsync that it is lost by has come to its end
}

// reads looks at what should be in the sector.
func (s *wayward) reads(v *vdisk.Volume) {
	data, _ := v.File(s.at.Path)
	s.parts = partsOfSector(s.at.Path, data, s.at.Offset)
	if from := bareFrom(s.at, data); from >= 0 {
		s.written, s.bare = bytes.Clone(data[s.at.Offset:s.at.Offset+vdisk.SectorSize]), from
	}
}

// build makes it ready for a run. It does nothing in plans in which no bit flips and no disk is swapped or wiped.
func (d *decay) build(c *cluster, p *plan.Plan) {
	*d = decay{c: c, hosts: d.hosts[:0]}
	for i := range c.w.Hosts() {
		d.hosts = slices.Grow(d.hosts, 1)[:i+1]
		d.hosts[i] = decayed{goal: -1, hidden: d.hosts[i].hidden[:0]}
	}
	if !damages(p) {
		return
	}
	c.w.Add(d)
	if c.ops.watching() {
		c.w.SetReplicaKey(func(h *sim.Host) string {
			c.ops.settle()
			if key, ok := c.ops.keyOf(h); ok {
				return key.String()
			}
			return h.ID()
		})
		return
	}
	voters := make([][]string, len(c.quorums)) // without operators they stay who they are
	for i := range c.hosts {
		if h := &c.hosts[i]; h.kind == kindController {
			voters[h.cluster] = append(voters[h.cluster], h.id)
		}
	}
	c.w.Budget().SetVoters(voters...)
}

// damages reports whether a plan has faults that the budget must allow.
func damages(p *plan.Plan) bool {
	for i := range p.Actions {
		switch p.Actions[i].Kind {
		case "flip", "swap", "wipe", "lost-write", "misdirected-write", "restore", "clone":
			return true
		}
	}
	return false
}

// Attach is sim.Checker.
func (d *decay) Attach(*sim.World) {}

// OnFlip is sim.FlipChecker.
func (d *decay) OnFlip(h *sim.Host, at vdisk.Flipped) {
	e := &d.hosts[h.Index()]
	e.goal, e.booted = e.end, false
	if d.c.judged.on {
		d.flippedBeyond(h, e, at)
		return
	}
	data, ok := h.Volume().DurableFile(at.Path)
	d.c.judged.damaged(h, classFlip, componentOf(at.Path, data, at.Offset))
	if ok && strings.HasSuffix(at.Path, ".log") && inChecksum(data, at.Offset) {
		e.latent = true
		return
	}
	d.wild = true
	d.lost()
}

// inChecksum reports whether a byte of a segment is covered by the checksum of its batch.
func inChecksum(segment []byte, offset int64) bool {
	for at := int64(0); ; {
		size, err := record.FileBatchSize(segment[at:], int64(len(segment))-at)
		if err != nil || size <= 0 {
			return false
		}
		if offset < at+size {
			return offset >= at+coveredFrom
		}
		at += size
	}
}

// flippedBeyond keeps the account of a flip without a budget: what the table says of the part that it struck.
func (d *decay) flippedBeyond(h *sim.Host, e *decayed, at vdisk.Flipped) {
	data, _ := h.Volume().DurableFile(at.Path)
	part := componentOf(at.Path, data, at.Offset)
	switch lossy := d.c.judged.damaged(h, classFlip, part); {
	case part == partBatch || part == partSnapshot:
		e.latent = true
	case lossy:
		d.lost()
	}
}

// OnWipe is sim.WipeChecker. Within the budget the suite itself knows what follows.
func (d *decay) OnWipe(h *sim.Host) {
	if d.c.judged.on && d.c.judged.damaged(h, classWipe, partDisk) {
		d.lost()
	}
}

// lost: from now on what goes wrong may follow from the damage.
func (d *decay) lost() {
	d.gone = true
	for _, c := range d.c.suite {
		if s, ok := c.(*invariants.Suite); ok {
			s.Damaged()
		}
	}
}

// OnBoot is sim.LifeChecker: the recovery that begins finds what is latent.
func (d *decay) OnBoot(h *sim.Host) {
	e := &d.hosts[h.Index()]
	if e.booted = true; e.latent {
		e.latent = false
		d.lost()
	}
}

// OnSend is sim.SendChecker: what a damaged log or snapshot holds goes to whoever fetches it.
func (d *decay) OnSend(from, to *sim.Host, m sim.Message) {
	if to == nil {
		return
	}
	switch m := m.(type) {
	case *raft.FetchResponse:
		d.c.judged.passes(from, to, len(m.Records))
	case *raft.FetchSnapshotResponse:
		d.c.judged.passes(from, to, len(m.Bytes))
	}
}

// OnDisk is sim.DiskChecker: a flush has happened that leaves a sector behind. Now the page cache has all that should be there.
func (d *decay) OnDisk(h *sim.Host, v *vdisk.Volume, op *vdisk.Op) {
	hidden := d.hosts[h.Index()].hidden
	if op.Kind != vdisk.OpSync {
		return
	}
	for i := range hidden {
		if s := &hidden[i]; !s.flushed && s.at.Path == op.Path {
			s.flushed = true
			s.reads(v)
		}
	}
}

// OnDiskCrash is sim.DiskChecker: who mirrors the disk reads it anew, and what is latent with it.
func (d *decay) OnDiskCrash(h *sim.Host, _ *vdisk.Volume) {
	e := &d.hosts[h.Index()]
	if e.latent {
		d.lost()
	}
	e.hidden = slices.DeleteFunc(e.hidden, func(s wayward) bool {
		if s.leftover {
			d.leaves(h, &s)
			return true
		}
		shows := surfaced(h.Volume(), s.at)
		if shows {
			e.goal, e.booted, e.struck = e.end, false, true
			d.surfaces(h, &s)
		}
		return shows
	})
}

// leaves notes damage of a file that stays behind under the name that it had while it was written.
func (d *decay) leaves(h *sim.Host, s *wayward) {
	if _, there := h.Volume().DurableFile(s.at.Path); there {
		d.c.judged.damaged(h, s.class, partOther)
	}
}

// bareFrom is where in a sector of a segment a batch begins of which it has nothing but what no checksum covers, -1 where none does.
func bareFrom(at vdisk.Flipped, segment []byte) int {
	end := at.Offset + vdisk.SectorSize
	if !strings.HasSuffix(at.Path, ".log") || end >= int64(len(segment)) || inChecksum(segment, end-1) {
		return -1
	}
	from := end - 1
	for from > at.Offset && !inChecksum(segment, from-1) {
		from--
	}
	return int(from - at.Offset)
}

// baresHeader reports whether the platter has all of the sector but the end, which no checksum covers: a recovery takes the batch, with another base
// offset, length or epoch than it was written with (formats.md 3).
func (s *wayward) baresHeader(v *vdisk.Volume) bool {
	platter, ok := v.DurableFile(s.at.Path)
	end := s.at.Offset + vdisk.SectorSize
	if s.written == nil || !ok || int64(len(platter)) < end {
		return false
	}
	got := platter[s.at.Offset:end]
	return bytes.Equal(got[:s.bare], s.written[:s.bare]) && !bytes.Equal(got[s.bare:], s.written[s.bare:])
}

// surfaces: what a drive did with a sector can be read now.
func (d *decay) surfaces(h *sim.Host, s *wayward) {
	if !d.c.judged.on && s.baresHeader(h.Volume()) {
		d.wild = true
	}
	lossy := !d.c.judged.on
	for _, part := range s.parts.list() {
		lossy = d.c.judged.damaged(h, s.class, part) || lossy
	}
	if lossy {
		d.lost()
	}
}

// surfaced reports whether the page cache no longer hides what is on the platter.
func surfaced(v *vdisk.Volume, at vdisk.Flipped) bool {
	cache, ok := v.File(at.Path)
	platter, durable := v.DurableFile(at.Path)
	end := min(at.Offset+vdisk.SectorSize, int64(len(cache)))
	return !ok || !durable || int64(len(platter)) < end || at.Offset >= end || bytes.Equal(cache[at.Offset:end], platter[at.Offset:end])
}

// OnStray is sim.StrayChecker: a sector that an fsync vouches for is going to be lost, or overwritten by another.
// Which parts of the node that strikes is read from the page cache when the fsync is through, when that has what was written.
func (d *decay) OnStray(h *sim.Host, kind vdisk.StrayKind, at vdisk.Flipped) {
	e := &d.hosts[h.Index()]
	e.goal, e.booted = e.end, false
	written, _ := h.Volume().File(at.Path)
	s := wayward{at: at, class: strayClass(kind), parts: partsOfSector(at.Path, written, at.Offset)}
	if d.c.judged.on && !strings.HasSuffix(at.Path, ".log") { // it gets another name, and checkers look at the platter
		e.struck = true
		d.surfaces(h, &s)
		if unfinished(at.Path) != at.Path {
			s.leftover = true
			e.hidden = append(e.hidden, s)
		}
		return
	}
	e.hidden = append(e.hidden, s)
}

// strayClass is the class of a fault of a drive.
func strayClass(kind vdisk.StrayKind) faultClass {
	if kind == vdisk.MisdirectedSector {
		return classMisdirected
	}
	return classLost
}

// OnRestore is sim.StrayChecker: the replica has forgotten what it acknowledged and promised since its disk was copied.
func (d *decay) OnRestore(h *sim.Host) {
	e := &d.hosts[h.Index()]
	e.goal, e.booted, e.struck, e.hidden = e.end, false, true, e.hidden[:0]
	d.c.judged.damaged(h, classRestore, partDisk)
	d.lost()
}

// OnDown is sim.LifeChecker: what is damaged may keep a node from starting.
func (d *decay) OnDown(h *sim.Host, kind sim.DownKind, _ error) {
	e := &d.hosts[h.Index()]
	e.barred = e.struck && kind == sim.RefusedToStart
}

// OnProtocol is sim.ProtocolChecker: a replica that has again all that it ever had, since a recovery, is repaired.
func (d *decay) OnProtocol(h *sim.Host, o sim.Observation) {
	x, ok := o.(*invariants.RaftObservation)
	if !ok || x.E.Kind != raft.LogAppended {
		return
	}
	e := &d.hosts[h.Index()]
	e.end = max(e.end, x.E.Offset)
	if e.goal >= 0 && e.booted && x.E.Offset >= e.goal {
		e.goal = -1
		d.c.w.Budget().Repaired(d.c.w.ReplicaKey(h))
	}
}

// tookDamaged hears that a frame with a flipped bit made a message that raft takes.
func (d *decay) tookDamaged(f *frame, m raft.Message) {
	if !f.anyBit {
		return // a checksum covers it
	}
	buf := &d.c.memory.wire
	*buf = f.plain.AppendTo((*buf)[:0])
	whole := len(*buf)
	*buf = m.AppendTo(*buf)
	if !bytes.Equal((*buf)[:whole], (*buf)[whole:]) {
		d.wild, d.c.judged.wild = true, true
		d.lost()
	}
}

// excuse says why a calm may have ended without progress.
func (d *decay) excuse() string {
	if why := d.c.judged.excuse(); why != "" {
		return why
	}
	if d.wild {
		return "bytes that no checksum covers are not what was written, which nothing mends"
	}
	for i := range d.hosts {
		if d.hosts[i].barred {
			return d.c.w.Hosts()[i].ID() + " refuses to start with what is damaged on its disk, which nobody mends"
		}
	}
	return ""
}

// patienceNs is how long a calm lasts that may never get anywhere.
func (d *decay) patienceNs(boundNs int64) int64 {
	if d.wild || d.c.judged.excuse() != "" {
		return min(boundNs, 40*d.c.timeouts.election*million)
	}
	return boundNs
}

// hopeless says why a calm need not end well: damage that no replica mends by itself.
func (d *decay) hopeless() string {
	if d.c.judged.on {
		return ""
	}
	for i := range d.hosts {
		if d.hosts[i].latent && d.c.w.Hosts()[i].Up() {
			return "what " + d.c.w.Hosts()[i].ID() + " reads from its log is damaged, and refused by everybody, until it starts again"
		}
	}
	return ""
}
