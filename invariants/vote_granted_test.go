package invariants

import (
	"testing"

	"github.com/kraftsim/kraftsim/raft"
)

// asksVote is a standard vote request of m and the refusal of v, which names a leader or -1.
func (l *lab) asksVote(m, v *member, epoch, lastEpoch int32, end int64, leader int32) {
	l.next++
	l.core.onVoteRequest(m.r, v.r, &raft.VoteRequest{
		Header: raft.Header{Correlation: l.next}, VoterID: v.id, ReplicaEpoch: epoch, ReplicaID: m.id, ReplicaDirectoryID: m.dir,
		LastOffsetEpoch: lastEpoch, LastOffset: end,
	})
	l.core.onVoteResponse(v.r, m.r, &raft.VoteResponse{Header: raft.Header{Correlation: l.next}, LeaderID: leader, LeaderEpoch: epoch})
}

// TestVoteGranted: a refusal needs a reason, which is on the disk of the one who refuses, or in its answer.
func TestVoteGranted(t *testing.T) {
	for _, c := range []struct {
		name      string
		voted     int32 // of node 3, in epoch 2
		lastEpoch int32
		end       int64
		leader    int32
		broken    bool
	}{
		{"no reason", -1, 1, 1, -1, true},
		{"a longer log", -1, 1, 5, -1, true},
		{"a later log, though shorter", -1, 2, 0, -1, true},
		{"has voted for another", 1, 1, 1, -1, false},
		{"the candidate's log is shorter", -1, 1, 0, -1, false},
		{"the candidate's log is older", -1, 0, 9, -1, false},
		{"knows the leader", -1, 1, 1, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := threeUp(t, Config{})
			two, three := l.node(2), l.node(3)
			two.candidate(2)
			three.quorum(2, -1, c.voted)
			l.asksVote(two, three, 2, c.lastEpoch, c.end, c.leader)
			if c.broken {
				l.breaks("vote-granted/refused")
				return
			}
			l.clean()
		})
	}
	t.Run("it led a later epoch, in which it appended nothing", func(t *testing.T) {
		l := threeUp(t, Config{})
		two, three := l.node(2), l.node(3)
		three.r.lastLed = 2
		two.candidate(2)
		three.quorum(2, -1, -1)
		l.asksVote(two, three, 2, 1, 1, -1)
		l.clean()
	})
	t.Run("of an epoch that its quorum-state does not have", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).candidate(2)
		l.asksVote(l.node(2), l.node(3), 2, 1, 1, -1)
		l.clean()
	})
}

// TestVoteIsKept: a vote stays in the file until a leader is named there, or the epoch is over.
func TestVoteIsKept(t *testing.T) {
	for _, c := range []struct {
		name           string
		epoch, leader  int32
		restart, voted bool
		broken         bool
	}{
		{name: "forgotten", epoch: 2, leader: -1, broken: true},
		{name: "forgotten in a restart", epoch: 2, leader: -1, restart: true, broken: true},
		{name: "kept over a restart", epoch: 2, leader: -1, restart: true, voted: true},
		{name: "the leader is known", epoch: 2, leader: 1},
		{name: "another epoch", epoch: 3, leader: -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := threeUp(t, Config{})
			l.node(1).candidate(2)
			three := l.node(3)
			three.quorum(2, -1, 1)
			if c.restart {
				three.crash(false)
				three.boot()
			}
			voted := int32(-1)
			if c.voted {
				voted = 1
			}
			three.quorum(c.epoch, c.leader, voted)
			if c.broken {
				l.breaks("one-vote/forgotten")
				return
			}
			l.clean()
		})
	}
}
