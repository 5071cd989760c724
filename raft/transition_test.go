package raft

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// newRoleReplica returns an open replica of three voters, forced into a role object.
func newRoleReplica(t *testing.T, r role) *Replica {
	t.Helper()
	s := &script{t: &testing.T{}, dialled: map[int64]string{}, last: map[string]any{}, lastConn: map[string]int64{}}
	files := memfiles.New()
	require.NoError(t, files.MkdirAll(scriptDir))
	set, err := voters.New(
		voters.Voter{ReplicaKey: ReplicaKey{ID: 1}, Endpoints: testEndpoints(1)},
		voters.Voter{ReplicaKey: ReplicaKey{ID: 2}, Endpoints: testEndpoints(2)},
		voters.Voter{ReplicaKey: ReplicaKey{ID: 3}, Endpoints: testEndpoints(3)})
	require.NoError(t, err)
	cfg := DefaultConfig()
	cfg.NodeID, cfg.DirectoryID, cfg.StaticVoters = 1, dirID(1), set
	cfg.Listeners, cfg.CanBecomeVoter = testEndpoints(1), true
	replica := New(cfg, Deps{Files: files, Dir: scriptDir, Transport: s, Chooser: s})
	require.NoError(t, replica.Open(1000))
	replica.take(r)
	return replica
}

// makeRole builds a role object of an epoch; voted is the key of the vote, leader the leader of a follower.
func makeRole(t *testing.T, kind Role, epoch int32, voted ReplicaKey, leaderID int32, endpoints int) role {
	t.Helper()
	b := base{epoch: epoch, leaderID: leaderID, voted: voted, highWatermark: unknown}
	for i := 0; i < endpoints; i++ {
		e := testEndpoints(leaderID)[0]
		e.Name = fmt.Sprint("L", i)
		b.leaderEndpoints = append(b.leaderEndpoints, e)
	}
	ids := tally{ids: []int32{1, 2, 3}, answers: []answer{granted, granted, unrecorded}, answersStand: true}
	switch kind {
	case Unattached:
		return &unattached{base: b}
	case Prospective:
		return &prospective{base: b, tally: ids}
	case Candidate:
		b.voted, b.leaderID, b.leaderEndpoints = ReplicaKey{ID: 1, DirectoryID: dirID(1)}, -1, nil
		return &candidate{base: b, tally: ids}
	case Follower:
		return &follower{base: b}
	case Leader:
		b.voted, b.leaderID, b.leaderEndpoints = NoReplica, 1, testEndpoints(1)
		return &leader{base: b}
	case Resigned:
		b.voted, b.leaderID, b.leaderEndpoints = NoReplica, 1, testEndpoints(1)
		return &resigned{base: b}
	}
	t.Fatalf("no role %v", kind)
	return nil
}

// TestTransitionTableExhaustively compares the code with kraft-protocol 1.4, spelled out again as text: for each pair
// of roles the epochs (s same, h higher, n next) that may be entered.
func TestTransitionTableExhaustively(t *testing.T) {
	allowed := map[string]string{
		"unattached>unattached": "hn", "unattached>prospective": "s", "unattached>follower": "shn",
		"prospective>unattached": "shn", "prospective>candidate": "n", "prospective>follower": "shn",
		"candidate>unattached": "hn", "candidate>prospective": "s", "candidate>follower": "shn", "candidate>leader": "s",
		"follower>unattached": "hn", "follower>prospective": "s", "follower>follower": "hn",
		"leader>unattached": "hn", "leader>follower": "hn", "leader>resigned": "s",
		"resigned>unattached": "hn", "resigned>prospective": "s", "resigned>follower": "hn",
	}
	roles := []Role{Unattached, Prospective, Candidate, Follower, Leader, Resigned}
	epochs := map[string]int32{"l": 4, "s": 5, "n": 6, "h": 9}
	for _, from := range roles {
		for _, to := range roles {
			for name, epoch := range epochs {
				fromLeader, toLeader := int32(-1), int32(-1)
				if from == Follower || to == Follower && from == Prospective && epoch == 5 {
					fromLeader = 2
				}
				if to == Follower || fromLeader == 2 && epoch == 5 && to != Candidate {
					toLeader = 2
				}
				if (from == Resigned || from == Leader) && (to == Prospective || to == Unattached) {
					toLeader = 1 // or the guard of an epoch's one leader would stand in for the table
				}
				endpoints := map[bool]int{true: 1}[toLeader == 2]
				old := makeRole(t, from, 5, NoReplica, fromLeader, map[bool]int{true: 1}[fromLeader == 2])
				next := makeRole(t, to, epoch, old.common().voted, toLeader, endpoints)
				if epoch != 5 && to != Candidate {
					next.common().voted = NoReplica
				}
				if to == Candidate || to == Leader {
					next = makeRole(t, to, epoch, NoReplica, -1, 0)
				}
				r := newRoleReplica(t, old)
				want := contains(allowed[fmt.Sprintf("%v>%v", from, to)], name)
				err := r.checkTransition(next)
				if want {
					require.NoError(t, err, "%v of 5 to %v of %d", from, to, epoch)
				} else {
					require.ErrorIs(t, err, ErrIllegalTransition, "%v of 5 to %v of %d", from, to, epoch)
				}
			}
		}
	}
}

func contains(set, letter string) bool {
	for _, c := range set {
		if string(c) == letter {
			return true
		}
	}
	return false
}

// TestTransitionGuards covers what the table does not say.
func TestTransitionGuards(t *testing.T) {
	voted := ReplicaKey{ID: 2, DirectoryID: dirID(2)}
	other := ReplicaKey{ID: 3, DirectoryID: dirID(3)}
	for _, c := range []struct {
		name     string
		old, new role
		ok       bool
	}{
		{"a vote is recorded", makeRole(t, Unattached, 5, NoReplica, -1, 0), makeRole(t, Unattached, 5, voted, -1, 0), true},
		{"a second vote", makeRole(t, Unattached, 5, voted, -1, 0), makeRole(t, Unattached, 5, other, -1, 0), false},
		{"the same vote again", makeRole(t, Unattached, 5, voted, -1, 0), makeRole(t, Unattached, 5, voted, -1, 0), false},
		{"a vote is forgotten", makeRole(t, Unattached, 5, voted, -1, 0), makeRole(t, Unattached, 5, NoReplica, -1, 0), false},
		{"a vote is forgotten by following", makeRole(t, Unattached, 5, voted, -1, 0), makeRole(t, Follower, 5, NoReplica, 3, 1), false},
		{"a vote is kept by following", makeRole(t, Unattached, 5, voted, -1, 0), makeRole(t, Follower, 5, voted, 3, 1), true},
		{"prospective records a vote", makeRole(t, Prospective, 5, NoReplica, -1, 0), makeRole(t, Prospective, 5, voted, -1, 0), true},
		{"a second leader", makeRole(t, Follower, 5, NoReplica, 2, 1), makeRole(t, Follower, 5, NoReplica, 3, 2), false},
		{"more endpoints", makeRole(t, Follower, 5, NoReplica, 2, 1), makeRole(t, Follower, 5, NoReplica, 2, 2), true},
		{"as many endpoints", makeRole(t, Follower, 5, NoReplica, 2, 1), makeRole(t, Follower, 5, NoReplica, 2, 1), false},
		{"no endpoints", makeRole(t, Unattached, 5, NoReplica, -1, 0), makeRole(t, Follower, 6, NoReplica, 2, 0), false},
		{"following oneself", makeRole(t, Unattached, 5, NoReplica, -1, 0), makeRole(t, Follower, 6, NoReplica, 1, 1), false},
		{"the leader is forgotten", makeRole(t, Prospective, 5, NoReplica, 2, 1), makeRole(t, Unattached, 5, NoReplica, -1, 0), false},
	} {
		err := newRoleReplica(t, c.old).checkTransition(c.new)
		require.Equal(t, c.ok, err == nil, "%s: %v", c.name, err)
	}
	lost := makeRole(t, Candidate, 5, NoReplica, -1, 0).(*candidate)
	lost.tally.answers[1] = rejected
	require.ErrorIs(t, newRoleReplica(t, lost).checkTransition(makeRole(t, Leader, 5, NoReplica, 1, 0)), ErrIllegalTransition)
	observer := newRoleReplica(t, makeRole(t, Unattached, 5, NoReplica, -1, 0))
	observer.cfg.NodeID, observer.self.ID = 9, 9
	require.ErrorIs(t, observer.checkTransition(makeRole(t, Prospective, 5, NoReplica, -1, 0)), ErrIllegalTransition)
}

// TestNothingIsEnteredThatIsNotDurable: when the file cannot be written, the role stays.
func TestNothingIsEnteredThatIsNotDurable(t *testing.T) {
	tried := 0
	for _, op := range []string{"write", "sync", "rename", "syncdir"} {
		r := newRoleReplica(t, makeRole(t, Unattached, 5, NoReplica, -1, 0))
		failed := false
		r.deps.Files.(*memfiles.Files).Hook = func(o, path string) error {
			if o == op {
				failed = true
				return fmt.Errorf("no %s today", op)
			}
			return nil
		}
		err := r.becomeUnattached(7)
		if !failed {
			continue // the store has no such operation
		}
		require.Error(t, err, op)
		require.EqualValues(t, 5, r.base().epoch, op)
		tried++
	}
	require.GreaterOrEqual(t, tried, 3)
}

// TestGrantTableExhaustively walks kraft-protocol 1.7: every role, with and without vote and leader, both kinds of
// request, both qualities of the candidate's log.
func TestGrantTableExhaustively(t *testing.T) {
	me := ReplicaKey{ID: 2, DirectoryID: dirID(2)}
	for _, kind := range []Role{Unattached, Prospective, Candidate, Follower, Leader, Resigned} {
		for _, vote := range []ReplicaKey{NoReplica, me, {ID: 2}, {ID: 2, DirectoryID: dirID(9)}, {ID: 3, DirectoryID: dirID(3)}} {
			for _, leaderID := range []int32{-1, 3} {
				for _, preVote := range []bool{false, true} {
					for _, upToDate := range []bool{false, true} {
						for _, fetched := range []bool{false, true} {
							if kind == Follower && leaderID < 0 {
								continue
							}
							r := newRoleReplica(t, makeRole(t, kind, 5, vote, leaderID, 0))
							if f, ok := r.role.(*follower); ok {
								f.hasFetched = fetched
							}
							m := &VoteRequest{ReplicaEpoch: 5, ReplicaID: 2, ReplicaDirectoryID: dirID(2), PreVote: preVote}
							if !upToDate {
								m.LastOffset = -1 // the replica's log is empty
							}
							require.Equal(t, wantGrant(kind, vote, leaderID, preVote, upToDate, fetched), r.grants(m),
								"%v voted=%v leader=%d pre=%v up-to-date=%v fetched=%v", kind, vote, leaderID, preVote, upToDate, fetched)
						}
					}
				}
			}
		}
	}
}

// wantGrant is the table again, written from the text.
func wantGrant(kind Role, vote ReplicaKey, leaderID int32, preVote, upToDate, fetched bool) bool {
	if preVote {
		switch kind {
		case Leader:
			return false
		case Follower:
			return !fetched && upToDate
		default:
			return upToDate
		}
	}
	if kind != Unattached && kind != Prospective {
		return false
	}
	if vote.ID >= 0 {
		return vote.ID == 2 && (vote.DirectoryID.IsZero() || vote.DirectoryID == dirID(2))
	}
	return leaderID < 0 && upToDate
}
