package invariants

import (
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
)

const (
	partitionDir    = "__cluster_metadata-0"
	quorumStateName = "quorum-state"
	propertiesName  = "meta.properties"
	bootstrapName   = "00000000000000000000-0000000000.checkpoint"
	quorumInDir     = "/" + partitionDir + "/" + quorumStateName
)

// splitPath cuts a path at its last slash.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// split is splitPath for a path that most likely is in the partition directory.
func (r *replica) split(path string) (dir, name string) {
	if k := len(r.partition); k > 0 && len(path) > k && path[k] == '/' && path[:k] == r.partition {
		if name = path[k+1:]; strings.IndexByte(name, '/') < 0 {
			return r.partition, name
		}
	}
	return splitPath(path)
}

// isPartition reports whether dir is the partition directory of the metadata log. The first one seen counts.
func (r *replica) isPartition(dir string) bool {
	if r.partition != "" {
		return dir == r.partition
	}
	parent, name := splitPath(dir)
	if name != partitionDir {
		return false
	}
	if r.metadataDir == "" {
		r.metadataDir, r.partition = parent, dir
		for i := range r.directories {
			if d := &r.directories[i]; d.path == parent && d.found {
				r.directoryID = d.id
			}
		}
	}
	return r.metadataDir == parent
}

// reload reads everything from the volume: at the start of a run and after a crash.
func (c *core) reload(r *replica) {
	r.metadataDir, r.partition = "", ""
	r.directories = r.directories[:0]
	r.quorum, r.durable, r.staleQuorum = noQuorumFile, noQuorumFile, false
	r.disk.Walk(func(path string, data []byte) {
		dir, name := r.split(path)
		if r.isPartition(dir) && name == quorumStateName {
			r.quorum = r.quorumRead.parse(data)
		}
		if name == propertiesName {
			c.loadProperties(r, dir, data)
		}
	})
	c.readDurableQuorum(r)
	c.loadSnapshots(r)
	c.reloadLog(r)
	c.loadBootstrap(r)
	c.identify(r)
}

// loadBootstrap reads the voters of the 0-0 checkpoint.
func (c *core) loadBootstrap(r *replica) {
	r.bootVoters, r.bootVersion = noSet, 0
	data, ok := r.disk.File(r.metadataDir + "/" + partitionDir + "/" + bootstrapName)
	if r.metadataDir == "" || !ok {
		return
	}
	v := c.replayFile(data)
	r.bootVoters, r.bootVersion = v.voters, v.kraftVersion
}

// replayFile replays the records of a checkpoint file.
func (c *core) replayFile(data []byte) view {
	v := emptyView
	l := &c.ledger
	for len(data) > 0 {
		b, rest, err := record.NextBatch(data)
		if err != nil || len(b) == 0 {
			break
		}
		from, edits := len(l.facts), len(l.edits)
		l.decode(b)
		for i := from; i < len(l.facts); i++ {
			v.apply(&l.facts[i])
		}
		l.facts, l.edits = l.facts[:from], l.edits[:edits]
		data = rest
	}
	return v
}

// readDurableQuorum reads what a power loss would leave of quorum-state.
func (c *core) readDurableQuorum(r *replica) {
	r.staleQuorum = false
	if r.metadataDir == "" {
		return
	}
	r.durable = noQuorumFile
	if len(r.quorumPath) != len(r.metadataDir)+len(quorumInDir) || r.quorumPath[:len(r.metadataDir)] != r.metadataDir {
		r.quorumPath = r.metadataDir + quorumInDir
	}
	if data, ok := r.disk.DurableFile(r.quorumPath); ok {
		r.durable = r.quorumRead.parse(data)
	}
}

// diskOp is one committed operation on a volume, in the words of the mirrors.
type diskOp struct {
	kind   opKind
	path   string
	to     string
	offset int64
	size   int64
	data   []byte
}

// opKind is the kind of a diskOp.
type opKind uint8

const (
	opCreate opKind = iota + 1
	opWrite
	opTruncate
	opSync
	opSyncFailed
	opRename
	opRemove
	opSyncDir
)

// onDisk follows a committed operation.
func (c *core) onDisk(r *replica, op *diskOp) {
	switch op.kind {
	case opWrite, opSync, opTruncate, opSyncFailed:
		if i := r.log.find(op.path); i >= 0 {
			c.onSegment(r, i, op)
			return
		}
		c.smallFileChanged(r, op.path, op)
	case opCreate:
		c.onCreate(r, op.path)
	case opRename:
		if i := r.log.find(op.path); i >= 0 {
			c.logRemoved(r, i, true)
		}
		c.snapshotGone(r, op.path)
		c.onCreate(r, op.to)
		c.smallFileChanged(r, op.to, op)
		c.snapshotNamed(r, op.to)
	case opRemove:
		if i := r.log.find(op.path); i >= 0 {
			c.logRemoved(r, i, false)
		}
		c.smallFileChanged(r, op.path, op)
		c.snapshotGone(r, op.path)
	case opSyncDir:
		c.onSyncDir(r, op.path)
	}
}

func (c *core) onSegment(r *replica, i int32, op *diskOp) {
	switch op.kind {
	case opWrite:
		c.logWritten(r, i, op.offset, op.data)
	case opTruncate:
		c.logTruncated(r, i, op.size)
	case opSync:
		c.logSynced(r, i, op.size)
	case opSyncFailed:
		r.log.segments[i].suspect, r.fsyncFailing = true, true
	}
}

func (c *core) onCreate(r *replica, path string) {
	dir, name := r.split(path)
	if base, ok := segmentBase(name); ok && r.isPartition(dir) {
		r.log.addSegment(path, base)
		if len(r.log.entries) == 0 {
			r.log.prefix = c.prefixAt(r.log.start)
			if r.log.prefix != noBatch {
				c.forget()
			}
		}
	}
	if name == propertiesName+".tmp" {
		c.propertiesBegun(r, dir)
	}
}

// smallFileChanged reads a small file again when its bytes or its name changed.
func (c *core) smallFileChanged(r *replica, path string, op *diskOp) {
	kind := op.kind
	dir, name := r.split(path)
	switch name {
	case quorumStateName:
		if !r.isPartition(dir) {
			return
		}
		if kind == opSync || kind == opSyncFailed {
			c.readDurableQuorum(r)
			return
		}
		r.staleQuorum = true
		if kind == opRemove && c.begunAnew(r) {
			return
		}
		data, _ := r.disk.File(path)
		c.quorumWritten(r, r.quorumRead.parse(data))
	case propertiesName + ".tmp":
		if kind == opWrite && op.offset == 0 {
			c.propertiesBegun(r, dir)
		}
	case propertiesName:
		if kind == opSync || kind == opSyncFailed {
			c.propertiesSynced(r, dir)
			return
		}
		data, _ := r.disk.File(path)
		c.propertiesWritten(r, dir, data)
	case bootstrapName:
		if r.isPartition(dir) && kind == opRename {
			c.loadBootstrap(r)
		}
	}
}

func (c *core) onSyncDir(r *replica, dir string) {
	if r.isPartition(dir) {
		if r.staleQuorum {
			c.readDurableQuorum(r)
			c.quorumDurable(r)
		}
		c.namesSynced(r)
		r.snapshotsSynced()
		return
	}
	c.propertiesSynced(r, dir)
}
