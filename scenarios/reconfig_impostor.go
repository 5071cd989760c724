package scenarios

import (
	"strconv"

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
