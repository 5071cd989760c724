package sim

import "github.com/kraftsim/kraftsim/sim/decide"

// eventKind says what a pending event is.
type eventKind uint8

const (
	eventPacket  eventKind = iota // a packet arrives; ref: vnet packet
	eventInput                    // a post reaches its lane; ref: the lane that posted it
	eventWake                     // a lane's deadline
	eventCommit                   // the next effect of a lane's journal is due
	eventResume                   // a lane that was busy takes its next queued input
	eventAction                   // a plan action; ref: its index
	eventUndo                     // the end of a plan action that lasts; ref: its index
	eventBoot                     // a host starts its process
	eventUnpause                  // a paused host goes on
	eventCalm                     // the storm ends
	eventBound                    // the bound of the calm
	eventCall                     // a workload's function; ref: slot in calls
)

// event is one pending event in the world's pool.
type event struct {
	kind  eventKind
	lane  int32
	host  int32
	boot  int32
	ref   int32
	stamp uint32 // of the lane's deadline or of the host's pause: a stale event is ignored; number of a post
	cause int64
	msg   Message
}

// The order site: which of two events at the same nanosecond comes first.
var siteOrder = decide.NewSpread("sim/order", "which of two events at the same instant comes first")

// schedule puts an event into the queue. The name of its priority is (order, entity, kind, key).
func (w *World) schedule(at int64, e event, entity, key uint64) {
	i := w.slot()
	w.events[i] = e
	w.enter(at, i, entity, key)
}

// slot takes a slot of the pool. What the event there was is still in it, but for its message; who does not set all fields clears them.
func (w *World) slot() int32 {
	if k := len(w.free); k > 0 {
		i := w.free[k-1]
		w.free = w.free[:k-1]
		return i
	}
	w.events = append(w.events, event{})
	return int32(len(w.events) - 1)
}

// ofLane schedules an event of a lane: hot, so it is written where it stays.
func (w *World) ofLane(at int64, kind eventKind, h *Host, lane int32, stamp uint32, laneHash uint64) {
	i := w.slot()
	e := &w.events[i]
	e.kind, e.lane, e.host, e.boot, e.ref, e.stamp, e.cause = kind, lane, h.index, h.boot, 0, stamp, w.eventID
	w.enter(at, i, h.hash, laneHash)
}

// enter queues the event in a slot.
func (w *World) enter(at int64, i int32, entity, key uint64) {
	e := &w.events[i]
	w.sequence++
	priority := w.source.Priority(siteOrder, entity, uint64(e.kind), key, at)
	it := Item{At: at, Tie: uint64(priority)<<32 | uint64(w.sequence), Event: i}
	if w.policy != nil {
		it.Lane = w.laneOf(e)
		w.policy.Push(it)
		return
	}
	w.timed.Push(&it)
}

// next takes the pending event whose turn it is.
func (w *World) next() (Item, bool) {
	if w.policy != nil {
		return w.policy.Pop()
	}
	return w.timed.Pop()
}
