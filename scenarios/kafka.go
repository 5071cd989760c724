package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// kafkaScenario is one of the scenarios of Kafka's own Raft event simulation (RaftEventSimulationTest): the same timeouts, rates,
// delays, phases and stop conditions, so that the two can be compared run for run. A raft-only cluster (kafka_node.go) plays a
// script of phases (kafka_play.go, kafka_scripts.go).
//
// What differs: nothing polls here. A message takes as long as it would wait there for the router's next tick and then for the
// receiver's next poll, drawn anew for each message (routerWeights). Connections are opened before the first message of a pair,
// and a round of raft takes what its disk operations cost, a tenth of a microsecond each. Pre-vote is on, which S1 to S7 there do
// not know. Nor do voters there look for a leader that is not elected yet; the Kafka of 2026 asks for one as fast as round
// trips go. Here they ask every 50 ms, the retry backoff, and in a quarter of the plans as fast as they can.
type kafkaScenario struct {
	name, doc string
	voters    [2]int64 // from, to
	observers [2]int64
	routerMs  int64 // J: the router ticks every 2 + U{0..J-1} ms
	steady    bool  // appends every 2 ms, not every 2 + U{0..2}
	lossy     bool
	stable    bool
	power     bool          // its script takes nodes' power
	dynamic   bool          // kraft.version 1, and an operator's machine
	before    func(p *play) // what is in force before the start
	script    []phase
	as        string           // a variant: the scenario that it plays
	variants  []*kafkaScenario // a family: it plays one of them, drawn
	cluster   *kafkaCluster    // shared by all of a catalogue, which play one at a time
}

// Name is sim.Scenario.
func (s *kafkaScenario) Name() string { return s.name }

// Doc is sim.Scenario.
func (s *kafkaScenario) Doc() string { return s.doc }

// Draw is sim.Scenario.
func (s *kafkaScenario) Draw(seed uint64) *plan.Plan {
	d := dice{seed: seed}
	if n := int64(len(s.variants)); n > 0 {
		return s.variants[d.roll("play", n)].Draw(seed)
	}
	p := s.plan(seed, d.between("voters", s.voters[0], s.voters[1]), d.between("observers", s.observers[0], s.observers[1]))
	if d.chance("discovery", 25) {
		p.Params["discovery_interval_ms"] = "0"
	}
	return p
}

// Build is sim.Scenario.
func (s *kafkaScenario) Build(w *sim.World, p *plan.Plan) error {
	if len(s.variants) == 0 {
		return s.cluster.build(w, p, s)
	}
	for _, v := range s.variants {
		if v.as == p.Params["play"] {
			return s.cluster.build(w, p, v)
		}
	}
	return fmt.Errorf("plan: params.play %q: %s plays one of kafka/s1 to kafka/s6", p.Params["play"], s.name)
}

// plan is a run with given numbers of nodes.
func (s *kafkaScenario) plan(seed uint64, voters, observers int64) *plan.Plan {
	d := dice{seed: seed}
	p := &plan.Plan{Format: plan.Format, Scenario: s.name, Seed: plan.Uint64(seed), Unrestricted: s.lossy, Params: plan.Params{
		"election_timeout_ms": "1000", "election_backoff_max_ms": "100", "fetch_timeout_ms": "3000", "retry_backoff_ms": "50",
		"request_timeout_ms": "3000", "fetch_max_wait_ms": "100", "append_linger_ms": "0",
		"append_ms": "2", "append_jitter_ms": "3", "discovery_interval_ms": "50",
	}}
	if s.steady {
		p.Params["append_jitter_ms"] = "1"
	}
	for i := range voters + observers {
		h := plan.Host{ID: fmt.Sprintf("n%d", i), Kind: kindController, StartUs: plan.Int64(i * 1000), Params: plan.Params{"node_id": number(i)}}
		if i >= voters {
			h.Kind = kindObserver
		}
		p.Hosts = append(p.Hosts, h)
	}
	d.identify(p)
	if s.dynamic {
		p.Params["quorum"] = "dynamic"
		p.Hosts = append(p.Hosts, plan.Host{ID: "op", Kind: kindOperator})
	}
	if s.as != "" {
		p.Params["play"] = s.as
	}
	if s.lossy || s.dynamic {
		p.Params["victim"] = number(d.roll("victim", 1<<20))
	}
	p.Network.LatencyUs, p.Network.JitterUs, p.Network.Weights = 1000, 1000, routerWeights(s.routerMs)
	storm := int64(len(s.script)+1) * (s.phaseBoundNs(voters+observers)/1000 + 1)
	p.StormUs = plan.Int64(storm)
	return p
}

// routerWeights are the delays of Kafka's simulation as a table: entry i is the weight of i+1 ms. Router ticks are 2 + U{0..J-1} ms
// apart, a node's polls 3 + U{0..4} ms. Whatever happens at a random time waits for the rest of the gap that it falls into:
// half a millisecond and less than the gap, each millisecond of each gap alike. The sum of two such waits is a whole number of
// milliseconds; its mean is 3.7, 4.0 and 4.95 ms for J = 1, 2 and 5.
func routerWeights(routerMs int64) []int64 {
	weights := make([]int64, 2+routerMs-1+7-1)
	for tick := int64(2); tick < 2+routerMs; tick++ {
		for poll := int64(3); poll <= 7; poll++ {
			for a := range tick {
				for b := range poll {
					weights[a+b]++
				}
			}
		}
	}
	return weights
}

// kafkaScenarios lists them.
func kafkaScenarios() (list []*kafkaScenario) {
	small, usual, five := [2]int64{1, 5}, [2]int64{3, 5}, [2]int64{5, 5}
	list = []*kafkaScenario{
		{name: "kafka/s1", doc: "Kafka's simulation: an initial leader is elected", voters: small, observers: [2]int64{0, 5}, routerMs: 1, script: scriptElect()},
		{name: "kafka/s2-kill", doc: "Kafka's simulation: a new leader after the old one was killed", voters: usual, observers: [2]int64{0, 5}, routerMs: 1,
			power: true, script: scriptFailover(false)},
		{name: "kafka/s2-shutdown", doc: "Kafka's simulation: a new leader after the old one was shut down", voters: usual, observers: [2]int64{0, 5},
			routerMs: 1, power: true, script: scriptFailover(true)},
		{name: "kafka/s3", doc: "Kafka's simulation: recovery by a majority after all nodes were killed", voters: small, observers: [2]int64{0, 5}, routerMs: 1,
			power: true, script: scriptAllKilled()},
		{name: "kafka/s4", doc: "Kafka's simulation: the leader is cut off for good", voters: usual, observers: [2]int64{0, 5}, routerMs: 2, script: scriptCutOff()},
		{name: "kafka/s5", doc: "Kafka's simulation: progress while a majority of five is reachable, and the rest catches up", voters: five,
			observers: [2]int64{0, 3}, routerMs: 2, script: scriptMajorityReachable()},
		{name: "kafka/s6", doc: "Kafka's simulation: two leaders are cut off, one after the other", voters: usual, observers: [2]int64{0, 5}, routerMs: 5,
			script: scriptTwoCutOff()},
		{name: "kafka/s7", doc: "Kafka's simulation: a node loses all committed data", voters: usual, observers: [2]int64{0, 2}, routerMs: 5, lossy: true, power: true,
			script: scriptDataLost()},
		{name: "kafka/s8", doc: "Kafka's simulation: with links cut from the start, pre-vote lets one leader win and stay", voters: five,
			observers: [2]int64{0, 3}, routerMs: 1, steady: true, stable: true, before: cutS8, script: scriptOneLeaderOnly()},
		{name: "kafka/s9", doc: "Kafka's simulation: a leader that keeps its majority stays, thanks to pre-vote", voters: five, observers: [2]int64{0, 3},
			routerMs: 1, steady: true, stable: true, script: scriptLeaderStays()},
		{name: "kafka/d1", doc: "Kafka's simulation, dynamic voters: an observer becomes a voter", voters: small, observers: [2]int64{1, 5}, routerMs: 1, dynamic: true,
			script: scriptAddVoter()},
		{name: "kafka/d2", doc: "Kafka's simulation, dynamic voters: a voter is removed, the leader perhaps", voters: [2]int64{2, 5}, observers: [2]int64{0, 5},
			routerMs: 1, dynamic: true, script: scriptRemoveVoter()},
		{name: "kafka/d3", doc: "Kafka's simulation, dynamic voters: all observers are added, then all voters but one removed", voters: small,
			observers: [2]int64{1, 5}, routerMs: 1, dynamic: true, script: scriptAddAllRemoveAllButOne()},
		{name: "kafka/d4", doc: "Kafka's simulation, dynamic voters: an observer is added while only a majority is reachable", voters: usual,
			observers: [2]int64{1, 5}, routerMs: 2, dynamic: true, script: scriptAddWithMajority()},
		{name: "kafka/d5", doc: "Kafka's simulation, dynamic voters: a voter that is cut off is swapped for an observer", voters: usual, observers: [2]int64{1, 5},
			routerMs: 2, dynamic: true, script: scriptSwapVoter()},
	}
	list = append(list, dynamicVariants(list))
	shared := &kafkaCluster{}
	for _, s := range list {
		s.cluster = shared
	}
	return list
}

// dynamicVariants is kafka/d6: S1 to S6 at kraft.version 1.
func dynamicVariants(list []*kafkaScenario) *kafkaScenario {
	family := &kafkaScenario{name: "kafka/d6", doc: "Kafka's simulation, dynamic voters: one of S1 to S6, from a 0-0.checkpoint"}
	for _, s := range list {
		if s.dynamic || s.stable || s.lossy {
			continue
		}
		v := *s
		v.name, v.as, v.dynamic = family.name, s.name, true
		family.variants = append(family.variants, &v)
	}
	return family
}
