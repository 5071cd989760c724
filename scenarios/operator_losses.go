package scenarios

import (
	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorLossCases are the questions about disks.
func operatorLossCases() []operatorCase {
	return []operatorCase{{id: "u23", doc: "the disk of a static voter is replaced while another one lags", rows: []operatorRow{
		diskRow("the advice is ignored", "acknowledged operations are lost although one disk was, or nobody is elected", false),
		diskRow("a majority is known to have everything first", "nothing is lost", true),
	}}}
}

// diskRow: c3 lags, c2 loses its log, c1 stops.
func diskRow(name, expect string, followed bool) operatorRow {
	return operatorRow{name: name, expect: expect, keepAtUs: (apartMs + 575) * 1000,
		draw: func(d dice, p *plan.Plan) {
			d.trio(p, 0, 4000)
			p.Unrestricted = true
			act(p, "lag", "isolate", apartMs*1000, "host", "c3", "for", "600ms")
			switch wipe := int64(apartMs+580) * 1000; followed {
			case false:
				act(p, "replace", "wipe", wipe, "host", "c2", "path", "/data/dir0/__cluster_metadata-0", "down", "15ms")
				act(p, "stop", "kill", wipe+5_000, "host", "c1")
			case true:
				act(p, "replace", "wipe", wipe+700_000, "host", "c2", "path", "/data/dir0/__cluster_metadata-0", "down", "15ms")
				p.Actions = append(p.Actions, plan.Action{ID: "stop", Kind: procedureKind, AtUs: plan.Int64(wipe + 705_000),
					Params: plan.Params{"do": doFail, "host": "c1", "down": "10s"}})
			}
		},
		judge: func(o *operatorWitness) (string, string) {
			on, evidence := o.goesOn(true)
			lost := o.lost()
			seen := number(lost) + " of " + number(int64(len(o.kept))) + " committed batches are lost; " + on
			if !followed && lost < 0 { // c2 led before, and c3 tells it that it still does
				return "the wiped node stops at each start, and what was committed is with the node that is down", ""
			}
			return saw(seen, len(o.kept) > 0, "nothing-kept", (lost > 0) != followed, "loss", evidence == "", evidence)
		}}
}
