package wire_test

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
)

// A pre-vote for a host of a release without pre-votes is refused before it becomes bytes; a real vote loses nothing but
// what that release does not know.
func ExampleNormalize() {
	version, _ := wire.Negotiate(wire.Vote, wire.Supported(wire.Aug26), wire.Supported(wire.Oct24))
	_, err := wire.Normalize(&raft.VoteRequest{ReplicaEpoch: 3, ReplicaID: 1, VoterID: 2, PreVote: true}, version)
	fmt.Println(err)
	m, _ := wire.Normalize(&raft.VoteRequest{ReplicaEpoch: 3, ReplicaID: 1, VoterID: 2}, version)
	fmt.Println(m)
	// Output:
	// wire: unsupported version: version 1 has no PreVote
	// Vote epoch=3 from=1 to=2 last=0/0
}
