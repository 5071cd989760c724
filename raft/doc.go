// Package raft is a KRaft replica: the consensus layer of Apache Kafka's metadata quorum (KIP-595, 853, 966, 996, 1166),
// as a state machine without threads, clocks or sockets.
//
// # Driving it
//
// A Replica is driven by inputs, one at a time: a connection that opened or broke, a message, a moment in time. Each is
// one turn of Kafka's raft thread: handle the input, bring the listeners forward, do what the role has to do. Time comes
// in as wall milliseconds; DeadlineMs says when the replica wants to be polled next.
//
//	r := raft.New(cfg, raft.Deps{Files: files, Dir: dir, Transport: network, Chooser: random})
//	if err := r.Open(now); err != nil { ... }   // the process must not start
//	id := r.Register(listener)
//	for {
//		// wait for a message, a connection event, or r.DeadlineMs()
//		if err := r.Receive(now, conn, message); err != nil { ... }   // the process must stop
//	}
//
// Disk and network are called directly, in the order in which Kafka does it, and that order is the replica's output: no
// list of effects to be carried out later, because KRaft's safety rests on the order of single writes, fsyncs and sends,
// and a fault injector has to get in between any two of them. The same inputs at the same times with the same choices
// give the same calls, bytes and events, on every machine.
//
// An error that an input returns is what Kafka calls fatal; the process stops with it. Client calls (PrepareAppend and
// the like) return their errors as answers.
//
// # What must be durable before what
//
//	input                        effect on disk                        before
//	Vote request, higher epoch   quorum-state: epoch, no vote          the response, granted or not
//	Vote request, granted        quorum-state: the vote                the response
//	election timer (candidate)   quorum-state: epoch + 1, own vote     the first Vote request
//	majority of votes            quorum-state: leader = self           the first record of the epoch is appended
//	leader learned               quorum-state: leader, vote kept       the response, the first Fetch
//	Fetch response, records      log append, fsync                     the next Fetch, which acknowledges them
//	Fetch response, diverging    log truncated                         the next Fetch
//	drained batches (leader)     log append, parked fetches answered,  the next input is handled
//	                             fsync
//	pre-vote, resignation        nothing                               -
//
// The last but one line is the only place where data leaves before it is durable, and it is safe only because the next
// fetch is handled after the fsync: the high watermark is at most what a follower acknowledged, and the acknowledgement
// comes later. A quorum with one voter has no follower to wait for: it commits before its fsync, as Kafka's does.
//
// # How it differs from the Raft of the textbook
//
// Followers pull: a Fetch carries (offset, last epoch), the leader validates it against its epoch cache and answers with
// records, a diverging point or a snapshot id; there is no nextIndex, and a follower truncates in one round per epoch. The
// fetch itself is the acknowledgement. Leaders that stay unheard are found by asking bootstrap servers. A leader that
// stops stays Resigned in its epoch and names its successors. Voters are identified by id and directory id, so that a
// lost disk is a lost voter. The voter set in force is the last one in the log, committed or not. Pre-votes are refused by
// whoever has fetched from the leader. A former leader of an epoch never writes in it again after a restart.
//
// # Map
//
//	replica.go      construction, inputs, the turn; restart.go, shutdown.go: its ends
//	role.go         what all roles share; one file per role: unattached, prospective, candidate, follower, leader, resigned
//	transition.go   the table of transitions, the only way from one role to another; become.go: their effects
//	grant.go        the table of votes; tally.go: counting them
//	vote.go, fetch.go, begin_epoch.go, end_epoch.go   one RPC each, both sides
//	validate.go, response.go   what requests and responses have in common
//	channel.go      peers: connections, correlation, timeouts, pauses
//	purgatory.go    fetches that wait; accumulator.go: records that wait; progress.go: what the leader knows of others
//	voter_change.go    the one change of the voter set under way; add_voter, remove_voter, update_voter, auto_join: its kinds
//	upgrade.go         kraft.version 0 to 1; api_versions.go: what this and other software knows
//	describe.go, metrics.go   how the quorum is, for operators
//	control_state.go   voter sets and kraft.version by offset
//	listeners.go, client.go   the layer above
//
// Snapshots: CreateSnapshot hands a writer to the lane that makes them, SnapshotFrozen tells the raft lane of the result; a
// follower that is sent to a snapshot downloads it in pieces and puts it in the place of its log; retention runs by itself.
//
// Refused: a Ready struct in the manner of etcd (hides the order of effects); goroutines under a fake clock (their
// scheduling is not ours to choose); a random stream of its own (deleting one event would shift every later draw); one
// large struct with a role field (fields of one role would outlive it).
package raft
