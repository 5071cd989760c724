package scenarios

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// What may come of a fault when no budget holds it back. Within the budget a violation is a bug; beyond it the outcome that is declared here
// must come about, for the classes of faults that really struck in the run and the part of the node that they struck. Everything else, a
// silent divergence before all, stays a finding. docs/faults.md has the table; the scenarios unrestricted/* are judged by it.

// outcome is a set of what may come of a fault.
type outcome uint8

const (
	// tolerated: it costs time, and nothing else.
	tolerated outcome = 1 << iota
	// mayStop: the process ends with one of the errors of the row.
	mayStop
	// mayRefuse: it does not start, with one of the errors of the row.
	mayRefuse
	// mayLose: a documented loss. What was acknowledged, promised or agreed on may be gone, and what follows from that carries the
	// evidence of the loss.
	mayLose
)

// String returns the words of the table.
func (o outcome) String() string {
	var words []string
	for i, word := range []string{"tolerate", "stop with an error", "refuse to start", "documented loss"} {
		if o&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// faultClass is a kind of fault as the table has it, and component the part of a node that it strikes.
type (
	faultClass string
	component  string
)

const (
	classFlip        faultClass = "bit flip"
	classLost        faultClass = "lost write"
	classMisdirected faultClass = "misdirected write"
	classWipe        faultClass = "wipe"
	classRestore     faultClass = "old copy"

	partBatch       component = "metadata log, under a checksum"
	partHeader      component = "metadata log, base offset, length or epoch of a batch"
	partQuorumState component = "quorum-state"
	partSnapshot    component = "snapshot, under a checksum"
	partSnapHeader  component = "snapshot, base offset, length or epoch of a batch"
	partEpochs      component = "leader-epoch-checkpoint"
	partPartition   component = "partition.metadata"
	partIdentity    component = "meta.properties"
	partBootstrap   component = "bootstrap.checkpoint"
	partOther       component = "temporary and other files"
	partDisk        component = "disk"
	partProcess     component = "process"
	partNetwork     component = "network"
	partClock       component = "clock"
)

// declaredOutcome is a row of the table.
type declaredOutcome struct {
	class     faultClass
	component component
	may       outcome
	errors    []error
	why       string
	// kinds are the actions whose happening means that the class struck; none for classes of damage, which are told as they strike.
	kinds []string
	// counted is how often a disk has been struck, where disks count it: a plan may draw an error, force a single one, or ask for one by
	// an action, and what counts is that an operation has failed.
	counted func(d *vdisk.Struck) int64
}

// unreadable are the errors of files that say nothing sensible.
var (
	unreadableLog      = []error{record.ErrCorrupt, record.ErrTruncated, record.ErrMalformed, record.ErrInvalidRecord, raftlog.ErrDirectory, loader.ErrLoad}
	unreadableHeader   = append([]error{raftlog.ErrSnapshotID, raftlog.ErrOffsetOutOfRange, raft.ErrListener}, unreadableLog...) // offsets with gaps
	unreadableQuorum   = []error{quorumstate.ErrInvalid, raft.ErrQuorumState}
	unreadableSnapshot = []error{record.ErrCorrupt, record.ErrTruncated, record.ErrMalformed, record.ErrInvalidRecord, raftlog.ErrSnapshotContent,
		raftlog.ErrDirectory, bootstrap.ErrCheckpoint, loader.ErrLoad, raft.ErrSnapshotDownload}
	unreadableIdentity = []error{metaprops.ErrInvalid, metaprops.ErrNoneValid, metaprops.ErrNoClusterID, metaprops.ErrClusterID, metaprops.ErrNoNodeID,
		metaprops.ErrNodeID, metaprops.ErrReservedDirectoryID, metaprops.ErrDuplicateDirectory, metaprops.ErrMetadataDirFailed,
		startup.ErrNotFormatted, startup.ErrIncomplete, startup.ErrStrayLog, startup.ErrNoClusterID, startup.ErrOrphanLog}
)

// declaredOutcomes is the table.
func declaredOutcomes() []declaredOutcome {
	damage := func(part component, may outcome, list []error, why string) (rows []declaredOutcome) {
		for _, class := range []faultClass{classFlip, classLost, classMisdirected} {
			rows = append(rows, declaredOutcome{class: class, component: part, may: may, errors: list, why: why})
		}
		return rows
	}
	rows := []declaredOutcome{
		{class: "crash", component: partProcess, may: tolerated, kinds: []string{"kill", "crash-op", "stop", "pause"},
			why: "everything that counts is durable before anybody hears of it"},
		{class: "power loss", component: partDisk, may: tolerated | mayLose, kinds: []string{"power", "crash-op"},
			why: "what was not flushed was not acknowledged; a sole voter acknowledges before its fsync (kraft-protocol 3.6)"},
		{class: "power loss, posix", component: partDisk, may: tolerated | mayLose | mayStop | mayRefuse, kinds: []string{"power", "crash-op"},
			counted: func(d *vdisk.Struck) int64 { return d.Holes + d.NamesOutOfOrder }, errors: unreadableLog,
			why: "a deleted segment may come back before a hole, and a lost sector may end with a header that no checksum covers"},
		{class: "partition, delay, reset", component: partNetwork, may: tolerated,
			kinds: []string{"cut", "isolate", "split", "flap", "clog", "filter", "throttle", "names"}, why: "a majority that hears each other goes on"},
		{class: "jump, drift", component: partClock, may: tolerated, kinds: []string{"jump"}, why: "timers run early or late; safety asks no clock"},
		{class: "read error", component: partDisk, may: mayStop | mayRefuse, kinds: []string{"disk-error"}, errors: []error{syscall.EIO, metaprops.ErrNoneValid,
			metaprops.ErrMetadataDirFailed}, counted: func(d *vdisk.Struck) int64 { return d.ReadErrors }, why: "what cannot be read is not guessed"},
		{class: "write error", component: partDisk, may: mayStop | mayRefuse, kinds: []string{"disk-error"}, errors: []error{syscall.EIO},
			counted: func(d *vdisk.Struck) int64 { return d.WriteErrors }, why: "what was not written is not acknowledged"},
		{class: "fsync error", component: partDisk, may: mayStop | mayRefuse | mayLose, kinds: []string{"disk-error"}, errors: []error{syscall.EIO},
			counted: func(d *vdisk.Struck) int64 { return d.SyncErrors },
			why:     "the next life reads from the page cache what never reached the disk, and acknowledges it"},
		{class: "disk full", component: partDisk, may: mayStop | mayRefuse, kinds: []string{"disk-full"}, errors: []error{syscall.ENOSPC},
			counted: func(d *vdisk.Struck) int64 { return d.NoSpace }, why: "as a write error"},
		{class: "read-only", component: partDisk, may: mayStop | mayRefuse, kinds: []string{"read-only"},
			errors: []error{syscall.EROFS, metaprops.ErrMetadataDirFailed}, counted: func(d *vdisk.Struck) int64 { return d.ReadOnly },
			why: "as a write error"},
		{class: "slow or stuck", component: partDisk, may: tolerated, kinds: []string{"disk-slow", "disk-stuck"}, why: "the lane waits"},
		{class: "swap, clone", component: partDisk, may: mayRefuse | mayStop, kinds: []string{"swap", "clone"}, errors: unreadableIdentity,
			why: "meta.properties names another node"},
		{class: classWipe, component: partDisk, may: mayRefuse | mayLose, errors: append([]error{fs.ErrNotExist}, unreadableIdentity...),
			why: "without its log a voter keeps its identity: it votes again, and its old acknowledgements count"},
		{class: classRestore, component: partDisk, may: mayLose | mayStop | mayRefuse, errors: append(append([]error{}, unreadableLog...), unreadableIdentity...),
			why: "as a wipe, from the time of the copy on"},
	}
	for _, more := range [][]declaredOutcome{
		damage(partBatch, mayStop|mayRefuse|mayLose, unreadableLog, "a recovery cuts the log at the first bad batch, though it was acknowledged (KB-44)"),
		damage(partHeader, mayStop|mayRefuse|mayLose, unreadableHeader, "no checksum covers it (formats 3): another offset, length or epoch"),
		damage(partQuorumState, mayRefuse|mayLose, unreadableQuorum, "JSON without a checksum: no sense, or another epoch or vote"),
		{{class: classFlip, component: partSnapshot, may: tolerated | mayStop | mayRefuse | mayLose, errors: unreadableSnapshot,
			why: "a checksum tells who reads it; until then retention deletes the log below it, and a voter that cannot read what it has counts"}},
		damage(partSnapshot, mayStop|mayRefuse|mayLose, unreadableSnapshot, "retention deletes the log below a snapshot of which the drive has no sector")[1:],
		damage(partSnapHeader, tolerated|mayStop|mayRefuse|mayLose, unreadableSnapshot, "no checksum covers it (formats 3)"),
		damage(partEpochs, tolerated|mayStop|mayRefuse|mayLose, unreadableLog, "text without a checksum: no sense, or an epoch that begins elsewhere"),
		damage(partPartition, tolerated|mayRefuse, []error{raftlog.ErrDirectory}, "another topic id, or none"),
		damage(partIdentity, tolerated|mayRefuse|mayLose, unreadableIdentity, "text without a checksum: no sense, or another node, cluster or directory"),
		damage(partBootstrap, tolerated|mayStop|mayRefuse|mayLose, unreadableSnapshot, "read once, when the log is empty; then as a snapshot"),
		damage(partOther, tolerated, nil, "nobody reads them"),
	} {
		rows = append(rows, more...)
	}
	return rows
}

// componentOf says which part of a node a byte of a file belongs to. data is the file before the damage.
func componentOf(path string, data []byte, offset int64) component {
	name := unfinished(path[strings.LastIndexByte(path, '/')+1:])
	covered := func(yes, no component) component {
		if inChecksum(data, offset) {
			return yes
		}
		return no
	}
	switch {
	case strings.HasSuffix(name, ".log"):
		return covered(partBatch, partHeader)
	case name == quorumstate.FileName:
		return partQuorumState
	case name == bootstrap.FileName || strings.HasPrefix(name, strings.TrimSuffix(bootstrap.CheckpointName, ".checkpoint")):
		return partBootstrap
	case strings.HasSuffix(name, ".checkpoint"):
		return covered(partSnapshot, partSnapHeader)
	case name == "leader-epoch-checkpoint":
		return partEpochs
	case name == "partition.metadata":
		return partPartition
	case name == metaprops.FileName:
		return partIdentity
	}
	return partOther
}

// unfinished is the name of a file without what it has at its end while it is written: .tmp or .part.
func unfinished(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".tmp"), ".part")
}

// sectorParts are the parts of a node of which a sector has bytes: two at most, what a checksum covers and what none does.
type sectorParts [2]component

// list returns those that there are.
func (s *sectorParts) list() []component {
	if s[1] == "" {
		return s[:1]
	}
	return s[:]
}

// partsOfSector says which parts of a node a sector of a file belongs to. data is the file as it was written.
func partsOfSector(path string, data []byte, offset int64) (parts sectorParts) {
	end := min(offset+vdisk.SectorSize, int64(len(data)))
	parts[0] = componentOf(path, data, offset)
	for at := offset; at < end && parts[1] == ""; at++ {
		if part := componentOf(path, data, at); part != parts[0] {
			parts[1] = part
		}
	}
	return parts
}

// judgement is what a run without a budget is judged by: which rows of the table struck, and whom.
type judgement struct {
	c       *cluster
	on      bool
	rows    []declaredOutcome // made once
	struck  [][]bool          // by row and host: classes of damage
	reached []bool            // by host: it was sent records or pieces of a snapshot by a host that was struck by damage, or was reached
	wild    bool              // a message with a flipped bit was taken, which no checksum covers
}

// build makes it ready for a run.
func (j *judgement) build(c *cluster, p *plan.Plan) {
	j.c, j.wild, j.on = c, false, beyondBudget(p)
	if j.rows == nil {
		j.rows = declaredOutcomes()
		j.struck = make([][]bool, len(j.rows))
	}
	hosts := len(c.w.Hosts())
	for i := range j.struck {
		j.struck[i] = emptied(j.struck[i], hosts)
	}
	j.reached = emptied(j.reached, hosts)
}

// emptied returns a list of n times false.
func emptied(list []bool, n int) []bool {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// afterLoss are the errors with which nodes end that contradict each other, once something that was acknowledged, promised or agreed on is
// gone: two leaders of one epoch, a leader that does not have what its follower knows to be committed, a log that cannot be applied, a
// cluster that was bootstrapped again under another id.
var afterLoss = []error{raft.ErrInconsistentLeader, raft.ErrIllegalTransition, raft.ErrTruncationBelowHighWatermark, raft.ErrHighWatermark,
	raftlog.ErrBelowHighWatermark, loader.ErrLoad, loader.ErrClusterID, controller.ErrReplay}

// follows reports whether a process may end with an error after a declared loss of that evidence: with what contradiction brings, or with
// what a row says of a class and a component that really struck. Within the budget as without it.
func (j *judgement) follows(host, loss string, refused bool, err error) bool {
	if j.wild {
		return true // a message of any content
	}
	known := slices.Clone(afterLoss)
	if loss == evidenceHole || loss == evidenceFailedSync {
		known = append(known, unreadableLog...)
	}
	return slices.ContainsFunc(known, func(e error) bool { return errors.Is(err, e) }) || j.allows(host, refused, err)
}

// beyondBudget reports whether a plan is judged by the table.
func beyondBudget(p *plan.Plan) bool {
	return p.Unrestricted && strings.HasPrefix(p.Scenario, unrestrictedFamily)
}

// damaged notes that a class of damage struck a component of a host, and reports whether that may lose something.
func (j *judgement) damaged(h *sim.Host, class faultClass, part component) (lossy bool) {
	for i := range j.rows {
		if r := &j.rows[i]; r.class == class && r.component == part {
			j.struck[i][h.Index()] = true
			return r.may&mayLose != 0
		}
	}
	return true
}

// passes notes what a host is sent of a damaged log or snapshot.
func (j *judgement) passes(from, to *sim.Host, bytes int) {
	if bytes == 0 || j.reached[to.Index()] {
		return
	}
	j.reached[to.Index()] = j.reached[from.Index()] || slices.ContainsFunc(j.struck, func(hosts []bool) bool { return hosts[from.Index()] })
}

// struckBy reports whether a class of damage struck a component of any host.
func (j *judgement) struckBy(class faultClass, part component) bool {
	for i := range j.rows {
		if r := &j.rows[i]; r.class == class && r.component == part {
			return slices.Contains(j.struck[i], true)
		}
	}
	return false
}

// hit reports whether a row struck any host in this run.
func (j *judgement) hit(i int) bool {
	return slices.ContainsFunc(j.c.w.Hosts(), func(h *sim.Host) bool { return j.hitAt(i, h) })
}

// hitAt reports whether a row struck a host in this run: its disk, or one that was in it for a while.
func (j *judgement) hitAt(i int, h *sim.Host) bool {
	r := &j.rows[i]
	switch {
	case j.struck[i][h.Index()]:
		return true
	case r.counted != nil:
		d := h.Volume().Struck()
		return r.counted(&d) > 0
	case r.class == "swap, clone":
		return j.exchanged(h, nil)
	}
	return slices.ContainsFunc(r.kinds, func(kind string) bool { return *j.c.w.Stat("fault-" + kind) > 0 })
}

// exchanged reports whether a host has had the disk of another one, or a copy of it; other is nil for any.
func (j *judgement) exchanged(h, other *sim.Host) bool {
	return slices.ContainsFunc(j.c.w.Plan().Actions, func(a plan.Action) bool {
		if a.Kind != "swap" && a.Kind != "clone" || *j.c.w.Stat("fault-" + a.Kind) == 0 {
			return false
		}
		one, two := a.Params["host"], a.Params["with"]+a.Params["of"]
		return one == h.ID() && (other == nil || two == other.ID()) || a.Kind == "swap" && two == h.ID() && (other == nil || one == other.ID())
	})
}

// reaches reports whether what struck some host has come to another one: on a disk that was exchanged, or, where it is part of the log or a
// snapshot, over the network.
func (j *judgement) reaches(i int, h *sim.Host) bool {
	if j.hitAt(i, h) {
		return true
	}
	sent := false
	switch j.rows[i].component {
	case partBatch, partHeader, partSnapshot, partSnapHeader, partBootstrap, partEpochs:
		sent = j.reached[h.Index()]
	}
	return slices.ContainsFunc(j.c.w.Hosts(), func(o *sim.Host) bool { return (sent || j.exchanged(h, o)) && j.hitAt(i, o) })
}

// allows reports whether the end of a process is declared, by a row that struck its host, or came to it from one that was struck.
func (j *judgement) allows(host string, refused bool, err error) bool {
	h := j.c.w.Host(host)
	if h == nil {
		return false
	}
	for i := range j.rows {
		r := &j.rows[i]
		if refused && r.may&mayRefuse == 0 || !refused && r.may&mayStop == 0 || !j.reaches(i, h) {
			continue
		}
		for _, e := range r.errors {
			if errors.Is(err, e) {
				return true
			}
		}
	}
	return false
}

// excuse says why a calm may get nowhere: something is gone, or a node mayRefuse to start for good.
func (j *judgement) excuse() string {
	if !j.on {
		return ""
	}
	for i := range j.rows {
		if r := &j.rows[i]; r.may&(mayRefuse|mayLose) != 0 && len(r.kinds) == 0 && j.hit(i) {
			return "beyond the fault budget: " + string(r.class) + " of " + string(r.component) + ", " + r.may.String()
		}
	}
	return ""
}
