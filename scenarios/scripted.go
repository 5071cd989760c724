package scenarios

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Scripted plans: situations that random faults meet once in many thousand runs, because several things must happen in one order. Who
// plays which part is drawn, and the small delays of network and disk; the order is fixed, and nothing else goes wrong.

// Kinds of messages that scripts hold back, as filterKinds has them.
const (
	kindFetch = "2"
	kindVote  = "104"
)

// scriptedScenarios lists them.
func scriptedScenarios() []*scenario {
	return []*scenario{
		{name: "reconfig/two-cut", doc: "a leader alone with two voter sets of two epochs, which the next leader's first answer cuts away at once", draw: drawTwoCut},
		{name: "reconfig/forgotten", doc: "a voter that is cut off while the others remove it and move, one by one, to other ports", draw: drawForgotten},
		{name: "reconfig/overtaken", doc: "a voter that an epoch passed by; the one other voter that is left has moved, and must ask it", draw: drawOvertaken},
	}
}

// script prepares a plan of nothing but what the caller adds: a dynamic quorum of n voters on a good network, with timeouts of
// scriptTimeoutMs. It returns the voters in a random order.
func (d dice) script(p *plan.Plan, n int, stormMs int64) []string {
	dynamicQuorum(d, p, n, 0, int(d.roll("brokers", 2)))
	for _, name := range []string{"election_timeout_ms", "fetch_timeout_ms", "request_timeout_ms"} {
		p.Params[name] = number(scriptTimeoutMs)
	}
	rareSnapshots(p)
	d.storm(p, &lightProfile)
	p.Network.TailPpm, p.Network.TailUs, p.Network.ResetPpm = 0, 0, 0
	p.Disk.SlowSyncPpm, p.Disk.SlowSyncNs = 0, 0
	p.StormUs, p.Actions = plan.Int64(stormMs*1_000), nil
	d.bearable(p, &lightProfile)
	voters := hostIDs(p, kindController)
	for i := len(voters) - 1; i > 0; i-- {
		k := d.roll("part-"+number(int64(i)), int64(i+1))
		voters[i], voters[k] = voters[k], voters[i]
	}
	return voters
}

// scriptTimeoutMs is the election, fetch and request timeout of scripts: short enough for a few elections between two steps.
const scriptTimeoutMs = 50

// act adds a step at a time, up to 20 ms late.
func (d dice) act(p *plan.Plan, atMs int64, kind string, params plan.Params) {
	id := fmt.Sprintf("s%02d-%s", len(p.Actions)+1, kind)
	p.Actions = append(p.Actions, plan.Action{ID: id, AtUs: plan.Int64(atMs*1_000 + d.roll(id+"/late", 20_000)), Kind: kind, Params: params})
}

// drawTwoCut: for a while nobody fetches and only one voter can ask for votes, so that it leads epoch after epoch alone. When it comes back with another
// address it puts a voter set into the first batch of its epoch, and when that was corrected another one. Then it fails; the
// next leader has neither epoch, and names the end of the last one that both have: one cut takes two voter sets away (KB-21).
func drawTwoCut(d dice, p *plan.Plan) {
	v := d.script(p, 3, 2_000)
	all, rest := strings.Join(hostIDs(p, kindController, kindBroker), ","), v[1]+","+v[2]
	d.act(p, 300, "filter", plan.Params{"from": all, "to": all, "kind": kindFetch, "for": "900ms"})
	d.act(p, 300, "filter", plan.Params{"from": rest, "to": all, "kind": kindVote, "for": "900ms"})
	d.act(p, 330, "misadvertise", plan.Params{"host": v[0], "port": "9501", "down": "1ms", "for": "400ms"})
	d.act(p, 1_150, "kill", plan.Params{"host": v[0], "down": "350ms"})
}

// drawForgotten: the voter that leads is cut off; the others elect another leader and take it out of the voter set, and in most plans
// they move. When the network is whole again nobody looks for it, so it has to learn from the refusals of its pre-votes that
// there is a later epoch (KB-38). Where all have moved nobody answers those, and it has to ask the bootstrap servers, voter or not
// (KB-12): it does so after a restart, as long as its first election timer runs; what becomes of it without one see lonely.go.
func drawForgotten(d dice, p *plan.Plan) {
	v := d.script(p, 4, 3_000)
	d.operators(p)
	rest := strings.Join(v[1:], ",")
	p.Actions = append(p.Actions, plan.Action{ID: "s00-filter", Kind: "filter", AtUs: 0, Params: plan.Params{
		"from": rest, "to": strings.Join(v, ","), "kind": kindVote, "for": "300ms"}}) // only the one can be elected
	d.act(p, 320, "isolate", plan.Params{"host": v[0], "for": "2500ms"})
	d.act(p, 500, "remove-voter", plan.Params{"by": "op1", "voter": v[0]})
	if d.chance("stay", 30) {
		return
	}
	for i := range int64(3) {
		d.act(p, 1_000+600*i, "move", plan.Params{"host": v[1+i], "port": number(9201 + i), "down": "1ms"})
	}
	if d.chance("restart", 95) { // without it a run ends stuck, after the whole bound
		d.act(p, 2_900, "kill", plan.Params{"host": v[0], "down": "1ms"})
	}
}

// drawOvertaken: one voter is cut off; another moves, and the two that can talk elect a leader of a later epoch; then the third fails
// for good, which was the only bootstrap server that the first one knows. The one that moved leads or asks in an epoch that
// the first has never heard of, and is not found where the first looks for it: its pre-vote is all that can tell (KB-38).
func drawOvertaken(d dice, p *plan.Plan) {
	v := d.script(p, 3, 2_000)
	first, moved, third := v[0], v[1], v[2]
	for i := range p.Hosts {
		if p.Hosts[i].ID == first {
			p.Hosts[i].Params["bootstrap"] = third
		}
	}
	p.Params["calm_without"] = third
	d.act(p, 320, "isolate", plan.Params{"host": first, "for": "1500ms"})
	d.act(p, 400, "move", plan.Params{"host": moved, "port": "9201", "down": "1ms"})
	d.act(p, 800, "kill", plan.Params{"host": third, "down": "60ms"}) // had it led before all that, it leads in another epoch now
	d.act(p, 1_300, "kill", plan.Params{"host": third})
}
