package campaign

import "time"

// idleFactor is how many times the limit a run may take by the wall clock while the machine gives it no processor time.
const idleFactor = 10

// watchdog decides when a worker's run counts as hung. A run is bound by what it computes: on a machine that is busy with
// other things a sound run takes many times longer by the wall clock, and calling that a finding would make the outcome of
// a campaign depend on its neighbours. So processor time counts where the system tells it.
type watchdog struct {
	limit time.Duration
	cpu   func() (used time.Duration, ok bool)
	now   func() time.Time

	last    progress
	since   time.Time // wall clock and processor time when the present run was first seen
	usedAt  time.Duration
	started bool
}

// hung looks at what the worker is at and reports whether that has lasted for too long.
func (d *watchdog) hung(at progress) bool {
	used, known := d.cpu()
	if !d.started || at != d.last {
		d.started, d.last, d.since, d.usedAt = true, at, d.now(), used
		return false
	}
	wall := d.now().Sub(d.since)
	if !known {
		return wall > d.limit
	}
	return used-d.usedAt > d.limit || wall > idleFactor*d.limit
}
