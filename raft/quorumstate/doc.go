// Package quorumstate reads and writes the file quorum-state: the epoch, leader and vote that a KRaft node must not
// forget.
//
// The problem: a node that restarts without the vote it gave can vote twice in one epoch, and two leaders follow. So
// every durable transition of the replica writes this file before anything that depends on it leaves the node
// (kraft-protocol 1.3), and a file that cannot be read stops the node instead of counting as "no vote" (1.6 rule 7).
//
// What it guarantees: Write returns when the new state would survive a power loss; a crash inside leaves the old
// state or the new one. The bytes are those of Kafka's writer, in both versions of the file (formats.md 7). The
// reader takes what Kafka's takes.
//
//	store := quorumstate.NewStore(files, "/data/dir0/__cluster_metadata-0")
//	err := store.Write(quorumstate.State{LeaderID: -1, LeaderEpoch: 5, VotedID: 2}, 1)
//	state, found, err := store.Read()
//
// Refused: decoding into a struct with encoding/json, which matches keys whatever their case and cannot tell a
// missing key from a zero; the reader goes through raw values instead.
package quorumstate
