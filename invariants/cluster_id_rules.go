package invariants

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// The rules of KIP-1262 that speak of single writes and messages, beside those of states (stable.go) and of what a node does with
// an id (cluster_id.go).

var levelWithIDDoc = sim.InvariantDoc{
	Name:   "level-with-cluster-id",
	Source: "KIP-1262; metadata-bootstrap C4, 4.6",
	Doc: "Every stable write of a metadata version that has the cluster id record, a repetition of the same version too, has a record of " +
		"the id in its batch or transaction.",
}

var bootstrapKeepsIDDoc = sim.InvariantDoc{
	Name:   "bootstrap-keeps-id",
	Source: "KIP-1262; metadata-bootstrap D3, D4",
	Doc:    "A leader whose directories hold a cluster id writes no ClusterIdRecord with another one, at its activation or later.",
}

var ownIDInRequestsDoc = sim.InvariantDoc{
	Name:   "own-id-in-requests",
	Source: "KIP-1262; metadata-bootstrap D1, D6, T24",
	Doc: "A request carries the cluster id of the sender's directories or null, and not null when the process started with an id. Where an id is " +
		"told before it is stored, it is one that is stable.",
}

var publishedIDDoc = sim.InvariantDoc{
	Name:   "published-id",
	Source: "KIP-1262; metadata-bootstrap C6, 4.8",
	Doc:    "No node publishes an image that holds the cluster id record while its directories hold another id: it stops before.",
}

// unit is what has been seen of an atomic write: a batch outside of transactions, or a transaction from its Begin on.
type unit struct{ version, id bool }

// unitFact follows one record of the stable log.
func (c *core) unitFact(f *fact) {
	u := &c.stable.unit
	switch f.kind {
	case factBegin, factAbort:
		*u = unit{}
	case factVersion:
		u.version = u.version || f.number >= int32(c.cfg.FeatureLevel)
	case factClusterID:
		u.id = true
	case factEnd:
		c.unitEnds(f.offset)
	}
}

// unitEnds judges the write that an offset ends.
func (c *core) unitEnds(offset int64) {
	u := &c.stable.unit
	if c.cfg.hasRecord() && u.version {
		rule := &c.rules.levelWithID
		rule.eval()
		if !u.id {
			rule.fail("alone", "the write of a metadata version that ends at offset "+number(offset)+" has no ClusterIdRecord with it")
		}
	}
	*u = unit{}
}

// bootstrapKeepsID checks the ids in a batch as its leader writes it. A leader that took part in another cluster's bootstrap is none.
func (c *core) bootstrapKeepsID(r *replica, id batchID) {
	b := c.ledger.at(id)
	if !c.cfg.hasRecord() || b.factEnd == b.factStart {
		return
	}
	known := r.knownClusterID()
	for i := b.factStart; i < b.factEnd && known != 0; i++ {
		f := &c.ledger.facts[i]
		if f.kind != factClusterID || c.isUpgrade(b) {
			continue
		}
		rule := &c.rules.bootstrapKeepsID
		rule.eval()
		if f.number != known {
			rule.fail("other-id", r.id+" writes cluster id "+c.ledger.texts[f.number]+" at offset "+number(f.offset)+
				", and its directories hold "+c.ledger.texts[known])
		}
	}
}

// ownIDInRequest checks the cluster id of a request as it leaves its sender. A request that waited for its connection is older than
// what the node has learned since, so that null says nothing about nodes that learned their id in this life.
func (c *core) ownIDInRequest(r *replica, id raft.ClusterID) {
	if !c.cfg.hasRecord() || !r.server {
		return
	}
	rule := &c.rules.ownIDInRequests
	rule.eval()
	known := r.knownClusterID()
	switch {
	case !id.Known && r.idAtBoot && known != 0 && c.ledger.texts[known] != "":
		rule.fail("null", r.id+" sends no cluster id, and has "+c.ledger.texts[known])
	case id.Known && known != 0 && c.ledger.texts[known] != id.ID:
		rule.fail("other-id", r.id+" sends cluster id "+id.ID+", and has "+c.ledger.texts[known])
	case id.Known && known == 0 && (!c.cfg.TellsFirst || !c.stable.had(c.ledger.text(id.ID), stableMark{})):
		rule.fail("not-stored", r.id+" sends cluster id "+id.ID+", and none of its directories holds one")
	}
}

// publishedID checks the id of a node at the publication of an image.
func (c *core) publishedID(r *replica, offset int64) {
	s := &c.stable
	if !c.cfg.hasRecord() || len(s.ids) == 0 || offset < s.idAt {
		return
	}
	rule := &c.rules.publishedID
	rule.eval()
	if known := r.knownClusterID(); known != 0 && known != s.ids[0] {
		rule.fail("other-id", r.id+" publishes an image at offset "+number(offset)+" with cluster id "+c.ledger.texts[s.ids[0]]+
			", and its directories hold "+c.ledger.texts[known])
	}
}

// StableID is what the committed log of a cluster says, outside of open and aborted transactions, and how far it reaches.
type StableID struct {
	Version    int16
	ClusterIDs []string // in the order in which they became stable, without repetition
	Open       bool     // a transaction is open
	Bootstraps int16
	End        int64 // of what is exposed, exclusive; -1 before the first exposure
}

// Stable tells the state of the cluster with that index, 0 for the first or only one. The slice is valid until the next call.
func (s *Suite) Stable(cluster int32, into *StableID) {
	c := s.cores[cluster]
	v := &c.stable
	into.Version, into.Open, into.Bootstraps, into.End = v.now.version, v.now.open, v.now.bootstraps, c.exposed.end
	if v.now.open {
		into.Version = v.now.savedVersion
	}
	into.ClusterIDs = into.ClusterIDs[:0]
	for _, id := range v.ids {
		into.ClusterIDs = append(into.ClusterIDs, c.ledger.texts[id])
	}
}
