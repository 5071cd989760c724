package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var leaderWritesClusterIDDoc = sim.InvariantDoc{
	Name:   "leader-without-cluster-id-writes-it",
	Source: "KIP-1262 draft; metadata-bootstrap 4.4 D3",
	Doc: "A controller that booted without a cluster id and completes activation with no metadata version known, at a bootstrap " +
		"metadata version that has the record, writes exactly one ClusterIdRecord that is not empty: after the feature records, " +
		"before the end of the transaction.",
}

var persistedIsStableDoc = sim.InvariantDoc{
	Name:   "persisted-is-stable",
	Source: "KIP-1262; metadata-bootstrap C5, C7",
	Doc: "A cluster id that a running server newly writes into a directory was stable before the write began, or is that of another " +
		"directory of the node; once set it never changes.",
}

var upgradeKeepsIDDoc = sim.InvariantDoc{
	Name:   "upgrade-keeps-id",
	Source: "KIP-1262; metadata-bootstrap C8, T25",
	Doc:    "The ClusterIdRecord of a metadata version upgrade carries the cluster id that the active controller knew then.",
}

var directoryIDFirstDoc = sim.InvariantDoc{
	Name:   "directory-id-first",
	Source: "KIP-853; metadata-bootstrap 2.5",
	Doc:    "The sender's own directory id in a request is durable in its meta.properties before the request is sent.",
}

// activation is the first write of a controller that became active, until its batches are in the log.
type activation struct {
	first, last int64
	epoch       int32
	level       int16 // metadata.version of the bootstrap records
	pending     bool
}

// activationCompleted follows the event of a controller that decided on its first records and appended them.
func (c *core) activationCompleted(r *replica, epoch int32, first, last int64, level int16) {
	r.activation = activation{first: first, last: last, epoch: epoch, level: level, pending: first >= 0}
	if first < 0 {
		c.activationWithoutRecords(r, level)
	} else if r.log.end > last {
		c.checkActivation(r)
	}
}

// applies reports whether the invariant says anything about an activation on top of the state v.
func (c *core) activationApplies(r *replica, v *view, level int16) bool {
	version := v.version
	if v.open {
		version = v.savedVersion
	}
	return c.cfg.leaderWrites() && !r.idAtBoot && version == 0 && level >= c.cfg.FeatureLevel
}

func (c *core) activationWithoutRecords(r *replica, level int16) {
	v := &emptyView
	if id := r.log.last(); id != noBatch {
		v = &c.ledger.at(id).after
	}
	if c.activationApplies(r, v, level) {
		rule := &c.rules.leaderWritesClusterID
		rule.eval()
		rule.fail("no-records", r.id+" became active without a metadata version and wrote nothing")
	}
}

// checkActivation looks at the records of an activation as they stand in the log of its controller.
func (c *core) checkActivation(r *replica) {
	a := &r.activation
	a.pending = false
	from := r.log.endingAt(a.first)
	if from < 0 && a.first > r.log.start {
		return // shares a batch with something else: never so in Kafka, which claims at its log end
	}
	before := emptyView
	if from >= 0 {
		before = c.ledger.at(r.log.entries[from].id).after
	}
	if next := from + 1; int(next) < len(r.log.entries) && c.ledger.at(r.log.entries[next].id).epoch != a.epoch {
		return // deposed before it wrote them: another leader's records stand there
	}
	var g group
	for i := from + 1; int(i) < len(r.log.entries); i++ {
		b := c.ledger.at(r.log.entries[i].id)
		if b.base > a.last || b.epoch != a.epoch {
			break
		}
		for k := b.factStart; k < b.factEnd; k++ {
			if f := &c.ledger.facts[k]; f.offset <= a.last {
				g.add(f, c.ledger.texts)
			}
		}
	}
	if !c.activationApplies(r, &before, max(a.level, g.version)) {
		return
	}
	rule := &c.rules.leaderWritesClusterID
	rule.eval()
	if wrong := g.wrong(); wrong != "" {
		rule.fail(wrong, r.id+" became active in epoch "+number(int64(a.epoch))+" without a cluster id; its records "+number(a.first)+
			" to "+number(a.last)+" hold "+number(int64(g.ids))+" ClusterIdRecords")
		return
	}
	*c.times.leaderWroteID++
}

// group is a summary of the records of an activation.
type group struct {
	version       int16
	ids, emptyIDs int32
	lastFeature   int64
	id, end       int64
}

func (g *group) add(f *fact, texts []string) {
	switch f.kind {
	case factVersion:
		g.version = int16(f.number)
		g.lastFeature = f.offset
	case factFeature:
		g.lastFeature = f.offset
	case factClusterID:
		g.ids++
		g.id = f.offset
		if texts[f.number] == "" {
			g.emptyIDs++
		}
	case factEnd:
		g.end = f.offset
	}
}

// wrong names what is wrong with the group, "" for nothing.
func (g *group) wrong() string {
	switch {
	case g.ids == 0:
		return "no-cluster-id"
	case g.ids > 1:
		return "several-cluster-ids"
	case g.emptyIDs > 0:
		return "empty-cluster-id"
	case g.id < g.lastFeature:
		return "before-features"
	case g.end != 0 && g.id > g.end:
		return "after-end"
	}
	return ""
}

// persistedIsStable checks an id that a directory did not have before.
func (c *core) persistedIsStable(r *replica, d *directory, id int32) {
	rule := &c.rules.persistedIsStable
	rule.eval()
	if d.found && d.clusterID != 0 {
		rule.fail("changed", r.id+" changes the cluster id in "+d.path+" from "+c.ledger.texts[d.clusterID]+" to "+c.ledger.texts[id])
		return
	}
	if id == 0 || !r.server {
		return
	}
	for i := range r.directories {
		if o := &r.directories[i]; o != d && o.found && o.clusterID == id {
			return
		}
	}
	if !c.stable.had(id, d.begunAt) {
		rule.fail("not-stable", r.id+" writes cluster id "+c.ledger.texts[id]+" into "+d.path+" before it was stable")
	}
}

// isUpgrade reports whether a batch raises the metadata version outside of a transaction and carries a cluster id.
func (c *core) isUpgrade(b *batch) bool {
	if b.parent == noBatch || c.ledger.at(b.parent).after.open {
		return false
	}
	version, id := false, false
	for i := b.factStart; i < b.factEnd; i++ {
		switch f := &c.ledger.facts[i]; f.kind {
		case factBegin:
			return false
		case factVersion:
			version = f.number >= int32(c.cfg.FeatureLevel)
		case factClusterID:
			id = true
		}
	}
	return version && id
}

// upgradeKeepsID checks the batch of an upgrade as its leader writes it.
func (c *core) upgradeKeepsID(r *replica, id batchID) {
	b := c.ledger.at(id)
	if !c.cfg.hasRecord() || !c.isUpgrade(b) {
		return
	}
	rule := &c.rules.upgradeKeepsID
	rule.eval()
	for i := b.factStart; i < b.factEnd; i++ {
		f := &c.ledger.facts[i]
		if known := r.knownClusterID(); f.kind == factClusterID && known != 0 && f.number != known {
			rule.fail("other-id", r.id+" upgrades with cluster id "+c.ledger.texts[f.number]+" at offset "+number(f.offset)+
				", it knows "+c.ledger.texts[known])
		}
	}
}

// directoryIDFirst checks the sender's directory id in a request.
func (c *core) directoryIDFirst(r *replica, id record.UUID) {
	if id.IsZero() {
		return
	}
	rule := &c.rules.directoryIDFirst
	rule.eval()
	for i := range r.directories {
		d := &r.directories[i]
		if d.path != r.metadataDir {
			continue
		}
		if d.durableID == id || d.id == id && d.clusterID != 0 && d.boot != r.boot {
			return // the second: a format tool that was killed before it synced the directory, which is the operator's
		}
	}
	rule.fail("not-durable", r.id+" sends directory id "+id.String()+", which is not durable in the meta.properties of "+r.metadataDir)
}

// bootChecks looks at what the operator left: the bootstrap checkpoint of a formatted directory.
func (c *core) bootChecks(r *replica) {
	if r.bootVersion > 0 || r.bootVoters != noSet {
		c.kraftVersionInFile(r.bootVersion, r.bootVoters, func() string { return "the bootstrap checkpoint of " + r.id })
	}
	if !c.cfg.hasRecord() || r.metadataDir == "" {
		return
	}
	data, ok := r.disk.File(r.metadataDir + "/" + partitionDir + "/" + bootstrapName)
	if ok && r.directoryAt(r.metadataDir).found {
		v := c.replayFile(data)
		c.impliesID(v.version, v.clusterID, r, 0)
	}
}
