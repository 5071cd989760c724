package sim

import (
	"strconv"

	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Crashes that wait for a disk operation: by its number since boot, by its distance from an event, or by what it writes.

// arming is a crash that waits for an incarnation of a process.
type arming struct {
	host  int32
	boot  int32
	n     int64
	power bool
	down  int64
}

// arm makes a host die in operation n of an incarnation, counted from its boot; one that is still to come arms when it boots.
func (w *World) arm(h *Host, boot int32, n int64, power bool, downNs int64) string {
	switch {
	case boot > h.boot:
		w.armings = append(w.armings, arming{host: h.index, boot: boot, n: n, power: power, down: downNs})
		return ""
	case boot < h.boot || !h.up:
		return "boot " + strconv.FormatInt(int64(boot), 10) + " is over"
	case h.armed:
		return "armed already"
	case !h.volume.ArmCrash(n):
		return "n=" + strconv.FormatInt(n, 10) + " names no operation to come"
	}
	h.armed, h.armedPower, h.armedDown = true, power, downNs
	return ""
}

// armBooted arms what waited for the incarnation that boots now.
func (w *World) armBooted(h *Host) {
	for i := range w.armings {
		if x := &w.armings[i]; x.host == h.index && x.boot == h.boot && !h.armed {
			h.volume.ArmCrash(x.n)
			h.armed, h.armedPower, h.armedDown = true, x.power, x.down
		}
	}
}

// CrashAtOp makes a live host die inside the n-th disk operation, from 1, that a lane does from now on. The rest of the handler that runs,
// or whose effects are being committed, counts first: its operations were issued all at once, but have not happened. Operations of
// other lanes count only when that handler has none left. It returns why that can't be, "" when it is armed; action is the id of
// the action for which it is done, which is resolved by it.
func (w *World) CrashAtOp(h *Host, lane LaneID, n int64, power bool, downNs int64, action string) (refused string) {
	if !h.up || n < 1 || int(lane) >= len(h.lanes) {
		return "not running"
	}
	if h.armed {
		return "armed already"
	}
	l := &h.lanes[lane]
	left, op := n, int64(0)
	for k := l.next; k < len(l.journal); k++ {
		if l.journal[k].kind != effectDisk {
			continue
		}
		if left--; left == 0 {
			op = h.volume.OpNumber(vdisk.OpID(l.journal[k].num))
			w.cutAt(h, lane, k)
			break
		}
	}
	if left > 0 {
		op = h.volume.OpsSinceBoot() + left
		h.volume.ArmCrash(op)
	}
	h.armed, h.armedPower, h.armedDown = true, power, downNs
	w.Resolved(action, crashText(h, h.boot, op, power, downNs))
	return ""
}

// cutAt puts the end of the process into the middle of an operation that a lane's journal has at k.
func (w *World) cutAt(h *Host, lane LaneID, k int) {
	l := &h.lanes[lane]
	f := &l.journal[k]
	from := max(f.from, w.now)
	cut := effect{kind: effectCut, lane: int32(lane), at: from + (f.at-from)/2, cause: f.cause}
	l.journal = append(l.journal, effect{})
	copy(l.journal[k+1:], l.journal[k:])
	l.journal[k] = cut
	if k == l.next {
		w.scheduleCommit(h, int32(lane))
	}
}

// Trap looks at a disk operation as it is issued: cut says that the host dies inside it, and, for a write, lost how many sectors at its
// end do not get there; -1 leaves that to chance.
type Trap func(h *Host, op *vdisk.Op) (cut bool, lost int64)

// SetTrap sets what looks at each operation; nil for nothing, which is the state of a new run. A scenario calls it in Build, or when an
// action asks for it. downNs is for how long a host that was trapped stays down, negative: until the calm.
func (w *World) SetTrap(t Trap) { w.trap = t }

// trapped asks the trap about an operation that was just issued, and arms the crash inside it.
func (w *World) trapped(h *Host, v *vdisk.Volume, op vdisk.OpID) bool {
	if h.armed || w.calm {
		return false
	}
	cut, lost := w.trap(h, v.Op(op))
	if !cut {
		return false
	}
	h.armed, h.armedPower = true, false
	if lost >= 0 {
		h.tornOp, h.tornLost = op, lost
	}
	return true
}

// Trapped is told by whoever set the trap: for which action the host dies, and how long it stays down. It resolves the action.
func (w *World) Trapped(h *Host, op *vdisk.Op, downNs int64, action string) {
	h.armedDown = downNs
	w.Resolved(action, crashText(h, h.boot, h.volume.OpNumber(op.ID), false, downNs))
}
