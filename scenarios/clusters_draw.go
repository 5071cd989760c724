package scenarios

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// What the plans of raft/two-clusters draw: an east and a west cluster whose node ids overlap, and everything that may lead from one
// to the other.

var crossedProfile = swarm.Profile{
	Name: "crossed", Doc: "two clusters in one network", StormUs: swarm.Range{500_000, 900_000}, Actions: swarm.Range{1, 6},
	Faults:    swarm.Weights("kill:20 power:14 crash-op:20 isolate:12 cut-out:10 clog:4 stop:14 pause:4 names:10"),
	LatencyUs: swarm.Range{100, 1_200}, JitterUs: swarm.Range{0, 2_000}, TailPercent: 10, ResetPpm: 6_000,
	SyncNs: swarm.Range{20_000, 1_000_000}, TimeoutMs: swarm.Range{30, 90},
	Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 12_000,
}

// neighbours are the two clusters.
var neighbours = [2]string{"east", "west"}

// twoClusters adds the hosts of both: e1.. and w1.. are the voters. The node ids of the west begin where those of the east do, or one
// later.
func (d dice) twoClusters(p *plan.Plan, observers int) {
	for k, name := range neighbours {
		from := int64(0)
		if k == 1 {
			from = d.oneOf("west-ids", 0, 0, 0, 1)
		}
		id := d.uuid("cluster-id/" + name)
		add := func(kind, host string, nodeID int64) {
			params := plan.Params{"cluster": name}
			if kind != kindOperator {
				params["node_id"] = number(nodeID)
				params["cluster_id"] = base64.RawURLEncoding.EncodeToString(id[:])
				params["directory_id"] = d.uuid(host + "/directory-id").String()
			}
			p.Hosts = append(p.Hosts, plan.Host{ID: host, Kind: kind, Params: params})
		}
		for i := range d.oneOf(name+"/voters", 1, 2, 3, 3, 3) {
			add(kindController, fmt.Sprintf("%c%d", name[0], i+1), from+i+1)
		}
		for i := range int64(observers) {
			add(kindObserver, fmt.Sprintf("%co%d", name[0], i+1), 100+i)
		}
		for i := range d.roll(name+"/brokers", 2) {
			add(kindBroker, fmt.Sprintf("%cb%d", name[0], i+1), 200+i)
		}
	}
}

// residents lists the ids of the hosts of a cluster that are of the kinds.
func residents(p *plan.Plan, cluster string, kinds ...string) (ids []string) {
	for _, id := range hostIDs(p, kinds...) {
		for i := range p.Hosts {
			if p.Hosts[i].ID == id && p.Hosts[i].Params["cluster"] == cluster {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// acquainted gives every host the bootstrap names of the controllers of its cluster; now and then some of the neighbour's among them.
func (d dice) acquainted(p *plan.Plan) {
	for k, name := range neighbours {
		own, other := residents(p, name, kindController, kindObserver), residents(p, neighbours[1-k], kindController, kindObserver)
		for i := range p.Hosts {
			h := &p.Hosts[i]
			if h.Params["cluster"] != name {
				continue
			}
			list := own
			if d.chance(h.ID+"/mixed-up", 20) {
				list = append([]string{other[d.roll(h.ID+"/stranger", int64(len(other)))]}, own...)
			}
			h.Params["bootstrap"] = strings.Join(list, ",")
		}
	}
}

// misnamed draws names that lead to the neighbour: the address of a machine that is gone or restarts was given to one of his.
func (d dice) misnamed(p *plan.Plan, low, high int64) {
	for i := range d.between("misnamed", low, high) {
		name := fmt.Sprintf("n%02d", i+1)
		k := d.roll(name+"/cluster", 2)
		own := residents(p, neighbours[k], kindController, kindObserver)
		other := residents(p, neighbours[1-k], kindController, kindController, kindObserver)
		host := own[d.roll(name+"/host", int64(len(own)))]
		lasts := d.oneOf(name+"/for", 40_000, 120_000, 300_000)
		d.step(p, name, "names", plan.Params{"host": host, "how": "other", "to": other[d.roll(name+"/to", int64(len(other)))], "for": micros(lasts)})
		at := p.Actions[len(p.Actions)-1].AtUs
		switch d.roll(name+"/why", 4) { // connections outlive a name: somebody has to dial
		case 0:
			p.Actions = append(p.Actions, plan.Action{ID: name + "-power", AtUs: at, Kind: "power", Params: plan.Params{"hosts": host, "down": micros(lasts / 2)}})
		case 1, 2:
			p.Actions = append(p.Actions, plan.Action{ID: name + "-kill", AtUs: at, Kind: "kill", Params: plan.Params{"host": host, "down": micros(lasts / 8)}})
		}
	}
}

// exchanged draws disks of two hosts with the same node id that are put into each other's machines for a while.
func (d dice) exchanged(p *plan.Plan) {
	var pairs [][2]string
	for i := range p.Hosts {
		for k := range p.Hosts[:i] {
			a, b := &p.Hosts[k], &p.Hosts[i]
			if a.Kind == b.Kind && a.Kind != kindOperator && a.Params["node_id"] == b.Params["node_id"] && a.Params["cluster"] != b.Params["cluster"] {
				pairs = append(pairs, [2]string{a.ID, b.ID})
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	pair := pairs[d.roll("exchanged/pair", int64(len(pairs)))]
	lasts := d.oneOf("exchanged/for", 60_000, 150_000, 300_000)
	d.step(p, "x01", "swap", plan.Params{"host": pair[0], "with": pair[1], "for": micros(lasts),
		"down": micros(d.oneOf("exchanged/down", 1_000, 20_000))})
	at := p.Actions[len(p.Actions)-1].AtUs
	for i, host := range pair { // what the neighbour has in its machine looks for its own cluster, and is led to that of the machine
		far := residents(p, neighbours[1-i], kindController)
		near := residents(p, neighbours[i], kindController)
		name := fmt.Sprintf("x%02d", i+2)
		if !d.chance(name, 60) {
			continue
		}
		p.Actions = append(p.Actions, plan.Action{ID: name + "-names", AtUs: at, Kind: "names", Params: plan.Params{"host": far[d.roll(name+"/host", int64(len(far)))],
			"how": "other", "to": near[d.roll(name+"/to", int64(len(near)))], "seen": host, "for": micros(lasts)}})
	}
}

// repointed draws nodes that restart with the bootstrap servers of the neighbour.
func (d dice) repointed(p *plan.Plan, low, high int64) {
	for i := range d.between("repointed", low, high) {
		name := fmt.Sprintf("p%02d", i+1)
		k := d.roll(name+"/cluster", 2)
		nodes := append(residents(p, neighbours[k], kindObserver, kindBroker), residents(p, neighbours[k], kindController)...)
		d.step(p, name, "repoint", plan.Params{"host": nodes[d.roll(name+"/host", int64(len(nodes)))],
			"to":   strings.Join(residents(p, neighbours[1-k], kindController), ","),
			"down": micros(d.oneOf(name+"/down", 1_000, 20_000)), "for": micros(d.oneOf(name+"/for", 60_000, 200_000, 500_000))})
	}
}

// tendedBoth adds an operator to each cluster, with voter changes of his own.
func (d dice) tendedBoth(p *plan.Plan, low, high int64) {
	for k, name := range neighbours {
		by := fmt.Sprintf("%cop", name[0])
		p.Hosts = append(p.Hosts, plan.Host{ID: by, Kind: kindOperator, Params: plan.Params{"cluster": name}})
		all := residents(p, name, kindController, kindObserver)
		for i := range d.between(name+"/changes", low, high) {
			step := fmt.Sprintf("v%d%02d", k, i+1)
			host := all[d.roll(step+"/host", int64(len(all)))]
			if d.chance(step+"/add", 60) {
				d.step(p, step, "add-voter", plan.Params{"by": by, "host": host})
			} else {
				d.step(p, step, "remove-voter", plan.Params{"by": by, "voter": host})
			}
		}
	}
}

func drawTwoClusters(d dice, p *plan.Plan) {
	dynamic := d.chance("dynamic", 60)
	observers := 0
	if dynamic {
		p.Params["quorum"] = "dynamic"
		observers = int(d.between("observers", 0, 1))
	}
	d.twoClusters(p, observers)
	if dynamic {
		d.acquainted(p)
	}
	d.storm(p, &crossedProfile)
	d.misnamed(p, 2, 6)
	if d.chance("exchanged", 40) {
		d.exchanged(p)
	}
	if dynamic {
		d.repointed(p, 0, 2)
		d.tendedBoth(p, 0, 4)
		d.moves(p, 0, 2)
	}
	for _, name := range neighbours {
		d.bearable(p, &crossedProfile)
		w := &p.Workload[len(p.Workload)-1]
		w.ID, w.Params["cluster"] = "writes-"+name, name
	}
}
