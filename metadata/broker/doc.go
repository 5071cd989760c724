// Package broker is the life cycle of a broker as its controller sees it: Kafka's BrokerLifecycleManager, as a state machine on a
// lane of its own.
//
// The problem: a broker may serve nobody before the active controller knows this incarnation of it, has seen it catch up with its
// own registration, and has unfenced it; it must say that it lives more often than a session lasts; and it may not just go, since
// partitions that it leads have to be led by others first. All that through a channel on which requests get lost and whose other
// end changes with every failover.
//
//	l, err := broker.New(cfg, deps)                     // Deps: Channel
//	err = l.Start(nowNs)                                // registers, as soon as the cluster id is known
//	err = l.Answered(nowNs, &broker.Answer{...})        // one request at a time is out
//	err = l.FirstPublish(nowNs)                         // metadata are applied: ready to be unfenced
//	err = l.BeginControlledShutdown(nowNs)
//	l.State() == broker.ShuttingDown                    // the process may end
//
// # States
//
//	NotRunning ── Start ──> Starting ── caught up ──> Recovery ── unfenced ──> Running
//	Running ── BeginControlledShutdown ──> PendingControlledShutdown ── should shut down ──> ShuttingDown
//	any other state ── BeginControlledShutdown ──> ShuttingDown, and nobody is asked
//
// # Guarantees
//
// One request is out at any time. A registration is repeated with the same incarnation until it is acknowledged, so its epoch is the
// one that the log has, whichever answer was lost. A heartbeat carries the metadata offset of the moment in which it is sent. The
// broker wants to be fenced until it has caught up and its first image is published (metadata-bootstrap 7.4).
//
// What Kafka does not do is not done here: a heartbeat that is answered STALE_BROKER_EPOCH is repeated, and a broker that was
// unregistered while it ran stays out until it starts again.
//
// What a broker leaves on the disk when it ends in order, and what the next one makes of it, is in clean_shutdown.go (KIP-966).
//
// # Time
//
// Nanoseconds of the monotonic clock are passed in; DeadlineNs says when Poll wants to be called. A returned error is fatal.
package broker
