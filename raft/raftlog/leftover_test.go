package raftlog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// TestStartMakesNamesDurable: a process that was killed behind a roll leaves a segment whose bytes and whose name are in the page cache
// only. What the next start counts as flushed survives a loss of power all the same.
func TestStartMakesNamesDurable(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1})
	require.NoError(t, l.AppendLeader(batch(0, 1, 1)))
	require.NoError(t, l.Flush())
	require.NoError(t, l.AppendLeader(batch(1, 1, 1))) // a segment of its own
	files.Kill()

	l = open(t, files, raftlog.Config{SegmentBytes: 1})
	require.EqualValues(t, 2, l.FlushedOffset())
	files.Crash()
	require.EqualValues(t, 2, open(t, files, raftlog.Config{SegmentBytes: 1}).EndOffset())
}

// TestLongTemporaryFile: what a crash left of a longer replacement is no part of the next one.
func TestLongTemporaryFile(t *testing.T) {
	files := newFiles()
	files.WriteFile(dir+"/leader-epoch-checkpoint.tmp", []byte("0\n9\n"+strings.Repeat("7 7\n", 9)))
	l := open(t, files, raftlog.Config{})
	require.NoError(t, l.AppendLeader(batch(0, 1, 1)))
	require.Equal(t, "0\n1\n1 0\n", string(files.ReadFile(dir+"/leader-epoch-checkpoint")))
	files.Kill()
	require.EqualValues(t, 1, open(t, files, raftlog.Config{}).EndOffset())
}
