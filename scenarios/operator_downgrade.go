package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The downgrade as a runbook (U-26, KIP-584, KIP-778): lower the level first, then take the software back. The record of the higher level stays
// in the log, so a node that reads the log from its beginning stops on it all the same; one that has a snapshot from after the lowering does
// not read it. And a level that changed what is stored cannot be lowered at all (metadata-bootstrap 5.2, 5.7).

// loweredRow: three nodes of 3.9 are raised to its level, lowered to that of 3.8, and taken back one by one.
func loweredRow(snapshots bool) operatorRow {
	r := backRow(true, 2)
	r.name, r.expect = "level raised and lowered again, 3 of 3 nodes back, no snapshot since", "two stop on replay all the same, and the cluster is down: the log has the higher level still"
	if snapshots {
		r.name, r.expect = "level raised and lowered again, 3 of 3 nodes back, a snapshot on each since", "all run"
		r.allows = nil
	}
	r.draw = func(d dice, p *plan.Plan) {
		controllers(p, 3, 0, 0)
		p.Params["level"] = "3.8"
		d.stage(p, 5000)
		if snapshots {
			p.Params["snapshot_max_bytes"] = "2000"
		}
		for i := range p.Hosts {
			p.Hosts[i].Release = "3.9"
		}
		(&runbook{p: p, atUs: apartMs * 1000}).step(doFinalize, "level", "21")
		act(p, "lower", "features", 1_500_000, "do", "downgrade", "metadata", "3.8", "expect", "ok")
		for i, id := range d.shuffle("back", hostIDs(p, kindController)) {
			act(p, "back-"+id, "software", 3_000_000+int64(i)*400_000, "host", id, "release", "3.8", "down", "5ms")
		}
	}
	r.judge = func(o *operatorWitness) (string, string) {
		stopped, old := o.stoppedOn("3.8")
		said, stops := o.toolSaid("lower"), int64(2)
		if snapshots {
			stops = 0
		}
		on, evidence := o.goesOn(snapshots)
		return saw(said+"; "+number(stopped)+" of "+number(old)+" nodes stopped on replay; "+on, strings.Contains(said, "was downgraded"), "not-lowered", old == 3, "not-back",
			stopped == stops, "replay", evidence == "", evidence)
	}
	return r
}

// brokerBackRow: a broker has no controller whose replay stops it. Its loader alone reads the level that its software does not know, and a
// broker does not stop when its loader cannot go on: the fault is logged.
func brokerBackRow() operatorRow {
	r := backRow(true, 1)
	r.name, r.expect = "level raised, a broker back", "the broker runs, and reads no further than the level that it does not know"
	r.allows = nil
	r.draw = func(d dice, p *plan.Plan) {
		controllers(p, 3, 0, 1)
		p.Params["level"] = "3.8"
		d.stage(p, 3500)
		for i := range p.Hosts {
			p.Hosts[i].Release = "3.9"
		}
		(&runbook{p: p, atUs: apartMs * 1000}).step(doFinalize, "level", "21")
		act(p, "back-b1", "software", 1_200_000+d.roll("back", 300_000), "host", "b1", "release", "3.8", "down", "5ms")
	}
	r.judge = func(o *operatorWitness) (string, string) {
		stopped, old := o.stoppedOn("3.8")
		failures := o.of("b1").loadFailures
		on, evidence := o.goesOn(true)
		return saw(number(failures)+" batches that b1 could not apply; "+on, old == 1, "not-back", stopped == 0, "stopped", failures > 0, "replay", evidence == "", evidence)
	}
	return r
}

// refusedRow: between 3.6 and 3.7 lie levels that changed what is stored.
func refusedRow() operatorRow {
	return operatorRow{name: "level raised over one that changed what is stored", expect: "lowering it is refused, unsafely too: there is no way back",
		draw: func(d dice, p *plan.Plan) {
			controllers(p, 3, 0, 0)
			p.Params["level"] = "3.6"
			d.stage(p, 3000)
			for i := range p.Hosts {
				p.Hosts[i].Release = "3.7"
			}
			(&runbook{p: p, atUs: apartMs * 1000}).step(doFinalize, "level", "19")
			act(p, "lower", "features", 1_500_000, "do", "downgrade", "metadata", "3.6", "expect", "INVALID_UPDATE_VERSION")
			act(p, "force", "features", 2_000_000, "do", "downgrade", "metadata", "3.6", "unsafe", "true", "expect", "INVALID_UPDATE_VERSION")
		},
		judge: func(o *operatorWitness) (string, string) {
			safe, unsafe := o.toolSaid("lower"), o.toolSaid("force")
			on, evidence := o.goesOn(true)
			return saw(safe+"; unsafely: "+unsafe+"; "+on, strings.Contains(safe, "INVALID_UPDATE_VERSION"), "lowered", strings.Contains(unsafe, "INVALID_UPDATE_VERSION"), "forced",
				o.c.book.level(features.MetadataVersion) == 19, "level", evidence == "", evidence)
		}}
}

// stoppedOn counts the hosts whose software was taken to a release, and those of them that ended by themselves.
func (o *operatorWitness) stoppedOn(release string) (stopped, all int64) {
	for i := range o.c.hosts {
		if o.c.hosts[i].release.Name != release {
			continue
		}
		all++
		if len(o.hosts[i].fatals)+len(o.hosts[i].refusals) > 0 {
			stopped++
		}
	}
	return stopped, all
}
