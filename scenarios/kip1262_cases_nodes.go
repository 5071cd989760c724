package scenarios

import (
	"errors"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// oddIDs are cluster ids that are no uuids: spaces, separators and comment signs of properties files, a long one, letters outside of
// ASCII (T18).
var oddIDs = []string{
	"my cluster", " leading and trailing ", "a=b:c", "#comment!", `back\slash\u0041`, "-dash", "tab\tand\nline", strings.Repeat("long-", 200), "Zürich-日本-😀", "0", "NULL",
}

// casesOfNodes are the cases of nodes that discover an id or that were formatted.
func casesOfNodes() []kipCase {
	return []kipCase{{
		id: "t16", doc: "a fresh node gets the id from a snapshot", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			for _, v := range [][2]string{{"segment_bytes", "300"}, {"snapshot_max_bytes", "300"}, {"retention_bytes", "1"}, {"clean_interval_ms", "40"},
				{"delete_delay_ms", "10"}, {"fetch_snapshot_max_bytes", "1048576"}, {"max_idle_interval_ms", "20"}} {
				p.Params[v[0]] = v[1]
			}
			hostIn(p, "b1").StartUs = p.StormUs - 20_000
		},
		reached: func(k *kipWitness) bool { return k.notes["snapshot-without-id/b1"] > 0 },
		wrong:   func(k *kipWitness) (string, string) { return k.wantsID("b1") },
	}, {
		id: "t17", doc: "an image that holds level and cluster id and nothing else", variants: kipVariants, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: int(d.oneOf("voters", 1, 3)), brokers: 1, unformatted: kindBroker}, &kipProfile)
			p.Params["max_idle_interval_ms"] = "0"
			p.Workload = nil
			p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": micros(int64(p.StormUs) + 100_000)}})
		},
		reached: func(k *kipWitness) bool { return len(k.stable.ClusterIDs) > 0 && k.of("b1").id() != "" },
		wrong:   func(k *kipWitness) (string, string) { return k.wantsID(k.everybody()...) },
	}, {
		id: "t18", doc: "a cluster id that is no uuid", variants: everyVariant, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: d.pick("brokers", "", kindBroker)}, &kipProfile)
			if p.Params["variant"] == "released" {
				delete(hostIn(p, "b1").Params, "format")
			}
			p.Params["cluster_id"] = oddIDs[d.roll("odd", int64(len(oddIDs)))]
			act(p, "again", "power", 200_000, "hosts", d.pick("again", "c1", "b1"), "down", "5ms")
		},
		reached: func(k *kipWitness) bool { return k.stable.Version != 0 },
		wrong: func(k *kipWitness) (string, string) {
			for i := range k.hosts {
				for _, dir := range k.hosts[i].dirs {
					if dir.broken || dir.found && dir.props.HasClusterID && dir.props.ClusterID != k.c.clusterID {
						return "other-bytes", dir.path + " of " + k.c.hosts[i].id + " holds another cluster id than the operator's"
					}
				}
			}
			if len(k.stable.ClusterIDs) > 0 && k.stable.ClusterIDs[0] != k.c.clusterID {
				return "other-record", "the record holds another cluster id than the operator's"
			}
			return "", ""
		},
		allows: func(k *kipWitness, _ string, refused bool, err error) bool {
			return k.c.variant.String() == "released" && refusedUnformatted(refused, err)
		},
	}}
}

// casesOfFormatted are those of nodes beside a leader that knows less or something else, and of late loaders.
func casesOfFormatted() []kipCase {
	return []kipCase{{
		id: "t19", doc: "a node that knows the id asks a leader that does not", variants: writeVariants, due: 100_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 2, unformatted: kindController + "," + kindBroker}, &kipProfile)
			hostIn(p, "b1").Params["format"] = "full"
			p.Params["unknown_id"] = d.pick("unknown", "accept", "accept", "refuse")
		},
		reached: func(k *kipWitness) bool { return k.notes["known-to-ignorant"] > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if !k.c.choices.refuseUnknown && !k.c.choices.tellFirst && k.notes["refused-by-ignorant"] > 0 {
				return "refused", "a server without a cluster id refused a request for its id"
			}
			return "", ""
		},
	}, {
		id: "t20", doc: "an observer formatted with a wrong cluster id", variants: everyVariant, due: 800_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1}, &kipProfile)
			hostIn(p, "b1").Params["cluster_id"] = d.otherID()
		},
		reached: func(k *kipWitness) bool { return k.of("b1").foreign > 0 },
		wrong: func(k *kipWitness) (string, string) {
			b := k.of("b1")
			switch {
			case k.notes["served/b1"] > 0:
				return "served", "b1, which has another cluster id, was given records"
			case b.id() == k.c.clusterID:
				return "changed", "b1 took the cluster's id in place of its own"
			case len(b.fatals)+len(b.refusals) > 0:
				return "stopped", "b1 stopped in place of trying again"
			}
			return "", ""
		},
	}, {
		id: "t21", doc: "the high watermark is known before the loader is registered", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			p.Params["start_order"] = "raft-first"
			hostIn(p, "b1").StartUs = plan.Int64(d.between("late", 100_000, 200_000))
		},
		reached: func(k *kipWitness) bool { return k.notes["loader-late/b1"] > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if b := k.of("b1"); k.w.Calm() && b.nodeRan > 0 && b.id() == "" && len(k.stable.ClusterIDs) > 0 && k.notes["loaded/b1"] == 0 {
				return "deadlock", "b1 knows the high watermark and was never given a record"
			}
			return k.wantsID("b1")
		},
	}, {
		id: "x01", doc: "an unformatted node in a cluster below the level of the record ends by its deadline", variants: kipVariants, due: 800_000,
		draw: func(d dice, p *plan.Plan) {
			p.Params["level"] = beforeID
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			p.Params["id_deadline_ms"] = number(d.oneOf("deadline", 0, 150))
		},
		reached: func(k *kipWitness) bool { return k.of("b1").nodeRan > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if k.of("b1").id() != "" {
				return "id-from-nowhere", "b1 has a cluster id, and no record holds one"
			}
			return "", ""
		},
		allows: func(k *kipWitness, _ string, _ bool, err error) bool {
			return k.c.choices.idDeadlineNs > 0 && errors.Is(err, errNoIDInTime)
		},
	}}
}

// noRecordInLog is how the strict D4 ends an active controller.
const noRecordInLog = "the log has no cluster id"

// stoppedForNoRecord tells whether a leader ended by it.
func (k *kipWitness) stoppedForNoRecord() bool {
	for i := range k.hosts {
		if slices.ContainsFunc(k.hosts[i].fatals, func(text string) bool { return strings.Contains(text, noRecordInLog) }) {
			return true
		}
	}
	return false
}

// casesOfPlaceholder is D4 by an ordinary way: a cluster ran upstream's software with unstable features at level 34, which there is an empty
// placeholder (metadata-bootstrap 4.2), and gets software that has the ClusterIdRecord at that level.
func casesOfPlaceholder() []kipCase {
	return []kipCase{{
		id: "x02", doc: "a cluster at upstream's empty level 34 gets software that has the record there (D4)", variants: kipVariants, due: 500_000,
		draw: func(d dice, p *plan.Plan) {
			p.Params["level"] = "4.5-IV0"
			d.base(p, cast{voters: 3, brokers: 1}, &kipProfile)
			if delete(p.Params, "missing_id"); d.chance("heals", 50) {
				p.Params["missing_id"] = "tolerant"
			}
			for i := range p.Hosts {
				h := &p.Hosts[i]
				h.Release, h.Params["unstable"] = "upstream-4.5", "true"
				act(p, "new-"+h.ID, "software", int64(p.StormUs)/3+int64(i)*d.between("apart", 5_000, 50_000), "host", h.ID, "release", "kip1262", "down", "5ms")
			}
		},
		reached: func(k *kipWitness) bool {
			return k.stoppedForNoRecord() || k.c.choices.controller.WriteMissing && len(k.stable.ClusterIDs) > 0
		},
		wrong: func(k *kipWitness) (string, string) { // where the first leader has the new software the bootstrap writes the record
			if len(k.stable.ClusterIDs) > 0 && k.stoppedForNoRecord() {
				return "written", "a leader stopped since the log has no cluster id, and later there is one"
			}
			for _, id := range k.stable.ClusterIDs {
				if id != k.c.clusterID {
					return "other-id", "the record says " + id + ", all nodes were formatted with " + k.c.clusterID
				}
			}
			return "", ""
		},
	}}
}
