package raft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
)

func TestMessagesDescribeThemselves(t *testing.T) {
	one := record.AppendBatch(nil, record.BatchSpec{BaseOffset: 59, LeaderEpoch: 2}, []byte("a"))
	two := record.AppendBatch(append([]byte(nil), one...), record.BatchSpec{BaseOffset: 60, LeaderEpoch: 2}, []byte("b"), []byte("c"))
	for _, c := range []struct {
		want string
		m    Message
	}{
		{"Vote epoch=3 from=1 to=2 last=59/2", &VoteRequest{ReplicaEpoch: 3, ReplicaID: 1, VoterID: 2, LastOffset: 59, LastOffsetEpoch: 2}},
		{"PreVote wrong-shape epoch=3 from=1 last=0/0",
			&VoteRequest{Header: Header{WrongShape: true}, PreVote: true, ReplicaEpoch: 3, ReplicaID: 1, VoterID: -1}},
		{"VoteResponse NONE granted epoch=3", &VoteResponse{LeaderID: -1, LeaderEpoch: 3, VoteGranted: true}},
		{"VoteResponse FENCED_LEADER_EPOCH rejected leader=2 epoch=4",
			&VoteResponse{PartitionError: FencedLeaderEpoch, LeaderID: 2, LeaderEpoch: 4}},
		{"VoteResponse top:INCONSISTENT_CLUSTER_ID", &VoteResponse{ErrorCode: InconsistentClusterID}},
		{"BeginQuorumEpoch leader=3 epoch=2 to=1", &BeginQuorumEpochRequest{LeaderID: 3, LeaderEpoch: 2, VoterID: 1}},
		{"BeginQuorumEpochResponse NONE leader=3 epoch=2", &BeginQuorumEpochResponse{LeaderID: 3, LeaderEpoch: 2}},
		{"EndQuorumEpoch leader=3 epoch=2 successors=1,2",
			&EndQuorumEpochRequest{LeaderID: 3, LeaderEpoch: 2, PreferredCandidates: []ReplicaKey{{ID: 1}, {ID: 2}}}},
		{"EndQuorumEpoch leader=3 epoch=2", &EndQuorumEpochRequest{LeaderID: 3, LeaderEpoch: 2}},
		{"EndQuorumEpochResponse top:ERROR(77)", &EndQuorumEpochResponse{ErrorCode: 77}},
		{"Fetch epoch=2 off=59 lastEpoch=1 hw=57 from=2",
			&FetchRequest{CurrentLeaderEpoch: 2, FetchOffset: 59, LastFetchedEpoch: 1, HighWatermark: 57, ReplicaID: 2}},
		{"Fetch epoch=2 off=59 lastEpoch=1",
			&FetchRequest{CurrentLeaderEpoch: 2, FetchOffset: 59, LastFetchedEpoch: 1, HighWatermark: HighWatermarkNotSent, ReplicaID: -1}},
		{"FetchResponse NONE leader=3 epoch=2 hw=60 batches=1 offsets=59-59",
			&FetchResponse{LeaderID: 3, LeaderEpoch: 2, HighWatermark: 60, DivergingEpoch: noOffset, SnapshotID: noOffset, Records: one}},
		{"FetchResponse NONE leader=3 epoch=2 batches=2 offsets=59-61",
			&FetchResponse{LeaderID: 3, LeaderEpoch: 2, HighWatermark: -1, DivergingEpoch: noOffset, SnapshotID: noOffset, Records: two}},
		{"FetchResponse NONE leader=3 epoch=2 hw=60 batches=1 offsets=59-59 cut-bytes=20", &FetchResponse{
			LeaderID: 3, LeaderEpoch: 2, HighWatermark: 60, DivergingEpoch: noOffset, SnapshotID: noOffset, Records: two[:len(one)+20]}},
		{"FetchResponse NONE leader=3 epoch=2 hw=60 diverging=41/1",
			&FetchResponse{LeaderID: 3, LeaderEpoch: 2, HighWatermark: 60, DivergingEpoch: OffsetAndEpoch{Offset: 41, Epoch: 1}, SnapshotID: noOffset}},
		{"FetchResponse NONE leader=3 epoch=2 hw=60 snapshot=50/2",
			&FetchResponse{LeaderID: 3, LeaderEpoch: 2, HighWatermark: 60, DivergingEpoch: noOffset, SnapshotID: OffsetAndEpoch{Offset: 50, Epoch: 2}}},
		{"FetchResponse top:INVALID_REQUEST", &FetchResponse{ErrorCode: InvalidRequest}},
	} {
		require.Equal(t, c.want, c.m.(interface{ String() string }).String())
	}
}

// TestEveryMessageDescribesItself: a kind that is added without a text would show as a number in traces.
func TestEveryMessageDescribesItself(t *testing.T) {
	for _, m := range allMessages() {
		s, ok := m.(interface{ String() string })
		require.True(t, ok, "kind %d", m.Kind())
		require.NotEmpty(t, s.String())
	}
}
