package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorMemberCases are the questions about changing members.
func operatorMemberCases() []operatorCase {
	return []operatorCase{{id: "u18", doc: "three voters become five and three again, and somebody fails after each step", rows: scaleRows()},
		{id: "u21", doc: "all controllers get other host names", rows: renameRows()},
		{id: "u24", doc: "a volume is gone, another node is to be restarted, and each waits for the other", rows: waitRows()},
		{id: "u28", doc: "a step that needs all controllers, while one of three is reachable for nobody", rows: reachRows()}}
}

// scaleSteps is the procedure from c1 c2 c3 to c3 o1 o2.
var scaleSteps = [][2]string{{doEnlist, "o1"}, {doEnlist, "o2"}, {doRetire, "c1"}, {doRetire, "c2"}}

// votersAfter are the voters when so many steps are done.
func votersAfter(steps int) []string {
	voters := []string{"c1", "c2", "c3"}
	for _, s := range scaleSteps[:steps] {
		if s[0] == doEnlist {
			voters = append(voters, s[1])
		} else {
			voters = slices.DeleteFunc(voters, func(id string) bool { return id == s[1] })
		}
	}
	return voters
}

// scaleRows: after each number of steps somebody fails, and the procedure is repeated from the start, or goes on. Steps ask for a state and
// not for a change, so those that are done already do nothing; the retired are not made voters again.
func scaleRows() (rows []operatorRow) {
	for after := range len(scaleSteps) + 1 {
		for _, who := range []string{"the operator's program", "the leader", "a voter"} {
			for _, next := range []string{"repeat all steps", "go on with the next step"} {
				if who != "the operator's program" && next == "repeat all steps" || after == len(scaleSteps) && next != "repeat all steps" && who == "the operator's program" {
					continue
				}
				set := votersAfter(after)
				rows = append(rows, operatorRow{
					name:   "after step " + number(int64(after)) + " with voters " + strings.Join(set, " ") + ": " + who + " fails, " + next,
					expect: "safe: ends with voters c3 o1 o2, never without a majority",
					draw: func(d dice, p *plan.Plan) {
						dynamicQuorum(d, p, 3, 2, 0)
						d.stage(p, 5000)
						p.Hosts = append(p.Hosts, plan.Host{ID: "op1", Kind: kindOperator})
						book := &runbook{p: p, atUs: apartMs * 1000}
						for _, s := range scaleSteps[:after] {
							book.step(s[0], "host", s[1], "by", "op1")
						}
						switch who {
						case "the leader":
							book.step(doFail, "down", "300ms", "careless", "yes")
						case "a voter":
							book.step(doFail, "host", set[d.roll("victim", int64(len(set)))], "down", "300ms", "careless", "yes")
						}
						rest := scaleSteps[after:]
						if next == "repeat all steps" {
							rest = scaleSteps
						}
						for _, s := range rest {
							book.step(s[0], "host", s[1], "by", "op1")
						}
					},
					judge: func(o *operatorWitness) (string, string) {
						on, evidence := o.goesOn(true)
						voters := o.votersNow()
						gap := o.longestGapMs(apartMs - 100)
						return saw("voters "+voters+", longest gap "+number(gap)+" ms; "+on, o.c.book.Met(), "not-done", voters == "c3 o1 o2", "voters", gap < 1500, "gap", evidence == "", evidence)
					},
				})
			}
		}
	}
	return rows
}

// votersNow lists the hosts of the voters in the log of whoever leads.
func (o *operatorWitness) votersNow() string {
	l := o.c.ops.leader(0)
	if l == nil {
		return "unknown"
	}
	set, list := nodeOf(l).replica.Voters(), []string{}
	for i := range o.c.hosts {
		if e := &o.c.hosts[i]; e.kind != kindOperator && set.Find(e.nodeID) != nil {
			list = append(list, e.id)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// renameRows: other host names, at kraft.version 0 in the configurations, at 1 in the log.
func renameRows() (rows []operatorRow) {
	row := func(name, expect string, dynamic, works bool, params ...string) {
		rows = append(rows, operatorRow{name: name, expect: expect,
			draw: func(d dice, p *plan.Plan) {
				if dynamic {
					dynamicQuorum(d, p, 3, 0, 1)
				} else {
					controllers(p, 3, 0, 1)
					d.known(p, 100)
				}
				for _, id := range []string{"c1", "c2", "c3"} {
					hostIn(p, id).Params["name"] = "old." + id
				}
				d.stage(p, 6000)
				p.Hosts = append(p.Hosts, plan.Host{ID: "op1", Kind: kindOperator})
				book := &runbook{p: p, atUs: apartMs * 1000}
				for _, id := range []string{"c1", "c2", "c3"} {
					book.step(doRename, append([]string{"host", id, "down", "60ms"}, params...)...)
				}
			},
			judge: func(o *operatorWitness) (string, string) {
				seen, evidence := o.goesOn(works)
				renamed := int64(0)
				for i := range o.c.hosts {
					if o.c.hosts[i].oldName != "" {
						renamed++
					}
				}
				return saw(number(renamed)+" of 3 renamed; "+seen, renamed == 3, "not-renamed", evidence == "", evidence)
			},
			mends: func(o *operatorWitness) { // the old names are put back into the DNS
				for i := range o.c.hosts {
					o.c.hosts[i].keepsName = true
				}
			}})
	}
	row("kraft.version 0, all at once", "goes on: addresses are configuration", false, true, "careless", "yes")
	row("kraft.version 1, all at once", "stops for good: the addresses are in the log, and nobody is elected who could change them", true, false, "careless", "yes")
	row("kraft.version 1, one by one", "goes on: each tells the leader its new address before the next", true, true)
	row("kraft.version 1, all at once, old names work too", "goes on", true, true, "careless", "yes", "overlap", "yes")
	return rows
}

// waitRows: an orchestrator that takes steps in order and never breaks the quorum.
func waitRows() (rows []operatorRow) {
	row := func(name, expect string, progress bool, order ...[2]string) {
		rows = append(rows, operatorRow{name: name, expect: expect,
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 2500)
				act(p, "gone", "kill", apartMs*1000, "host", "c2")
				book := &runbook{p: p, atUs: (apartMs + 100) * 1000}
				for _, s := range order {
					if s[0] == doRoll {
						book.step(doRoll, "host", s[1], "release", "upstream-4.5")
					} else {
						book.step(doStart, "host", s[1])
					}
				}
			},
			judge: func(o *operatorWitness) (string, string) {
				on, evidence := o.goesOn(true)
				why := o.c.book.deadlock()
				seen := "the procedure is done"
				if !o.c.book.Met() {
					seen = "the procedure waits: " + why
				}
				return saw(seen+"; "+on, o.c.book.Met() == progress, "procedure", (why == "") == progress, "detection", evidence == "", evidence)
			}})
	}
	row("restart first, then the volume", "no progress, and the report says why", false, [2]string{doRoll, "c3"}, [2]string{doStart, "c2"})
	row("the volume first, then the restart", "done", true, [2]string{doStart, "c2"}, [2]string{doRoll, "c3"})
	return rows
}

// deadlock finds that the step under way waits for nodes that only a later step starts; "" when it does not.
func (r *procedure) deadlock() string {
	if r.at >= len(r.steps) {
		return ""
	}
	s := &r.steps[r.at]
	if s.do != doRoll && s.do != doRename && s.do != doFail || s.begun || !s.careful {
		return ""
	}
	for k := r.at + 1; k < len(r.steps); k++ {
		if later := &r.steps[k]; later.do == doStart && later.host != s.host && !later.host.Up() {
			return s.action + " waits until " + later.host.ID() + " runs, which only " + later.action + " starts"
		}
	}
	return ""
}

// reachRows: kraft.version 1 wants to hear of every voter that it can do it.
func reachRows() []operatorRow {
	row := func(name, expect string, cut bool) operatorRow {
		return operatorRow{name: name, expect: expect,
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, 3500)
				if cut {
					act(p, "alone", "isolate", 1, "host", "c3")
				}
				(&runbook{p: p, atUs: 800_000}).step(doFinalize, "feature", features.KRaftVersion, "level", "1")
			},
			judge: func(o *operatorWitness) (string, string) {
				on, evidence := o.goesOn(true)
				missing := []string{}
				for _, id := range []string{"c1", "c2", "c3"} {
					if !o.caughtUp(id) {
						missing = append(missing, id)
					}
				}
				seen := "the procedure is done"
				if !o.c.book.Met() {
					seen = "the procedure waits for kraft.version 1; missing: " + strings.Join(missing, " ")
				}
				return saw(seen+"; "+on, o.c.book.Met() != cut, "procedure", (len(missing) > 0) == cut, "missing", evidence == "", evidence)
			}}
	}
	return []operatorRow{row("one voter has never fetched", "raft is healthy, the procedure waits, and the missing member is named", true),
		row("all are reachable", "done", false)}
}
