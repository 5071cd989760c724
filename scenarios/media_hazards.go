package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// mediaFamilies are the scenarios with drives that lie and disks that come back from a copy.
const mediaFamilies = "raft/media,media/," + unrestrictedFamily

// mediaHazards are what lying drives, old copies, lawless file systems and a budget that is switched off are known to break.
func mediaHazards() []hazard {
	return []hazard{{
		doc: sim.HazardDoc{
			ID: "bit-rot", Invariant: "truncation", Scenario: "raft/bit-rot," + unrestrictedFamily, DueIn: "raft/bit-rot", Fault: "bit flip at rest",
			Doc: "a recovery cuts the log at the first bad batch, as Kafka's does, though it was acknowledged; the replica keeps its identity and " +
				"its vote (KB-44). A bit that no checksum covers, of base offset, length or epoch, may do anything",
			DuePerMillion: 20_000,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(_ *cluster, p *plan.Plan) bool { return flips(p) },
		covers:     func(evidence, _ string) bool { return evidence == invariants.AfterDamage },
	}, {
		doc: sim.HazardDoc{
			ID: "beyond-budget", Invariant: "hw-durable", Scenario: unrestrictedFamily, Fault: "damage of more than the budget allows",
			Doc: "in a plan without a fault budget: what the table of declared outcomes in docs/faults.md calls a documented loss, of the faults that " +
				"really struck, and what follows from it",
			DuePerMillion: 50_000,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(c *cluster, _ *plan.Plan) bool { return c.judged.on },
		covers: func(evidence, _ string) bool {
			return slices.Contains([]string{invariants.AfterDamage, evidenceWiped, evidenceSoleVoter, evidenceFailedSync, evidenceHole}, evidence)
		},
	}, {
		doc: sim.HazardDoc{
			ID: "sector-astray", Invariant: "truncation", Scenario: mediaFamilies, DueIn: "raft/media", Fault: "lost and misdirected writes",
			Doc: "a drive acknowledges a sector that is not there, or that lies on another one: after a power loss a recovery cuts the log where it " +
				"ends to make sense, though it was acknowledged, and the replica keeps its identity and its vote (KB-44)",
			DuePerMillion: 2_000,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(_ *cluster, p *plan.Plan) bool { return strays(p) },
		covers:     func(evidence, _ string) bool { return evidence == invariants.AfterDamage },
	}, {
		doc: sim.HazardDoc{
			ID: evidenceHole, Invariant: "voters-follow-log", Scenario: "raft/posix," + unrestrictedFamily, DueIn: "raft/posix", Fault: "posix crash profile",
			Doc: "where only fsync orders anything, a power loss may bring back the first of the segments that retention has deleted, and not the " +
				"next, and a recovery looks at each segment for itself; and it may lose a sector that ends with a batch's base offset or epoch, which " +
				"no checksum covers: the recovery takes the batch, as another one than it was (formats.md 3)",
			DuePerMillion: 200,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(_ *cluster, p *plan.Plan) bool { return p.Disk.Profile == "posix" },
		covers:     func(evidence, _ string) bool { return evidence == evidenceHole },
	}, {
		doc: sim.HazardDoc{
			ID: "old-copy", Invariant: "epochs-only-grow", Scenario: mediaFamilies, DueIn: "raft/media", Fault: "restore",
			Doc: "a voter whose disk is replaced by an old copy keeps its identity: it may vote a second time in an epoch, and what it acknowledged " +
				"since counts though it is gone. Kafka asks for a new directory id in place of a backup",
			DuePerMillion: 2_000,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(_ *cluster, p *plan.Plan) bool { return restores(p) },
		covers:     func(evidence, _ string) bool { return evidence == invariants.AfterDamage },
	}}
}

// declareUnworded declares what follows from damage where the evidence does not carry its word: answers and snapshots of a node whose log is
// another one than it was, and, beyond the budget, a log that retention deletes below a snapshot whose bits flipped, as long as nobody reads it.
func (c *cluster) declareUnworded(id string) {
	gone := func(string, string) bool { return c.decay.gone }
	c.w.Declare(sim.Declaration{ID: id, Invariant: "answers", Covers: gone},
		sim.Declaration{ID: id, Invariant: "snapshot-triggers", Covers: gone})
	if c.judged.on {
		c.w.Declare(sim.Declaration{ID: id, Invariant: "snapshot-fit", Covers: func(evidence, _ string) bool {
			return evidence == "start-not-covered" && c.judged.struckBy(classFlip, partSnapshot)
		}})
	}
}
