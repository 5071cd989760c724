package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// upgradeComplete judges the end of upgrade/static-to-cluster-id.
var upgradeComplete = sim.InvariantDoc{
	Name: "upgrade-complete", Source: "KIP-853, KIP-1262; metadata-bootstrap 4.9, 5.3, 5.4",
	Doc: "When the runbook of an upgrade is through, the committed log has kraft.version 1, the metadata.version of the ClusterIdRecord, that " +
		"record with the id with which the nodes were formatted, and a voter set with a node that was none; all nodes run the new release under that id.",
}

// upgradeGoal is the checker. It reads the files of whoever leads when the run ends.
type upgradeGoal struct {
	c         *cluster
	evaluated *int64
}

// build makes it ready for a run.
func (g *upgradeGoal) build(c *cluster, p *plan.Plan) {
	*g = upgradeGoal{c: c}
	if p.Scenario != staticToClusterID {
		return
	}
	g.evaluated = c.w.Evaluated(upgradeComplete.Name)
	c.w.Add(g)
}

// Attach is sim.Checker.
func (g *upgradeGoal) Attach(*sim.World) {}

// AtEnd is sim.EndChecker. A runbook that shrinking made shorter, or that did not come to its end, promises nothing.
func (g *upgradeGoal) AtEnd() {
	leader := g.c.ops.leader(0)
	if !g.promised() || !g.c.book.Met() || leader == nil {
		return
	}
	mark, known := nodeOf(leader).replica.HighWatermark()
	if !known {
		return
	}
	*g.evaluated++
	f := g.c.factsOf(leader, mark)
	g.fail(g.log(leader.ID(), &f))
	for i, h := range g.c.w.Hosts() {
		g.fail(g.node(h, &g.c.hosts[i]))
	}
}

// log says what the committed log of the leader lacks; no evidence is that it lacks nothing.
func (g *upgradeGoal) log(leader string, f *logFacts) (evidence, detail string) {
	switch {
	case f.kraftVersion != 1:
		return "kraft-version", "kraft.version in the log of " + leader + " is " + number(int64(f.kraftVersion))
	case f.metadataVersion != records.ClusterIdRecordSince:
		return "level", "metadata.version in the log of " + leader + " is " + number(int64(f.metadataVersion))
	case len(f.clusterIDs) == 0:
		return "no-record", "the log of " + leader + " has no ClusterIdRecord"
	case !g.newVoter(f):
		return "voters", "the last voter set in the log of " + leader + " has nobody who was none at the start"
	}
	for _, id := range f.clusterIDs {
		if id != g.c.clusterID {
			return "another-id", "a ClusterIdRecord carries " + id + ", the nodes were formatted with " + g.c.clusterID
		}
	}
	return "", ""
}

// newVoter reports whether the last voter set has a node that was an observer. Sets before it may have gone with the log's prefix.
func (g *upgradeGoal) newVoter(f *logFacts) bool {
	if len(f.voterSets) == 0 {
		return false
	}
	for i := range g.c.hosts {
		e := &g.c.hosts[i]
		if e.kind == kindObserver && strings.Contains(f.voterSets[len(f.voterSets)-1], " "+number(int64(e.nodeID))+"-") {
			return true
		}
	}
	return false
}

// promised reports whether the plan's runbook has all that the goal needs.
func (g *upgradeGoal) promised() bool {
	var level, kraft, enlist bool
	rolled := []string{}
	p := g.c.w.Plan()
	for i := range p.Actions {
		a := &p.Actions[i]
		if a.Kind != procedureKind {
			continue
		}
		switch {
		case a.Params["do"] == doRoll && a.Params["release"] == "kip1262":
			rolled = append(rolled, a.Params["host"])
		case a.Params["do"] == doEnlist:
			h := g.c.w.Host(a.Params["host"])
			enlist = enlist || h != nil && g.c.hosts[h.Index()].kind == kindObserver
		case a.Params["do"] == doRetire && a.Params["host"] == "" && enlist:
			return false // the new voter may be the one that leads
		case a.Params["do"] == doRetire:
		case a.Params["level"] == "1":
			kraft = true
		case a.Params["level"] == number(int64(records.ClusterIdRecordSince)):
			level = true
		}
	}
	for i := range g.c.hosts {
		if e := &g.c.hosts[i]; e.kind != kindOperator && !slices.Contains(rolled, e.id) {
			return false
		}
	}
	return level && kraft && enlist
}

// node looks at the release and at the directories of a host.
func (g *upgradeGoal) node(h *sim.Host, e *hostSettings) (evidence, detail string) {
	if e.kind == kindOperator {
		return "", ""
	}
	if e.release.Name != "kip1262" {
		return "release", e.id + " runs " + e.release.Name
	}
	for _, dir := range e.allDirs() {
		data, found := h.Volume().File(metaprops.Path(dir))
		props, err := metaprops.Parse(data, metaprops.V2)
		if !found || err != nil || props.ClusterID != g.c.clusterID {
			return "identity", metaprops.Path(dir) + " of " + e.id + " does not hold the cluster id " + g.c.clusterID
		}
	}
	return "", ""
}

func (g *upgradeGoal) fail(evidence, detail string) {
	if evidence != "" {
		g.c.w.Violate(upgradeComplete.Name, evidence, detail)
	}
}
