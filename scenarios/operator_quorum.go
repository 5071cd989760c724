package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorQuorumCases are the questions about majorities.
func operatorQuorumCases() []operatorCase {
	return []operatorCase{{id: "u11", doc: "slow flushes and pauses of whoever leads", rows: slowRows()},
		{id: "u12", doc: "every number of voters up to five, and every number of losses", rows: lossRows()},
		{id: "u14", doc: "a static quorum is enlarged by giving the new list to the new nodes only", rows: listRows()}}
}

// slowRows: each voter's disk in turn, so that whoever leads has its.
func slowRows() (rows []operatorRow) {
	row := func(name, expect, kind string, gapMs int64, params ...string) {
		rows = append(rows, operatorRow{name: name, expect: expect,
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 5000)
				register(p)
				p.Params["broker_session_timeout_ms"] = "2000" // longer than the gaps that are expected, as 9 s are against Kafka's timeouts
				p.Disk.SyncNs, p.Disk.JitterPercent = 1_000_000, 0
				for i, id := range []string{"c1", "c2", "c3"} {
					act(p, "slow-"+id, kind, int64(800+1000*i)*1000, append([]string{"host", id}, params...)...)
				}
			},
			judge: func(o *operatorWitness) (string, string) {
				gap, elections := o.longestGapMs(600), o.electionsSince(700)
				seen, evidence := "longest gap "+number(gap)+" ms, "+number(elections)+" elections", ""
				if _, evidence = o.goesOn(true); evidence == "" {
					evidence = map[bool]string{true: "long-gap"}[gap > gapMs]
				}
				registered, absent := registered(func(*operatorWitness) (string, string) { return seen, evidence }, "b1")(o)
				return saw(registered+"; "+number(o.expired)+" times fenced for silence", absent == "", absent, o.expired == 0, "fenced")
			}})
	}
	row("flush 20 ms, fetch timeout 100 ms", "nobody loses the leadership for long, no gap above 400 ms, and the broker is not fenced", "disk-slow", 400, "percent", "2000", "for", "800ms")
	row("flush 400 ms, fetch timeout 100 ms", "whoever has the slow disk loses the leadership; no gap above 1.5 s, and the broker is not fenced", "disk-slow", 1500, "percent", "40000", "for", "800ms")
	row("a pause of 400 ms, fetch timeout 100 ms", "another leader; no gap above 1.5 s, and the broker is not fenced", "pause", 1500, "for", "400ms")
	return rows
}

// lossRows is the table of tolerated losses.
func lossRows() (rows []operatorRow) {
	for n := int64(1); n <= 5; n++ {
		for lost := int64(1); lost <= min(n, 3); lost++ {
			expect := "stops"
			if n-lost > n/2 {
				expect = "goes on"
			}
			if n == 2 {
				expect += ": two voters are less available than one"
			}
			rows = append(rows, operatorRow{
				name: number(n) + " voters, " + number(lost) + " lost", expect: expect,
				draw: func(d dice, p *plan.Plan) {
					controllers(p, int(n), 0, 0)
					d.stage(p, 2500)
					for i, id := range d.shuffle("lost", hostIDs(p, kindController))[:lost] {
						act(p, "lose-"+id, "kill", apartMs*1000+int64(i), "host", id)
					}
				},
				judge: func(o *operatorWitness) (string, string) { return o.goesOn(n-lost > n/2) },
			})
		}
	}
	return rows
}

// listRows: the new list is in force on the new nodes alone. Nothing is noticed as long as nobody restarts; the report compares what the
// nodes stored with what they are configured with.
func listRows() []operatorRow {
	draw := func(d dice, p *plan.Plan) {
		controllers(p, 5, 0, 1)
		d.stage(p, 2500)
		for i, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
			if i < 3 {
				hostIn(p, id).Params["quorum_voters"] = "c1,c2,c3"
			} else {
				hostIn(p, id).StartUs = apartMs * 1000
			}
		}
		hostIn(p, "b1").Params["quorum_voters"] = "c1,c2,c3"
	}
	return []operatorRow{{
		name: "nothing restarts", expect: "all runs, and the report finds two lists", draw: draw,
		judge: func(o *operatorWitness) (string, string) {
			seen, evidence := o.goesOn(true)
			found := o.voterLists()
			return saw(strings.Join(found, " and ")+"; "+seen, len(found) == 2, "report", evidence == "", evidence)
		},
	}, {
		name: "the old nodes get the list too", expect: "the report finds one list", draw: func(d dice, p *plan.Plan) {
			draw(d, p)
			for i := range p.Hosts {
				delete(p.Hosts[i].Params, "quorum_voters")
			}
		},
		judge: func(o *operatorWitness) (string, string) {
			seen, evidence := o.goesOn(true)
			found := o.voterLists()
			return saw(strings.Join(found, " and ")+"; "+seen, len(found) == 1, "report", evidence == "", evidence)
		},
	}}
}

// voterLists is the consistency report: the voter lists that the controllers' quorum-state files hold, each once.
func (o *operatorWitness) voterLists() (lists []string) {
	for i, h := range o.w.Hosts() {
		if o.c.hosts[i].kind != kindController {
			continue
		}
		data, found := h.Volume().File(bootstrap.PartitionPath(o.c.hosts[i].metadataDir) + "/" + quorumstate.FileName)
		_, rest, has := strings.Cut(string(data), `"currentVoters":[`)
		if !found || !has {
			continue
		}
		list, _, _ := strings.Cut(rest, "]")
		ids := []string{}
		for _, voter := range strings.Split(list, ",") { // {"voterId":1}
			ids = append(ids, strings.Trim(voter, `{"voterId:} `))
		}
		slices.Sort(ids)
		if text := "[" + strings.Join(ids, " ") + "]"; !slices.Contains(lists, text) {
			lists = append(lists, text)
		}
	}
	return lists
}
