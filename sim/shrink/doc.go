// Package shrink makes a failing plan short while it fails in the same way, and says which of its parts the failure needs.
//
// A failure found by a campaign comes with a dozen actions, more hosts than it needs, and models that drew some hundred faults nobody can
// see. The story of it is two or three of them. It stands on the naming of decisions (package decide): deleting an action moves no
// other draw, so what is left of the plan meets the same latencies and the same torn sectors as before.
//
//	small, stats := shrink.Shrink(engine, failing, verdict.Fingerprint(), 300, nil)
//	for _, part := range shrink.Necessary(engine, small, verdict.Fingerprint(), shrink.Parts(small)) { ... }
//
// The target is the fingerprint of a finding, or "hazard/<id>" of a declared hazard; of a stuck run the obligation that it waits for
// belongs to it. Shrink first materialises the plan: symbolic targets become hosts, refused actions vanish, each fault that was drawn
// becomes a line with a readable name, and the rates that drew them become zero (Listed). Then it deletes actions, hosts together with what
// names them, workloads and single decisions, lowers the numbers of workloads, shortens and rounds times, takes models and clocks back to
// what is usual, leaves out parameters that may be absent, and in the end tries every single part once more.
//
// Guarantees: the plan given is never changed; what comes back shows the target; with Stats.Minimal no single part of it can go. That is a
// plan in which everything is needed, not the shortest there is. Same plan, same target and same budget give the same result; the budget
// counts runs, not seconds, for that reason. A stock failure takes 20 to 250 runs of a few milliseconds.
//
// Refused: shrinking of the bytes that a random generator consumed, as property testing libraries do it (a byte has no meaning here, an
// action has); taking away what messages and disk operations cost (a plan would not be simpler, and a cluster without latency does
// millions of things in a second); blame by counting over many seeds.
package shrink
