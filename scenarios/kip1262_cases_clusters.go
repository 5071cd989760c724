package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// secondName is the cluster of the hosts q1, q2 and so on, whose node ids are those of the first.
const secondName = "q"

// second adds voters of another cluster, with an id and a client of their own.
func (d dice) second(p *plan.Plan, voters int) {
	for i := range voters {
		host := fmt.Sprintf("q%d", i+1)
		p.Hosts = append(p.Hosts, plan.Host{ID: host, Kind: kindController, Params: plan.Params{"cluster": secondName, "node_id": number(int64(i + 1)),
			"cluster_id": d.otherID(), "directory_id": d.uuid(host + "/directory-id").String()}})
	}
}

const secondVoters = "q1,q2,q3"

// casesOfClusters are the cases of two clusters in one network.
func casesOfClusters() []kipCase {
	return []kipCase{{
		id: "t05", doc: "an unformatted broker of one cluster is pointed at another one later", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, brokers: 1, second: 3, dynamic: true, unformatted: kindBroker}, &kipProfile)
			d.unidentifiedLog(p)
			act(p, "point", "repoint", d.between("at", 140_000, 220_000), "host", "b1", "to", secondVoters, "down", "5ms")
			act(p, "gone", "cut", 230_000, "from", "b1", "to", "c1,c2,c3") // it knows its leader, who would answer
		},
		reached: func(k *kipWitness) bool { return k.of("b1").foreign > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if k.notes["served-foreign/b1"] > 0 {
				return "served", "b1, which has a cluster id, was given records of another cluster"
			}
			return "", "" // an id that changes is looked for in every case
		},
		allows: func(_ *kipWitness, _ string, refused bool, err error) bool { // it may be repointed before it has its id
			return refused && errors.Is(err, startup.ErrUnidentifiedLog)
		},
	}, {
		id: "t06", doc: "a broker without an id fetches from one cluster, and from another after a restart", variants: kipVariants, due: 300_000,
		draw: func(d dice, p *plan.Plan) {
			p.Params["level"] = beforeID // below the record's level the window never closes
			d.base(p, cast{voters: 3, brokers: 1, second: 3, dynamic: true, unformatted: kindBroker}, &kipProfile)
			p.Params["unidentified_log"] = d.pick("unidentified", "keep", "wipe", "refuse")
			act(p, "point", "repoint", d.between("at", 120_000, 220_000), "host", "b1", "to", secondVoters, "down", "5ms")
		},
		reached: func(k *kipWitness) bool {
			return k.notes["served/b1/"] > 0 && (k.notes["served/b1/"+secondName] > 0 || len(k.of("b1").refusals) > 0)
		},
		wrong: func(k *kipWitness) (string, string) {
			if k.notes["mixed/b1"] > 0 {
				if k.c.choices.unidentifiedLog != startup.KeepLog {
					return "kept", "a log that should be wiped or refused was kept: it holds records of two clusters"
				}
				return "merged", "the log of b1 holds records of two clusters"
			}
			return "", ""
		},
		allows: func(_ *kipWitness, _ string, refused bool, err error) bool {
			return refused && errors.Is(err, startup.ErrUnidentifiedLog)
		},
	}, {
		id: "t33", doc: "an unformatted controller that joins by itself is pointed at a wrong cluster", variants: kipVariants, due: 200_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, observers: 1, second: 1, dynamic: true, unformatted: kindObserver}, &kipProfile)
			o := hostIn(p, "o1") // its operator meant the first cluster: it lives where its bootstrap servers are
			o.Params["cluster"], o.Params["auto_join"], o.Params["bootstrap"] = secondName, "true", "q1"
			o.Params["cluster_id"] = d.otherID()
			delete(o.Params, "directory_id")
		},
		reached: func(k *kipWitness) bool { return k.of("o1").nodeRan > 0 && k.of("q1").nodeRan > 0 },
		wrong: func(k *kipWitness) (string, string) {
			if h := k.w.Host("q1"); h != nil && slices.Contains(votersIn(k.c, h), 100) {
				return "joined", "o1 was formatted for no cluster and is a voter of the one that it was pointed at by mistake"
			}
			return "", ""
		},
	}, {
		id: "t34", doc: "two clusters in one network, ids not known yet: requests without an id cross", variants: writeVariants, due: 200_000,
		draw: func(d dice, p *plan.Plan) {
			d.base(p, cast{voters: 3, second: 3, unformatted: kindController}, &kipProfile)
			for i := range d.between("names", 1, 3) {
				name := "names-" + number(i)
				act(p, name, "names", d.roll(name+"/at", 40_000), "host", fmt.Sprintf("c%d", 1+d.roll(name+"/host", 3)), "how", "other",
					"to", fmt.Sprintf("q%d", 1+d.roll(name+"/to", 3)), "for", micros(d.oneOf(name+"/for", 50_000, 150_000)))
			}
		},
		reached: func(k *kipWitness) bool { return k.notes["crossed"] > 0 },
		wrong: func(k *kipWitness) (string, string) {
			return "crossed", "a request without a cluster id was answered by a node of another cluster, " + number(k.notes["crossed"]) + " times"
		},
	}}
}

// crossing notes answers between two clusters that are no refusal of a cluster id.
func (k *kipWitness) crossing(from, to *sim.Host, m sim.Message) {
	if len(k.c.quorums) < 2 {
		return
	}
	one, other := &k.c.hosts[from.Index()], &k.c.hosts[to.Index()]
	if code, ok := topLevel(m); ok && one.cluster != other.cluster && code == 0 {
		k.notes["crossed"]++
	}
}

// mixing looks at the values that clients wrote into the log of a host: they tell of which cluster the client was.
func (k *kipWitness) mixing(h *sim.Host) {
	if len(k.c.quorums) < 2 || k.c.hosts[h.Index()].id != "b1" {
		return
	}
	first, second := false, false
	k.eachBatch(h, func(b record.Batch) {
		eachRecord(b, func(_ int64, m records.Record) {
			c, ok := m.(*records.ConfigRecord)
			if !ok || c.Name != writtenConfig || c.Value == nil {
				return
			}
			if v, err := strconv.ParseInt(*c.Value, 10, 64); err == nil {
				first, second = first || v < clusterStep, second || v >= clusterStep
			}
		})
	})
	if first && second {
		k.notes["mixed/b1"]++
	}
}

// votersIn reads the newest voter set in the log of a host.
func votersIn(c *cluster, h *sim.Host) (ids []int32) {
	k := kipWitness{c: c}
	k.eachBatch(h, func(b record.Batch) {
		if !b.IsControl() {
			return
		}
		var it record.Iterator
		var r record.Record
		for it.Reset(b); it.Next(&r); {
			var m record.VotersRecord
			if t, err := record.ParseControlKey(r.Key); err != nil || t != record.KRaftVoters || m.Decode(r.Value) != nil {
				continue
			}
			ids = ids[:0]
			for i := range m.Voters {
				ids = append(ids, m.Voters[i].VoterID)
			}
		}
	})
	return ids
}
