package raft

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
)

// laterMessages returns one zero message of each kind that moves snapshots, changes voters or describes.
func laterMessages() []Message {
	return []Message{
		&FetchSnapshotRequest{}, &FetchSnapshotResponse{}, &AddRaftVoterRequest{}, &AddRaftVoterResponse{},
		&RemoveRaftVoterRequest{}, &RemoveRaftVoterResponse{}, &UpdateRaftVoterRequest{}, &UpdateRaftVoterResponse{},
		&DescribeQuorumRequest{}, &DescribeQuorumResponse{}, &ApiVersionsRequest{}, &ApiVersionsResponse{},
	}
}

// TestLaterCanonicalBytesSeeEveryField changes each field of each message and wants other bytes each time.
func TestLaterCanonicalBytesSeeEveryField(t *testing.T) {
	for _, m := range laterMessages() {
		seen := map[string]string{string(m.AppendTo(nil)): "zero"}
		n := 0
		walk(reflect.ValueOf(m).Elem(), reflect.TypeOf(m).Elem().Name(), func(path string) {
			bytes := string(m.AppendTo(nil))
			if other, found := seen[bytes]; found {
				t.Errorf("%s looks like %s", path, other)
			}
			seen[bytes] = path
			n++
		})
		require.Greater(t, n, 3)
	}
}

func TestLaterKindsAndKeys(t *testing.T) {
	for i, want := range []uint32{118, 119, 160, 161, 162, 163, 164, 165, 110, 111, 36, 37} {
		require.Equal(t, want, laterMessages()[i].Kind())
	}
	for want, m := range map[uint64]Message{
		5<<40 ^ 7 ^ 3<<20: &FetchSnapshotRequest{CurrentLeaderEpoch: 5, SnapshotID: OffsetAndEpoch{Offset: 7}, Position: 3},
		6<<40 ^ 7 ^ 3<<20: &FetchSnapshotResponse{LeaderEpoch: 6, SnapshotID: OffsetAndEpoch{Offset: 7}, Position: 3},
		4:                 &AddRaftVoterRequest{VoterID: 4},
		5:                 &RemoveRaftVoterRequest{VoterID: 5},
		2<<40 ^ 3:         &UpdateRaftVoterRequest{CurrentLeaderEpoch: 2, VoterID: 3},
		3 << 40:           &UpdateRaftVoterResponse{LeaderEpoch: 3},
		4<<40 ^ 9:         &DescribeQuorumResponse{LeaderEpoch: 4, HighWatermark: 9},
		8:                 &ApiVersionsRequest{NodeID: 8},
		10:                &ApiVersionsResponse{FinalizedFeaturesEpoch: 10},
	} {
		require.Equal(t, want, m.Key(), "%T", m)
	}
}

func TestLaterTexts(t *testing.T) {
	directory := record.UUID{15: 4}
	for _, c := range []struct {
		want string
		m    Message
	}{
		{"FetchSnapshot epoch=2 snapshot=50/1 pos=4096 from=3", &FetchSnapshotRequest{ReplicaID: 3, CurrentLeaderEpoch: 2,
			SnapshotID: OffsetAndEpoch{Offset: 50, Epoch: 1}, Position: 4096}},
		{"FetchSnapshotResponse NONE leader=1 epoch=2 snapshot=50/1 pos=4096 bytes=3 of=9000", &FetchSnapshotResponse{LeaderID: 1,
			LeaderEpoch: 2, SnapshotID: OffsetAndEpoch{Offset: 50, Epoch: 1}, Position: 4096, Size: 9000, Bytes: []byte("abc")}},
		{"FetchSnapshotResponse top:INVALID_REQUEST", &FetchSnapshotResponse{ErrorCode: InvalidRequest}},
		{"FetchSnapshotResponse FENCED_LEADER_EPOCH leader=1 epoch=2", &FetchSnapshotResponse{PartitionError: FencedLeaderEpoch,
			LeaderID: 1, LeaderEpoch: 2}},
		{"AddRaftVoter voter=4:AAAAAAAAAAAAAAAAAAAABA", &AddRaftVoterRequest{VoterID: 4, VoterDirectoryID: directory}},
		{"RemoveRaftVoter voter=4:AAAAAAAAAAAAAAAAAAAABA", &RemoveRaftVoterRequest{VoterID: 4, VoterDirectoryID: directory}},
		{"UpdateRaftVoter epoch=2 voter=4 kraft.version=0-1", &UpdateRaftVoterRequest{CurrentLeaderEpoch: 2, VoterID: 4, MaxKRaftVersion: 1}},
		{"AddRaftVoterResponse NONE", &AddRaftVoterResponse{}},
		{"RemoveRaftVoterResponse INVALID_REQUEST", &RemoveRaftVoterResponse{ErrorCode: InvalidRequest}},
		{"UpdateRaftVoterResponse NONE leader=1 epoch=2", &UpdateRaftVoterResponse{LeaderID: 1, LeaderEpoch: 2}},
		{"DescribeQuorum", &DescribeQuorumRequest{}},
		{"DescribeQuorum wrong-shape", &DescribeQuorumRequest{Header: Header{WrongShape: true}}},
		{"DescribeQuorumResponse NONE leader=1 epoch=2 hw=60 voters=1@60,2@59 observers=7@40", &DescribeQuorumResponse{LeaderID: 1,
			LeaderEpoch: 2, HighWatermark: 60,
			Voters:    []DescribedReplica{{ReplicaKey: ReplicaKey{ID: 1}, LogEndOffset: 60}, {ReplicaKey: ReplicaKey{ID: 2}, LogEndOffset: 59}},
			Observers: []DescribedReplica{{ReplicaKey: ReplicaKey{ID: 7}, LogEndOffset: 40}}}},
		{"DescribeQuorumResponse NOT_LEADER_OR_FOLLOWER", &DescribeQuorumResponse{PartitionError: NotLeaderOrFollower}},
		{"ApiVersions to=3", &ApiVersionsRequest{NodeID: 3}},
		{"ApiVersionsResponse NONE kraft.version=0-1", &ApiVersionsResponse{SupportedFeatures: []SupportedFeature{
			{Name: "kraft.version", MaxVersion: 1}}}},
	} {
		require.Equal(t, c.want, c.m.(interface{ String() string }).String())
	}
}
