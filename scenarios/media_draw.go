package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// What storms on lying drives, lawless file systems, racks and narrow links draw.

var posixProfile = swarm.Profile{
	Name: "posix", Doc: "power losses where only fsync orders anything, and fsyncs that fail", StormUs: swarm.Range{700_000, 1_400_000}, Actions: swarm.Range{4, 12},
	Faults:    swarm.Weights("crash-op:50 power:35 power-all:12 disk-error:4 disk-slow:6 isolate:8 kill:4"),
	LatencyUs: swarm.Range{100, 800}, JitterUs: swarm.Range{0, 1_000}, ResetPpm: 500,
	SyncNs: swarm.Range{100_000, 5_000_000}, TimeoutMs: swarm.Range{40, 100},
	Lanes: plan.Lanes{PostJitterUs: 200, WakeJitterUs: 300}, PeriodUs: 5_000,
}

// drawMedia lets drives lose sectors of logs or put them elsewhere, and disks become what they were, or what others are. The power loss that
// shows what the page cache hid comes a while later.
func drawMedia(d dice, p *plan.Plan) {
	d.media(p, "lost-write", "lost-write", "misdirected-write", "misdirected-write", "restore", "clone", "read-only")
}

// drawMedium is the same with one kind of fault.
func drawMedium(kind string) func(d dice, p *plan.Plan) {
	return func(d dice, p *plan.Plan) { d.media(p, kind) }
}

func (d dice) media(p *plan.Plan, kinds ...string) {
	controllers(p, int(d.oneOf("voters", 3, 3, 5)), 0, 1)
	if d.chance("dynamic", 40) {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	d.storm(p, &rotProfile)
	d.writes(p, &rotProfile)
	for i := range d.between("media", 1, 4) {
		d.medium(p, i, d.pick("medium-"+number(i), kinds...))
	}
}

// medium adds one fault of what a disk is made of.
func (d dice) medium(p *plan.Plan, i int64, kind string) {
	name := "medium-" + number(i)
	a := plan.Action{ID: fmt.Sprintf("m%d-%s", i+1, kind), Kind: kind, Params: plan.Params{},
		AtUs: plan.Int64(d.between(name+"/at", 100_000, int64(p.StormUs)*7/10))}
	if !swarm.Complete(d.swarm(), p, &a, name) {
		return
	}
	if kind != "lost-write" && kind != "misdirected-write" {
		p.Actions = append(p.Actions, a)
		return
	}
	a.Params["suffix"] = ".log"
	delete(a.Params, "for")
	p.Actions = append(p.Actions, a, plan.Action{ID: fmt.Sprintf("m%d-power", i+1), Kind: "power",
		AtUs:   a.AtUs + plan.Int64(min(d.oneOf(name+"/later", 10_000, 60_000, 200_000), int64(p.StormUs)/4)),
		Params: plan.Params{"hosts": a.Params["host"], "down": micros(d.oneOf(name+"/away", 1_000, 20_000, 100_000))}})
}

func drawPosix(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 3, 3, 5)), int(d.roll("observers", 2)), 1)
	if d.chance("dynamic", 50) {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	for i := range p.Hosts {
		d.twoDirs(&p.Hosts[i], false)
	}
	d.storm(p, &posixProfile)
	d.lawless(p)
	p.Disk.FailedSync = "keep" // zeros in a log then come of a power loss alone
	d.writes(p, &posixProfile)
}

// lawless makes the disks those of the adversary, with kernels of either kind.
func (d dice) lawless(p *plan.Plan) {
	p.Disk.Profile = "posix"
	p.Disk.FailedSync = d.pick("failed-sync", "", "keep", "keep")
}

var rackProfile = swarm.Profile{
	Name: "racks", Doc: "racks that lose their power, and partitions between them", StormUs: swarm.Range{700_000, 1_400_000}, Actions: swarm.Range{3, 9},
	Faults:    swarm.Weights("power-rack:40 crash-op:20 kill:10 cut-out:12 isolate:10 clog:5"),
	LatencyUs: swarm.Range{100, 600}, JitterUs: swarm.Range{0, 1_000}, TailPercent: 15, ResetPpm: 1_000,
	SyncNs: swarm.Range{20_000, 2_000_000}, TimeoutMs: swarm.Range{30, 90},
	Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 8_000,
}

// drawRacks puts the voters into one to three racks.
func drawRacks(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 3, 3, 5)), 0, 1)
	d.identify(p)
	d.inRacks(p, d.between("racks", 1, 3))
	d.storm(p, &rackProfile)
	p.Network.CrossRackUs = d.oneOf("cross-rack", 0, 500, 2_000)
	d.leaveOut(p)
	d.writes(p, &rackProfile)
}

func (d dice) inRacks(p *plan.Plan, racks int64) {
	for i := range p.Hosts {
		p.Hosts[i].Rack = "r" + number(1+d.roll(p.Hosts[i].ID+"/rack", racks))
	}
}

// drawNarrow gives links little bandwidth and short queues, and lets some get narrower for a while.
func drawNarrow(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.between("brokers", 1, 2)))
	d.identify(p)
	f := *swarm.Stock("network")
	f.Faults = swarm.Weights("throttle:40 isolate:12 cut-out:10 kill:10 crash-op:8 clog:4")
	d.storm(p, &f)
	p.Network.BytesPerSecond = d.oneOf("rate", 30_000, 100_000, 400_000)
	p.Network.QueueBytes = d.oneOf("queue", 2_000, 10_000, 60_000)
	d.writes(p, &f)
}
