package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// What storms with damage draw: bits that flip, disks in the wrong hosts, hung operations, names that lead astray.

var (
	rotProfile = swarm.Profile{
		Name: "rot", Doc: "what falls on disks whose bits flip", StormUs: swarm.Range{800_000, 1_500_000}, Actions: swarm.Range{2, 8},
		Faults:    swarm.Weights("kill:20 power:16 crash-op:20 isolate:16 cut-out:12 pause:4 disk-slow:4 stop:4"),
		LatencyUs: swarm.Range{100, 1_200}, JitterUs: swarm.Range{0, 2_000}, TailPercent: 10, ResetPpm: 1_000,
		SyncNs: swarm.Range{20_000, 1_000_000}, TimeoutMs: swarm.Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 7_000,
	}
	wireProfile = swarm.Profile{
		Name: "wire", Doc: "names that lead astray, stuck disks, partitions", StormUs: swarm.Range{600_000, 1_200_000}, Actions: swarm.Range{2, 9},
		Faults:    swarm.Weights("kill:20 power:12 crash-op:16 isolate:16 cut-out:14 filter:6 clog:6 stop:4 names:14 disk-stuck:6"),
		LatencyUs: swarm.Range{100, 1_500}, JitterUs: swarm.Range{0, 2_500}, TailPercent: 20, ResetPpm: 2_000,
		SyncNs: swarm.Range{20_000, 1_200_000}, TimeoutMs: swarm.Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 9_000,
	}
)

// drawBitRot lets bits of logs flip, mostly on hosts that are down, whose recovery finds them (KB-44). Now and then two disks are
// exchanged, or nodes are started twice.
func drawBitRot(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 3, 3, 5)), 0, 1)
	if d.chance("dynamic", 40) {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	d.storm(p, &rotProfile)
	d.writes(p, &rotProfile)
	for i := range d.between("rots", 1, 4) {
		d.rot(p, i)
	}
	d.drawSeconds(p)
	if d.chance("swap", 15) {
		two := d.roll("swap/two", int64(len(p.Hosts)-1))
		one := d.roll("swap/one", two+1)
		p.Actions = append(p.Actions, plan.Action{ID: "swap", Kind: "swap", AtUs: plan.Int64(d.between("swap/at", 100_000, int64(p.StormUs)*3/4)),
			Params: plan.Params{"host": p.Hosts[one].ID, "with": p.Hosts[two+1].ID, "for": micros(d.oneOf("swap/for", 60_000, 200_000))}})
	}
}

// rot adds a bit that flips, and the end of the process before it in most cases.
func (d dice) rot(p *plan.Plan, i int64) {
	name := "rot-" + number(i)
	host := p.Hosts[d.roll(name+"/host", int64(len(p.Hosts)))].ID
	at := d.between(name+"/at", 100_000, int64(p.StormUs)*4/5)
	flip := plan.Action{ID: fmt.Sprintf("r%d-flip", i+1), Kind: "flip", AtUs: plan.Int64(at), Params: plan.Params{"host": host, "suffix": ".log"}}
	if d.chance(name+"/header", 10) { // the first batch's base offset, length and epoch, which no checksum covers
		flip.Params["length"] = "16"
	}
	if d.chance(name+"/bits", 20) {
		flip.Params["bits"] = "5"
	}
	how := d.roll(name+"/how", 10)
	switch how {
	case 0, 1: // a running host
	case 2: // and its cache hides it
		flip.Params["cached"] = "yes"
	default:
		p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("r%d-power", i+1), Kind: "power", AtUs: plan.Int64(at - 5_000),
			Params: plan.Params{"hosts": host, "down": micros(d.oneOf(name+"/down", 10_000, 40_000, 150_000))}})
	}
	p.Actions = append(p.Actions, flip)
	if how <= 2 { // what it serves is refused by all others, until somebody looks after it
		p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("r%d-power", i+1), Kind: "power",
			AtUs: plan.Int64(min(at+d.oneOf(name+"/later", 20_000, 150_000, 400_000), int64(p.StormUs)*19/20)), Params: plan.Params{"hosts": host, "down": "10ms"}})
	}
}

// drawWire is about what crosses the network, and where to: nodes of several releases, messages as structs and as bytes, frames
// with a bit that flipped, names that lead nowhere, late or to somebody else.
func drawWire(d dice, p *plan.Plan) {
	controllers(p, 3, 0, 1)
	d.identify(p)
	if d.chance("mixed", 40) {
		p.Params["level"] = "3.9"
		for i := range p.Hosts {
			p.Hosts[i].Release = d.pick(p.Hosts[i].ID+"/release", "upstream-4.5", "4.0", "3.9")
		}
	}
	d.storm(p, &wireProfile)
	d.writes(p, &wireProfile)
	if d.chance("raft-first", 30) {
		p.Params["start_order"] = "raft-first"
	}
	if !d.chance("bytes", 80) {
		return
	}
	p.Params["wire"] = "bytes"
	if d.chance("corrupt", 60) {
		p.Network.CorruptPpm = d.oneOf("corrupt-ppm", 1_000, 10_000, 50_000)
		if d.chance("any-bit", 30) {
			p.Params["corrupt"], p.Network.CorruptPpm = "any", d.oneOf("any-ppm", 50, 500, 5_000)
		} else if d.chance("header-bits", 40) {
			p.Params["corrupt"] = "header"
		}
	}
}
