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
		return saw(number(int64(stops))+" stops, longest gap "+number(gap)+" ms", stops > 4, "no-stops", o.commitsSince(2_000) > 0, "stopped", gap > 50, "unhurt") // the election timeout; a healthy cluster commits twice in that time
	}
	rows = append(rows, limps, loweredRow(false), loweredRow(true), refusedRow(), brokerBackRow())
	return []operatorCase{{id: "u19", doc: "controllers were replaced by new ones under other ids, and their registrations remain", rows: []operatorRow{staleRow(false), staleRow(true), lateRow(false), lateRow(true)}},
		{id: "u26", doc: "software is taken back, before or after the metadata level was raised", rows: rows[2:]}}
}

// staleRow: c1 to c3, whose software ends at level 33, gave way to o1 to o3 and are gone. The upgrade to 34 asks the registrations.
func staleRow(unregistered bool) operatorRow {
	r := operatorRow{name: "they are left alone", expect: "the upgrade is refused for their sake",
		draw: func(d dice, p *plan.Plan) {
			dynamicQuorum(d, p, 3, 3, 1)
			p.Params["variant"], p.Params["members"], p.Params["level"] = "final-mar", "register", beforeID
			for i := range p.Hosts {
				p.Hosts[i].Release = "kip1262"
				if p.Hosts[i].Kind == kindController {
					p.Hosts[i].Release = "upstream-4.5"
				}
			}
			d.stage(p, 6000)
			p.Hosts = append(p.Hosts, plan.Host{ID: "op1", Kind: kindOperator})
			book := &runbook{p: p, atUs: apartMs * 1000}
			for _, step := range []string{doEnlist, doRetire, doFail} {
				for i := range 3 {
					switch id := number(int64(i + 1)); step {
					case doEnlist:
						book.step(step, "host", "o"+id, "by", "op1")
					case doRetire:
						book.step(step, "host", "c"+id, "by", "op1")
					case doFail:
						book.step(step, "host", "c"+id, "down", "60s")
					}
				}
			}
			act(p, "upgrade", "features", 4_000_000, "do", "upgrade", "feature", features.MetadataVersion+"=34", "release", "kip1262", "expect", "INVALID_UPDATE_VERSION")
			if unregistered {
				for i, id := range []string{"c1", "c2", "c3"} {
					act(p, "forget-"+id, "unregister", 4_500_000+int64(i)*100_000, "host", id)
				}
				act(p, "again", "features", 5_000_000, "do", "upgrade", "feature", features.MetadataVersion+"=34", "release", "kip1262", "expect", "ok")
			}
		},
		judge: func(o *operatorWitness) (string, string) {
			on, evidence := o.goesOn(true)
			said, again := o.toolSaid("upgrade"), o.toolSaid("again")
			seen := "voters " + o.votersNow() + "; " + said
			if unregistered {
				seen += "; then " + again
			}
			return saw(seen+"; "+on, o.c.book.Met(), "not-replaced", strings.Contains(said, "INVALID_UPDATE_VERSION"), "not-refused",
				!unregistered || strings.Contains(again, "was upgraded"), "refused-again", evidence == "", evidence)
		},
		mends: func(o *operatorWitness) { // the calm starts the old ones again, with software that knows the level
			release, err := features.Find("kip1262")
			if err != nil {
				panic("scenarios: " + err.Error())
			}
			for i := range o.c.hosts {
				o.c.hosts[i].release = release
			}
		}}
	if unregistered {
		r.name, r.expect = "they are unregistered", "the upgrade is refused before, and passes after"
	}
	return r
}

// toolSaid is what an operator's tool said for an action.
func (o *operatorWitness) toolSaid(action string) string {
	for i := range o.c.tools.answers {
		if a := &o.c.tools.answers[i]; a.Action == action {
			return strings.Join(a.Lines, "; ")
		}
	}
	return "nothing"
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
			stopped, old := o.stoppedOn("3.8")
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
