//nodet:room

package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorReleaseCases are the questions about upgrades and downgrades.
func operatorReleaseCases() []operatorCase {
	rows := []operatorRow{}
	for back := range int64(4) {
		rows = append(rows, backRow(false, back), backRow(true, back))
	}
	limps := backRow(true, 2)
	limps.name, limps.expect, limps.restartNs = limps.name+", started again at once", "the cluster limps: at each start they acknowledge records before they stop on replay", 0
	limps.judge = func(o *operatorWitness) (string, string) {
		gap := o.longestGapMs(1_600)
		stops := len(o.of("c1").fatals) + len(o.of("c2").fatals) + len(o.of("c3").fatals)
		return saw(number(int64(stops))+" stops, longest gap "+number(gap)+" ms", stops > 4, "no-stops", o.commitsSince(2_000) > 0, "stopped", gap > 80, "unhurt")
	}
	rows = append(rows, limps)
	return []operatorCase{{id: "u26", doc: "software is taken back, before or after the metadata level was raised", rows: rows[2:]}}
}

// backRow: some of three nodes are taken from 3.9 back to 3.8, whose highest level is one less.
func backRow(raised bool, back int64) operatorRow {
	name, works := "level not raised, ", true
	expect := "all run"
	if raised {
		name, works = "level raised, ", back < 2
		expect = "the node stops on replay, the others go on"
		if !works {
			expect = "two stop on replay, and the cluster is down"
		}
	}
	return operatorRow{name: name + number(back) + " of 3 nodes back", expect: expect, restartNs: 3600 * 1_000 * million,
		draw: func(d dice, p *plan.Plan) {
			controllers(p, 3, 0, 0)
			p.Params["level"] = "3.8"
			d.stage(p, 3500)
			for i := range p.Hosts {
				p.Hosts[i].Release = "3.9"
			}
			if raised {
				(&runbook{p: p, atUs: apartMs * 1000}).step(doFinalize, "level", "21")
			}
			for i, id := range d.shuffle("back", hostIDs(p, kindController))[:back] {
				act(p, "back-"+id, "software", 1_200_000+int64(i)*300_000, "host", id, "release", "3.8", "down", "5ms")
			}
		},
		judge: func(o *operatorWitness) (string, string) {
			stopped, old := int64(0), int64(0)
			for i := range o.c.hosts {
				if o.c.hosts[i].release.Name != "3.8" {
					continue
				}
				old++
				if len(o.hosts[i].fatals)+len(o.hosts[i].refusals) > 0 {
					stopped++
				}
			}
			stops := int64(0)
			if raised {
				stops = min(back, 2) // the third has no leader that tells it what is committed
			}
			on, evidence := o.goesOn(works)
			return saw(number(stopped)+" of "+number(old)+" nodes stopped on replay; "+on, old == back, "not-back", stopped == stops, "replay", evidence == "", evidence)
		},
		allows: func(_ string, _ bool, err error) bool {
			return raised && strings.Contains(err.Error(), features.MetadataVersion)
		},
		mends: func(o *operatorWitness) { // forward again
			release, err := features.Find("3.9")
			if err != nil {
				panic("scenarios: " + err.Error())
			}
			for i := range o.c.hosts {
				o.c.hosts[i].release = release
			}
		}}
}
