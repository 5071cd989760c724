package invariants

import "github.com/kraftsim/kraftsim/sim"

// Refused reports whether a node holds another cluster id than its cluster, so that whoever leads refuses all its requests for ever
// (metadata-bootstrap 4.8, T23). It goes by the node's directories, the leader's, and the ids in the log.
func (s *Suite) Refused(h *sim.Host) bool {
	c, r := s.enter(h)
	return c.refused(r)
}

// Nameless reports whether a node holds no cluster id and its cluster cannot give it one: the metadata.version that is stable is below
// the level of the ClusterIdRecord, and no record is stable. The node may learn it after an upgrade, and not before (metadata-bootstrap 4.7).
func (s *Suite) Nameless(h *sim.Host) bool {
	c, r := s.enter(h)
	return c.cfg.hasRecord() && r.knownClusterID() == 0 && len(c.stable.ids) == 0 && c.stable.now.version < c.cfg.FeatureLevel
}

// ClusterID returns the cluster id that the directories of a node hold, as they are on its disk; not known when none holds one.
func (s *Suite) ClusterID(h *sim.Host) (id string, known bool) {
	c, r := s.enter(h)
	number := r.knownClusterID()
	return c.ledger.texts[number], number != 0
}
