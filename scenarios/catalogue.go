package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// Catalogue returns everything that simrun offers. Each call makes scenarios of their own, so that engines on different
// goroutines never share one.
func Catalogue() *sim.Catalogue {
	registry := sim.NewRegistry()
	for _, k := range actionKinds() {
		registry.AddAction(k)
	}
	registry.AddTargets(targetWords()...)
	for _, k := range workloadKinds() {
		registry.AddWorkload(k)
	}
	for _, p := range parameters() {
		registry.AddParameters(p)
	}
	return &sim.Catalogue{
		Program: "simrun", Sites: diskSites(), Registry: registry, Scenarios: all(), Profiles: profiles(), Large: largeScenarios(),
		Invariants: append(append(append(append(append(invariants.Docs(), invariants.AnswersDoc(), snapshotTriggers), kafkaCheckDocs[:]...), noNeedlessElection, noNeedlessWait, fenced, successorsOrder, noNeedlessRequest, noNeedlessResignation, ownListeners, electionTimerBound), append(append(append(toolCheckDocs[:], kipCaseDoc, upgradeComplete), invariants.MemberDocs()...), memberCheckDocs[:]...)...), append(topicCheckDocs[:], leadersGoBack)...),
		Sometimes:  append(invariants.SometimesDocs(), append(append(append(kipSometimes(), stormSometimes()...), reconfigSometimes()...), invariants.MemberSometimes()...)...), Hazards: hazardDocs(),
		Decode: decodeFile, Contents: contents, NodeOf: nodeNumber, MessageName: messageName,
	}
}

// scenario is a named way to draw plans for a cluster.
type scenario struct {
	name, doc string
	draw      func(d dice, p *plan.Plan)
	cluster   cluster
}

// Name is sim.Scenario.
func (s *scenario) Name() string { return s.name }

// Doc is sim.Scenario.
func (s *scenario) Doc() string { return s.doc }

// Draw is sim.Scenario.
func (s *scenario) Draw(seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: s.name, Seed: plan.Uint64(seed), Params: plan.Params{}}
	s.draw(dice{seed: seed}, p)
	return p
}

// DrawFrom is sim.Profiled. Where a scenario needs its own storm, the profile is not asked for.
func (s *scenario) DrawFrom(seed uint64, f *swarm.Profile) (*plan.Plan, bool) {
	p := &plan.Plan{Format: plan.Format, Scenario: s.name, Seed: plan.Uint64(seed), Params: plan.Params{}}
	s.draw(dice{seed: seed, profile: f}, p)
	return p, p.Profile == f.Name
}

// Build is sim.Scenario.
func (s *scenario) Build(w *sim.World, p *plan.Plan) error { return s.cluster.build(w, p) }

func all() []sim.Scenario {
	list := []*scenario{
		{name: "raft/storm-3", doc: "three static voters and two brokers under every fault of the storm profile", draw: drawStorm(3, 2, &stormProfile)},
		{name: "raft/storm-5", doc: "five static voters and a broker under every fault of the storm profile", draw: drawStorm(5, 1, &stormProfile)},
		{name: "raft/dynamic-3", doc: "three voters from a 0-0.checkpoint, an observer controller and a broker, storm", draw: drawDynamic},
		{name: "raft/lockstep", doc: "even numbers of voters with nearly constant latency: elections that may collide", draw: drawLockstep},
		{name: "raft/disk", doc: "three voters on failing, full, slow disks, crashes inside disk operations", draw: drawStorm(3, 1, &diskProfile)},
		{name: "raft/snapshots", doc: "tiny segments, frequent snapshots, retention down to nothing: lagging followers are sent to a snapshot", draw: drawSnapshots},
		{name: "raft/bit-rot", doc: "bits of logs flip, on hosts that are down and others; disks end up in the wrong hosts", draw: drawBitRot},
		{name: "raft/media", doc: "drives that lose sectors or put them elsewhere, disks that are old copies, clones, read-only", draw: drawMedia},
		{name: "raft/posix", doc: "power losses on a file system that promises no more than POSIX, and failed fsyncs of either kernel", draw: drawPosix},
		{name: "raft/racks", doc: "hosts in racks that lose their power together and are far from each other", draw: drawRacks},
		{name: "raft/narrow", doc: "links of little bandwidth with short queues", draw: drawNarrow},
		{name: "raft/wire", doc: "nodes of several releases, messages as structs and bytes, flipped bits, names that lead astray", draw: drawWire},
		{name: "raft/two-clusters", doc: "two clusters with the same node ids in one network: names, addresses, bootstrap servers and disks of one lead to the other", draw: drawTwoClusters},
		{name: "raft/quiet", doc: "three voters and two brokers on Kafka's default timers, nothing goes wrong", draw: drawQuiet},
		{name: "bootstrap/transaction", doc: "a bootstrap transaction in many batches, cut by leader changes", draw: drawTransaction},
		{name: "bootstrap/golden", doc: "directories that Apache Kafka's formatter wrote, under light faults", draw: drawGolden},
		{name: formatScenario, doc: "operators and the format tool: forgotten, half done, repeated, with wrong flags, files gone; what the tool and the start say is declared",
			draw: drawFormat},
		{name: FeaturesScenario, doc: "operators and the feature tool on a calm cluster: upgrades, downgrades, dry runs, refusals, each with its declared answer",
			draw: drawFeatures},
		{name: fromScenario, doc: "the cluster of a directory tree, as `run --from` makes it; a seed without a tree takes one of Kafka's", draw: drawFrom},
		{name: "kip1262/released", doc: "metadata bootstrap as released, no ClusterIdRecord at any level", draw: drawReleased},
		{name: "kip1262/final-mar", doc: "formatted bootstrap controllers, unformatted brokers and observers, upgrades to level 34", draw: drawFinalMar},
		{name: "kip1262/final-apr", doc: "a dynamic quorum is formatted, a static one need not be, brokers and observers neither; upgrades to level 34", draw: drawFinalApr},
		{name: "kip1262/draft", doc: "voters that need no format: a leader without a cluster id writes one", draw: drawDraft},
	}
	list = append(list, &scenario{name: "metadata/brokers", doc: "brokers and controllers that register, send heartbeats, are fenced, shut down and come back, under storms",
		draw: drawBrokers})
	list = append(list, unrestrictedScenarios()...)
	list = append(list, kipScenarios()...)
	list = append(list, reconfigScenarios()...)
	list = append(list, quietScenarios()...)
	list = append(list, upheavalScenarios()...)
	list = append(list, upgradeScenarios()...)
	list = append(list, operatorScenarios()...)
	list = append(list, scriptedScenarios()...)
	list = append(list, topicScenarios()...)
	list = append(list, workloadScenarios()...)
	scenarios := make([]sim.Scenario, len(list))
	for i := range list {
		scenarios[i] = list[i]
	}
	for _, s := range kafkaScenarios() {
		scenarios = append(scenarios, s)
	}
	return scenarios
}
