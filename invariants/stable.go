package invariants

import "github.com/kraftsim/kraftsim/sim"

var mvImpliesClusterIDDoc = sim.InvariantDoc{
	Name:   "mv-implies-cluster-id",
	Source: "KIP-1262; metadata-bootstrap C2, C4",
	Doc: "At every stable offset, a metadata version that has the cluster id record implies a cluster id that is not empty; the same " +
		"for the bootstrap checkpoint of a formatted controller directory.",
}

var noEarlyClusterIDDoc = sim.InvariantDoc{
	Name:   "no-early-cluster-id",
	Source: "KIP-1262; metadata-bootstrap C1",
	Doc:    "There is no stable ClusterIdRecord while the metadata version does not support it.",
}

var oneClusterIDDoc = sim.InvariantDoc{
	Name:   "one-cluster-id",
	Source: "KIP-1262; metadata-bootstrap C3",
	Doc:    "All stable ClusterIdRecords carry one value; aborted and truncated ones may differ.",
}

var bootstrapOnceDoc = sim.InvariantDoc{
	Name:   "bootstrap-once",
	Source: "KAFKA-13966; metadata-bootstrap 3.3",
	Doc:    "At most one group of bootstrap records ever becomes stable.",
}

// stableView is the state of the exposed log outside of open and aborted transactions.
type stableView struct {
	now view    // after the last exposed batch
	ids []int32 // texts of the cluster ids that became stable, in order, without repetition
	end int64   // last stable offset + 1

	idAt int64 // offset of the first of ids
	unit unit  // of the write under way
}

// stableMark is a moment of the stable view.
type stableMark struct {
	ids int32
	set bool
}

func (s *stableView) reset() { *s = stableView{now: emptyView, ids: s.ids[:0]} }

// beginWith makes the state of a snapshot the present one.
func (s *stableView) beginWith(v *view) {
	s.now = *v
	s.now.bootstraps = min(s.now.bootstraps, 1)
	if v.clusterID != 0 && !s.had(v.clusterID, stableMark{}) {
		s.ids = append(s.ids, v.clusterID)
	}
}

// mark returns the present moment.
func (s *stableView) mark() stableMark { return stableMark{ids: int32(len(s.ids)), set: true} }

// had reports whether a cluster id was stable at a moment.
func (s *stableView) had(id int32, m stableMark) bool {
	n := int32(len(s.ids))
	if m.set {
		n = m.ids
	}
	for _, x := range s.ids[:n] {
		if x == id {
			return true
		}
	}
	return false
}

// stableAdvance replays a batch that was just exposed.
func (c *core) stableAdvance(id batchID) {
	b := c.ledger.at(id)
	s := &c.stable
	if b.factEnd == b.factStart {
		if !s.now.open {
			s.end = b.end
		}
		return
	}
	for i := b.factStart; i < b.factEnd; i++ {
		f := &c.ledger.facts[i]
		c.exposedControl(b, f)
		if f.kind == factAbort && s.now.bootstrap {
			*c.times.bootstrapAborted++
		}
		before := s.now
		s.now.apply(f)
		if f.kind == factEnd {
			c.stablePoint(&before, f.offset)
		}
		if f.kind == factClusterID && !s.now.open {
			c.stableID(f.number, f.offset)
		}
		c.unitFact(f)
	}
	if !s.now.open {
		c.stablePoint(&s.now, b.end-1)
		c.unitEnds(b.end - 1)
		s.end = b.end
		if c.isUpgrade(b) {
			*c.times.upgraded++
		}
	}
}

// stablePoint checks the state at a stable offset; v is the state with the transaction that ends there still open.
func (c *core) stablePoint(v *view, offset int64) {
	s := &c.stable
	if v.open && v.clusterID != v.savedID {
		c.stableID(v.clusterID, offset)
	}
	c.rules.bootstrapOnce.eval()
	if s.now.bootstraps > 1 {
		c.rules.bootstrapOnce.fail("second-bootstrap", number(int64(s.now.bootstraps))+
			" groups of bootstrap records are stable at offset "+number(offset))
	}
	if !c.cfg.hasRecord() {
		return
	}
	c.impliesID(s.now.version, s.now.clusterID, nil, offset)
	c.rules.noEarlyClusterID.eval()
	if s.now.clusterID != 0 && s.now.version < c.cfg.FeatureLevel {
		c.rules.noEarlyClusterID.fail("stable-log", "a ClusterIdRecord is stable at offset "+number(offset)+" with metadata version "+
			number(int64(s.now.version)))
	}
}

// snapshotImpliesID is impliesID for a frozen snapshot.
func (c *core) snapshotImpliesID(v *view, f *snapshotFile, r *replica) {
	c.rules.mvImpliesClusterID.eval()
	if v.version >= c.cfg.FeatureLevel && c.ledger.texts[v.clusterID] == "" {
		c.rules.mvImpliesClusterID.fail("snapshot", f.text(r)+" has metadata version "+number(int64(v.version))+" and no cluster id")
	}
}

// impliesID is the invariant that the project was asked for by name. r is the owner of a bootstrap checkpoint, nil for the
// stable log at an offset.
func (c *core) impliesID(version int16, id int32, r *replica, offset int64) {
	c.rules.mvImpliesClusterID.eval()
	if version < c.cfg.FeatureLevel || c.ledger.texts[id] != "" {
		return
	}
	evidence, where := "stable-log", "the log at stable offset "+number(offset)
	if r != nil {
		evidence, where = "checkpoint", "the bootstrap checkpoint of "+r.id
	}
	c.rules.mvImpliesClusterID.fail(evidence, where+" has metadata version "+number(int64(version))+" and no cluster id")
}

// stableID notes a ClusterIdRecord that is stable.
func (c *core) stableID(id int32, offset int64) {
	c.rules.oneClusterID.eval()
	s := &c.stable
	for _, x := range s.ids {
		if x == id {
			return
		}
	}
	if len(s.ids) > 0 && c.cfg.hasRecord() {
		c.rules.oneClusterID.fail("second-id", "cluster id "+c.ledger.texts[id]+" is stable at offset "+number(offset)+", before it was "+
			c.ledger.texts[s.ids[0]])
	}
	if len(s.ids) == 0 {
		s.idAt = offset
	}
	s.ids = append(s.ids, id)
}
