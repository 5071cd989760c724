package raft

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestMemoryFollowsCommitsAndSnapshots: what a leader keeps of its batches ends with their commit, and what a replica keeps of former
// voter sets with the snapshot that covers them (kraft-protocol 5.1). No message shows it, but the memory of a process that runs for years.
func TestMemoryFollowsCommitsAndSnapshots(t *testing.T) {
	s := &script{t: t}
	do := func(format string, args ...any) {
		cmd, cmdArgs, err := datadriven.ParseLine(fmt.Sprintf(format, args...))
		require.NoError(t, err)
		s.run(t, &datadriven.TestData{Cmd: cmd, CmdArgs: cmdArgs})
	}
	do("replica id=1 dynamic=(1:1,2:2,3:3) bootstrap=1")
	do("lead commit=(2:2,3:3)")
	for i := range 20 {
		verb := "remove"
		if i%2 == 1 {
			verb = "add"
		}
		end := s.replica.LogEndOffset()
		do("fetch from=3:3 epoch=1 offset=%d last-epoch=1 wait=0", end)
		do("append values=(a)")
		do("%s voter=3:3", verb)
		if verb == "add" {
			do("answer peer=3 kraft=(0,1)")
		}
		require.Equal(t, end+2, s.replica.LogEndOffset())
		do("fetch from=2:2 epoch=1 offset=%d last-epoch=1 wait=0", end+2)
		do("fetch from=3:3 epoch=1 offset=%d last-epoch=1 wait=0", end+2)
		highWatermark, _ := s.replica.HighWatermark()
		require.Equal(t, end+2, highWatermark)
		require.Empty(t, s.replica.role.(*leader).uncommitted)

		do("create offset=%d epoch=1 freeze", end+2)
		latest, found := s.replica.LatestSnapshotID()
		require.True(t, found)
		require.Equal(t, end+2, latest.Offset)
		require.LessOrEqual(t, len(s.replica.control.sets), 1)
		require.LessOrEqual(t, len(s.replica.control.versions), 1)
	}
}
