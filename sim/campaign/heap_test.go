package campaign_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/stretchr/testify/require"
)

// A heap over the bound is told once, one below it never.
func TestWatchHeap(t *testing.T) {
	kept := make([]byte, 8<<20)
	told := make(chan uint64, 10)
	stop := campaign.WatchHeap(4<<20, func(heap uint64) { told <- heap })
	require.Eventually(t, func() bool { return len(told) == 1 }, 10*time.Second, 10*time.Millisecond)
	stop()
	require.Greater(t, <-told, uint64(4<<20))
	runtime.KeepAlive(kept)

	stop = campaign.WatchHeap(1<<50, func(heap uint64) { told <- heap })
	time.Sleep(200 * time.Millisecond)
	stop()
	require.Empty(t, told)
}
