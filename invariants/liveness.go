package invariants

import "github.com/kraftsim/kraftsim/sim"

var (
	leaderExistsDoc = sim.InvariantDoc{
		Name:   "leader-exists",
		Source: "Raft liveness; kraft-protocol L1, L4; known-bugs L1",
		Doc:    "In the calm, a live replica leads the newest epoch.",
	}
	highWatermarkMovesDoc = sim.InvariantDoc{
		Name:   "high-watermark-moves",
		Source: "kraft-protocol L2; known-bugs L2",
		Doc:    "In the calm, the leader commits records of its own epoch, and new ones where something is written.",
	}
	nodesCatchUpDoc = sim.InvariantDoc{
		Name:   "nodes-catch-up",
		Source: "kraft-protocol L5, L8; known-bugs L3",
		Doc: "In the calm, every live node holds what was exposed when the calm began. Nodes that are refused for their cluster id are " +
			"excepted.",
	}
	voterChangesEndDoc = sim.InvariantDoc{
		Name:   "voter-changes-end",
		Source: "KIP-853; known-bugs KB-22; kraft-protocol L3, 5.5",
		Doc:    "In the calm, no change of the voter set stays under way: the newest set is committed, and whoever leads is a member of it.",
	}
	idDiscoveredDoc = sim.InvariantDoc{
		Name:   "id-discovered",
		Source: "KIP-1262; metadata-bootstrap 4.7",
		Doc: "In the calm, every usable directory of every live node has the cluster id, except at metadata versions below the record's " +
			"level, and nodes that are refused for their id.",
	}
	bootstrapStableDoc = sim.InvariantDoc{
		Name:   "bootstrap-stable",
		Source: "metadata-bootstrap 3.3",
		Doc:    "In the calm, one group of bootstrap records is stable: the metadata version is known.",
	}
)

// calmState is what the obligations remember of the beginning of the calm.
type calmState struct {
	set bool
	end int64 // of the exposed log then
}

// newestLeader returns the live replica that leads the newest epoch, nil when there is none.
func (c *core) newestLeader() (*replica, *leadership) {
	if len(c.leaders) == 0 {
		return nil, nil
	}
	l := &c.leaders[len(c.leaders)-1]
	if r := c.replicas[l.host]; r.up && r.leads(l.epoch) {
		return r, l
	}
	return nil, nil
}

// beginCalm notes where the calm began, at the first question that an obligation is asked.
func (c *core) beginCalm() {
	if !c.calmFrom.set {
		c.calmFrom = calmState{set: true, end: c.exposed.end}
	}
}

func (c *core) leaderMet() bool {
	c.rules.leaderExists.eval()
	r, _ := c.newestLeader()
	return r != nil
}

func (c *core) watermarkMet() bool {
	c.rules.highWatermarkMoves.eval()
	r, l := c.newestLeader()
	if r == nil || l.exposed < 0 {
		return false
	}
	return c.exposed.end > c.calmFrom.end || !c.cfg.Converges && c.exposed.end == r.log.end
}

// lagging returns a live node that has not caught up, nil when all have.
func (c *core) lagging() *replica {
	c.rules.nodesCatchUp.eval()
	end := c.calmFrom.end
	i := c.exposed.index(end)
	if i < 0 {
		return nil
	}
	for _, r := range c.replicas {
		if r.up && r.server && !r.frozen && !c.refused(r) && end > r.log.start && r.log.batchEndingAt(end) != c.exposed.entries[i].id {
			return r
		}
	}
	return nil
}

// refused reports whether a node has another cluster id than the cluster: the leader refuses its requests for ever.
func (c *core) refused(r *replica) bool {
	mine := r.knownClusterID()
	if mine == 0 {
		return false
	}
	if len(c.stable.ids) > 0 && c.stable.ids[0] != mine {
		return true
	}
	l, _ := c.newestLeader()
	return l != nil && l.knownClusterID() != 0 && l.knownClusterID() != mine
}

// ignorant returns a live node that does not have the cluster id in all its usable directories, nil when all have.
func (c *core) ignorant() *replica {
	if !c.cfg.hasRecord() || c.stable.now.version < c.cfg.FeatureLevel || len(c.stable.ids) == 0 {
		return nil
	}
	c.rules.idDiscovered.eval()
	for _, r := range c.replicas {
		if !r.up || !r.server || r.frozen || c.refused(r) {
			continue
		}
		known, missing := false, false
		for i := range r.directories {
			if d := &r.directories[i]; d.found {
				known = known || d.clusterID == c.stable.ids[0]
				missing = missing || d.clusterID == 0
			}
		}
		if !known || missing && !r.loader.dirFailed {
			return r
		}
	}
	return nil
}

func (c *core) bootstrapMet() bool {
	c.rules.bootstrapStable.eval()
	return c.stable.now.version != 0 && !c.stable.now.open
}

// duty is one obligation.
type duty struct {
	suite   *Suite
	core    *core // of its cluster
	met     func(c *core) bool
	waiting func(c *core) string
}

// Met implements sim.Obligation.
func (d *duty) Met() bool {
	d.suite.refresh()
	return d.met(d.core)
}

// Waiting implements sim.Obligation.
func (d *duty) Waiting() string {
	d.suite.refresh()
	return d.waiting(d.core)
}

// numberOfDuties is how many obligations a cluster has.
const numberOfDuties = 7

// duties returns the obligations of the catalogue for one cluster.
func (s *Suite) duties(c *core) []duty {
	return []duty{
		{s, c, (*core).leaderMet, (*core).waitsForLeader},
		{s, c, (*core).watermarkMet, (*core).waitsForWatermark},
		{s, c, func(c *core) bool { return c.lagging() == nil }, (*core).waitsForNodes},
		{s, c, (*core).changesMet, (*core).waitsForChanges},
		{s, c, func(c *core) bool { r, _ := c.unregistered(); return r == nil }, (*core).waitsForRegistration},
		{s, c, func(c *core) bool { return c.ignorant() == nil }, (*core).waitsForIDs},
		{s, c, (*core).bootstrapMet, (*core).waitsForBootstrap},
	}
}

func (c *core) waitsForLeader() string {
	t := "leader-exists: nobody leads;"
	for _, r := range c.replicas {
		if r.nodeID < 0 { // an operator, or a node that never began
			continue
		}
		t += " " + r.id + " is " + r.role.String() + " in epoch " + number(int64(r.roleEpoch)) + ";"
	}
	return t[:len(t)-1]
}

// exposedTo says how far the committed log was shown to anybody.
func exposedTo(end int64) string {
	if end < 0 {
		return "no record is exposed"
	}
	return "exposed are records up to " + number(end)
}

func (c *core) waitsForWatermark() string {
	t := "high-watermark-moves: " + exposedTo(c.exposed.end)
	if c.calmFrom.end != c.exposed.end {
		t += ", up to " + number(c.calmFrom.end) + " when the calm began"
	} else {
		t += ", as when the calm began"
	}
	if r, l := c.newestLeader(); r != nil {
		t += "; leader " + r.id + " of epoch " + number(int64(l.epoch)) + " has exposed " + number(max(l.exposed, 0)) + " of " + number(r.log.end)
	}
	return t
}

func (c *core) waitsForNodes() string {
	r := c.lagging()
	if r == nil {
		return "nodes-catch-up: nothing"
	}
	return "nodes-catch-up: " + r.id + " (" + r.role.String() + " in epoch " + number(int64(r.roleEpoch)) + ", log end " +
		number(r.log.end) + ") waits for the records up to " + number(c.calmFrom.end)
}

// changesMet reports whether no voter change is under way. A leader that was removed leads on until the removal is committed
// only, and the question who leads instead is another obligation's.
func (c *core) changesMet() bool {
	c.rules.voterChangesEnd.eval()
	r, _ := c.newestLeader()
	return r == nil || !r.changing && !c.voterChangeOpen(r) && c.votersOf(r).holds(r)
}

func (c *core) waitsForChanges() string {
	r, l := c.newestLeader()
	if r == nil {
		return "voter-changes-end: nobody leads"
	}
	t := "voter-changes-end: leader " + r.id + " of epoch " + number(int64(l.epoch)) + " has voters " + c.votersOf(r).text() +
		" from offset " + number(c.votersOffset(r)) + "; " + exposedTo(c.exposed.end)
	if r.changing {
		t += "; a change is under way"
	}
	return t
}

func (c *core) waitsForIDs() string {
	r := c.ignorant()
	if r == nil {
		return "id-discovered: nothing"
	}
	return "id-discovered: " + r.id + " has not stored cluster id " + c.ledger.texts[c.stable.ids[0]] + " in all directories"
}

func (c *core) waitsForBootstrap() string {
	t := "bootstrap-stable: no metadata version is stable"
	if c.stable.now.open {
		t = "bootstrap-stable: a transaction is open"
	}
	return t + "; " + exposedTo(c.exposed.end)
}
