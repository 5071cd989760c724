package campaign

import (
	"runtime/metrics"
	"time"
)

// WatchHeap calls over, once, when the live heap of the process passes the bound in bytes. The way out is to end the process: a run that
// collects without end cannot be stopped, and a machine that swaps is worse than a run that is lost. stop ends the watch.
func WatchHeap(bound int64, over func(heap uint64)) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if metrics.Read(sample); sample[0].Value.Uint64() > uint64(bound) {
				over(sample[0].Value.Uint64())
				return
			}
		}
	}()
	return func() { close(done) }
}
