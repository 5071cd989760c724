// Package invariants says what must hold for KRaft and for KIP-1262, as checkers over the simulator.
//
// # The problem
//
// An oracle that believes the program under test finds what the program admits. So ground truth here is what left the
// process: bytes that reached the volume (decoded as they arrive, committed and durable view apart), messages that were
// sent, calls of listeners. A replica's own protocol events only say where to look.
//
// # Guarantees
//
//   - Correct KRaft never trips an invariant inside the fault budget; the wordings are those of Kafka's own rules, with the
//     exceptions that Kafka has (a resigned leader still names itself, a deposed leader may still raise its high watermark).
//   - An event costs O(1) whatever the length of the log, and allocates nothing on the steady path. Crashes and elections
//     may read one log.
//   - Deterministic: no clock, no map iteration, no state outside of the run.
//
// # How it is built
//
// A ledger holds each distinct batch once, with its predecessor: a tree in which two logs are equal up to an offset exactly
// when the batches ending there are the same node. A mirror per volume follows the disk operations and keeps the log as a
// list of nodes. Leaderships and the exposed log ("committed" means nothing else here) are built from messages and listener
// calls. Each invariant is a few functions over these, in a file of its own.
//
// Voters and kraft.version in force are derived from log and snapshots as written. The committed log is replayed once, record
// by record, into rows whose sum is kept per batch: a snapshot is compared with it in one step. What every log has deleted is
// forgotten.
//
//	w.Add(invariants.All(invariants.Config{Variant: invariants.Draft, StaticVoters: []int32{1, 2, 3}})...)
//
// # Refused
//
// Comparing the memory of replicas (it is the program's own opinion), comparing whole logs at sampled points (misses what was
// healed meanwhile, and costs O(n)), one independent checker per invariant with a mirror of its own (the mirrors are what
// costs).
package invariants
