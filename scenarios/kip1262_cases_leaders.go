package scenarios

import (
	"errors"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// unformattedVoters is a quorum that nobody formatted, one record a batch, so that a bootstrap can be cut anywhere.
func (d dice) unformattedVoters(p *plan.Plan, brokers int) {
	p.Params["records_per_batch"], p.Params["max_batch_records"] = "1", "1"
	d.base(p, cast{voters: int(d.oneOf("voters", 3, 3, 5)), brokers: brokers, unformatted: kindController + "," + kindBroker}, &kipProfile)
}

// casesOfLeaders are the cases of the leader that writes the id: it fails, it contradicts others, it has none.
func casesOfLeaders() []kipCase {
	return []kipCase{{
		id: "t07", doc: "a leader without an id fails when it has appended one, uncommitted", variants: writeVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.unformattedVoters(p, 1)
			act(p, "step", stepKind, 0, "at", stepAppended, "n", number(1+d.roll("n", 2)), "how", d.pick("how", "kill", "power"), "down", micros(d.oneOf("down", 20_000, 150_000)))
		},
		reached: func(k *kipWitness) bool { return k.notes["struck/"+stepAppended] > 0 },
		wrong:   func(k *kipWitness) (string, string) { return k.wantsID(k.everybody()...) },
	}, {
		id: "t08", doc: "the same, with the record committed and its transaction open", variants: kipVariants, due: 100_000,
		draw: func(d dice, p *plan.Plan) {
			d.openTransaction(p)
			act(p, "step", stepKind, 0, "at", stepOpen, "how", d.pick("how", "kill", "power"), "down", micros(d.oneOf("down", 20_000, 150_000)))
		},
		reached: func(k *kipWitness) bool { return k.notes["struck/"+stepOpen] > 0 },
		wrong:   func(k *kipWitness) (string, string) { return k.wantsID(k.everybody()...) },
	}, {
		id: "t13", doc: "a ClusterIdRecord in a transaction that was aborted", variants: kipVariants, due: 50_000,
		draw: func(d dice, p *plan.Plan) {
			d.openTransaction(p)
			for i := range int64(2) {
				act(p, "step-"+number(i), stepKind, 0, "at", d.pick("at-"+number(i), stepOpen, stepAppended), "n", number(1+d.roll("n-"+number(i), 2)), "how", "kill",
					"down", micros(d.oneOf("down", 80_000, 200_000)))
			}
		},
		reached: func(k *kipWitness) bool { return len(abortedIDs(k.committed())) > 0 },
		wrong: func(k *kipWitness) (string, string) {
			for _, id := range abortedIDs(k.committed()) {
				if len(k.stable.ClusterIDs) > 0 && k.stable.ClusterIDs[0] == id {
					continue
				}
				for i := range k.hosts {
					if k.hosts[i].id() == id {
						return "published", k.c.hosts[i].id + " holds cluster id " + id + ", which was aborted"
					}
				}
			}
			return "", ""
		},
	}, {
		id: "t09", doc: "voters with different cluster ids, and a leader change inside the bootstrap", variants: everyVariant, due: 500_000,
		draw: func(d dice, p *plan.Plan) {
			p.Params["records_per_batch"], p.Params["max_batch_records"] = "1", "1"
			d.base(p, cast{voters: 5}, &kipProfile)
			other := d.otherID()
			hostIn(p, "c1").Params["cluster_id"], hostIn(p, "c2").Params["cluster_id"] = other, other
			act(p, "step", stepKind, 0, "at", d.pick("at", stepOpen, stepAppended), "how", "kill", "down", micros(d.oneOf("down", 20_000, 100_000)))
		},
		reached: func(k *kipWitness) bool { return k.of("c1").foreign+k.of("c2").foreign > 0 },
		wrong: func(k *kipWitness) (string, string) {
			for _, id := range []string{"c1", "c2"} {
				if k.notes["served/"+id] > 0 {
					return "served", id + ", which has another cluster id than the majority, was given records"
				}
			}
			return "", ""
		},
	}}
}

// casesOfNoID are those of a leader or a quorum that has no id.
func casesOfNoID() []kipCase {
	return []kipCase{{
		id: "t22", doc: "all voters of a dynamic quorum are unformatted: there are none", variants: everyVariant, due: 900_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, dynamic: true, unformatted: kindController + "," + kindBroker}, &kipProfile)
			p.Params["id_deadline_ms"] = "100"
		},
		reached: func(k *kipWitness) bool { return k.of("c1").boots > 0 },
		wrong: func(k *kipWitness) (string, string) {
			for i := range k.hosts {
				x, id := &k.hosts[i], k.c.hosts[i].id
				if records, end := k.logOf(k.w.Hosts()[i]); end > 0 || len(records) > 0 {
					return "elected", id + " has records: somebody was elected in a cluster without voters"
				}
				if len(x.refusals)+len(x.fatals) == 0 && x.boots == 1 &&
					k.w.NowNs() > 2*k.c.choices.idDeadlineNs+int64(k.w.Plan().StormUs)*500+clockErrorNs(k.w.Plan()) {
					return "silent", id + " waits without an error"
				}
			}
			return "", ""
		},
		allows: func(_ *kipWitness, _ string, refused bool, err error) bool {
			return errors.Is(err, errNoIDInTime) || refused && errors.Is(err, metaprops.ErrNoneValid)
		},
		hopeless: func(*kipWitness) string { return "no voter was ever named: nobody can be elected" },
	}, {
		id: "t23", doc: "a leader without an id, and a minority voter formatted with one", variants: writeVariants, due: 200_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: int(d.oneOf("voters", 3, 5)), brokers: 1, unformatted: kindController + "," + kindBroker}, &kipProfile)
			hostIn(p, "c1").Params["format"] = "full"
		},
		reached: func(k *kipWitness) bool {
			return len(k.stable.ClusterIDs) > 0 && k.of("c1").nodeRan > 0 && k.stable.ClusterIDs[0] != k.c.clusterID
		},
		wrong: func(k *kipWitness) (string, string) {
			if id := k.of("c1").id(); id != "" && id != k.c.clusterID {
				return "rewritten", "c1 was formatted with " + k.c.clusterID + " and holds " + id
			}
			return "", ""
		},
	}, {
		id: "t24", doc: "a new id shows in a request before it is stable", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.openTransaction(p)
			p.Network.LatencyUs = d.between("slow", 800, 3_000)
		},
		reached: func(k *kipWitness) bool { return k.notes["sent-while-pending"] > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if k.notes["exposed-early"] > 0 {
				return "exposed", "a request carried a cluster id that was neither formatted nor stable"
			}
			return "", ""
		},
	}}
}

// openTransaction is a cluster whose bootstrap takes many batches. In the variants that want formatted voters the operator formats
// them, and the others are unformatted: what the case is about is the same.
func (d dice) openTransaction(p *plan.Plan) {
	formatted := p.Params["variant"] == "final-mar" || d.chance("formatted", 30)
	d.unformattedVoters(p, 1)
	if formatted {
		for i := range p.Hosts {
			if p.Hosts[i].Kind == kindController {
				p.Hosts[i].Params["format"] = "full"
			}
		}
	}
}

// otherID is a cluster id that no host of the plan has.
func (d dice) otherID() string { return d.uuid("other-cluster-id").String() }

// everybody lists the hosts of a run.
func (k *kipWitness) everybody() (ids []string) {
	for i := range k.c.hosts {
		ids = append(ids, k.c.hosts[i].id)
	}
	return ids
}

// refusedUnformatted reports whether a node was refused because nobody formatted it.
func refusedUnformatted(refused bool, err error) bool {
	return refused && (errors.Is(err, metaprops.ErrNoneValid) || errors.Is(err, startup.ErrNotFormatted) || errors.Is(err, startup.ErrNoClusterID))
}
