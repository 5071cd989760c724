package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorStartCases are the questions about quorums that don't form.
func operatorStartCases() []operatorCase {
	return []operatorCase{{id: "u07", doc: "all controllers start while no host name resolves", rows: unresolvedRows()},
		{id: "u09", doc: "nodes are started one after the other, each when the one before is ready", rows: readyRows()}, {
			id: "u10", doc: "a fresh cluster whose nodes start at random times", rows: []operatorRow{{
				name: "three voters and two brokers", expect: "a leader, all nodes, and both brokers registered within 3 s; nobody hears of no active controller after that",
				judge: func(o *operatorWitness) (string, string) {
					seen, evidence := registered(together("c1", "c2", "c3", "b1", "b2"), "b1", "b2")(o)
					last := o.notControllerNs / million
					return saw(seen+"; last NOT_CONTROLLER at "+number(last)+" ms", evidence == "", evidence, last < 3_000, "no-controller")
				},
				draw: func(d dice, p *plan.Plan) {
					controllers(p, 3, 0, 2)
					for i := range p.Hosts {
						p.Hosts[i].StartUs = plan.Int64(1 + d.roll(p.Hosts[i].ID+"/late", 1_000_000))
					}
					d.stage(p, 4000)
					register(p)
				},
			}},
		}}
}

// register lets nodes register, with sessions that are short against the rows.
func register(p *plan.Plan) {
	p.Params["members"], p.Params["broker_session_timeout_ms"], p.Params["broker_heartbeat_interval_ms"] = "register", "600", "100"
}

// registered adds to a judgement that brokers are members, and unfenced.
func registered(judge func(o *operatorWitness) (string, string), brokers ...string) func(o *operatorWitness) (string, string) {
	return func(o *operatorWitness) (string, string) {
		seen, evidence := judge(o)
		for _, id := range brokers {
			if b := o.registration(id); b == nil || b.Fenced {
				return saw(seen+"; "+id+" is not registered, or fenced", evidence == "", evidence, false, "not-registered")
			}
		}
		return seen + "; registered are " + strings.Join(brokers, " "), evidence
	}
}

// unregistered adds to a judgement that a broker is no member.
func unregistered(broker string, judge func(o *operatorWitness) (string, string)) func(o *operatorWitness) (string, string) {
	return func(o *operatorWitness) (string, string) {
		seen, evidence := judge(o)
		return saw(seen+"; "+broker+" is not registered", evidence == "", evidence, o.registration(broker) == nil, "registered")
	}
}

// registration is that of a broker in the memory of the active controller, nil for none.
func (o *operatorWitness) registration(broker string) *image.Broker {
	at, h := o.c.work.active(0), o.w.Host(broker)
	if at == nil || h == nil {
		return nil
	}
	return nodeOf(at).control.Image().Broker(o.c.hosts[h.Index()].nodeID)
}

// unresolvedRows: names come back after a while, on Kafka's default timers.
func unresolvedRows() (rows []operatorRow) {
	for _, x := range []struct {
		text    string
		seconds int64
	}{{"1 s", 1}, {"10 s", 10}, {"1 min", 60}, {"10 min", 600}} {
		rows = append(rows, operatorRow{
			name: "for " + x.text, expect: "open ports and no leader; a leader within 20 s after the names resolve",
			draw: func(d dice, p *plan.Plan) {
				d.trio(p, 1, (x.seconds+30)*1000)
				for _, name := range []string{"election_timeout_ms", "fetch_timeout_ms", "request_timeout_ms", "retry_backoff_ms", "election_backoff_max_ms",
					"append_linger_ms", "fetch_max_wait_ms", "max_idle_interval_ms"} {
					delete(p.Params, name)
				}
				p.Workload[0].Params["period"] = "200ms"
				for i := range p.Hosts {
					p.Hosts[i].StartUs = 1000 + p.Hosts[i].StartUs
					act(p, "dns-"+p.Hosts[i].ID, "names", 0, "host", p.Hosts[i].ID, "how", "never", "for", micros(x.seconds*1_000_000))
				}
			},
			judge: func(o *operatorWitness) (string, string) {
				seen, open := "no leader for "+x.text, true
				for _, id := range []string{"c1", "c2", "c3"} {
					open = open && o.of(id).boots == 2 && o.w.Host(id).Up() // the format tool, and the node
				}
				first := int64(-1)
				if len(o.commits) > 0 {
					first = o.commits[0]/million - x.seconds*1000
					seen = "first commit " + number(first) + " ms after the names resolve"
				}
				_, evidence := o.goesOn(true)
				return saw(seen, open, "restarted", len(o.commits) > 0 && first < 20_000, "late", first > 0, "too-early", evidence == "", evidence)
			},
		})
	}
	return rows
}

// readyRows: hosts that nobody starts before it is their turn.
func readyRows() (rows []operatorRow) {
	for _, x := range []struct {
		ready  string
		voters int64
	}{{readyLeader, 1}, {readyLeader, 2}, {readyLeader, 3}, {readyLeader, 5}, {readyProcess, 2}, {readyProcess, 3}, {readyProcess, 5}} {
		forms := x.ready == readyProcess || x.voters == 1
		name, expect := "ready is: a leader is known", "dead stop: the first waits for a majority that nobody starts"
		if x.ready == readyProcess {
			name = "ready is: the process answers"
		}
		if forms {
			expect = "the quorum forms"
		}
		rows = append(rows, operatorRow{
			name: number(x.voters) + " voters, " + name, expect: expect,
			draw: func(d dice, p *plan.Plan) {
				const storm = 3000
				controllers(p, int(x.voters), 0, 0)
				for i := range p.Hosts {
					p.Hosts[i].StartUs = (storm + 60_000) * 1000
				}
				d.stage(p, storm)
				book := &runbook{p: p, atUs: 1000}
				for i := range p.Hosts {
					book.step(doStart, "host", p.Hosts[i].ID, "ready", x.ready)
				}
			},
			judge: func(o *operatorWitness) (string, string) {
				started := int64(0)
				for i := range o.hosts {
					started += int64(min(o.hosts[i].boots, 1))
				}
				seen, evidence := o.goesOn(forms)
				seen = number(started) + " of " + number(x.voters) + " started; " + seen
				return saw(seen, (started == x.voters) == forms, "started", evidence == "", evidence)
			},
		})
	}
	return rows
}
