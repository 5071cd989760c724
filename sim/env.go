package sim

import (
	"fmt"

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
	event  int64 // id of the event whose handler runs
}

// HostID returns the id of the host.
func (e *Env) HostID() string { return e.h.spec.ID }

// Host returns the host.
func (e *Env) Host() *Host { return e.h }

// Lane returns the lane that runs now.
func (e *Env) Lane() LaneID { return LaneID(e.lane) }

// Lanes names the lanes of the process, first of all in Boot. Boot itself runs on lane 0.
func (e *Env) Lanes(names ...string) {
	h := e.h
	for i, name := range names {
		switch {
		case i < len(h.lanes):
			h.lanes[i].rename(name, h.hash)
		case i < cap(h.lanes): // keeps the memory of a lane of an earlier process
			h.lanes = h.lanes[:i+1]
			h.lanes[i].reset(name, h.hash)
		default:
			h.lanes = append(h.lanes, lane{})
			h.lanes[i].reset(name, h.hash)
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

// Listen accepts connections and datagrams on a port; their messages come to the lane, which Lanes must have named before
// (lane 0 is always there): it panics for one that does not exist.
func (e *Env) Listen(port int32, lane LaneID) {
	e.needLane("Listen", lane)
	if e.immediate() {
		e.w.net.Listen(e.h.index, port, int32(lane))
		return
	}
	f := e.add(effectListen)
	f.port, f.host = port, int32(lane)
}

// Dial starts to open a connection; its inputs come to the lane that runs now. InConnected or InDisconnected tells the
// outcome, or nothing at all when the target has no power. A name that is no host's does not resolve: the connection is
// refused, as is one to a host on which nothing listens on that port.
func (e *Env) Dial(host string, port int32) Conn {
	to, ok := e.w.byName[host]
	if !ok {
		to = -1
	}
	c := e.w.net.Reserve(e.h.index, e.h.boot, e.lane)
	if len(e.w.nameFaults) > 0 && ok && to != e.h.index && e.dialWrong(c, to, port) {
		return c
	}
	if e.immediate() {
		e.w.net.Open(e.w.now, c, to, port, e.event)
		return c
	}
	f := e.add(effectDial)
	f.num, f.host, f.port = c, to, port
	return c
}

// Send puts a message on a connection. It is lost silently when the connection is down. A nil message panics.
func (e *Env) Send(c Conn, m Message) {
	e.needMessage("Send", m)
	if e.w.poison.on {
		m = seal(m)
	}
	if e.immediate() {
		e.w.commitSend(e.h, e.lane, c, m, e.event)
		return
	}
	f := e.add(effectSend)
	f.num, f.msg = c, m
}

// SendTo sends a datagram to a port of a host. The plan's transport must be "datagram" for loss, duplication and reordering.
// Like a datagram of the real world it vanishes without a word when the name does not resolve or nothing listens. A nil
// message panics.
func (e *Env) SendTo(host string, port int32, m Message) {
	e.needMessage("SendTo", m)
	to, ok := e.w.byName[host]
	if !ok {
		return
	}
	if e.w.poison.on {
		m = seal(m)
	}
	if e.immediate() {
		e.w.commitDatagram(e.h, e.lane, to, port, m, e.event)
		return
	}
	f := e.add(effectDatagram)
	f.host, f.port, f.msg = to, port, m
}

// Peer returns the host at the other end of a connection, nil when the connection is not this process's, or is over.
func (e *Env) Peer(c Conn) *Host {
	side, ok := e.w.net.SideOf(c, e.h.index, e.h.boot, e.lane)
	if !ok {
		return nil
	}
	return e.w.hosts[e.w.net.Peer(c, side)]
}

// CloseConn closes a connection; the peer learns after what was sent before.
func (e *Env) CloseConn(c Conn) {
	if e.immediate() {
		e.w.commitClose(e.h, e.lane, c, e.event)
		return
	}
	e.add(effectClose).num = c
}

// Post hands a message to a lane of this process. The delay is a decision; posts to one lane keep their order. A lane that
// does not exist and a nil message panic.
func (e *Env) Post(lane LaneID, m Message) {
	e.needLane("Post", lane)
	e.needMessage("Post", m)
	if e.w.poison.on {
		m = seal(m)
	}
	if e.immediate() {
		e.w.commitPost(e.h, e.lane, int32(lane), m, e.event)
		return
	}
	f := e.add(effectPost)
	f.port, f.msg = int32(lane), m
}

// WakeAt sets the deadline of the lane that runs now, on the host's monotonic clock, in place of the one before; a negative
// value clears it. The InWake may come late, or for nothing, but never early.
func (e *Env) WakeAt(monotonicNs int64) {
	if e.immediate() {
		e.w.setDeadline(e.h, e.lane, monotonicNs)
		return
	}
	e.add(effectDeadline).num = monotonicNs
}

// Observe tells a protocol event to checkers, traces and the behaviour hash. It changes nothing. A nil observation panics.
func (e *Env) Observe(o Observation) {
	if o == nil {
		panic("sim: Observe(nil) on " + e.h.spec.ID)
	}
	if e.immediate() {
		e.w.commitObserve(e.h, e.lane, o, e.event)
		return
	}
	e.add(effectObserve).obs = o
}

// Exit ends the process after the effects so far: the end of a graceful stop.
func (e *Env) Exit() { e.add(effectExit) }

// needLane panics for a lane that the process does not have.
func (e *Env) needLane(call string, lane LaneID) {
	if lane < 0 || int(lane) >= len(e.h.lanes) {
		panic(fmt.Sprintf("sim: %s: %s has no lane %d, only %d: name them with Env.Lanes first", call, e.h.spec.ID, lane, len(e.h.lanes)))
	}
}

// needMessage panics for a message that is nil.
func (e *Env) needMessage(call string, m Message) {
	if m == nil {
		panic("sim: " + call + ": the message is nil, on " + e.h.spec.ID)
	}
}

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
	if e.w.trap != nil && e.w.trapped(e.h, v, op) || v.ArmedAt(op) {
		e.add(effectCut).at = from + (e.cursor-from)/2
	}
	if e.w.poison.on {
		if o := v.Op(op); o.Kind == vdisk.OpWrite {
			o.Data = e.w.poison.gave(o.Data)
		}
	}
	e.oneLaneAFile(v, op)
	f := e.add(effectDisk)
	f.from, f.num = from, int64(op)
}

// oneLaneAFile panics when another lane of the process has an operation on the same file under way: no two lanes write one
// file at a time (a volume takes back the operations of a file in the order of their issue).
func (e *Env) oneLaneAFile(v *vdisk.Volume, op vdisk.OpID) {
	for i := range e.h.lanes {
		l := &e.h.lanes[i]
		if int32(i) == e.lane || l.next == len(l.journal) {
			continue
		}
		o := v.Op(op)
		if o.Kind == vdisk.OpMkdir || o.Kind == vdisk.OpSyncDir {
			return
		}
		for k := l.next; k < len(l.journal); k++ {
			if f := &l.journal[k]; f.kind == effectDisk {
				if other := v.Op(vdisk.OpID(f.num)); other != nil && other.Inode == o.Inode {
					panic("sim: lanes " + l.name + " and " + e.h.lanes[e.lane].name + " change " + o.Path + " at one time")
				}
			}
		}
	}
}

// Choose is vdisk.Chooser: the entity is the host whose volume it is.
func (d disk) Choose(site *decide.Site, kind, key uint64, n int64) int64 {
	if d.e.w.takesAll { // every site of a loss counts what is lost
		return n - 1
	}
	return d.e.w.source.Choose(site, d.e.h.hash, kind, key, n)
}

// Chance is vdisk.Chooser. In the calm nothing fails.
func (d disk) Chance(site *decide.Site, kind, key uint64, ppm int64) bool {
	if d.e.w.takesAll {
		return true
	}
	if d.e.w.calm {
		ppm = 0
	}
	return d.e.w.source.Chance(site, d.e.h.hash, kind, key, ppm)
}
