// Package loader turns the committed log into images and tells the rest of the node about them: Kafka's
// MetadataLoader, as a state machine on a lane of its own, and the publisher that gives a node its cluster id
// (KIP-1262).
//
// The problem: every component of a node wants to see metadata change, in one order, none of it before it is stable,
// none of it while the node is still catching up with the past, and all of it once (KAFKA-14857).
//
//	l, err := loader.New(cfg, deps)
//	err = l.Install(nowNs, publisher)   // full state first, when caught up
//	err = l.HandleCommit(nowNs, batches) // then every change
//	...                                  // Poll(nowNs) at l.DeadlineNs()
//
// # Rules (metadata-bootstrap 7.2)
//
//   - Batches gather in a delta. At the end of one HandleCommit it is applied and published, unless a transaction
//     is open.
//   - Publishing starts when the node has caught up once: the high watermark is known, the image's offset is at
//     least high watermark - 1, and the image holds at least one record. After that it never looks again.
//   - A new publisher is first told the full state and the leader; it is asked for every 100 ms until the loader
//     has caught up, whether records arrive or not.
//   - Begin publishes what came before it. End publishes at the end of the call. Abort drops the delta then and
//     there and publishes an empty one, so that offsets advance. The original drops it only if the Abort is the
//     last record of the call, which it is not when a new leader writes Abort and Begin side by side.
//   - A publisher that fails is reported and the others go on; one that returns ErrFatal stops the node.
//   - A log that cannot be applied stops a controller. A broker keeps its last good image.
//   - The cluster id of an image is compared with the one the node holds before any publisher sees it (4.8).
//
// A publication is atomic on the lane: publishers run in the order of installation and see the same image.
//
// A snapshot comes in beside the batches, by HandleLoadSnapshot: the image becomes what it says, and the publishers are told
// the difference, entries that are gone included. The SnapshotGenerator, the first publisher of a node, asks for the next
// one when enough was read; it captures image and position in one step on this lane and leaves the writing to another.
package loader
