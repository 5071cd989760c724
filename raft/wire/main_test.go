package wire

import (
	"flag"
	"os"
	"testing"

	"github.com/kraftsim/kraftsim/raft"
)

// TestMain pins the seed of the property tests, so that a run can be repeated.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20260801")
	}
	os.Exit(m.Run())
}

// allMessages returns one zero message of each kind.
func allMessages() []raft.Message {
	return []raft.Message{
		&raft.FetchRequest{}, &raft.FetchResponse{}, &raft.VoteRequest{}, &raft.VoteResponse{},
		&raft.BeginQuorumEpochRequest{}, &raft.BeginQuorumEpochResponse{},
		&raft.EndQuorumEpochRequest{}, &raft.EndQuorumEpochResponse{},
		&raft.FetchSnapshotRequest{}, &raft.FetchSnapshotResponse{},
		&raft.AddRaftVoterRequest{}, &raft.AddRaftVoterResponse{},
		&raft.RemoveRaftVoterRequest{}, &raft.RemoveRaftVoterResponse{},
		&raft.UpdateRaftVoterRequest{}, &raft.UpdateRaftVoterResponse{},
		&raft.DescribeQuorumRequest{}, &raft.DescribeQuorumResponse{},
		&raft.ApiVersionsRequest{}, &raft.ApiVersionsResponse{},
	}
}
