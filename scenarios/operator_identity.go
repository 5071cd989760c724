package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// apartMs is when nodes that begin late do.
const apartMs = 600

// looseID is a cluster id of 22 characters whose last one carries a bit that no byte of the id has: decoded and encoded it is another
// text. canonical is that text.
func (d dice) looseID(p *plan.Plan) (loose, canonical string) {
	canonical = p.Params["cluster_id"]
	last := strings.IndexByte(base64Alphabet, canonical[len(canonical)-1])
	return canonical[:len(canonical)-1] + base64Alphabet[last+1:last+2], canonical
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// trio is three static voters and brokers.
func (d dice) trio(p *plan.Plan, brokers int, stormMs int64) {
	controllers(p, 3, 0, brokers)
	d.stage(p, stormMs)
}

// keptOut is the judgement of rows in which one node has another id than the others: it is refused, gets nothing, and disturbs nobody.
func keptOut(id string, fromMs int64) func(o *operatorWitness) (string, string) {
	return func(o *operatorWitness) (string, string) {
		x := o.of(id)
		seen := id + " stores " + o.storedID(id) + ", the others " + o.storedID("c2") + "; " + number(x.inconsistent) + " times INCONSISTENT_CLUSTER_ID"
		on, evidence := o.goesOn(true)
		return saw(seen+"; "+on, o.storedID(id) != o.storedID("c2"), "same-id", x.inconsistent > 0, "not-refused", x.served == 0, "served",
			!o.caughtUp(id), "caught-up", len(x.fatals)+len(x.refusals) == 0, "stopped", o.electionsSince(fromMs) == 0, "disturbed", evidence == "", evidence)
	}
}

// together is the judgement of rows in which everybody takes part.
func together(ids ...string) func(o *operatorWitness) (string, string) {
	return func(o *operatorWitness) (string, string) {
		missing := []string{}
		for _, id := range ids {
			if !o.caughtUp(id) {
				missing = append(missing, id)
			}
		}
		on, evidence := o.goesOn(true)
		if len(missing) > 0 {
			return strings.Join(missing, ",") + " has not caught up; " + on, "apart"
		}
		return "all have what is committed; " + on, evidence
	}
}

// operatorIdentityCases are the questions about cluster ids.
func operatorIdentityCases() []operatorCase {
	all := []string{"c1", "c2", "c3", "b1"}
	refused := "its requests are refused as those of another cluster, and nobody else notices"
	formatted := func(id string) func(d dice, p *plan.Plan) {
		return func(d dice, p *plan.Plan) { d.trio(p, 1, 1500); p.Params["cluster_id"] = id }
	}
	return []operatorCase{{
		id: "u01", doc: "a cluster id whose last character is normalised by one tool and kept by another", rows: []operatorRow{{
			name: "every tool keeps the text", expect: "one cluster", judge: together(all...),
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 1500)
				p.Params["cluster_id"], _ = d.looseID(p)
			},
		}, {
			name: "one voter was formatted by a tool that normalises", expect: refused, judge: keptOut("c1", apartMs),
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 1500)
				loose, canonical := d.looseID(p)
				p.Params["cluster_id"], hostIn(p, "c1").Params["cluster_id"] = loose, canonical
			},
		}, {
			name: "one broker was formatted by a tool that normalises", expect: refused, judge: keptOut("b1", apartMs),
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 1500)
				loose, canonical := d.looseID(p)
				p.Params["cluster_id"], hostIn(p, "b1").Params["cluster_id"] = loose, canonical
			},
		}},
	}, {
		id: "u02", doc: "a readable name, or anything else, as cluster id", rows: []operatorRow{
			{name: "a word everywhere", expect: "one cluster: the format tool takes any text", draw: formatted("production"), judge: together(all...)},
			{name: "blanks and signs everywhere", expect: "one cluster", draw: formatted(" my=cluster #1 "), judge: together(all...)},
			{name: "the empty text everywhere", expect: "one cluster", draw: formatted(""), judge: together(all...)},
			{name: "the file of one broker was edited by hand", expect: refused, judge: keptOut("b1", apartMs), draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 1500)
				p.Params["cluster_id"], hostIn(p, "b1").Params["cluster_id"] = "production", "Production"
			}},
			{name: "the format tool is run again with another word", expect: "it refuses and changes nothing", judge: together(all...), draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 1500)
				p.Params["cluster_id"] = "production"
				act(p, "again", "format", apartMs*1000, "host", "b1", "cluster_id", "Production", "ignore_formatted", "true", "expect", saysMismatch)
			}},
		},
	}, {
		id: "u03", doc: "brokers that were formatted with a fresh cluster id come to a running cluster", rows: []operatorRow{{
			name: "nothing is done about it", expect: "its requests are refused as those of another cluster, it never registers, and nobody else notices",
			judge: unregistered("b2", keptOut("b2", apartMs)),
			draw:  func(d dice, p *plan.Plan) { d.scaledOut(p) },
		}, {
			name: "wiped and formatted with the right id", expect: "it joins and is registered", judge: registered(together("c1", "c2", "c3", "b1", "b2"), "b1", "b2"),
			allows: func(host string, refused bool, err error) bool { // between the two
				return host == "b2" && refused && strings.Contains(err.Error(), saysNoneFormatted)
			},
			draw: func(d dice, p *plan.Plan) {
				d.scaledOut(p)
				act(p, "wipe", "lose-files", 1_200_000, "host", "b2", "what", "all", "down", "1ms")
				act(p, "format", "format", 1_210_000, "host", "b2", "cluster_id", p.Params["cluster_id"], "ignore_formatted", "true", "down", "1ms", "expect", "ok")
			},
		}, {
			name: "formatted over what is there", expect: "the format tool refuses, and the broker stays out", judge: unregistered("b2", keptOut("b2", apartMs)),
			draw: func(d dice, p *plan.Plan) {
				d.scaledOut(p)
				act(p, "format", "format", 1_200_000, "host", "b2", "cluster_id", p.Params["cluster_id"], "ignore_formatted", "true", "expect", saysMismatch)
			},
		}},
	}}
}

// scaledOut is a running cluster and a broker of another id that comes later.
func (d dice) scaledOut(p *plan.Plan) {
	d.trio(p, 2, 2500)
	register(p)
	b := hostIn(p, "b2")
	b.StartUs, b.Params["cluster_id"] = plan.Int64(apartMs*1000+d.roll("late", 100_000)), d.otherID()
}
