package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// The family reconfig/*: voter sets that change while everything else goes wrong.

// reconfigScenarios lists them.
func reconfigScenarios() []*scenario {
	return []*scenario{
		{name: "reconfig/churn", doc: "two to five voters, added and removed under partitions and crashes, the leader among those removed", draw: drawChurn},
		{name: "reconfig/replaced-disk", doc: "voters whose disk was replaced: removed under their old directory id, added under the new one", draw: drawReplacedDisk},
		{name: "reconfig/lagging-snapshot", doc: "lagging nodes are sent to a snapshot while the voter set changes", draw: drawLaggingSnapshot},
		{name: "reconfig/kraft-upgrade", doc: "a static quorum goes to kraft.version 1 while its leaders fail at every step", draw: drawKRaftUpgrade},
		{name: "reconfig/auto-join", doc: "controllers that make themselves voters, removed by operators, on disks that are replaced", draw: drawAutoJoin},
		{name: "reconfig/even-lockstep", doc: "two and four voters in near lockstep, and the steps between", draw: drawEvenLockstep},
		{name: "reconfig/bootstrap-only", doc: "nodes that know bootstrap servers alone, under names that lead nowhere or astray, while voters move", draw: drawBootstrapOnly},
		{name: "reconfig/discovery", doc: "nodes that are no voters lose the bootstrap servers, or the addresses that voters advertise, for good", draw: drawDiscovery},
		{name: "reconfig/mixed-releases", doc: "hosts of several releases, upgraded and taken back one by one", draw: drawMixedReleases},
		{name: "reconfig/power", doc: "power losses of several hosts at once while the voter set changes", draw: drawPower},
		{name: "reconfig/last-voter", doc: "all voters but one leave, one by one, and then that one is asked to go", draw: drawLastVoter},
		{name: "reconfig/listeners", doc: "controllers with several listeners, in any order, one of which is for raft, while voters move and change", draw: drawListeners},
		{name: "reconfig/impostor", doc: "a voter whose disk was replaced fetches under its old id and a new directory id while other voters are cut off", draw: drawImpostor},
		{name: "reconfig/split", doc: "voters are cut in two for longer than a leader may lead without a majority, as the leader is removed", draw: drawSplit},
		{name: "reconfig/slow-disks", doc: "slow and stuck disks while the voter set changes", draw: drawSlowDisks},
	}
}

var (
	reconfigProfile = swarm.Profile{
		Name: "reconfig", Doc: "voter changes under crashes and partitions", StormUs: swarm.Range{800_000, 1_700_000}, Actions: swarm.Range{2, 9},
		Faults: swarm.Weights("kill:20 power:14 crash-op:30 pause:5 cut-one:10 cut-out:14 isolate:16 clog:5 filter:6 jump:3 " +
			"disk-slow:4 stop:6 isolate-leader:6 isolate-next:4 split-quorum:5 crash-after:12 flap:4"),
		LatencyUs: swarm.Range{100, 1_500}, JitterUs: swarm.Range{0, 2_500}, TailPercent: 25, ResetPpm: 2_000,
		SyncNs: swarm.Range{20_000, 1_200_000}, TimeoutMs: swarm.Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 9_000,
	}
	evenProfile = swarm.Profile{
		Name: "even", Doc: "even numbers of voters in near lockstep", StormUs: swarm.Range{700_000, 1_300_000}, Actions: swarm.Range{1, 6},
		Faults:    swarm.Weights("kill:30 power:20 crash-op:20 isolate:20 cut-out:10"),
		LatencyUs: swarm.Range{300, 600}, JitterUs: swarm.Range{0, 2}, SyncNs: swarm.Range{20_000, 60_000}, TimeoutMs: swarm.Range{30, 60},
		PeriodUs: 20_000,
	}
)

// goneVoterRefused is the condition that a leader refused to remove a voter under the directory id of a disk that was replaced.
const goneVoterRefused = "gone-voter-refused"

// lastVoterKept is the condition that a leader refused to remove the only voter that was left.
const lastVoterKept = "last-voter-kept"

func reconfigSometimes() []sim.SometimesDoc {
	return append(changeSometimes(), []sim.SometimesDoc{{Name: goneVoterRefused, Scenario: "reconfig/replaced-disk", DuePerMillion: 50_000,
		Doc: "a leader refuses to remove a voter by the directory id of the disk that it had before"}, {Name: lastVoterKept, Scenario: "reconfig/last-voter", DuePerMillion: 200_000,
		Doc: "a leader refuses to remove the only voter"}}...)
}

// dynamicQuorum makes hosts and identity of a quorum at kraft.version 1. Every host knows all controllers as bootstrap servers, since
// any of them may be left without a voter that it knows.
func dynamicQuorum(d dice, p *plan.Plan, voters, observers, brokers int) {
	controllers(p, voters, observers, brokers)
	p.Params["quorum"] = "dynamic"
	d.identify(p)
	d.known(p, 100)
}

// operators adds the machines of one or two of them; no fault but a partition meets those.
func (d dice) operators(p *plan.Plan) {
	p.Hosts = append(p.Hosts, plan.Host{ID: "op1", Kind: kindOperator})
	if d.chance("two-operators", 40) {
		p.Hosts = append(p.Hosts, plan.Host{ID: "op2", Kind: kindOperator})
	}
}

// hostIDs lists the ids of all hosts of the kinds.
func hostIDs(p *plan.Plan, kinds ...string) (ids []string) {
	for i := range p.Hosts {
		for _, k := range kinds {
			if p.Hosts[i].Kind == k {
				ids = append(ids, p.Hosts[i].ID)
			}
		}
	}
	return ids
}

// step adds an operator's action at a time in the storm.
func (d dice) step(p *plan.Plan, name, kind string, params plan.Params) {
	at := d.between(name+"/at", int64(p.StormUs)/12, int64(p.StormUs)*9/10)
	p.Actions = append(p.Actions, plan.Action{ID: name + "-" + kind, AtUs: plan.Int64(at), Kind: kind, Params: params})
}

// changes draws voter changes: more leave than came, so that sets grow and shrink.
func (d dice) changes(p *plan.Plan, low, high int64) {
	d.changesOf(p, low, high, hostIDs(p, kindController, kindObserver), 25)
}

// changesOf draws changes that concern some hosts, and a share that concerns whoever leads.
func (d dice) changesOf(p *plan.Plan, low, high int64, all []string, leaderPercent int64) {
	ops := hostIDs(p, kindOperator)
	for i := range d.between("changes", low, high) {
		name := fmt.Sprintf("v%02d", i+1)
		host := all[d.roll(name+"/host", int64(len(all)))]
		params := plan.Params{"by": ops[d.roll(name+"/by", int64(len(ops)))]}
		switch x := d.roll(name+"/kind", 100); {
		case x < 50:
			params["host"] = host
			d.step(p, name, "add-voter", params)
		case x < 100-leaderPercent:
			params["voter"] = host
			d.step(p, name, "remove-voter", params)
		default:
			params["voter"] = "leader"
			d.step(p, name, "remove-voter", params)
		}
	}
}

// ambushed draws failures at steps of the protocol.
func (d dice) ambushed(p *plan.Plan, low, high int64, on ...string) {
	for i := range d.between("ambushes", low, high) {
		name := fmt.Sprintf("x%02d", i+1)
		d.step(p, name, "ambush", plan.Params{
			"on": d.pick(name+"/on", on...), "n": number(1 + d.roll(name+"/n", d.oneOf(name+"/reach", 1, 2, 6))),
			"after": micros(d.oneOf(name+"/after", 0, 0, 100, 1_000, 5_000)),
			"how":   d.pick(name+"/how", "kill", "power", "power", "stop"), "down": micros(d.oneOf(name+"/down", 5_000, 40_000, 150_000, 300_000))})
	}
}

// replaced draws disks that are replaced; with operators somebody takes the old voter out and the new one in.
func (d dice) replaced(p *plan.Plan, low, high int64, hosts []string, operators bool) {
	ops := hostIDs(p, kindOperator)
	for i := range d.between("disks", low, high) {
		name := fmt.Sprintf("d%02d", i+1)
		host := hosts[d.roll(name+"/host", int64(len(hosts)))]
		d.step(p, name, "replace-disk", plan.Params{"host": host, "down": micros(d.oneOf(name+"/down", 1_000, 20_000, 100_000))})
		if !operators {
			continue
		}
		at := min(int64(p.Actions[len(p.Actions)-1].AtUs)+d.between(name+"/after", 1_000, 120_000), int64(p.StormUs)-1)
		p.Actions = append(p.Actions, plan.Action{ID: name + "-add-voter", AtUs: plan.Int64(at), Kind: "add-voter", Params: plan.Params{
			"by": ops[d.roll(name+"/by", int64(len(ops)))], "host": host}})
		if !d.chance(name+"/once-more", 40) {
			continue
		}
		at = min(at+d.between(name+"/late", 0, 100_000), int64(p.StormUs)-1)
		p.Actions = append(p.Actions, plan.Action{ID: name + "-remove-replaced", AtUs: plan.Int64(at), Kind: "remove-replaced", Params: plan.Params{
			"by": ops[d.roll(name+"/by", int64(len(ops)))], "host": host}})
	}
}

// moves draws restarts with another port.
func (d dice) moves(p *plan.Plan, low, high int64) {
	all := hostIDs(p, kindController, kindObserver)
	for i := range d.between("moves", low, high) {
		name := fmt.Sprintf("m%02d", i+1)
		d.step(p, name, "move", plan.Params{"host": all[d.roll(name+"/host", int64(len(all)))], "port": number(9200 + i),
			"down": micros(d.oneOf(name+"/down", 1_000, 20_000, 100_000))})
	}
}

// wrongPorts draws restarts with an advertised port at which nobody answers.
func (d dice) wrongPorts(p *plan.Plan, low, high int64) {
	all := hostIDs(p, kindController, kindObserver)
	for i := range d.between("wrong-ports", low, high) {
		name := fmt.Sprintf("w%02d", i+1)
		d.step(p, name, "misadvertise", plan.Params{"host": all[d.roll(name+"/host", int64(len(all)))], "port": number(9500 + i),
			"down": micros(d.oneOf(name+"/down", 1_000, 20_000)), "for": micros(d.oneOf(name+"/for", 100_000, 300_000, 800_000))})
	}
}

// known gives every host the bootstrap names of the first controller and of a share of the others.
func (d dice) known(p *plan.Plan, percent int64) {
	controllers := hostIDs(p, kindController, kindObserver)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		list := controllers[0]
		for _, id := range controllers[1:] {
			if d.chance(h.ID+"/knows/"+id, percent) {
				list += "," + id
			}
		}
		h.Params["bootstrap"] = list
	}
}

// bearable draws a client whose writes a follower can fetch one by one: who never catches up never becomes a voter.
func (d dice) bearable(p *plan.Plan, f *swarm.Profile) {
	d.writes(p, f)
	w := p.Workload[len(p.Workload)-1].Params
	round := 2*(p.Network.LatencyUs+p.Network.JitterUs) + (p.Disk.SyncNs+4*p.Disk.WriteNs)/1000
	w["period"] = micros(max(parseNs(w["period"])/1000, 3*round))
}

// changeSteps are the steps at which leaders of a dynamic quorum are met.
var changeSteps = []string{"change-started", "voters-changed", "change-ended", "role", "watermark"}

func drawChurn(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.between("voters", 2, 5)), int(d.between("observers", 1, 3)), int(d.roll("brokers", 2)))
	d.storm(p, &reconfigProfile)
	d.operators(p)
	d.changes(p, 3, 10)
	d.ambushed(p, 0, 3, changeSteps...)
	if d.chance("moving", 40) {
		d.moves(p, 1, 3)
	}
	if d.chance("mistaken", 30) {
		d.wrongPorts(p, 2, 5)
	}
	d.bearable(p, &reconfigProfile)
}

func drawReplacedDisk(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 3, 3, 4, 5)), int(d.roll("observers", 2)), int(d.roll("brokers", 2)))
	d.storm(p, &reconfigProfile)
	d.operators(p)
	d.replaced(p, 1, 4, hostIDs(p, kindController, kindObserver), true)
	d.changes(p, 0, 3)
	d.ambushed(p, 0, 2, changeSteps...)
	d.bearable(p, &reconfigProfile)
}

func drawLaggingSnapshot(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 2, 3, 3, 4)), int(d.between("observers", 1, 2)), 1)
	set := func(name string, values ...int64) { p.Params[name] = number(d.oneOf(name, values...)) }
	set("segment_bytes", 300, 300, 1_000, 4_000)
	set("snapshot_max_bytes", 200, 500, 1_500)
	set("fetch_snapshot_max_bytes", 100, 300, 1_000, 1<<20)
	set("retention_bytes", 1, 1, 1_000)
	set("clean_interval_ms", 20, 40, 150)
	set("delete_delay_ms", 5, 40, 60_000)
	d.storm(p, &snapshotProfile)
	d.operators(p)
	d.changes(p, 2, 7)
	d.ambushed(p, 0, 3, "change-started", "voters-changed", "snapshot-sent", "snapshot-stored", "log-replaced")
	if d.chance("disks", 30) {
		d.replaced(p, 1, 2, hostIDs(p, kindController, kindObserver), true)
	}
	d.bearable(p, &snapshotProfile)
}

func drawKRaftUpgrade(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 1, 2, 3, 3, 3, 5)), int(d.roll("observers", 2)), int(d.roll("brokers", 2)))
	d.identify(p)
	d.storm(p, &reconfigProfile)
	d.operators(p)
	p.Actions = append(p.Actions, plan.Action{ID: "u1-upgrade-kraft", Kind: "upgrade-kraft",
		AtUs: plan.Int64(d.between("u1/at", 30_000, int64(p.StormUs)/3))})
	for i := range d.between("upgrade-ambushes", 0, 3) { // leaders that fail between the append of the record and its commit, one after the other
		name := fmt.Sprintf("k%02d", i+1)
		p.Actions = append(p.Actions, plan.Action{ID: name + "-ambush", AtUs: 20_000, Kind: "ambush", Params: plan.Params{"on": "kraft-version",
			"n": number(i + 1), "after": micros(d.oneOf(name+"/after", 0, 0, 200, 800, 2_000, 5_000)), "how": d.pick(name+"/how", "kill", "power", "stop"),
			"down": micros(d.oneOf(name+"/down", 5_000, 40_000, 150_000, 300_000))}})
	}
	d.ambushed(p, 1, 5, "kraft-version", "change-started", "change-ended", "voters-changed", "role", "watermark")
	d.changes(p, 0, 4)
	d.bearable(p, &reconfigProfile)
}

func drawAutoJoin(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 1, 1, 2, 3)), int(d.between("observers", 1, 3)), int(d.roll("brokers", 2)))
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Kind == kindObserver || h.Kind == kindController && d.chance(h.ID+"/auto-join", 60) {
			h.Params["auto_join"] = "true"
		}
	}
	d.storm(p, &reconfigProfile)
	d.operators(p)
	d.changes(p, 0, 5)
	d.replaced(p, 0, 3, hostIDs(p, kindController, kindObserver), d.chance("operators-help", 30))
	d.ambushed(p, 0, 3, changeSteps...)
	d.bearable(p, &reconfigProfile)
}

func drawEvenLockstep(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 2, 4)), int(d.between("observers", 1, 2)), 0)
	d.storm(p, &evenProfile)
	d.operators(p)
	d.changes(p, 1, 5)
	d.ambushed(p, 1, 3, "role", "watermark", "voters-changed")
	d.bearable(p, &evenProfile)
	if d.chance("one-clock", 50) {
		for i := range p.Hosts {
			p.Hosts[i].StartUs, p.Hosts[i].DriftPpm, p.Hosts[i].OffsetMs = 0, 0, 0
		}
	}
}

func drawBootstrapOnly(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 2, 3, 3, 4)), int(d.between("observers", 1, 2)), int(d.between("brokers", 2, 3)))
	d.known(p, d.oneOf("known-percent", 0, 50, 100))
	d.storm(p, &lightProfile)
	d.operators(p)
	all := hostIDs(p, kindController, kindObserver)
	for i := range d.between("names", 1, 4) {
		name := fmt.Sprintf("n%02d", i+1)
		params := plan.Params{"name": all[d.roll(name+"/name", int64(len(all)))], "for": micros(d.oneOf(name+"/for", 30_000, 120_000, 400_000))}
		if params["name"] != all[0] && d.chance(name+"/astray", 50) { // connections outlive it: c1's must never lead its asker to itself
			params["to"] = all[d.roll(name+"/to", int64(len(all)))]
		}
		d.step(p, name, "resolve", params)
	}
	d.moves(p, 0, 4)
	d.changesOf(p, 0, 4, all[1:], 0) // c1 stays a voter: the others may know nobody else
	d.bearable(p, &lightProfile)
}

// drawMixedReleases upgrades hosts one by one, and takes some of them back. metadata.version stays at what all of them know. Where
// the quorum is dynamic all know kraft.version 1.
func drawMixedReleases(d dice, p *plan.Plan) {
	releases := []string{"3.7", "3.8", "3.9", "4.0", "upstream-4.5"}
	p.Params["level"] = "3.7"
	dynamic := d.chance("dynamic", 60)
	controllers(p, int(d.oneOf("voters", 3, 3, 5)), int(d.between("observers", 0, 2)), int(d.roll("brokers", 2)))
	if dynamic {
		releases, p.Params["level"], p.Params["quorum"] = releases[2:], "3.9", "dynamic"
	}
	d.identify(p)
	oldest := d.roll("oldest", int64(len(releases)-1))
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.Release = releases[oldest]
		if d.chance(h.ID+"/newer", 30) {
			h.Release = releases[d.between(h.ID+"/release", oldest, int64(len(releases)-1))]
		}
	}
	if dynamic {
		d.known(p, 100)
	}
	d.storm(p, &lightProfile)
	d.operators(p)
	nodes := hostIDs(p, kindController, kindObserver, kindBroker)
	for i := range d.between("upgrades", 2, 8) {
		name := fmt.Sprintf("s%02d", i+1)
		release := "upstream-4.5"
		if d.chance(name+"/other", 30) {
			release = releases[d.between(name+"/release", oldest, int64(len(releases)-1))]
		}
		d.step(p, name, "software", plan.Params{"host": nodes[d.roll(name+"/host", int64(len(nodes)))], "release": release,
			"down": micros(d.oneOf(name+"/down", 1_000, 20_000, 100_000))})
	}
	if dynamic {
		d.changes(p, 0, 4)
	}
	d.bearable(p, &lightProfile)
}

func drawPower(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.between("voters", 2, 5)), int(d.between("observers", 1, 2)), int(d.roll("brokers", 2)))
	d.storm(p, &blackoutProfile)
	d.operators(p)
	d.changes(p, 2, 8)
	d.ambushed(p, 0, 3, changeSteps...)
	d.bearable(p, &blackoutProfile)
}

func drawSlowDisks(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.between("voters", 2, 4)), int(d.between("observers", 1, 2)), int(d.roll("brokers", 2)))
	d.storm(p, &stuckProfile)
	p.Disk.SlowSyncPpm, p.Disk.SlowSyncNs = d.oneOf("stuck-ppm", 1_000, 10_000, 60_000), d.oneOf("stuck-ns", 40_000_000, 200_000_000, 500_000_000)
	d.operators(p)
	d.changes(p, 2, 7)
	d.ambushed(p, 0, 2, changeSteps...)
	d.bearable(p, &stuckProfile)
}

// drawLastVoter: an operator takes the voters out in some order, the last one included, and now and then puts some in again.
func drawLastVoter(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.between("voters", 1, 4)), int(d.roll("observers", 3)), int(d.roll("brokers", 2)))
	p.Params["min_voters"] = "0"
	d.storm(p, &lightProfile)
	d.operators(p)
	ops, all := hostIDs(p, kindOperator), hostIDs(p, kindController, kindObserver)
	rounds := d.between("rounds", 1, 2)
	for round := range rounds {
		from := d.roll("from-"+number(round), int64(len(all)))
		for i := range int64(len(all)) {
			name := fmt.Sprintf("v%d%02d", round, i+1)
			params := plan.Params{"by": ops[d.roll(name+"/by", int64(len(ops)))], "voter": all[(from+i)%int64(len(all))]}
			at := int64(p.StormUs) * (10 + 80*(round*int64(len(all))+i)/(rounds*int64(len(all)))) / 100
			p.Actions = append(p.Actions, plan.Action{ID: name + "-remove-voter", AtUs: plan.Int64(at), Kind: "remove-voter", Params: params})
			if d.chance(name+"/back", 20) {
				p.Actions = append(p.Actions, plan.Action{ID: name + "-add-voter", AtUs: plan.Int64(at + 5_000), Kind: "add-voter", Params: plan.Params{
					"by": params["by"], "host": all[d.roll(name+"/who", int64(len(all)))]}})
			}
		}
	}
	d.ambushed(p, 0, 2, changeSteps...)
	d.bearable(p, &lightProfile)
}
