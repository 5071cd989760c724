package raft

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpiredChangeMakesWay: a request that comes after the time of the pending change, before any poll has looked at the clock, finds none
// pending (kraft-protocol 2.11 row 5).
func TestExpiredChangeMakesWay(t *testing.T) {
	for _, command := range []string{"add voter=5:5", "update voter=2:2"} {
		s := requestScript(t, "replica id=1 dynamic=(1:1,2:2,3:3) bootstrap=1", func(*Config) {}, "lead commit=(2:2,3:3)", "add voter=4:4")
		s.nowMs += 1_999
		s.do(command)
		require.Contains(t, s.out.String(), "REQUEST_TIMED_OUT")
		require.NotContains(t, s.out.String(), "the change was not finished in time")
		s.nowMs++
		s.do(command)
		first, _, _ := strings.Cut(s.out.String(), "\n")
		require.Equal(t, "=> 9 AddRaftVoterResponse REQUEST_TIMED_OUT (the change was not finished in time)", first)
	}
}
