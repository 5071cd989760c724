// Package shrink makes a failing plan short while it fails in the same way.
//
// A failure found by a campaign comes with a dozen actions and more hosts than it needs; the story of it is two or three of
// them. Shrink deletes actions, then hosts together with the actions and workloads that name them, then workloads, and keeps
// every deletion after which the run still shows the target: the fingerprint of a finding, or "hazard/<id>" of a declared
// hazard. It stands on the naming of decisions (package decide): deleting an action moves no other draw, so what is left
// of the plan meets the same latencies and the same torn sectors as before.
//
//	small, stats := shrink.Shrink(engine, failing, verdict.Fingerprint(), 300, nil)
//
// The search is greedy, in halves, quarters and so on down to single items, until no single deletion is possible. That gives
// a plan in which each action is needed, not the shortest there is. Same plan, same target and same budget give the same
// result; the budget counts runs, not seconds, for that reason.
//
// Refused: shrinking of the bytes that a random generator consumed, as property testing libraries do it. A byte has no
// meaning here, an action has.
package shrink
