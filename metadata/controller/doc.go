// Package controller is the part of Kafka's QuorumController that bootstraps a cluster and changes its features: a
// state machine on a lane of its own, above raft.
//
// The problem: the active controller answers from memory that is ahead of the commit. It replays each record when it
// appends it, parks the answer until the record is stable, and has to be back at exactly the stable state the moment it
// loses its leadership, while a transaction may be half committed (KIP-868, KAFKA-14538).
//
//	c := controller.New(cfg, deps)
//	err := c.HandleLeaderChange(nowNs, raft.LeaderAndEpoch{LeaderID: 1, Epoch: 3}) // claims, writes the bootstrap records
//	err = c.Submit(nowNs, &controller.Op{ID: 1, Kind: controller.AppendConfig, Name: "k", Value: "v"})
//	err = c.HandleCommit(nowNs, batches)                                           // Responder.Done(1, ...)
//
// A returned error is what Kafka calls fatal: the process stops with it. Everything a client may see is a Result.
//
// # Offsets
//
// Committed is the last offset of the last committed data batch (batches of control records do not count). Stable is
// committed, or the offset before the Begin of the transaction that was open at committed. An answer waits for stable.
//
// # Activation
//
// See activation.go: which records a new leader writes first (metadata-bootstrap 3.3), and where the cluster id of
// KIP-1262 comes from in each [Variant] (4.4, D3 and D4).
//
// # Two deliberate differences from the original
//
//   - A transaction is taken as of the committed log, not as of what was appended: the original's stable offset runs
//     into a bootstrap transaction whose End is appended and not yet committed.
//   - After renouncing, memory goes back to the last stable offset and then forward again over what is committed of an open
//     transaction. The original stays at the stable offset, and when the new leader's log holds the End of that
//     transaction (it was appended before the failover) a standby would lack its first half.
//
// Neither can be seen while the bootstrap transaction is one batch, as it is in Kafka up to 10000 records.
//
// # Order of a write
//
// prepareAppend, replay of each record at its offset, schedulePreparedAppend, per batch (7.1). So the memory knows a
// record before raft may send it, and a replay that fails leaves nothing in the log.
//
// # Members
//
// Registrations of brokers and controllers are records like any other, so they are in the image and go back with it. What the log does
// not say, when a broker was heard of and how far its metadata is, only the active controller knows, and forgets when it
// renounces: sessions.go, broker_heartbeat.go. Contact is the one method that another lane calls (7.5). What fencing, shutdown and the
// like do to partitions is asked in one place, broker_partitions.go.
//
// # Topics and partitions
//
// Operations on topics, partitions, configurations and producer ids have a typed [Request] and a typed Result.Answer. Each decides
// from the image alone; nothing about partitions is kept anywhere else, so a revert takes everything back (KB-28). One change of a
// partition is made in one place, partition_change.go, and what happens to a broker moves partitions through [AppendTransition] only.
//
// Deviations: a broker that is unfenced while it shuts down is not elected (the original elects whoever is unfenced); replicas
// that a second reassignment keeps stay among those to add until they are in sync.
package controller
