package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// lateRow is the third answer of U-19: c3, which gave way too, still runs. Its registration is removed, it asks for a new one, the network
// holds the request back, and the level rises meanwhile. Kafka takes a registration whatever range it names (a hazard that invariants.md
// declares at levels-supported); with old_controllers=refuse it is refused.
func lateRow(refuse bool) operatorRow {
	r := staleRow(true)
	r.name, r.expect = "one of them still runs, its new registration arrives after the upgrade", "Kafka takes it: a registration below the level is back, and c3 stops on replay"
	if refuse {
		r.name, r.expect = "the same where registrations below the level are refused", "it is refused, and c3 stops on replay"
	}
	draw := r.draw
	r.draw = func(d dice, p *plan.Plan) {
		draw(d, p)
		if refuse {
			p.Params["old_controllers"] = "refuse"
		}
		for i := range p.Actions {
			if a := &p.Actions[i]; a.Params["do"] == doFail && a.Params["host"] == "c3" {
				p.Actions = append(p.Actions[:i], p.Actions[i+1:]...)
				break
			}
		}
		act(p, "hold", "filter", 4_650_000, "from", "c3", "to", "o1,o2,o3", "kind", number(int64(kindRegisterController)), "for", "650ms")
		act(p, "alone", "isolate", 4_800_000, "host", "c3", "for", "500ms")
	}
	r.judge = func(o *operatorWitness) (string, string) {
		again, level := o.toolSaid("again"), o.c.book.level(features.MetadataVersion)
		on, evidence := o.goesOn(true)
		low := false
		at, c3 := o.c.work.active(0), o.w.Host("c3")
		if at != nil && c3 != nil {
			if x := nodeOf(at).control.Image().Controller(o.c.hosts[c3.Index()].nodeID); x != nil {
				for _, f := range x.Features {
					low = low || f.Name == features.MetadataVersion && f.Maximum < level
				}
			}
		}
		seen := again + "; c3 is not registered"
		if low {
			seen = again + "; c3 is registered below the level"
		}
		return saw(seen+"; "+on, strings.Contains(again, "was upgraded"), "refused", low != refuse, "registration", len(o.of("c3").fatals) > 0, "runs", evidence == "", evidence)
	}
	r.allows = func(host string, _ bool, err error) bool {
		return host == "c3" && (strings.Contains(err.Error(), features.MetadataVersion) || strings.Contains(err.Error(), "unknown record key"))
	}
	r.restartNs = 3600 * 1_000 * million
	return r
}
