package scenarios

import (
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// beforeID is the release version whose metadata.version is the last one without the record.
const beforeID = "4.4-IV2"

// belowLevel is a formatted cluster below the level of the record.
func (d dice) belowLevel(p *plan.Plan) {
	p.Params["level"] = beforeID
	d.base(p, cast{voters: 3, brokers: 1, unformatted: d.pick("brokers", "", kindBroker)}, &kipProfile)
}

// casesOfUpgrades are the cases of UpdateFeatures.
func casesOfUpgrades() []kipCase {
	return []kipCase{{
		id: "t10", doc: "an upgrade to the level of the record races with a leader change", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.belowLevel(p)
			act(p, "step", stepKind, 0, "at", stepAppended, "n", number(1+d.roll("n", 2)), "how", d.pick("how", "kill", "power"), "down", micros(d.oneOf("down", 20_000, 150_000)))
			act(p, "ask", "ask-version", d.between("at", 100_000, 250_000), "level", number(int64(records.ClusterIdRecordSince)))
		},
		reached: func(k *kipWitness) bool { return k.notes["struck/"+stepAppended] > 0 },
		wrong:   func(k *kipWitness) (string, string) { return bothOrNone(k.committed()) },
	}, {
		id: "t11", doc: "two concurrent upgrades to the level of the record", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.belowLevel(p)
			at := d.between("at", 100_000, 250_000)
			for i := range int64(2) {
				act(p, "ask-"+number(i), "ask-version", at, "level", number(int64(records.ClusterIdRecordSince)))
			}
		},
		reached: func(k *kipWitness) bool { return count(k.committed(), recordID) >= 2 },
		wrong:   sameID,
	}, {
		id: "t12", doc: "the record is written and replayed again and again", variants: kipVariants, due: 500_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			for i := range d.between("asks", 2, 4) {
				act(p, "ask-"+number(i), "ask-version", d.between("at-"+number(i), 80_000, 280_000), "level", number(int64(records.ClusterIdRecordSince)),
					"how", d.pick("how-"+number(i), "upgrade", "safe-downgrade"))
			}
			if d.chance("snapshots", 50) {
				p.Params["snapshot_max_bytes"], p.Params["retention_bytes"], p.Params["clean_interval_ms"] = "300", "1", "400"
			}
			act(p, "again", "kill", 290_000, "host", d.pick("again", "b1", "c1"), "down", "5ms")
		},
		reached: func(k *kipWitness) bool {
			if k.of("b1").snapshots > 0 {
				return true
			}
			return count(k.committed(), recordID) >= 2
		},
		wrong: sameID,
	}, {
		id: "t14", doc: "an upgrade that is validated only", variants: kipVariants, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.belowLevel(p)
			act(p, "ask", "ask-version", d.between("at", 100_000, 250_000), "level", number(int64(records.ClusterIdRecordSince)), "validate", "yes")
		},
		reached: func(k *kipWitness) bool { _, answered := k.outcome("ask"); return answered },
		wrong: func(k *kipWitness) (string, string) {
			if code, _ := k.outcome("ask"); code != controller.None {
				return "refused", "an upgrade that is possible was refused with " + code.String()
			}
			if count(k.seen, recordID) > 0 || k.stable.Version >= records.ClusterIdRecordSince {
				return "written", "an upgrade that was validated only left records"
			}
			return "", ""
		},
	}}
}

// casesOfOtherUpgrades are downgrades, upgrades without an id, and snapshots beside them.
func casesOfOtherUpgrades() []kipCase {
	return []kipCase{{
		id: "t15", doc: "a downgrade below the level of the record", variants: kipVariants, due: 800_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
			act(p, "ask", "ask-version", d.between("at", 100_000, 250_000), "level", number(d.oneOf("level", 33, 33, 30, 22)),
				"how", d.pick("how", "safe-downgrade", "unsafe-downgrade", "upgrade"))
		},
		reached: func(k *kipWitness) bool { _, answered := k.outcome("ask"); return answered },
		wrong: func(k *kipWitness) (string, string) {
			if code, _ := k.outcome("ask"); code != controller.InvalidUpdateVersion {
				return "answered", "a downgrade below the record's level was answered " + code.String()
			}
			if k.stable.Version < records.ClusterIdRecordSince && k.stable.Version != 0 {
				return "lowered", "metadata.version is " + number(int64(k.stable.Version))
			}
			return "", ""
		},
	}, {
		id: "t25", doc: "an upgrade asked of a leader that has no id", variants: writeVariants, due: 800_000,
		draw: func(d dice, p *plan.Plan) {
			p.Params["level"] = beforeID
			d.base(p, cast{voters: 3, brokers: 1, unformatted: kindController + "," + kindBroker}, &kipProfile)
			for i := range p.Hosts {
				if p.Hosts[i].Kind == kindController {
					p.Hosts[i].Params["format"] = "level-only"
				}
			}
			p.Params["upgrade_without_id"] = d.pick("generate", "refuse", "generate")
			act(p, "ask", "ask-version", d.between("at", 100_000, 250_000), "level", number(int64(records.ClusterIdRecordSince)))
		},
		reached: func(k *kipWitness) bool { _, answered := k.outcome("ask"); return answered },
		wrong: func(k *kipWitness) (string, string) {
			code, _ := k.outcome("ask")
			for i := range k.seen {
				if k.seen[i].kind == recordID && k.seen[i].id == "" {
					return "empty", "a ClusterIdRecord carries the empty string"
				}
			}
			switch {
			case !k.c.choices.controller.GenerateOnUpgrade && code != controller.InvalidUpdateVersion:
				return "answered", "an upgrade by a controller without an id was answered " + code.String()
			case !k.c.choices.controller.GenerateOnUpgrade && count(k.seen, recordID) > 0:
				return "written", "a refused upgrade left a ClusterIdRecord"
			case k.c.choices.controller.GenerateOnUpgrade && (code != controller.None || len(k.stable.ClusterIDs) != 1):
				return "not-written", "an upgrade that should make an id up was answered " + code.String()
			}
			return bothOrNone(k.committed())
		},
	}, {
		id: "t26", doc: "a snapshot between the commit of an upgrade and the publication of the id", variants: kipVariants, due: 50_000,
		draw: func(d dice, p *plan.Plan) {
			p.Params["snapshot_max_bytes"], p.Params["clean_interval_ms"] = number(d.oneOf("bytes", 1, 60, 200)), "400"
			d.belowLevelTwo(p)
			act(p, "stuck", "disk-stuck", d.between("stuck", 60_000, 90_000), "host", "b1", "path", "/data/dir1", "on", "names", "for", "150ms")
			act(p, "ask", "ask-version", d.between("at", 100_000, 200_000), "level", number(int64(records.ClusterIdRecordSince)))
		},
		reached: func(k *kipWitness) bool { return k.notes["snapshot-before-id"] > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if k.notes["snapshot-half"] > 0 {
				return "half", "a snapshot holds the level of the record without an id, or an id without the level"
			}
			return "", ""
		},
	}}
}

// belowLevelTwo is belowLevel with an unformatted broker of two directories.
func (d dice) belowLevelTwo(p *plan.Plan) {
	p.Params["level"] = beforeID
	bytes, clean := p.Params["snapshot_max_bytes"], p.Params["clean_interval_ms"]
	d.base(p, cast{voters: 3, brokers: 1, unformatted: kindBroker}, &kipProfile)
	p.Params["snapshot_max_bytes"], p.Params["clean_interval_ms"] = bytes, clean
	hostIn(p, "b1").Params["dirs"] = "2"
}

// bothOrNone wants level and id in one batch.
func bothOrNone(list []kipRecord) (evidence, detail string) {
	for i := range list {
		x := &list[i]
		if x.kind != recordVersion || x.level < records.ClusterIdRecordSince {
			continue
		}
		with := false
		for j := range list {
			with = with || list[j].kind == recordID && list[j].base == x.base
		}
		if !with && count(list, recordBegin) == 0 {
			return "half", "metadata.version " + number(int64(x.level)) + " at offset " + number(x.offset) + " has no ClusterIdRecord in its batch"
		}
	}
	return "", ""
}

// sameID wants all committed ids alike, outside of what was aborted.
func sameID(k *kipWitness) (evidence, detail string) {
	if len(k.stable.ClusterIDs) > 1 {
		return "two-ids", "stable cluster ids are " + k.stable.ClusterIDs[0] + " and " + k.stable.ClusterIDs[1]
	}
	return k.wantsID(k.everybody()...)
}
