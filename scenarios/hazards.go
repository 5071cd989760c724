package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// hazard is a declaration: what is known to break, where, and by which evidence it is recognised. Other evidence in the
// same run stays a finding. docs/findings.md tells each in plain words.
type hazard struct {
	doc        sim.HazardDoc
	invariants []string
	stops      bool // what it lost or stopped may leave the rest stuck
	applies    func(c *cluster, p *plan.Plan) bool
	covers     func(evidence, detail string) bool
}

// The evidence of the checkers and of the products that declarations look for.
const (
	evidenceSoleVoter  = "sole-voter-unflushed"
	evidenceWiped      = "static-voter-wiped"
	evidenceFatal      = "fatal"
	evidenceFailedSync = "after-failed-fsync"
	evidenceHole       = "hole-in-log"
	evidenceNameless   = "nameless"
	snapshotBehindTail = "is not ahead of the log"
)

// hazards are all of them. Where two cover the same, the first counts.
func hazards() []hazard {
	return append(append(append(kafkaHazards(), mediaHazards()...), kipHazards()...), operatorHazards()...)
}

func kafkaHazards() []hazard {
	return []hazard{{
		doc: sim.HazardDoc{
			ID: "sole-voter-unflushed", Invariant: "leader-completeness", Scenario: "", Fault: "power loss",
			Doc:           "a sole voter acknowledges before its fsync; a power loss in that window loses what it acknowledged (kraft-protocol 3.6)",
			DuePerMillion: 2_000, DueIn: "reconfig/kraft-upgrade",
		},
		invariants: append(everyInvariant(), kafkaCheckDocs[kafkaWatermark].Name),
		applies: func(c *cluster, p *plan.Plan) bool {
			return (c.fewestVoters() == 1 || shrinks(p)) && (c.scriptedPower || losesPower(p))
		},
		covers: func(evidence, _ string) bool { return evidence == evidenceSoleVoter },
		stops:  true,
	}, {
		doc: sim.HazardDoc{
			ID: "failed-fsync-forgotten", Invariant: "hw-durable", Scenario: "", Fault: "fsync error",
			Doc: "a failed fsync stops the process, the restarted one reads the records back from the page cache, whose pages the kernel " +
				"marked clean: what it acknowledges from then on was never on the disk, and no later fsync puts it there",
			DuePerMillion: 500, DueIn: "raft/disk",
		},
		invariants: everyInvariant(),
		applies:    func(_ *cluster, p *plan.Plan) bool { return failsSyncs(p) },
		covers:     func(evidence, _ string) bool { return evidence == evidenceFailedSync },
		stops:      true,
	}, {
		doc: sim.HazardDoc{
			ID: evidenceWiped, Invariant: "hw-durable", Scenario: "kafka/s7," + unrestrictedFamily, DueIn: "kafka/s7", Fault: "wipe",
			// Not due: Kafka's script lets the others agree on a leader before the emptied node starts, so that its second vote and its
			// old acknowledgements come too late to matter. Cases that set the loss up are T27 and U-23, where it is due.
			Doc: "at kraft.version 0 a voter keeps its identity when its disk is emptied: what it acknowledged counts though it is gone, and " +
				"it may vote a second time in an epoch (invariants.md, Words). Due where a case sets it up: T27-, U23-",
		},
		invariants: []string{"election-safety", "one-vote", "log-matching", "hw-durable", "leader-completeness", "acknowledged-survives"},
		applies: func(c *cluster, p *plan.Plan) bool {
			return p.Unrestricted && !c.dynamic && p.Params[caseParam] == "" && p.Params[whatIfParam] == ""
		},
		covers: func(evidence, _ string) bool { return evidence == evidenceWiped },
	}, {
		doc: sim.HazardDoc{
			ID: "damaged-frame", Invariant: "log-matching", Scenario: "raft/wire", Fault: "bit flip in flight",
			Doc: "Kafka's protocol trusts the transport: a bit that flips in a frame outside of a batch's checksum is taken for what was sent, an " +
				"epoch, an offset, a vote",
			DuePerMillion: 500,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(c *cluster, p *plan.Plan) bool { return p.Network.CorruptPpm > 0 && c.corruptAny },
		covers:     func(evidence, _ string) bool { return evidence == invariants.AfterDamage },
	}, {
		doc: sim.HazardDoc{
			ID: "foreign-epoch", Invariant: "no-unexpected-stop", Scenario: "raft/two-clusters", Fault: "names, swap",
			Doc: "an UpdateRaftVoter that is led to another cluster is refused with INCONSISTENT_CLUSTER_ID, but the answer carries that cluster's " +
				"leader and epoch, and the sender believes them: its own cluster moves to that epoch, and the voter with the leader's id stops",
			DuePerMillion: 100,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    func(c *cluster, _ *plan.Plan) bool { return len(c.quorums) > 1 },
		covers:     func(evidence, _ string) bool { return evidence == invariants.ForeignEpoch },
	}, {
		doc: sim.HazardDoc{
			ID: "snapshot-behind-uncommitted-tail", Invariant: "no-unexpected-stop", Scenario: "", Fault: "",
			Doc: "a follower with an uncommitted tail of a later epoch is sent to a snapshot of an earlier one, as it must be; after the download " +
				"the log may be replaced only by a snapshot that is ahead of it (kraft-protocol 4.5), and the node stops, now and at every restart; " +
				"once the tail is cut after all, its voters go with it, until the snapshot is offered again",
			DuePerMillion: 2,
		},
		invariants: []string{"no-unexpected-stop", "voters-follow-log"},
		stops:      true,
		applies:    func(*cluster, *plan.Plan) bool { return true },
		covers: func(evidence, detail string) bool {
			return evidence == evidenceFatal && strings.Contains(detail, snapshotBehindTail) || evidence == invariants.InUseBehindSnapshot
		},
	}, {
		doc: sim.HazardDoc{
			ID: "controller-behind-retention", Invariant: "no-unexpected-stop", Scenario: "", Fault: "a thread that lags",
			Doc: "a leader's controller whose thread lags until retention has deleted what it has not read is given a snapshot while it is active, and stops, " +
				"as Kafka's does (metadata-bootstrap 7.1, snapshot load)",
		},
		invariants: []string{"no-unexpected-stop"},
		stops:      true,
		applies:    func(_ *cluster, p *plan.Plan) bool { return p.Scheduler.Policy != "" },
		covers: func(evidence, detail string) bool {
			return evidence == evidenceFatal && strings.Contains(detail, activeGetsSnapshot)
		},
	}}
}

// activeGetsSnapshot is what an active controller says that is asked to load a snapshot.
const activeGetsSnapshot = "cannot load the snapshot: the controller is active"

func hazardDocs() (docs []sim.HazardDoc) {
	for _, h := range hazards() {
		docs = append(docs, h.doc)
	}
	return docs
}

// declare tells the world which violations are declared in this run.
func (c *cluster) declare(p *plan.Plan) {
	if c.hazards == nil {
		c.hazards = hazards()
	}
	for i := range c.hazards {
		h := &c.hazards[i]
		if !h.applies(c, p) {
			continue
		}
		for _, invariant := range h.invariants {
			c.w.Declare(sim.Declaration{ID: h.doc.ID, Invariant: invariant, Covers: h.covers})
		}
		if h.covers(invariants.AfterDamage, "") {
			c.declareUnworded(h.doc.ID)
		}
	}
}

// everyInvariant: once a declared loss has struck, what follows from it carries the same evidence word.
func everyInvariant() (names []string) {
	for _, d := range invariants.Docs() {
		names = append(names, d.Name)
	}
	return names
}

// excuse tells why a calm that met not all of its obligations may be legitimate: a declared loss took records that count as
// exposed, or stopped nodes of the core for ever.
func (c *cluster) excuse() string {
	for _, h := range hazards() {
		if h.stops && c.w.Met(h.doc.ID) {
			return "after the declared loss " + h.doc.ID
		}
	}
	if id := c.caseLoss(); id != "" {
		return "after the declared loss " + id
	}
	if why := c.decay.excuse(); why != "" {
		return why
	}
	if why := c.membersOf.displaced(); why != "" {
		return why
	}
	return c.ops.beyond()
}

// caseLoss returns the hazard that the run's case of KIP-1262 has met by now, though its verdict comes at the end, "" for none.
func (c *cluster) caseLoss() string {
	evidence, detail := c.kip.found()
	for i := range c.hazards {
		h := &c.hazards[i]
		if evidence != "" && h.stops && slices.Contains(h.invariants, kipCaseName) && h.applies(c, c.w.Plan()) && h.covers(evidence, detail) {
			return h.doc.ID
		}
	}
	return ""
}

func flips(p *plan.Plan) bool { return hasKind(p, "flip") }

// strays reports whether sectors go astray.
func strays(p *plan.Plan) bool { return hasKind(p, "lost-write") || hasKind(p, "misdirected-write") }

// restores reports whether disks become old copies of themselves.
func restores(p *plan.Plan) bool { return hasKind(p, "restore") }

func hasKind(p *plan.Plan, kind string) bool {
	for i := range p.Actions {
		if p.Actions[i].Kind == kind {
			return true
		}
	}
	return false
}

// mixedFormat reports whether some hosts were formatted with a cluster id and some voters were not.
func (s *settings) mixedFormat() bool {
	some, none := false, false
	for i := range s.hosts {
		if h := &s.hosts[i]; h.format != "none" {
			some = true
		} else if h.kind == kindController {
			none = true
		}
	}
	return some && none
}

// shrinks reports whether operators may leave a single voter: two that do not know of each other can.
func shrinks(p *plan.Plan) bool {
	for i := range p.Actions {
		if p.Actions[i].Kind == "remove-voter" {
			return true
		}
	}
	return false
}

func losesPower(p *plan.Plan) bool {
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Kind == "power" || a.Kind == "restore" || a.Kind == "clone" || (a.Kind == "crash-op" || a.Kind == "ambush" || a.Kind == crashAfterKind) && a.Params["how"] == "power" {
			return true
		}
	}
	return false
}

func failsSyncs(p *plan.Plan) bool {
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Kind == "disk-error" && a.Params["on"] == "sync" {
			return true
		}
	}
	return p.Disk.SyncErrorPpm > 0
}
