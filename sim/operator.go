package sim

import (
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// What a scenario that plays a script may do to the world, besides Start and Request. All of it happens at once, so it belongs into
// a function of World.At or an ActionHandler: there, no handler runs. A script that is a list of actions with times needs none of
// this; one that waits for conditions can't be a plan, because a plan knows no conditions.

// PowerOff takes a host's power: the process dies, what is not durable may go, peers are not told. The host stays down until
// Start or the calm.
func (w *World) PowerOff(h *Host) {
	if h.up || h.powered && h.boot > 0 {
		w.crashHost(h, true, -1)
	}
}

// Kill ends the process of a host at once; the page cache survives. The host stays down until Start or the calm.
func (w *World) Kill(h *Host) {
	if h.up {
		w.crashHost(h, false, -1)
	}
}

// Stop asks the process of a host for a graceful end and kills it after the grace. The host stays down until Start or the calm.
// It does nothing when no process runs or an end is under way.
func (w *World) Stop(h *Host, graceNs int64) {
	if h.up && !h.Booting() && !h.leaving {
		w.stop(h, graceNs, -1)
	}
}

// Drop makes messages from one host to another vanish as they are sent, those for which drops is true; nil ends it. See
// vnet.Net.Drop: connections live on, and what is under way arrives.
func (w *World) Drop(from, to *Host, drops func(m Message) bool) {
	if drops == nil {
		w.net.Drop(from.index, to.index, nil)
		return
	}
	w.net.Drop(from.index, to.index, func(p vnet.Payload) bool {
		m, ok := p.(Message)
		return ok && drops(unsealed(m))
	})
}

// Wipe takes a host's power and erases its disk below a directory ("/": all of it), durably. The budget is told that the host
// is damaged, whatever it allows: a script that wipes is an unrestricted plan. Returns the number of files that are gone.
func (w *World) Wipe(h *Host, dir string) (files int64) {
	w.PowerOff(h)
	w.budget.Damage(h.spec.ID)
	files = h.volume.Wipe(dir)
	w.fold(h.hash ^ 0x31be)
	w.fold(uint64(files))
	if w.opts.Trace != nil {
		w.traceWorld(h, "wipe", dir)
	}
	for _, c := range w.checkers {
		if x, ok := c.(WipeChecker); ok {
			x.OnWipe(h)
		}
	}
	for _, c := range w.onDiskOp {
		c.OnDiskCrash(h, h.volume)
	}
	return files
}

// Note puts a line of the scenario's own into the trace.
func (w *World) Note(what, text string) {
	if w.opts.Trace != nil {
		w.traceWorld(nil, what, text)
	}
}

// End ends the run: whatever was to be shown is shown. The checkers that wait for the end are asked.
func (w *World) End() { w.done = true }

// EndStuck ends the run with the outcome stuck and who waits for whom, one line each.
func (w *World) EndStuck(waiting ...string) {
	if !w.done {
		w.outcome, w.waitsFor, w.done = plan.Stuck, waiting, true
	}
}
