package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchWaitsForItsLastRecord: a batch of two calls, of which only the first was scheduled, stays where it is, whether it is complete or
// open, and so does what comes behind it (kraft-protocol 3.9).
func TestBatchWaitsForItsLastRecord(t *testing.T) {
	cfg := DefaultConfig()
	cfg.MaxBatchRecords, cfg.AppendLingerMs = 2, 0
	var a accumulator
	a.open(1, 10, &cfg, nil)
	one := [][]byte{[]byte("x")}
	prepare := func() int64 {
		last, err := a.prepare(one)
		require.NoError(t, err)
		return last
	}
	require.Equal(t, int64(10), prepare())
	a.schedule()
	require.Equal(t, int64(11), prepare())
	require.Equal(t, never, a.drainDeadlineMs(100), "the open batch has a record that is not scheduled")
	require.Equal(t, int64(12), prepare(), "which completes it")
	require.Equal(t, never, a.drainDeadlineMs(100))
	require.Empty(t, a.drain(100))
	a.schedule()
	require.Equal(t, int64(100), a.drainDeadlineMs(100))
	require.Len(t, a.drain(100), 2)
}

// TestCallsOfOtherLanesWake: every call that leaves work to the raft lane asks for its next turn (kraft-protocol 8).
func TestCallsOfOtherLanesWake(t *testing.T) {
	var w wakes
	lead := func(replica string) *script {
		s := requestScript(t, replica, func(*Config) {})
		s.do("lead commit=(2:2,3:3)")
		s.replica.deps.Waker = &w
		w = 0
		return s
	}
	s := lead("replica id=1 voters=(1,2,3)")
	for _, id := range []string{"2", "3"} {
		s.do("update voter=" + id + ":" + id)
		s.do("answer peer=" + id)
	}
	w = 0
	require.NoError(t, s.replica.UpgradeKRaftVersion(1, 1, true))
	require.Zero(t, w, "a question alone")
	require.NoError(t, s.replica.UpgradeKRaftVersion(1, 1, false))
	require.Equal(t, wakes(1), w)

	s = lead("replica id=1 dynamic=(1:1,2:2,3:3) bootstrap=1")
	_, err := s.replica.PrepareAppend(1, [][]byte{[]byte("x")})
	require.NoError(t, err)
	require.Zero(t, w)
	s.replica.SchedulePreparedAppend()
	require.Equal(t, wakes(1), w)
	require.NoError(t, s.replica.Resign(1))
	require.Equal(t, wakes(2), w)
	id := s.replica.Register(s)
	require.Equal(t, wakes(3), w)
	s.replica.Unregister(id)
	require.Equal(t, wakes(4), w)
}

// TestLateConnectionSendsNothing: a connection that opens when the time of its request is over carries nothing, even when no poll has looked
// at the clock yet (kraft-protocol 2.15).
func TestLateConnectionSendsNothing(t *testing.T) {
	for _, late := range []bool{false, true} {
		s := requestScript(t, "replica id=1 voters=(1,2,3) request-timeout=700", func(*Config) {}, "state epoch=5 leader=2", "dial off", "open")
		s.nowMs += 699
		if late {
			s.nowMs++
		}
		s.do("connect")
		require.Equal(t, !late, s.last["2"] != nil)
	}
}
