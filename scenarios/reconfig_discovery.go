package scenarios

import (
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// discoveryProfile hurts nodes that are no voters: their processes, and what lies between them and the others.
var discoveryProfile = swarm.Profile{
	Name: "discovery", Doc: "what hurts nodes that are no voters", StormUs: swarm.Range{900_000, 1_500_000}, Actions: swarm.Range{1, 6},
	Faults:    swarm.Weights("kill:30 stop:10 crash-op:20 isolate:30 pause:5 disk-slow:5"),
	LatencyUs: swarm.Range{100, 800}, JitterUs: swarm.Range{0, 1_000}, SyncNs: swarm.Range{20_000, 600_000}, TimeoutMs: swarm.Range{40, 80},
	Lanes: plan.Lanes{PostJitterUs: 50, WakeJitterUs: 100}, PeriodUs: 15_000,
}

// drawDiscovery takes one of the two ways to the leader away from nodes that are no voters, for good: the bootstrap servers or the
// addresses that voters advertise, or one after the other. Nothing excuses a node that does not catch up.
//
// Two plans are left out because Kafka does not survive them, see docs/findings.md: whoever has lost the bootstrap servers loses
// its leader with the first answer that tells of an epoch without one, so there the leader stays; whoever has lost the
// leader's address gets no snapshot, since only the leader's address is asked for one, so there are none.
func drawDiscovery(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 1, 2, 3, 3, 4)), int(d.between("observers", 1, 2)), int(d.between("brokers", 1, 2)))
	rareSnapshots(p)
	p.Params["fetch_max_bytes"] = number(1 << 20)
	way := d.pick("way", "bootstrap", "advertised", "turns")
	if way == "advertised" {
		d.storm(p, &lightProfile)
	} else {
		d.stormAround(p, &discoveryProfile)
	}
	d.operators(p)
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Kind == kindObserver || h.Kind == kindBroker {
			d.loses(p, h.ID, way)
		}
	}
	if way == "advertised" {
		d.changesOf(p, 0, 3, hostIDs(p, kindController), 30)
	}
	d.bearable(p, &lightProfile)
}

// loses takes names from a host. An attempt may be refused, so there are several.
func (d dice) loses(p *plan.Plan, host, way string) {
	at := d.between(host+"/loses/at", int64(p.StormUs)/5, int64(p.StormUs)/2)
	for i := range int64(4) {
		lost := way
		if way == "turns" {
			lost = []string{"advertised", "bootstrap"}[(i+d.roll(host+"/loses/first", 2))%2]
		}
		p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("l%d-%s-lose-names", i+1, host), Kind: "lose-names",
			AtUs:   plan.Int64(min(at+i*d.between(host+"/loses/every", 60_000, 150_000), int64(p.StormUs)*19/20)),
			Params: plan.Params{"host": host, "names": lost, "down": micros(d.oneOf(host+"/loses/down", 1_000, 20_000, 100_000))}})
	}
}

// stormAround draws a storm that spares the voters, so that who leads at its beginning leads at its end: no process of theirs fails, and
// neither network nor disks are slow enough for a fetch timeout. What an observer flushes survives a power loss; a broker flushes
// nothing (kraft-protocol 3.6), and may lose the address with it.
func (d dice) stormAround(p *plan.Plan, f *swarm.Profile) {
	d.stormOf(p, f)
	p.Network.TailPpm, p.Network.TailUs, p.Network.ResetPpm = 0, 0, 0
	p.Disk.SlowSyncPpm, p.Disk.SlowSyncNs = 0, 0
	election, _ := strconv.ParseInt(p.Params["election_timeout_ms"], 10, 64)
	p.Params["fetch_timeout_ms"] = number(3 * election)
	spared := hostIDs(p, kindObserver, kindBroker)
	for i := range p.Actions {
		a := &p.Actions[i]
		a.Params["host"] = spared[d.roll(a.ID+"/not-a-voter", int64(len(spared)))]
		if a.Kind == "crash-op" {
			a.Params["how"] = "kill"
		}
	}
}
