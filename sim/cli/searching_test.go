package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/shrink"
)

// TestSearching: a search tells of itself every ten seconds, and ends when its time is over, which is said.
func TestSearching(t *testing.T) {
	var out strings.Builder
	at := time.Unix(0, 0)
	s := newSearching(&out, searchBudget{runs: 100, time: 25 * time.Second}, func() time.Time { return at })
	goes := func(seconds int) bool {
		at = at.Add(time.Duration(seconds) * time.Second)
		return s.goesOn(shrink.Stats{Runs: 7, ActionsAfter: 3, HostsAfter: 2, DecisionsAfter: 40})
	}
	require.True(t, goes(9))
	s.asks(5)
	require.Empty(t, out.String(), "a short one needs no words")
	require.True(t, goes(1))
	require.Equal(t, "10s shrinking: 7 runs, left are 3 actions, 2 hosts, 40 drawn faults\n", out.String())
	require.True(t, goes(9))
	require.Equal(t, "--budget", s.ended())
	require.False(t, goes(6))
	require.Equal(t, "--time", s.ended())
	s.asks(5)
	require.True(t, strings.HasSuffix(out.String(), "25s which of 5 parts are necessary: a run without each\n"), out.String())
}
