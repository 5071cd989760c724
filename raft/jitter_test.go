package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// edge is a Chooser that draws the least or the greatest value.
type edge struct{ greatest bool }

// Choose implements Chooser.
func (e edge) Choose(_ Site, _ uint64, n int64) int64 {
	if e.greatest {
		return n - 1
	}
	return 0
}

// TestRandomWaits: the whole range of each random wait, at both of its ends (kraft-protocol 1.2, 2.15). The scripts draw 0 only.
func TestRandomWaits(t *testing.T) {
	cfg := DefaultConfig()
	least, greatest := New(cfg, Deps{Chooser: edge{}}), New(cfg, Deps{Chooser: edge{greatest: true}})
	least.nowMs, greatest.nowMs = 7, 7
	require.EqualValues(t, 7+1000, least.newElectionDeadlineMs(3, Candidate))
	require.EqualValues(t, 7+1999, greatest.newElectionDeadlineMs(3, Candidate))
	greatest.cfg.ElectionTimeoutMs = 0
	require.EqualValues(t, 7, greatest.newElectionDeadlineMs(3, Candidate))

	short, long := &peer{}, &peer{}
	for _, pauseMs := range []int64{50, 100, 200, 400, 500, 500} {
		least.linkLost(short)
		greatest.linkLost(long)
		require.Equal(t, 7+pauseMs-pauseMs/5, short.redialMs)
		require.Equal(t, 7+pauseMs+pauseMs/5, long.redialMs)
	}
}
