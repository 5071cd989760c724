package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// The family upgrade/*: a cluster of an old release is brought to a new one by a runbook (upgrade_procedure.go), while its nodes fail.

// staticToClusterID is the scenario of the longest way that there is: from a static quorum to KIP-1262.
const staticToClusterID = "upgrade/static-to-cluster-id"

// upgradeScenarios lists them.
func upgradeScenarios() []*scenario {
	return []*scenario{
		{name: staticToClusterID, doc: "a rolling upgrade from 3.9 with a static quorum to kip1262, kraft.version 1, other voters and a ClusterIdRecord",
			draw: drawStaticToClusterID},
	}
}

// upgradeProfile is a light storm that is long enough for most of a runbook.
var upgradeProfile = swarm.Profile{
	Name: "upgrade", Doc: "a light storm that is long enough for a runbook", StormUs: swarm.Range{900_000, 1_800_000}, Actions: swarm.Range{0, 5},
	Faults:    swarm.Weights("kill:30 power:14 crash-op:30 cut-out:10 isolate:10 pause:6"),
	LatencyUs: swarm.Range{100, 800}, JitterUs: swarm.Range{0, 1_000}, TailPercent: 10, ResetPpm: 500,
	SyncNs: swarm.Range{20_000, 800_000}, TimeoutMs: swarm.Range{30, 60},
	Lanes: plan.Lanes{PostJitterUs: 50, WakeJitterUs: 100}, PeriodUs: 15_000,
}

// runbook adds steps to a plan, in their order.
type runbook struct {
	p    *plan.Plan
	atUs int64
	n    int
}

func (r *runbook) step(do string, params ...string) {
	r.n++
	a := plan.Action{ID: fmt.Sprintf("step-%02d-%s", r.n, do), Kind: procedureKind, AtUs: plan.Int64(r.atUs), Params: plan.Params{"do": do}}
	for i := 0; i+1 < len(params); i += 2 {
		a.Params[params[i]] = params[i+1]
	}
	r.p.Actions = append(r.p.Actions, a)
	r.atUs += 1000
}

// roll brings hosts to a release, one after the other.
func (r *runbook) roll(d dice, hosts []string, release string) {
	for _, id := range hosts {
		r.step(doRoll, "host", id, "release", release, "down", micros(d.oneOf("roll/"+release+"/"+id, 1_000, 10_000, 40_000)))
	}
}

// drawStaticToClusterID: software first, on all nodes, directly or by way of another release; then the levels, in some order; then the
// voters, which kraft.version 1 makes changeable.
func drawStaticToClusterID(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 3, 3, 3, 5)), int(d.between("observers", 1, 2)), int(d.between("brokers", 1, 2)))
	p.Params["variant"] = d.pick("variant", kipVariants...)
	p.Params["level"] = "3.9"
	d.identify(p)
	for i := range p.Hosts {
		p.Hosts[i].Release = "3.9"
		d.twoDirs(&p.Hosts[i], false)
	}
	d.kipChoices(p)
	if d.chance("rare-snapshots", 50) {
		rareSnapshots(p)
	}
	d.storm(p, &upgradeProfile)
	if d.chance("members", 90) {
		d.sessions(p)
	}
	p.Hosts = append(p.Hosts, plan.Host{ID: "op1", Kind: kindOperator})
	r := &runbook{p: p, atUs: d.between("begin", 60_000, 150_000)}
	order := d.shuffle("order", hostIDs(p, kindController, kindObserver, kindBroker))
	if d.chance("detour", 35) {
		r.roll(d, order, d.pick("by-way-of", "4.0", "upstream-4.5"))
		if d.chance("half-level", 50) {
			r.step(doFinalize, "level", "22")
		}
	}
	r.roll(d, order, "kip1262")
	version := []string{"feature", features.MetadataVersion, "level", number(int64(records.ClusterIdRecordSince))}
	if d.chance("version-first", 50) {
		r.step(doFinalize, version...)
	}
	r.step(doFinalize, "feature", features.KRaftVersion, "level", "1")
	d.swapVoters(r, p)
	if !d.chance("version-first", 50) {
		r.step(doFinalize, version...)
	}
	d.bearable(p, &upgradeProfile)
	d.remote(p, 50, 3)
}

// swapVoters adds the steps that put an observer into the voter set and take a voter out, in either order.
func (d dice) swapVoters(r *runbook, p *plan.Plan) {
	voters := hostIDs(p, kindController)
	retire := []string{"by", "op1"}
	first := d.chance("retire-first", 30)
	if !first || d.chance("retire-one", 30) { // else whoever leads, which is one of the old voters then
		retire = append(retire, "host", voters[d.roll("retired", int64(len(voters)))])
	}
	if first {
		r.step(doRetire, retire...)
	}
	for _, id := range hostIDs(p, kindObserver) {
		r.step(doEnlist, "by", "op1", "host", id)
	}
	if !first && d.chance("retire", 80) {
		r.step(doRetire, retire...)
	}
}

// shuffle brings words into an order that depends on the seed.
func (d dice) shuffle(name string, words []string) []string {
	list := append([]string{}, words...)
	for i := len(list) - 1; i > 0; i-- {
		k := d.roll(name+"/"+number(int64(i)), int64(i+1))
		list[i], list[k] = list[k], list[i]
	}
	return list
}
