package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDoneTakesNothing: a sole voter shuts down as leader (1.10). Its role stays what it was, and yet it takes no records, no upgrade and no
// snapshot any more.
func TestDoneTakesNothing(t *testing.T) {
	s := requestScript(t, "replica id=1 voters=(1)", func(*Config) {}, "lead", "shutdown ms=1000")
	require.True(t, s.replica.Done())
	require.False(t, s.replica.ShutdownTimedOut())
	require.Equal(t, Leader, s.replica.Role())
	_, err := s.replica.PrepareAppend(1, [][]byte{[]byte("a")})
	require.ErrorIs(t, err, ErrNotLeader)
	require.ErrorIs(t, s.replica.UpgradeKRaftVersion(1, 1, false), ErrNotLeader)
	w, err := s.replica.CreateSnapshot(s.nowMs, OffsetAndEpoch{Offset: 1, Epoch: 1}, 5)
	require.NoError(t, err)
	require.Nil(t, w)
	require.EqualValues(t, -1, s.replica.DeadlineMs())
}

// TestElectionIsLostOnce: the votes that come after an election is lost change nothing of it, and are no further loss.
func TestElectionIsLostOnce(t *testing.T) {
	s := requestScript(t, "replica id=1 voters=(1,2,3,4,5)", func(*Config) {}, "state epoch=3 voted=1", "open")
	var lost losses
	s.replica.deps.Observer = &lost
	for _, command := range []string{"answer peer=2", "answer peer=3", "answer peer=4", "answer peer=5 granted"} {
		s.do(command)
	}
	require.EqualValues(t, 1, lost)
	require.Equal(t, Candidate, s.replica.Role())
}

// losses counts elections that were lost.
type losses int32

// Observe implements Observer.
func (l *losses) Observe(e *Event) {
	if e.Kind == ElectionLost {
		*l++
	}
}
