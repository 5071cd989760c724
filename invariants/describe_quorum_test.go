package invariants

import (
	"slices"
	"testing"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// TestDescribeQuorum: an answer is compared with the log of the leader, and with the Fetch requests that it answered.
func TestDescribeQuorum(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(m *raft.DescribeQuorumResponse)
		want   string
	}{
		{name: "as it is", change: func(*raft.DescribeQuorumResponse) {}},
		{name: "no answer", change: func(m *raft.DescribeQuorumResponse) { m.PartitionError, m.Voters = raft.NotLeaderOrFollower, nil }},
		{name: "another epoch", change: func(m *raft.DescribeQuorumResponse) { m.LeaderEpoch++ }, want: "not-leader"},
		{name: "another leader", change: func(m *raft.DescribeQuorumResponse) { m.LeaderID = 2 }, want: "not-leader"},
		{name: "watermark of old", change: func(m *raft.DescribeQuorumResponse) { m.HighWatermark = 0 }, want: "high-watermark"},
		{name: "a voter less", change: func(m *raft.DescribeQuorumResponse) { m.Voters = m.Voters[:1] }, want: "voters"},
		{name: "a voter on another disk", change: func(m *raft.DescribeQuorumResponse) { m.Voters[1].DirectoryID = record.UUIDFromHalves(7, 2) }, want: "voters"},
		{name: "no observers", change: func(m *raft.DescribeQuorumResponse) { m.Observers = nil }, want: "observer-missing"},
		{name: "an observer that is none", change: func(m *raft.DescribeQuorumResponse) {
			m.Observers = append(m.Observers, raft.DescribedReplica{ReplicaKey: voters.ReplicaKey{ID: 9, DirectoryID: record.UUIDFromHalves(1, 9)}})
		}, want: "observers"},
		{name: "the own log", change: func(m *raft.DescribeQuorumResponse) { m.Voters[0].LogEndOffset-- }, want: "own-log-end"},
		{name: "a voter's log", change: func(m *raft.DescribeQuorumResponse) { m.Voters[1].LogEndOffset-- }, want: "log-end"},
		{name: "an observer's log", change: func(m *raft.DescribeQuorumResponse) { m.Observers[0].LogEndOffset = -1 }, want: "log-end"},
		{name: "times", change: func(m *raft.DescribeQuorumResponse) { m.Voters[1].LastCaughtUpTimeMs = 99 }, want: "times"},
		{name: "another address", change: func(m *raft.DescribeQuorumResponse) { m.Nodes[1].Listeners[0].Port = 2 }, want: "nodes"},
		{name: "an address less", change: func(m *raft.DescribeQuorumResponse) { m.Nodes = m.Nodes[:1] }, want: "nodes"},
		{name: "voters in another order", change: func(m *raft.DescribeQuorumResponse) { slices.Reverse(m.Voters) }, want: "order"},
		{name: "observers in another order", change: func(m *raft.DescribeQuorumResponse) {
			m.Observers = append(m.Observers, raft.DescribedReplica{ReplicaKey: voters.ReplicaKey{ID: 2, DirectoryID: record.UUIDFromHalves(1, 9)}})
		}, want: "order"},
		{name: "a version without addresses", change: func(m *raft.DescribeQuorumResponse) { m.Nodes = nil }},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := dynamicUp(t, 2, Config{})
			l.alone = true
			l.tick(1)
			one, two, three := l.node(1), l.node(2), l.add(3)
			m := votersRecord(1, 2)
			for i := range m.Voters {
				m.Voters[i].Endpoints = []record.VoterEndpoint{{Name: "CONTROLLER", Host: "n", Port: 1}}
			}
			one.writeVoters(1, m)
			one.replicate(two, 1)
			one.replicate(three, 1)
			at := func(x *member, offset int64) raft.DescribedReplica {
				return raft.DescribedReplica{ReplicaKey: voters.ReplicaKey{ID: x.id, DirectoryID: x.dir}, LogEndOffset: offset, LastFetchTimeMs: 1, LastCaughtUpTimeMs: 1}
			}
			where := func() []voters.Endpoint { return []voters.Endpoint{{Name: "CONTROLLER", Host: "n", Port: 1}} }
			answer := &raft.DescribeQuorumResponse{
				LeaderID: 1, LeaderEpoch: 1, HighWatermark: one.end, Voters: []raft.DescribedReplica{at(one, one.end), at(two, one.end)},
				Observers: []raft.DescribedReplica{at(three, one.end)}, Nodes: []raft.DescribedNode{{NodeID: 1, Listeners: where()}, {NodeID: 2, Listeners: where()}},
			}
			l.clean()
			row.change(answer)
			l.core.described(one.r, answer)
			if row.want == "" {
				l.clean()
			} else {
				l.breaks("describe-quorum/" + row.want)
			}
		})
	}
}
