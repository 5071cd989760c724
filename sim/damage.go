package sim

import (
	"strconv"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Faults that damage what a disk holds, beside wipe. They ask the budget first: what a replica acknowledged as durable may be gone.
// Who lost what is the budget's account, and a scenario says when it is repaired.

// SetReplicaKey says by which key the budget knows the replica on a host; without it that is the host's id. A scenario calls it in
// Build when its replicas change their identities.
func (w *World) SetReplicaKey(key func(h *Host) string) { w.replicaKey = key }

// ReplicaKey is the key by which the budget knows the replica on a host.
func (w *World) ReplicaKey(h *Host) string {
	if w.replicaKey == nil {
		return h.spec.ID
	}
	return w.replicaKey(h)
}

// actFlip turns bits of what is on the platter of a host, up or down.
func actFlip(w *World, a *Act) string {
	h := a.Host("host")
	bits, first, length := a.Number("bits", 1), a.Number("first", 0), a.Number("length", 0)
	switch {
	case h == nil || a.Error != nil:
		return ""
	case bits < 1 || bits > maxFlips || first < 0 || length < 0:
		return "bits must be 1 to " + strconv.FormatInt(maxFlips, 10) + ", first and length not negative"
	}
	if h.swapped {
		return "its disk is in another host"
	}
	key := w.ReplicaKey(h)
	if why := w.budget.Allow(key); why != "" {
		return why
	}
	spot := vdisk.Spot{Path: a.Word("path", ""), Suffix: a.Word("suffix", ""), From: first, Length: length}
	for i := range bits {
		at, ok := h.volume.Flip(disk{&h.env}, spot, decide.Combine(actionHash(a.ID), uint64(i)), a.Word("cached", "no") == "yes")
		if !ok {
			return "nothing durable lies there"
		}
		w.flipped(h, key, at)
	}
	return ""
}

const maxFlips int64 = 1_000

// flipped keeps the account of a bit that flipped and tells of it.
func (w *World) flipped(h *Host, key string, at vdisk.Flipped) {
	w.budget.Damage(key)
	*w.Stat("bits-flipped")++
	w.fold(h.hash ^ decide.HashString(at.Path))
	w.fold(uint64(at.Offset))
	if w.opts.Trace != nil {
		w.traceWorld(h, "flip", "a bit of byte "+strconv.FormatInt(at.Offset, 10)+" of "+at.Path)
	}
	for _, c := range w.checkers {
		if x, ok := c.(FlipChecker); ok {
			x.OnFlip(h, at)
		}
	}
}

// actSwap exchanges the disks of two hosts: somebody who put the drives back into the wrong machines. Both hosts count as damaged
// as long as it lasts, since neither has what it acknowledged.
func actSwap(w *World, a *Act) string {
	one, two := a.Host("host"), a.Host("with")
	if one == nil || two == nil {
		return ""
	}
	if one == two {
		return "a host has one disk"
	}
	if one.swapped || two.swapped {
		return "swapped already"
	}
	if one.own != nil || two.own != nil {
		return "one of the disks is a clone"
	}
	if len(one.diskFaults)+len(two.diskFaults) > 0 {
		return "a fault of a disk is on"
	}
	keys := [2]string{w.ReplicaKey(one), w.ReplicaKey(two)}
	if w.budget.Damaged(keys[0]) || w.budget.Damaged(keys[1]) {
		return "one of them is damaged, and would count as mended when the disks are back"
	}
	why := w.budget.Allow(keys[0])
	if why == "" {
		w.budget.Damage(keys[0])
		if why = w.budget.Allow(keys[1]); why == "" {
			w.budget.Damage(keys[1])
		} else {
			w.budget.Repaired(keys[0])
		}
	}
	if why != "" {
		return why
	}
	one.swapped, two.swapped = true, true
	w.swap(one, two, a.DurationNs("down", 0))
	return ""
}

// undoSwap puts the drives back.
func undoSwap(w *World, a *Act) {
	one, two := a.Host("host"), a.Host("with")
	one.swapped, two.swapped = false, false
	w.swap(one, two, 0)
	for _, h := range [2]*Host{one, two} {
		w.budget.Repaired(w.ReplicaKey(h))
	}
}

// swap takes the power of two hosts, exchanges their volumes and boots them after a while.
func (w *World) swap(one, two *Host, downNs int64) {
	w.PowerOff(one)
	w.PowerOff(two)
	one.volume, two.volume = two.volume, one.volume
	w.fold(one.hash ^ two.hash ^ 0x5a9)
	for _, h := range [2]*Host{one, two} {
		w.watch(h)
		if w.opts.Trace != nil {
			w.traceWorld(h, "swap", "the disk of "+h.volume.ID())
		}
		for _, c := range w.onDiskOp {
			c.OnDiskCrash(h, h.volume)
		}
		w.schedule(w.now+downNs, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
	}
}

// actDiskStuck holds up what begins from now on. The end is known: that of the action, or the calm, which hurries what is under way.
func (w *World) actDiskStuck(v *vdisk.Volume, a *Act) {
	until := int64(w.plan.StormUs) * 1000
	if d := a.DurationNs("for", 0); d > 0 {
		until = min(until, w.now+d)
	}
	class := map[string]vdisk.Class{"read": vdisk.Reads, "write": vdisk.Writes, "sync": vdisk.Syncs, "names": vdisk.Names,
		"all": vdisk.Reads | vdisk.Writes | vdisk.Syncs | vdisk.Names}[a.Word("on", "")]
	if class == 0 {
		a.fail("on", "not one of read, write, sync, names, all")
	}
	h := a.Host("host")
	if a.Error == nil {
		v.SetStuck(a.Word("path", ""), class, func() int64 { return max(0, until-h.env.cursor) })
	}
}
