package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
)

// TestStableLeader: a node that asked for pre-votes before a majority had fetched from the leader may depose it, and only such a node.
func TestStableLeader(t *testing.T) {
	type step struct {
		id    int32
		role  raft.Role // moved: the leader's high watermark moves
		epoch int32
	}
	const moved = raft.Role(200)
	elected := []step{{0, raft.Prospective, 0}, {0, raft.Candidate, 1}, {0, raft.Leader, 1}}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"stays", []step{{0, moved, 1}}, ""},
		{"asked before anybody fetched", []step{{1, raft.Prospective, 1}, {1, raft.Candidate, 2}, {0, raft.Unattached, 2}, {1, raft.Leader, 2}, {1, moved, 2}}, ""},
		{"had asked when a majority fetched", []step{{1, raft.Prospective, 1}, {0, moved, 1}, {1, raft.Candidate, 2}, {0, raft.Unattached, 2}, {1, raft.Leader, 2}}, ""},
		{"asked again", []step{{1, raft.Prospective, 1}, {0, moved, 1}, {1, raft.Follower, 1}, {1, raft.Prospective, 1}, {1, raft.Candidate, 2}, {0, raft.Unattached, 2}}, "leader-gone"},
		{"asked behind it", []step{{0, moved, 1}, {1, raft.Prospective, 1}, {1, raft.Candidate, 2}, {1, raft.Leader, 2}}, "another-leader"},
		{"resigns", []step{{0, raft.Resigned, 1}}, "leader-gone"},
		{"nobody else stands", []step{{0, moved, 1}, {0, raft.Unattached, 2}}, "leader-gone"},
		{"the next one stays", []step{{1, raft.Candidate, 2}, {0, raft.Unattached, 2}, {1, raft.Leader, 2}, {1, moved, 2}, {0, raft.Candidate, 3}, {1, raft.Unattached, 3}}, "leader-gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, check, found := kafkaLab()
			check.stable = true
			for _, x := range append(append([]step{}, elected...), c.steps...) {
				n := &p.nodes[x.id]
				if n.epoch = x.epoch; x.role == moved {
					check.settle(p)
					continue
				}
				n.role = x.role
				check.challenger(n)
				check.steadyLeader(n)
			}
			if c.want == "" {
				require.Empty(t, *found)
				return
			}
			require.Equal(t, "kafka-stable-leader/"+c.want, *found)
		})
	}
}
