package cli

import (
	"sync"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/spf13/cobra"
)

// runLimit is the wall time after which a run in this process counts as hung, unless told otherwise; leastRunLimit is the least
// that may be told: an ordinary run on a busy machine takes tens of milliseconds.
const (
	runLimit      = time.Minute
	leastRunLimit = 100 * time.Millisecond
)

func addRunLimit(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "run-limit", runLimit, "wall time after which a run counts as hung")
}

func checkRunLimit(limit time.Duration) error {
	if limit < leastRunLimit {
		return Usagef("--run-limit must be at least %v", leastRunLimit)
	}
	return nil
}

// watchdog gives up on runs that never end. It belongs to the shell: nothing inside a run knows of wall time. A run that is
// given up goes on in its goroutine until the process ends, and never gets to print again.
type watchdog struct {
	limit time.Duration
	// output is held while the run prints, and for ever once it is given up. Time in which nobody takes the output, such as that
	// of a pager, is not the run's.
	output sync.Mutex
}

// trace is a sink for trace lines that stands still when the run is given up.
func (d *watchdog) trace(sink func(sim.TraceLine)) func(sim.TraceLine) {
	return func(l sim.TraceLine) {
		d.output.Lock()
		defer d.output.Unlock()
		sink(l)
	}
}

// run does the work, which calls runner.Run, and gives it up after the limit: then the verdict is that of a hang.
func (d *watchdog) run(work func() (sim.Result, error)) (result sim.Result, hung bool, err error) {
	type answer struct {
		result sim.Result
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		result, err := work()
		done <- answer{result, err}
	}()
	tick := time.NewTicker(min(d.limit/10, 100*time.Millisecond))
	defer tick.Stop()
	last, spent := time.Now(), time.Duration(0)
	for {
		select {
		case a := <-done:
			return a.result, false, a.err
		case now := <-tick.C:
			if d.output.TryLock() {
				if spent += now.Sub(last); spent >= d.limit {
					return sim.Result{Verdict: campaign.Hung(d.limit)}, true, nil // with the output held
				}
				d.output.Unlock()
			}
			last = now
		}
	}
}
