package sim

import (
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Env is what a process sees of the world. It is valid during a call of the process; everything that it does is an effect
// with a virtual completion time, in program order. Times are those of the host's own clocks, fixed when the handler starts.
type Env struct {
	w      *World
	h      *Host
	lane   int32
	cursor int64 // true time at which the next effect completes
}

// HostID returns the id of the host.
func (e *Env) HostID() string { return e.h.spec.ID }

// Host returns the host.
func (e *Env) Host() *Host { return e.h }

// Lane returns the lane that runs now.
func (e *Env) Lane() LaneID { return LaneID(e.lane) }

// Lanes names the lanes of the process, first of all in Boot. Boot itself runs on lane 0.
func (e *Env) Lanes(names ...string) {
	for i, name := range names {
		if i >= len(e.h.lanes) {
			e.h.lanes = append(e.h.lanes, lane{})
			e.h.lanes[i].reset(name)
		} else {
			l := &e.h.lanes[i]
			l.name, l.hash = name, decide.HashString(name)
		}
	}
}

// WallMs returns the host's wall clock in milliseconds since 1970. It has an offset, drifts, and may jump.
func (e *Env) WallMs() int64 { return e.h.clock.wall(e.w.now) / million }

// MonotonicNs returns the host's monotonic clock in nanoseconds. It drifts but never jumps.
func (e *Env) MonotonicNs() int64 { return e.h.clock.monotonicNs(e.w.now) }

// Choose draws an integer in [0, n) named (site, host, 0, key). One draw.
func (e *Env) Choose(site *decide.Site, key uint64, n int64) int64 {
	return e.w.source.Choose(site, e.h.hash, 0, key, n)
}

// Files returns the host's directories. Operations cost virtual time; a crash between two of them keeps the first only.
func (e *Env) Files() *vdisk.Handle { return e.h.files }

// Listen accepts connections and datagrams on a port; their messages come to the lane.
func (e *Env) Listen(port int32, lane LaneID) {
	e.add(effect{kind: effectListen, port: port, lane: int32(lane)})
}

// Dial starts to open a connection; its inputs come to the lane that runs now. InConnected or InDisconnected tells the
// outcome, or nothing at all when the target has no power.
func (e *Env) Dial(host string, port int32) Conn {
	to, ok := e.w.byName[host]
	if !ok {
		to = -1
	}
	return e.w.net.Dial(e.cursor, e.h.index, e.h.boot, e.lane, to, port, e.w.eventID)
}

// Send puts a message on a connection. It is lost silently when the connection is down.
func (e *Env) Send(c Conn, m Message) { e.add(effect{kind: effectSend, lane: e.lane, num: c, msg: m}) }

// SendTo sends a datagram to a port of a host. The plan's transport must be "datagram" for loss, duplication and reordering.
func (e *Env) SendTo(host string, port int32, m Message) {
	to, ok := e.w.byName[host]
	if !ok {
		return
	}
	e.add(effect{kind: effectDatagram, lane: e.lane, host: to, port: port, msg: m})
}

// CloseConn closes a connection; the peer learns after what was sent before.
func (e *Env) CloseConn(c Conn) { e.add(effect{kind: effectClose, lane: e.lane, num: c}) }

// Post hands a message to a lane of this process. The delay is a decision; posts to one lane keep their order.
func (e *Env) Post(lane LaneID, m Message) {
	e.add(effect{kind: effectPost, lane: e.lane, port: int32(lane), msg: m})
}

// WakeAt sets the deadline of the lane that runs now, on the host's monotonic clock, in place of the one before; a negative
// value clears it. The InWake may come late, or for nothing, but never early.
func (e *Env) WakeAt(monotonicNs int64) {
	if e.cursor == e.w.now { // nothing can come between: no effect to build
		e.w.setDeadline(e.h, e.lane, monotonicNs)
		return
	}
	e.add(effect{kind: effectDeadline, lane: e.lane, num: monotonicNs})
}

// Observe tells a protocol event to checkers, traces and the behaviour hash. It changes nothing.
func (e *Env) Observe(o Observation) { e.add(effect{kind: effectObserve, lane: e.lane, obs: o}) }

// Exit ends the process after the effects so far: the end of a graceful stop.
func (e *Env) Exit() { e.add(effect{kind: effectExit, lane: e.lane}) }

// Alloc returns n zeroed bytes that live as long as the run.
func (e *Env) Alloc(n int) []byte { return e.w.memory.alloc(n) }

// Spend adds virtual time to the handler: work that takes a while.
func (e *Env) Spend(ns int64) { e.cursor += max(0, ns) }

// disk lets the volume journal its operations in the running handler and draw its decisions.
type disk struct{ e *Env }

// Issue is vdisk.Host: it journals a disk operation of the running handler.
func (d disk) Issue(v *vdisk.Volume, op vdisk.OpID, costNs int64) {
	e := d.e
	from := e.cursor
	e.cursor += costNs
	if op == vdisk.NoOp {
		return
	}
	if e.cursor == from {
		e.cursor++
	}
	if v.ArmedAt(op) {
		l := &e.h.lanes[e.lane]
		l.journal = append(l.journal, effect{kind: effectCut, lane: e.lane, at: from + (e.cursor-from)/2})
	}
	if e.w.poison.on {
		if o := v.Op(op); o.Kind == vdisk.OpWrite {
			e.w.poison.gave(e.h.index, int64(op), o.Data)
		}
	}
	e.add(effect{kind: effectDisk, lane: e.lane, from: from, num: int64(op)})
}

// Choose is vdisk.Chooser: the entity is the host whose volume it is.
func (d disk) Choose(site *decide.Site, kind, key uint64, n int64) int64 {
	return d.e.w.source.Choose(site, d.e.h.hash, kind, key, n)
}

// Chance is vdisk.Chooser. In the calm nothing fails.
func (d disk) Chance(site *decide.Site, kind, key uint64, ppm int64) bool {
	if d.e.w.calm {
		ppm = 0
	}
	return d.e.w.source.Chance(site, d.e.h.hash, kind, key, ppm)
}
