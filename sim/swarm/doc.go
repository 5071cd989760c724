// Package swarm draws plans from seeds.
//
// A storm in which every fault is on hides what single faults do: a power loss every few milliseconds leaves no time for the state that
// a slow disk would bring about. So each seed draws a subset. A Profile is data: the kinds of faults that may be there, with weights, and
// ranges for sizes, rates and timeouts. Storm draws from it which kinds this seed has at all, how often each, and every number; two
// seeds of one profile differ as much as two profiles do. That is swarm testing (Groce et al., ISSTA 2012).
//
//	func draw(seed uint64) *plan.Plan {
//		p := &plan.Plan{Format: plan.Format, Scenario: "mine", Seed: plan.Uint64(seed), Hosts: hosts}
//		swarm.Storm(swarm.Dice{Seed: seed}, p, swarm.Stock("storm"), nil)
//		return p
//	}
//
// Each draw of a Dice has a name and depends on seed and name alone: a profile can gain a fault without moving what the others draw. The
// stock profiles name faults of the core only; a program adds kinds of its own with the last argument of Storm, and offers its profiles in
// sim.Catalogue.Profiles, from which the command line takes them (`list profiles`, `run SCENARIO --profile disk`).
//
// Refused: one stream of random numbers per plan (adding a fault would redraw every plan), and profiles that fix numbers instead
// of ranges (they find what they find in the first hundred seeds).
//
// Everything is deterministic. Nothing here runs inside a World.
package swarm
