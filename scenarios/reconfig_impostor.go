package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// drawImpostor replaces the disk of one voter, and nobody takes the old voter out or the new one in: it goes on fetching under the id of a
// voter that is gone. Then others are cut off, longer than a leader may lead without a majority. What the impostor has counts for
// nothing (kraft-protocol 5.9).
func drawImpostor(d dice, p *plan.Plan) {
	voters := d.oneOf("voters", 3, 3, 3, 5)
	dynamicQuorum(d, p, int(voters), int(d.roll("observers", 2)), int(d.roll("brokers", 2)))
	d.storm(p, &lightProfile)
	gone := d.roll("impostor", voters)
	p.Actions = append(p.Actions, plan.Action{ID: "d01-replace-disk", Kind: "replace-disk", AtUs: p.StormUs / 6, Params: plan.Params{
		"host": p.Hosts[gone].ID, "down": micros(d.oneOf("down", 1_000, 10_000))}})
	for i := range d.between("cuts", 2, 4) {
		name := "i" + number(i+1)
		other := (gone + 1 + d.roll(name+"/host", voters-1)) % voters
		lasts := min(max(5*parseMs(p.Params["fetch_timeout_ms"]), 150_000), int64(p.StormUs)/2)
		d.step(p, name, "isolate", plan.Params{"host": p.Hosts[other].ID, "for": micros(lasts)})
	}
	d.bearable(p, &lightProfile)
}

// parseMs reads a number of milliseconds of a plan as microseconds.
func parseMs(text string) int64 {
	ms, _ := strconv.ParseInt(text, 10, 64)
	return ms * 1000
}

// drawSplit cuts the voters in two again and again, two on one side, for longer than a leader may lead without a majority (kraft-protocol
// 3.8), while an operator removes whoever leads.
func drawSplit(d dice, p *plan.Plan) {
	voters := d.oneOf("voters", 4, 5, 5)
	dynamicQuorum(d, p, int(voters), int(d.roll("observers", 2)), int(d.roll("brokers", 2)))
	d.storm(p, &lightProfile)
	d.operators(p)
	lasts := min(max(5*parseMs(p.Params["fetch_timeout_ms"]), 150_000), int64(p.StormUs)/2)
	for i := range d.between("splits", 2, 3) {
		name := "s" + number(i+1)
		first := d.roll(name+"/first", voters)
		few := []string{p.Hosts[first].ID, p.Hosts[(first+1+d.roll(name+"/second", voters-1))%voters].ID}
		var many []string
		for k := range voters {
			if id := p.Hosts[k].ID; !slices.Contains(few, id) {
				many = append(many, id)
			}
		}
		at := plan.Int64(int64(p.StormUs)/6 + i*int64(p.StormUs)/4)
		a, b := strings.Join(few, ","), strings.Join(many, ",")
		p.Actions = append(p.Actions,
			plan.Action{ID: name + "-out", Kind: "cut", AtUs: at, Params: plan.Params{"from": a, "to": b, "for": micros(lasts)}},
			plan.Action{ID: name + "-in", Kind: "cut", AtUs: at, Params: plan.Params{"from": b, "to": a, "for": micros(lasts)}},
			plan.Action{ID: name + "-remove-voter", Kind: "remove-voter", AtUs: at - plan.Int64(d.between(name+"/before", 0, 4_000)), Params: plan.Params{
				"by": "op1", "voter": "leader"}})
	}
	d.bearable(p, &lightProfile)
}
