// Package linearizable checks histories of clients' operations on a controller against what Kafka claims of them.
//
// The claim (operations in the page of invariants): acknowledged operations that wrote records are linearizable. Each seems to happen at
// one moment between its request and its answer, in the order of the offsets that it was given, and nothing that was acknowledged is
// undone. Not claimed, and judged otherwise or not at all:
//
//   - Answers without records. Kafka answers reads on any controller, from its last stable state, which may be old; such a read shows a
//     committed state at or after what the same process has shown before (Reads). Refusals come from uncommitted memory: no part of a history.
//   - Operations without an answer, and those answered NOT_CONTROLLER, which a leader that gives up says of what it has already written:
//     they may have happened at any time after the request, or never.
//
// A search for a linear order is exponential in what is open at one time. So a history is checked only within Bounds, operations and
// concurrency of each key; what exceeds them is Unknown, a verdict of its own. Time never decides: no timeout is set, and the same
// history has the same verdict on any machine.
//
//	r := linearizable.Check(&linearizable.History{Operations: ops, Final: state}, linearizable.DefaultBounds)
//	if r.Verdict == linearizable.Illegal { fmt.Println(r.Evidence, r.Detail) }
//
// The search itself is porcupine's. It uses goroutines, so this package is no deterministic room: it runs when a run is over.
package linearizable
