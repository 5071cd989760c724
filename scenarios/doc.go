// Package scenarios is the one room where all meet: nodes made of raft and metadata run inside sim, watched by invariants.
//
//	engine := sim.NewEngine(scenarios.Catalogue())
//	s := engine.Scenario("kip1262/draft")
//	result, err := engine.Run(s.Draw(17), sim.Options{})
//
// A scenario is a function from a seed to a plan (Draw: swarm.go, storm.go) and from a plan to a furnished world (Build:
// cluster.go). All scenarios share one kind of cluster; they differ in what they draw. node.go is the process: a KRaft
// controller or broker on three lanes, as Kafka's threads are:
//
//	raft        the replica: timers, network, log
//	controller  the QuorumController, on nodes with that role
//	loader      the MetadataLoader and its publishers
//
// formatter.go is the operator's step before the first boot, on the same disk, through the same code as a real format.
// workload.go holds clients. golden.go loads directories that Kafka wrote.
package scenarios
