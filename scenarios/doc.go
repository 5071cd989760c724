// Package scenarios is the one room where all meet: nodes made of raft and metadata run inside sim, watched by invariants.
//
//	engine := sim.NewEngine(scenarios.Catalogue())
//	s := engine.Catalogue().Scenario("kip1262/draft")
//	result, err := engine.Run(s.Draw(17), sim.Options{})
//
// A scenario is a function from a seed to a plan (Draw) and from a plan to a furnished world (Build, cluster.go). All scenarios of
// one family share a kind of cluster; they differ in what they draw. The whole package is a deterministic room: a plan is drawn by
// named decisions (dice.go), and everything that runs obeys the plan alone.
//
// # What stands where
//
//	catalogue.go            the list of families, and what every catalogue of simrun documents
//	draw.go, *_draw.go      what the families draw alike: hosts, identities, models, faults
//	settings.go, cluster.go from the parameters of a plan to a cluster in a world
//	node.go                 the process: a KRaft controller or broker on three lanes, as Kafka's threads are; adapters.go gives raft
//	                        the simulated network and disk
//	member_*.go             a broker's life cycle, and the requests between brokers and controllers
//	formatter.go, errand*   the operator's step before a boot, through the same code as a real format
//	desk.go, operations*    an operator who changes voters and features while the storm is on
//	workload*, *clients.go  clients of the controller, and the history of what they saw
//	alone, quiet, tiny      families with one kind of fault, with none, and small enough for explore
//	kip1262_*.go            the cases of the proposal's sheet; compare.go runs them side by side
//	kafka_*.go              raft alone, as the simulation of Kafka's own tests has it
//	operator_*, upgrade*    questions of operators, each with a table of answers (docs/operators.md)
//	unrestricted, outcomes  storms without a fault budget, and what may come of them
//	from*.go, export.go     clusters that boot from real directories, and directories that a run leaves
//
// Checkers that need more than one protocol layer, or the plan, are here (prompt.go, once.go, fenced.go); all others are in
// package invariants.
//
// # Refused
//
// A package for each family: they share nodes, workloads and faults, and the seams between them would be wider than what they hide.
package scenarios
