package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppendAfterResignIsAsked: a leader that was asked to resign is leader until the raft lane's next turn, and takes records until then
// (kraft-protocol 3.8, 3.9). They go with the leadership: nothing of them is written.
func TestAppendAfterResignIsAsked(t *testing.T) {
	s := requestScript(t, "replica id=1 voters=(1,2,3)", func(*Config) {}, "lead commit=(2:2)")
	end := s.replica.LogEndOffset()
	require.NoError(t, s.replica.Resign(1))
	last, err := s.replica.PrepareAppend(1, [][]byte{[]byte("a"), []byte("b")})
	require.NoError(t, err)
	require.Equal(t, end+1, last)
	s.replica.SchedulePreparedAppend()
	require.Equal(t, Leader, s.replica.Role())

	s.do("poll ms=0")
	require.Equal(t, Resigned, s.replica.Role())
	require.Equal(t, end, s.replica.LogEndOffset())
	_, err = s.replica.PrepareAppend(1, [][]byte{[]byte("c")})
	require.ErrorIs(t, err, ErrNotLeader)
	require.NoError(t, s.replica.Resign(1), "the call is fulfilled")
}
