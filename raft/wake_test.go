package raft

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// wakes counts what a replica asks of its owner.
type wakes int

// Wake implements Waker.
func (w *wakes) Wake() { *w++ }

// TestScheduledAppendsWake: records that were scheduled from another lane are seen by the raft lane at once, whose deadline may be far away:
// the first of them starts the linger time (kraft-protocol 3.9). Those that follow until then need no word of their own.
func TestScheduledAppendsWake(t *testing.T) {
	s := &script{t: t}
	for _, line := range []string{"replica id=1 voters=(1) linger=50", "lead"} {
		cmd, args, err := datadriven.ParseLine(line)
		require.NoError(t, err)
		s.run(t, &datadriven.TestData{Cmd: cmd, CmdArgs: args})
	}
	var woken wakes
	r := s.replica
	r.deps.Waker = &woken
	add := func() {
		_, err := r.PrepareAppend(1, [][]byte{[]byte("a")})
		require.NoError(t, err)
		r.SchedulePreparedAppend()
	}
	add()
	require.EqualValues(t, 1, woken)
	add()
	require.EqualValues(t, 1, woken, "the lane has not looked yet")
	require.NoError(t, r.Poll(s.nowMs))
	add()
	require.EqualValues(t, 1, woken, "the linger time runs")
	require.NoError(t, r.Poll(s.nowMs+50))
	add()
	require.EqualValues(t, 2, woken)
}

// TestReleasedReaderWakes: a listener that is done with its batches is given those that were committed meanwhile without waiting for a timer.
func TestReleasedReaderWakes(t *testing.T) {
	s := &script{t: t}
	for _, line := range []string{"replica id=1 voters=(1)", "lead", "listener hold", "append values=(a)"} {
		cmd, args, err := datadriven.ParseLine(line)
		require.NoError(t, err)
		s.run(t, &datadriven.TestData{Cmd: cmd, CmdArgs: args})
	}
	var woken wakes
	s.replica.deps.Waker = &woken
	s.replica.ReleaseReader(s.appID)
	require.EqualValues(t, 1, woken)
	s.replica.ReleaseReader(s.appID)
	require.EqualValues(t, 1, woken, "it holds nothing")
}
