package raft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/voters"
)

// TestTallyRules: what may be recorded in an election (kraft-protocol 1.8). When an election is won or lost is a matter of
// package quorum.
func TestTallyRules(t *testing.T) {
	set, err := voters.New(
		voters.Voter{ReplicaKey: ReplicaKey{ID: 1}, Endpoints: testEndpoints(1)},
		voters.Voter{ReplicaKey: ReplicaKey{ID: 2}, Endpoints: testEndpoints(2)},
		voters.Voter{ReplicaKey: ReplicaKey{ID: 3}, Endpoints: testEndpoints(3)},
	)
	require.NoError(t, err)
	begin := func(answersStand bool) *tally {
		election, err := newTally(set, 1, answersStand)
		require.NoError(t, err)
		return &election
	}

	t.Run("the own vote is granted", func(t *testing.T) {
		for _, answersStand := range []bool{true, false} {
			election := begin(answersStand)
			require.EqualValues(t, 1, election.count(granted))
			require.EqualValues(t, 2, election.count(unrecorded))
		}
	})
	t.Run("who is no voter has no vote", func(t *testing.T) {
		require.ErrorIs(t, begin(true).record(4, true), ErrVoteTally)
		require.ErrorIs(t, begin(true).record(4, false), ErrVoteTally)
		require.ErrorIs(t, begin(false).record(4, true), ErrVoteTally)
		_, err := newTally(set, 4, true)
		require.ErrorIs(t, err, ErrVoteTally, "nor may it be elected")
	})
	t.Run("the same vote again changes nothing", func(t *testing.T) {
		for _, grant := range []bool{true, false} {
			election := begin(true)
			require.NoError(t, election.record(2, grant))
			before := append([]answer(nil), election.answers...)
			require.NoError(t, election.record(2, grant))
			require.Equal(t, before, election.answers)
		}
	})
	t.Run("a vote stands", func(t *testing.T) {
		for _, grant := range []bool{true, false} {
			election := begin(true)
			require.NoError(t, election.record(2, grant))
			require.ErrorIs(t, election.record(2, !grant), ErrVoteTally)
		}
		require.ErrorIs(t, begin(true).record(1, false), ErrVoteTally, "the own one too")
	})
	t.Run("a pre-vote may be replaced", func(t *testing.T) {
		election := begin(false)
		require.NoError(t, election.record(2, false))
		require.EqualValues(t, 1, election.count(rejected))
		require.NoError(t, election.record(2, true))
		require.EqualValues(t, 2, election.count(granted))
		require.Zero(t, election.count(rejected))
	})
}
