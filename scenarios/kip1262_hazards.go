package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

const (
	otherClusterID = "the cluster id of the log is not this node's"
	ownLeader      = "a follower needs another replica"
)

// inCase makes a test for the plans of a case.
func inCase(id string) func(*cluster, *plan.Plan) bool {
	return func(_ *cluster, p *plan.Plan) bool { return p.Params[caseParam] == id }
}

// kipHazards are what is known to break in the proposal, or in Kafka where a case of the proposal shows it.
func kipHazards() []hazard { return append(hazardsOfIDs(), hazardsOfClusters()...) }

// hazardsOfIDs are those within one cluster.
func hazardsOfIDs() []hazard {
	return []hazard{{
		doc: sim.HazardDoc{
			ID: "T23-formatted-node-stops", Invariant: "no-unexpected-stop", Scenario: kipFamily,
			Doc: "draft, final-apr: a leader without a cluster id makes one up; a node that was formatted with another id stops on the committed " +
				"record or is refused, and fault tolerance silently drops (metadata-bootstrap T23)",
			DuePerMillion: 3_000,
		},
		invariants: []string{"no-unexpected-stop"},
		stops:      true,
		applies: func(c *cluster, _ *plan.Plan) bool {
			return (c.variant == controller.Draft || c.variant == controller.FinalApr) && c.mixedFormat()
		},
		covers: func(evidence, detail string) bool {
			return evidence == evidenceFatal && strings.Contains(detail, otherClusterID)
		},
	}, {
		doc: sim.HazardDoc{
			ID: "T03-log-refused", Invariant: kipCaseName, Scenario: kipFamily + "t03",
			Doc: "unidentified_log=refuse: a broker that crashed between its first records and its cluster id refuses its own log at every start, " +
				"until an operator empties the directory",
			DuePerMillion: 10_000,
		},
		invariants: []string{kipCaseName},
		stops:      true,
		applies: func(c *cluster, p *plan.Plan) bool {
			return c.choices.unidentifiedLog == startup.RefuseLog && inCase("t03")(c, p)
		},
		covers: func(evidence, _ string) bool { return evidence == "t03-refused" },
	}, {
		doc: sim.HazardDoc{
			ID: "X01-never-registers", Invariant: "members-stand", Scenario: kipFamily + "final-mar," + kipFamily + "final-apr," + kipFamily + "draft", Fault: "format",
			Doc: "final-mar, final-apr, draft, below the level of the ClusterIdRecord: a broker, or a controller, that nobody formatted runs, fetches and applies " +
				"the log, and never registers, since it waits for an id that no record tells (metadata-bootstrap 4.7)",
			DuePerMillion: 3_000,
		},
		invariants: []string{"members-stand"},
		applies:    func(c *cluster, _ *plan.Plan) bool { return c.members.register && c.variant != controller.Released },
		covers:     func(evidence, _ string) bool { return evidence == evidenceNameless },
	}, {
		doc: sim.HazardDoc{
			ID: "X02-level-without-record", Invariant: "mv-implies-cluster-id", Scenario: kipFamily + "x02", Fault: "software",
			Doc: "a cluster at upstream's empty placeholder level 34, with unstable features, gets software that has the ClusterIdRecord there: with missing_id=strict " +
				"every leader stops at its activation, for good; with tolerant the first one writes the record, and who still runs the old software stops on it " +
				"(metadata-bootstrap 4.2, D4)",
			DuePerMillion: 300_000,
		},
		invariants: []string{"mv-implies-cluster-id", "level-with-cluster-id", "no-unexpected-stop"},
		stops:      true,
		applies:    inCase("x02"),
		covers: func(evidence, detail string) bool {
			return evidence != evidenceFatal || strings.Contains(detail, noRecordInLog) || strings.Contains(detail, "unknown record key: 30")
		},
	}, {
		doc: sim.HazardDoc{
			ID: "X03-voter-without-a-vote", Invariant: kipCaseName, Scenario: kipFamily + "x03",
			Doc: "draft: a controller of a dynamic quorum whose format was killed after the 0-0.checkpoint and before meta.properties starts all the same, with a " +
				"directory id of its own making: it is an observer, its place among the voters stays empty, and fault tolerance silently drops. The other " +
				"variants refuse to start it (metadata-bootstrap 2.5, step 4)",
			DuePerMillion: 100_000,
		},
		invariants: []string{kipCaseName},
		applies:    func(c *cluster, p *plan.Plan) bool { return c.variant == controller.Draft && inCase("x03")(c, p) },
		covers:     func(evidence, _ string) bool { return evidence == "x03-voteless" },
	}, {
		doc: sim.HazardDoc{
			ID: "T27-static-voter-forgets", Invariant: "hw-durable", Scenario: kipFamily + "t27", Fault: "wipe",
			Doc: "kraft.version 0: a voter's volume is empty at a restart. In draft and final-apr it formats itself and votes again under its old " +
				"identity; in all variants leaders count what it acknowledged before (metadata-bootstrap T27). Formatting used to be the guard",
			DuePerMillion: 4_000, // so that a campaign of 200,000 seeds, 5,000 of them of t27, cannot go blind
		},
		invariants: append(everyInvariant(), kipCaseName),
		stops:      true,
		applies:    inCase("t27"),
		covers:     func(evidence, _ string) bool { return evidence == evidenceWiped },
	}, {
		doc: sim.HazardDoc{
			ID: "T32-twins-evict", Invariant: kipCaseName, Scenario: kipFamily + "t32",
			Doc: "two machines with one node id that both join by themselves evict each other for ever, the healthy voter first, in every " +
				"variant, as in Kafka (metadata-bootstrap T32)",
			DuePerMillion: 100_000,
		},
		invariants: []string{kipCaseName, "no-unexpected-stop"},
		stops:      true,
		applies:    inCase("t32"),
		covers: func(evidence, detail string) bool {
			return evidence == "t32-evicted" || evidence == evidenceFatal && strings.Contains(detail, ownLeader)
		},
	}}
}

// hazardsOfClusters are those of two clusters in one network.
func hazardsOfClusters() []hazard {
	return []hazard{{
		doc: sim.HazardDoc{
			ID: "T06-two-logs-in-one", Invariant: kipCaseName, Scenario: kipFamily + "t05," + kipFamily + "t06", Fault: "repoint",
			Doc: "a broker without a cluster id is pointed at another cluster: with its log kept, records of both may end up in it, " +
				"silently; wiped or refused, it is at least no member of two (metadata-bootstrap T6)",
			DuePerMillion: 50_000,
		},
		invariants: append(everyInvariant(), kipCaseName),
		stops:      true,
		applies: func(c *cluster, p *plan.Plan) bool { // in t05 it may be repointed before it has its id
			return inCase("t06")(c, p) || inCase("t05")(c, p)
		},
		covers: func(evidence, detail string) bool {
			return evidence == "t06-merged" || strings.Contains(detail, "b1") && !strings.HasPrefix(evidence, "t0")
		},
	}, {
		doc: sim.HazardDoc{
			ID: "T33-joined-wrong-cluster", Invariant: kipCaseName, Scenario: kipFamily + "t33",
			Doc: "a controller that nobody formatted and that joins by itself becomes a voter of whatever cluster its bootstrap servers " +
				"belong to (metadata-bootstrap T33)",
			DuePerMillion: 100_000,
		},
		invariants: []string{kipCaseName},
		applies:    inCase("t33"),
		covers:     func(evidence, _ string) bool { return evidence == "t33-joined" },
	}, {
		doc: sim.HazardDoc{
			ID: "T34-null-ids-cross", Invariant: kipCaseName, Scenario: kipFamily + "t34", Fault: "names",
			Doc: "draft, final-apr: as long as two clusters know no ids, nothing keeps them apart but names: a name that leads astray " +
				"carries votes and fetches across (metadata-bootstrap T34, KB-27)",
			DuePerMillion: 50_000,
		},
		invariants: append(everyInvariant(), kipCaseName),
		stops:      true,
		applies: func(c *cluster, p *plan.Plan) bool { // in the others ids are known from the first request on
			return inCase("t34")(c, p) && (c.variant == controller.Draft || c.variant == controller.FinalApr)
		},
		covers: func(string, string) bool { return true },
	}}
}
