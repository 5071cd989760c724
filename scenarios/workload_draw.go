package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// workloadScenarios lists the scenarios whose clients' histories are checked.
func workloadScenarios() []*scenario {
	return []*scenario{
		{name: "metadata/clients", doc: "clients that write, read, raise and lower at once, with timeouts and retries, while leaders fail; their history is linearizable",
			draw: drawClients},
		{name: "metadata/operators", doc: "the same while operators add and remove controllers and raise levels", draw: drawClientsAndOperators},
		{name: "metadata/mixture", doc: "clients that create and delete topics, write and read, while brokers register, are fenced and shut down, controllers come and go and levels rise",
			draw: drawMixture},
	}
}

var clientsProfile = swarm.Profile{
	Name: "clients", Doc: "clients that write while leaders fail", StormUs: swarm.Range{600_000, 1_200_000}, Actions: swarm.Range{2, 9},
	Faults:    swarm.Weights("kill:22 power:14 crash-op:24 isolate:18 cut-out:12 pause:6 stop:8 clog:4 disk-slow:4"),
	LatencyUs: swarm.Range{100, 1_200}, JitterUs: swarm.Range{0, 2_000}, TailPercent: 15, ResetPpm: 1_000,
	SyncNs: swarm.Range{20_000, 1_000_000}, TimeoutMs: swarm.Range{30, 80},
	Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 30_000,
}

// ask draws clients and their mixture; topics need brokers that register.
func (d dice) ask(p *plan.Plan, topics int64) {
	clients := d.between("clients", 2, 6)
	var weights []string
	for i, word := range clientWords[:] {
		if most := [...]int64{6, 4, topics, topics, 2, 2}[i]; most > 0 {
			if n := d.between("weight/"+word, 0, most); n > 0 {
				weights = append(weights, word+":"+number(n))
			}
		}
	}
	weights = append(weights, "write:2")
	p.Workload = append(p.Workload, plan.Workload{ID: "clients", Kind: clientsKind, Params: plan.Params{
		"clients": number(clients), "operations": number(d.between("operations", 8, 30)), "keys": number(d.between("keys", 1, 3)),
		"think": micros(d.oneOf("think", 500, 3_000, 15_000)), "timeout": micros(d.oneOf("timeout", 5_000, 30_000, 120_000)), "weights": strings.Join(weights, " "),
	}})
}

func drawClients(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 1, 3, 3, 3, 5)), 0, int(d.roll("brokers", 2)))
	if d.chance("dynamic", 40) {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	rareSnapshots(p)
	d.storm(p, &clientsProfile)
	d.writes(p, &clientsProfile)
	d.ask(p, 0)
	d.remote(p, 70, 4)
}

func drawClientsAndOperators(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 2, 3, 3)), int(d.between("observers", 1, 2)), int(d.roll("brokers", 2)))
	rareSnapshots(p)
	p.Params["level"] = d.pick("level", "4.0", "3.9", "4.2")
	d.storm(p, &clientsProfile)
	d.operators(p)
	d.changes(p, 1, 6)
	d.upgrade(p, []int64{30, 33})
	d.bearable(p, &clientsProfile)
	d.ask(p, 0)
	d.remote(p, 70, 4)
}

// drawMixture has everything at once: what any of clients, operators, brokers and controllers ask of the active controller.
func drawMixture(d dice, p *plan.Plan) {
	brokers := int(d.between("brokers", 1, 3))
	if dynamic := d.chance("dynamic", 60); dynamic {
		dynamicQuorum(d, p, int(d.oneOf("voters", 2, 3, 3)), int(d.between("observers", 1, 2)), brokers)
		defer func() { d.changes(p, 0, 4) }()
	} else {
		controllers(p, 3, 0, brokers)
		d.identify(p)
	}
	rareSnapshots(p)
	d.storm(p, &clientsProfile)
	d.sessions(p)
	d.memberSteps(p, p.Params["quorum"] == "dynamic")
	d.operators(p)
	d.upgrade(p, []int64{30, 33})
	d.bearable(p, &clientsProfile)
	d.ask(p, 4)
	d.remote(p, 70, 4)
}
