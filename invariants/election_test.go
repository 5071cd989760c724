package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// threeUp is a cluster whose voter 1 leads epoch 1, with everything replicated to all.
func threeUp(t testing.TB, cfg Config) *lab {
	t.Helper()
	l := newLab(t, 3, cfg)
	one, two, three := l.node(1), l.node(2), l.node(3)
	one.lead(1, 2)
	two.follow(1, 1)
	three.follow(1, 1)
	one.replicate(two, 1)
	one.replicate(three, 1)
	return l
}

func TestHealthyClusterIsClean(t *testing.T) {
	l := threeUp(t, Config{PreVoteEverywhere: true, FetchTimeoutNs: 1e9})
	one, two, three := l.node(1), l.node(2), l.node(3)
	for range 20 {
		one.noOp(1)
		one.replicate(two, 1)
		one.replicate(three, 1)
	}
	require.EqualValues(t, 21, l.core.exposed.end)
	require.EqualValues(t, one.end, two.r.log.durableEnd())
	l.clean()
	l.evaluated("election-safety", "one-vote", "epoch-monotonic", "roles", "pre-vote-harmless", "no-disruption", "log-matching",
		"leader-completeness", "hw-monotonic", "hw-durable", "own-epoch-commit", "no-write-after-lead", "voters-follow-log",
		"directory-id-first")
}

func TestElectionSafety(t *testing.T) {
	t.Run("two leaders of one epoch", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.node(1).lead(1, 2)
		three := l.node(3)
		three.role(raft.Prospective, 0, -1)
		three.quorum(1, -1, 3)
		three.quorum(1, 3, -1)
		l.breaks("election-safety/quorum-state")
	})
	t.Run("the second one hides its role", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.node(1).lead(1, 2)
		l.core.onBeginQuorumEpoch(l.node(3).r, &raft.BeginQuorumEpochRequest{LeaderID: 3, LeaderEpoch: 1})
		l.breaks("election-safety/begin-quorum-epoch")
	})
	t.Run("a resigned leader restarts and still names itself", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.crash(false)
		one.boot()
		one.quorum(1, 1, -1) // the initial state is written back
		one.role(raft.Resigned, 1, 1)
		l.node(2).lead(2, 3)
		l.clean()
	})
	t.Run("a winner loses its file and wins again", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.candidate(1, 2)
		l.node(2).quorum(1, -1, 1)
		l.vote(one, l.node(2), 1, true)
		one.crash(true)
		one.boot()
		one.quorum(1, -1, 1)
		one.role(raft.Candidate, 1, -1)
		l.vote(one, l.node(2), 1, true)
		one.win(1)
		one.leaderChange(1)
		l.clean()
	})
}

func TestOneVote(t *testing.T) {
	t.Run("two candidates", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		two := l.node(2)
		l.node(1).candidate(1)
		two.quorum(1, -1, 1)
		l.vote(l.node(1), two, 1, true)
		l.node(3).candidate(1)
		two.quorum(1, -1, 3)
		l.vote(l.node(3), two, 1, true)
		l.breaks("one-vote/granted-twice")
	})
	t.Run("answered before it is durable", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.node(1).candidate(1)
		l.vote(l.node(1), l.node(2), 1, true)
		l.breaks("one-vote/not-durable")
	})
	t.Run("over a restart", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		two := l.node(2)
		l.node(1).candidate(1)
		two.quorum(1, -1, 1)
		l.vote(l.node(1), two, 1, true)
		two.crash(true)
		two.boot()
		l.node(3).candidate(1)
		two.quorum(1, -1, 3)
		l.vote(l.node(3), two, 1, true)
		l.breaks("one-vote/granted-twice")
	})
	t.Run("a repeated grant, and pre-votes for others", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		two := l.node(2)
		l.node(1).candidate(1)
		l.node(3).candidate(1)
		two.quorum(1, -1, 1)
		l.vote(l.node(1), two, 1, true)
		l.vote(l.node(1), two, 1, true)
		l.preVote(l.node(3), two, 1, true)
		l.vote(l.node(3), two, 1, false)
		l.clean()
	})
	t.Run("version 0 forgets the directory", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		two := l.node(2)
		l.node(1).candidate(1)
		two.quorum(1, -1, 1)
		l.vote(l.node(1), two, 1, true)
		l.core.standardVote(two.r, 1, voters.ReplicaKey{ID: 1, DirectoryID: two.dir}, "granted-twice")
		l.clean()
	})
	t.Run("the answer to a pre-vote of an earlier life", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one, two := l.node(1), l.node(2)
		one.candidate(1)
		one.role(raft.Prospective, 1, -1)
		two.role(raft.Unattached, 1, -1)
		one.crash(false)
		one.boot()
		l.core.onVoteRequest(one.r, two.r, &raft.VoteRequest{Header: raft.Header{Correlation: 1}, VoterID: 2, ReplicaEpoch: 1, ReplicaID: 1})
		two.event(raft.Event{Kind: raft.PreVoteGranted, Peer: voters.ReplicaKey{ID: 1}})
		l.core.onVoteResponse(two.r, one.r, &raft.VoteResponse{Header: raft.Header{Correlation: 1}, LeaderEpoch: 1, VoteGranted: true})
		l.clean()
	})
}

func TestEpochMonotonic(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.node(1).quorum(3, -1, -1)
		l.node(1).quorum(2, -1, -1)
		l.breaks("epoch-monotonic/file-went-back")
	})
	t.Run("request after a restart", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.fetch(l.node(2), 3, -1) // an epoch that was never made durable
		one.crash(true)
		one.boot()
		one.fetch(l.node(2), 0, -1)
		l.breaks("epoch-monotonic/request-went-back")
	})
	t.Run("an unshown epoch may be lost", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.quorum(2, -1, -1)
		fd, err := one.files.Open(testPartition+"/quorum-state.tmp", true)
		require.NoError(t, err)
		require.NoError(t, one.files.WriteAt(fd, []byte(`{"leaderId":-1,"leaderEpoch":3,"votedId":-1,"data_version":0}`), 0))
		require.NoError(t, one.files.Rename(testPartition+"/quorum-state.tmp", testPartition+"/quorum-state"))
		one.crash(true)
		one.boot()
		one.quorum(2, -1, -1)
		l.clean()
	})
	t.Run("answers may be old", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).lead(2, 3)
		l.node(1).quorum(2, -1, -1)
		l.node(1).role(raft.Unattached, 2, -1)
		l.node(1).answer(l.node(3), 1, 1) // a parked Fetch, as computed on arrival
		l.clean()
	})
}

func TestRoles(t *testing.T) {
	t.Run("observer as candidate", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		four := l.add(4)
		four.role(raft.Unattached, 0, -1)
		four.role(raft.Prospective, 0, -1)
		l.breaks("roles/not-a-voter")
	})
	t.Run("candidate without its vote", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.role(raft.Prospective, 0, -1)
		one.role(raft.Candidate, 1, -1)
		l.breaks("roles/candidate-without-vote")
	})
	t.Run("follows itself", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.node(1).quorum(1, 1, -1)
		l.node(1).role(raft.Follower, 1, 1)
		l.breaks("roles/follows-itself")
	})
	t.Run("restart as candidate, observer as follower", func(t *testing.T) {
		l := threeUp(t, Config{})
		four := l.add(4)
		four.follow(1, 1)
		two := l.node(2)
		two.candidate(2, 3)
		two.crash(false)
		two.boot()
		two.role(raft.Candidate, 2, -1)
		two.role(raft.Prospective, 2, -1)
		l.clean()
		require.Positive(t, *l.seen["observer-found-the-leader"])
	})
}

func TestPreVoteHarmless(t *testing.T) {
	t.Run("raises the epoch", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.role(raft.Prospective, 0, -1)
		l.preVote(one, l.node(2), 1, false)
		l.breaks("pre-vote-harmless/epoch-changed")
	})
	t.Run("stores a vote", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.quorum(1, -1, -1)
		one.role(raft.Prospective, 1, -1)
		one.quorum(1, -1, 1)
		l.breaks("pre-vote-harmless/vote-stored")
	})
	t.Run("a candidate that falls back asks in its own epoch", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one := l.node(1)
		one.candidate(1)
		one.role(raft.Prospective, 1, -1)
		l.preVote(one, l.node(2), 1, true)
		l.clean()
	})
}

func TestNoDisruption(t *testing.T) {
	t.Run("candidate without pre-votes", func(t *testing.T) {
		l := threeUp(t, Config{PreVoteEverywhere: true})
		l.node(3).candidate(2)
		l.breaks("no-disruption/candidate-without-pre-votes")
	})
	t.Run("candidate that never says it was prospective", func(t *testing.T) {
		l := threeUp(t, Config{PreVoteEverywhere: true})
		l.node(3).quorum(2, -1, 3)
		l.breaks("no-disruption/candidate-without-pre-votes")
	})
	t.Run("follower that has fetched grants", func(t *testing.T) {
		l := threeUp(t, Config{PreVoteEverywhere: true})
		l.node(3).role(raft.Prospective, 1, 1)
		l.preVote(l.node(3), l.node(2), 1, true)
		l.breaks("no-disruption/granted-after-fetch")
	})
	t.Run("fell back to follower and grants until it fetches", func(t *testing.T) {
		l := threeUp(t, Config{PreVoteEverywhere: true})
		two := l.node(2)
		two.role(raft.Prospective, 1, 1)
		two.follow(1, 1)
		l.node(3).role(raft.Prospective, 1, 1)
		l.preVote(l.node(3), two, 1, true)
		l.node(3).quorum(2, -1, 3)
		l.clean()
	})
	t.Run("peers without Vote 2", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(3).candidate(2)
		l.clean()
	})
}

// served is the event of a leader that took in a fetch.
func (m *member) served(from *member, epoch int32) {
	m.lab.core.called(from.r, m.r, voterKey{from.id, from.dir})
	m.event(raft.Event{Kind: raft.FetchAccepted, Role: raft.Leader, Epoch: epoch, Peer: voters.ReplicaKey{ID: from.id, DirectoryID: from.dir}})
}

func TestTwoLeadersBounded(t *testing.T) {
	cfg := Config{FetchTimeoutNs: 1e9}
	t.Run("cut off for good, observers still fetch", func(t *testing.T) {
		l := threeUp(t, cfg)
		four := l.add(4)
		for range 5 {
			l.tick(500)
			l.node(1).served(four, 1)
		}
		l.breaks("two-leaders-bounded/leads-without-majority")
	})
	t.Run("cut off for good, on its own", func(t *testing.T) {
		l := threeUp(t, cfg)
		for range 5 {
			l.tick(500)
			l.core.onBeginQuorumEpoch(l.node(1).r, &raft.BeginQuorumEpochRequest{LeaderID: 1, LeaderEpoch: 1})
			l.core.onBeginQuorumEpoch(l.node(1).r, &raft.BeginQuorumEpochRequest{LeaderID: 1, LeaderEpoch: 1})
		}
		l.breaks("two-leaders-bounded/leads-without-majority")
	})
	t.Run("within the bound", func(t *testing.T) {
		l := threeUp(t, cfg)
		four := l.add(4)
		for range 3 {
			l.tick(500)
			l.node(1).served(four, 1)
		}
		l.node(1).role(raft.Resigned, 1, 1)
		l.clean()
		l.tick(100)
	})
	t.Run("one voter is enough, and one late sign of life", func(t *testing.T) {
		l := threeUp(t, cfg)
		four := l.add(4)
		for range 10 {
			l.tick(500)
			l.node(1).replicate(l.node(2), 1)
			l.node(1).served(four, 1)
		}
		l.tick(5000) // the lane waited for a disk
		l.node(1).served(four, 1)
		l.node(1).role(raft.Resigned, 1, 1)
		l.clean()
		l.evaluated("two-leaders-bounded")
	})
	t.Run("late twice, and a majority in between", func(t *testing.T) {
		for _, twice := range []bool{false, true} {
			l := threeUp(t, cfg)
			four := l.add(4)
			l.tick(5000) // the lane waited for a disk
			l.node(1).served(four, 1)
			l.node(1).served(l.node(2), 1) // in the queue behind it
			l.tick(5000)
			l.node(1).served(four, 1)
			if twice { // it polled its timers before this one
				l.tick(1)
				l.node(1).served(four, 1)
				l.breaks("two-leaders-bounded/leads-without-majority")
				continue
			}
			l.node(1).role(raft.Resigned, 1, 1)
			l.clean()
		}
	})
	t.Run("parked fetches of all voters end at one instant", func(t *testing.T) {
		l := newLab(t, 5, cfg)
		one := l.node(1)
		one.lead(1, 2, 3)
		four := l.add(6)
		for range 20 {
			l.tick(500)
			for id := int32(2); id <= 5; id++ {
				one.served(l.node(id), 1)
			}
			one.served(four, 1)
		}
		l.clean()
	})
	t.Run("a single voter", func(t *testing.T) {
		l := newLab(t, 1, cfg)
		l.node(1).lead(1)
		four := l.add(4)
		for range 10 {
			l.tick(5000)
			l.node(1).served(four, 1)
		}
		l.clean()
	})
}
