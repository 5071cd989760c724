package scenarios

import (
	"errors"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// casesOfFiles are the cases of meta.properties: several directories, failures between and during their writes, files that are gone.
func casesOfFiles() []kipCase {
	return []kipCase{{
		id: "t01", doc: "a crash after the cluster id was stored in one directory and before the other", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			hostIn(p, "b1").Params["dirs"] = "2"
			act(p, "step", stepKind, 1, "at", stepFirstStored, "host", "b1", "how", d.pick("how", "kill", "power"), "down", micros(d.oneOf("down", 5_000, 40_000)))
		},
		reached: func(k *kipWitness) bool { return k.notes["struck/"+stepFirstStored] > 0 },
		wrong:   func(k *kipWitness) (string, string) { return k.wantsID("b1") },
	}, {
		id: "t02", doc: "two directories of a node hold different cluster ids", variants: everyVariant, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1}, &kipProfile)
			b := hostIn(p, "b1")
			b.Params["dirs"], b.Params["format"] = "2", "two-ids"
		},
		reached: func(k *kipWitness) bool { return len(k.of("b1").refusals) > 0 || k.of("b1").nodeRan > 0 },
		wrong: func(k *kipWitness) (string, string) {
			b := k.of("b1")
			if b.nodeRan > 0 {
				return "started", "b1 started with two cluster ids"
			}
			if b.dirs[0].props.ClusterID == b.dirs[1].props.ClusterID {
				return "mended", "b1 made its two cluster ids one"
			}
			return "", ""
		},
		allows: func(_ *kipWitness, host string, refused bool, err error) bool {
			return host == "b1" && refused && errors.Is(err, metaprops.ErrClusterID)
		},
	}, {
		id: "t03", doc: "a crash when the record is committed and before any directory has the id", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, observers: 1, brokers: 1, unformatted: kindBroker + "," + kindObserver}, &kipProfile)
			act(p, "step", stepKind, 1, "at", stepStable, "host", d.pick("host", "b1", "o1"), "n", number(1+d.roll("n", 4)),
				"how", d.pick("how", "kill", "power"), "down", micros(d.oneOf("down", 5_000, 40_000)))
			d.unidentifiedLog(p)
		},
		reached: func(k *kipWitness) bool { return k.of("b1").lostWithout || k.of("o1").lostWithout },
		wrong: func(k *kipWitness) (string, string) {
			if k.c.choices.unidentifiedLog == startup.RefuseLog && len(k.of("b1").refusals) > 0 {
				return "refused", "b1 crashed before it stored the cluster id, and refuses the log that it has: only an operator brings it back"
			}
			return k.wantsID("b1", "o1")
		},
		allows: func(_ *kipWitness, _ string, refused bool, err error) bool {
			return refused && errors.Is(err, startup.ErrUnidentifiedLog)
		},
	}, {
		id: "t04", doc: "the write of meta.properties fails in one directory", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			hostIn(p, "b1").Params["dirs"] = "2"
			dir := d.pick("directory", "dir0", "dir1") // dir0 has the metadata
			hostIn(p, "b1").Params["metadata_dir"] = "0"
			act(p, "broken", "disk-error", d.between("at", 30_000, 70_000), "host", "b1", "path", "/data/"+dir,
				"on", d.pick("on", "write", "sync"))
			p.Params["broken"] = dir
		},
		reached: func(k *kipWitness) bool { return k.failedWrites("b1") },
		wrong: func(k *kipWitness) (string, string) {
			b := k.of("b1")
			if k.w.Plan().Params["broken"] == "dir1" && len(b.fatals) > 0 {
				return "stopped", "b1 stopped for a directory without metadata: " + b.fatals[0]
			}
			if k.w.Plan().Params["broken"] == "dir1" && b.dirs[0].props.ClusterID == "" {
				return "no-id", "b1 has no cluster id in the directory that works"
			}
			return "", ""
		},
	}}
}

// casesOfLostFiles are those of files that are gone, or were never there.
func casesOfLostFiles() []kipCase {
	return []kipCase{{
		id: "t29", doc: "meta.properties are gone, log and quorum-state are there", variants: everyVariant, due: 500_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, observers: 1, brokers: 1, dynamic: d.chance("dynamic", 50)}, &kipProfile)
			p.Unrestricted = true
			p.Params["orphan_log"] = d.pick("orphan", "refuse", "new-identity")
			act(p, "lose", "lose-identity", d.between("at", 100_000, 250_000), "host", d.pick("host", "c1", "o1", "b1"), "down", "10ms")
		},
		reached: func(k *kipWitness) bool { return k.notes["lost-identity"] > 0 },
		wrong:   wrongT29,
		allows: func(_ *kipWitness, _ string, refused bool, err error) bool {
			return refused && (errors.Is(err, startup.ErrOrphanLog) || errors.Is(err, startup.ErrNotFormatted) || errors.Is(err, startup.ErrNoClusterID) ||
				errors.Is(err, metaprops.ErrNoneValid))
		},
	}, {
		id: "t30", doc: "some directories of a node are formatted, some are empty", variants: everyVariant, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1}, &kipProfile)
			h := hostIn(p, d.pick("host", "b1", "c1"))
			h.Params["dirs"], h.Params["format"] = number(d.oneOf("dirs", 2, 3)), "first"
			p.Params["half"] = h.ID
		},
		reached: func(k *kipWitness) bool { return k.half().nodeRan > 0 || len(k.half().refusals) > 0 },
		wrong: func(k *kipWitness) (string, string) {
			h := k.half()
			if !k.c.hasRecord() {
				if h.nodeRan > 0 {
					return "started", k.w.Plan().Params["half"] + " started with a directory that nobody formatted"
				}
				return "", ""
			}
			for _, dir := range h.dirs {
				if !dir.found || dir.props.ClusterID != h.dirs[0].props.ClusterID {
					return "not-completed", dir.path + " of " + k.w.Plan().Params["half"] + " did not get the cluster id that the node knew"
				}
			}
			return "", ""
		},
		allows: func(k *kipWitness, host string, refused bool, err error) bool {
			return !k.c.hasRecord() && refused && host == k.w.Plan().Params["half"] && errors.Is(err, startup.ErrNotFormatted)
		},
	}, {
		id: "t31", doc: "power loss between the first write of meta.properties and the first of quorum-state", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, observers: 1, brokers: 1, unformatted: kindBroker + "," + kindObserver}, &kipProfile)
			h := d.pick("host", "b1", "o1")
			hostIn(p, h).Params["dirs"] = number(d.oneOf("dirs", 1, 2))
			act(p, "step", stepKind, 0, "at", stepNewIdentity, "host", h, "n", number(1+d.roll("n", 2)), "how", "power", "down", "5ms")
		},
		reached: func(k *kipWitness) bool { return k.notes["struck/"+stepNewIdentity] > 0 },
		wrong:   func(k *kipWitness) (string, string) { return k.wantsID("b1", "o1") },
	}}
}

// casesOfCutFormat is a controller of a dynamic quorum whose format was killed after its 0-0.checkpoint and before meta.properties: the one
// plan in which draft and final-apr do not do the same (metadata-bootstrap 2.5, step 4).
func casesOfCutFormat() []kipCase {
	return []kipCase{{
		id: "x03", doc: "a voter's format was killed before it wrote meta.properties, and the node starts", variants: everyVariant, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, dynamic: true}, &kipProfile)
			hostIn(p, "c1").Params["format"] = formatCut
			if d.chance("struck", 50) { // between the name of its new meta.properties and the sync of that name: the next process sees the file
				act(p, "step", stepKind, 0, "at", stepNewIdentity, "host", "c1", "how", d.pick("how", "kill", "power"), "down", "5ms")
			}
		},
		reached: func(k *kipWitness) bool { // a shrunk plan may have static voters, whom no checkpoint names
			return k.c.dynamic && (k.of("c1").nodeRan > 0 || len(k.of("c1").refusals) > 0)
		},
		wrong: func(k *kipWitness) (string, string) {
			switch ran := k.of("c1").nodeRan > 0; {
			case ran && k.c.variant == controller.Draft:
				return "voteless", "c1 starts with a directory id of its own making; its checkpoint, and the log, list another one for it: it is no voter, and nobody says so"
			case ran:
				return "started", "c1 is named in its own checkpoint, nobody finished its format, and it starts"
			}
			return "", ""
		},
		allows: func(k *kipWitness, host string, refused bool, err error) bool {
			return host == "c1" && refused && k.c.variant != controller.Draft && (errors.Is(err, startup.ErrNoClusterID) || refusedUnformatted(refused, err))
		},
	}}
}

// unidentifiedLog draws what becomes of the log of a broker without a cluster id.
func (d dice) unidentifiedLog(p *plan.Plan) {
	p.Params["unidentified_log"] = d.pick("unidentified", "keep", "keep", "wipe", "refuse")
}

// hasRecord reports whether the run's variant knows the ClusterIdRecord.
func (s *settings) hasRecord() bool { return s.variant.String() != "released" }

// wantsID wants the stable cluster id in every directory of hosts that live.
func (k *kipWitness) wantsID(ids ...string) (evidence, detail string) {
	if len(k.stable.ClusterIDs) == 0 {
		return "", "" // liveness is the obligations' to judge
	}
	for _, id := range ids {
		h := k.w.Host(id)
		if h == nil || !h.Up() || !k.w.Calm() || k.hosts[h.Index()].nodeRan == 0 {
			continue
		}
		for _, d := range k.hosts[h.Index()].dirs {
			if d.found && d.props.HasClusterID && d.props.ClusterID != k.stable.ClusterIDs[0] {
				return "other-id", d.path + " of " + id + " holds cluster id " + d.props.ClusterID + ", stable is " + k.stable.ClusterIDs[0]
			}
		}
	}
	return "", ""
}

// failedWrites reports whether a host lacks the cluster id somewhere while it is known, or stopped for its disk.
func (k *kipWitness) failedWrites(id string) bool {
	x := k.of(id)
	for _, text := range x.fatals {
		if strings.Contains(text, "input/output error") {
			return true
		}
	}
	known, missing := false, false
	for _, d := range x.dirs {
		known = known || d.found && d.props.HasClusterID
		missing = missing || !d.found || !d.props.HasClusterID
	}
	return known && missing
}

// half is the host of t30.
func (k *kipWitness) half() *kipHost { return k.of(k.w.Plan().Params["half"]) }

// wrongT29 is the outcome of a lost identity: refused, or another directory id over the old log, as the plan says. A node that may not
// format itself is refused anyway.
func wrongT29(k *kipWitness) (evidence, detail string) {
	for i := range k.hosts {
		x, h := &k.hosts[i], &k.c.hosts[i]
		if h.kind == kindOperator || x.dirs[0].path != h.metadataDir {
			continue
		}
		again := x.dirs[0].found && h.format == "full" && x.dirs[0].props.DirectoryID != record.ZeroUUID && k.notes["lost/"+h.id] > 0
		if again && (k.c.choices.orphanLog == startup.RefuseLog || !k.c.hasRecord()) {
			return "new-identity", h.id + " lost its meta.properties and took a new identity over its old log"
		}
	}
	return "", ""
}
