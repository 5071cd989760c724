package scenarios

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// upheavalScenarios lists runs in which addresses change faster than the quorum can tell everybody.
func upheavalScenarios() []*scenario {
	return []*scenario{
		{name: "reconfig/misadvertised", doc: "all voters restart one by one with a wrong advertised port, and all again when that was noticed", draw: drawMisadvertised},
		{name: "reconfig/unheard", doc: "leaders whose records nobody fetches for a while, elected again with another address", draw: drawUnheard},
	}
}

// upheaval draws a dynamic quorum, light faults, and timeouts short enough for a voter to tell its leader a new address between two steps.
func (d dice) upheaval(p *plan.Plan, stormUs int64) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 2, 3, 3)), 0, int(d.roll("brokers", 2)))
	election := d.between("election-ms", 30, 60)
	p.Params["election_timeout_ms"], p.Params["fetch_timeout_ms"] = number(election), number(election)
	d.storm(p, &lightProfile)
	p.StormUs, p.Actions = plan.Int64(stormUs), p.Actions[:min(len(p.Actions), 2)]
}

// drawMisadvertised is a rolling restart with a wrong configuration, and the one that corrects it (KAFKA-20661). A leader that believes what
// it is told takes the last address that works out of the voter set.
func drawMisadvertised(d dice, p *plan.Plan) {
	const storm = 2_200_000
	d.upheaval(p, storm)
	voters := hostIDs(p, kindController)
	first := d.roll("first", int64(len(voters)))
	for i := range int64(len(voters)) {
		name := fmt.Sprintf("w%02d", i+1)
		at := 300_000 + i*450_000 + d.roll(name+"/at", 100_000)
		p.Actions = append(p.Actions, plan.Action{ID: name + "-misadvertise", AtUs: plan.Int64(at), Kind: "misadvertise", Params: plan.Params{
			"host": voters[(first+i)%int64(len(voters))], "port": number(9500 + i), "down": "1ms", "for": micros(storm - at - 200_000 + i*20_000)}})
	}
	d.bearable(p, &lightProfile)
}

// drawUnheard lets elections through and no Fetch: each leader appends the first batch of its epoch, and whoever wins again after it got
// another address appends another voter set behind the one that nobody has. One cut takes both away.
func drawUnheard(d dice, p *plan.Plan) {
	d.upheaval(p, 1_500_000)
	all := strings.Join(hostIDs(p, kindController, kindBroker), ",")
	deaf := d.between("deaf", 400_000, 1_000_000)
	p.Actions = append(p.Actions, plan.Action{ID: "deaf", Kind: "filter", AtUs: plan.Int64(d.between("deaf/at", 10_000, 60_000)), Params: plan.Params{
		"from": all, "to": all, "kind": "2", "for": micros(deaf)}})
	voters := int64(len(hostIDs(p, kindController)))
	for i := range 2 * voters {
		name := fmt.Sprintf("w%02d", i+1)
		p.Actions = append(p.Actions, plan.Action{ID: name + "-misadvertise", AtUs: plan.Int64(d.between(name+"/at", 100_000, deaf)), Kind: "misadvertise",
			Params: plan.Params{"host": p.Hosts[i%voters].ID, "port": number(9500 + i), "down": "1ms", "for": micros(d.oneOf(name+"/for", 60_000, 200_000))}})
	}
	// Who has led most has the newest log. When it comes back, another one leads that has nothing of all that.
	p.Actions = append(p.Actions, plan.Action{ID: "x01-ambush", AtUs: 0, Kind: "ambush", Params: plan.Params{
		"on": "role", "n": number(d.between("ambush/n", 2, 6)), "after": "8ms", "how": d.pick("ambush/how", "kill", "power"), "down": "400ms"}})
	d.bearable(p, &lightProfile)
}
