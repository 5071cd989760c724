package sim

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// Faults of what a disk is made of: sectors that a drive loses or puts elsewhere, a file system that gives up writing, and disks that are
// what they were some time ago, or what another one is.

// watch hears of what happens to the disk that a host has now.
func (w *World) watch(h *Host) {
	h.volume.SetObserver(func(op *vdisk.Op) { w.onDisk(h, op) })
	h.volume.SetAstray(func(a vdisk.Astray) bool { return w.strayed(h, a) })
}

func (w *World) installMedia() {
	stray := func(kind vdisk.StrayKind) ActionHandler {
		return ActionHandler{Do: diskAction(func(v *vdisk.Volume, a *Act) { actStray(v, a, kind) }),
			Undo: undoDisk(func(v *vdisk.Volume, a *Act) { v.SetStray(int64(a.Index), vdisk.Stray{}) })}
	}
	w.fault("lost-write", stray(vdisk.LostSector))
	w.fault("misdirected-write", stray(vdisk.MisdirectedSector))
	w.fault("read-only", ActionHandler{Do: diskAction(func(v *vdisk.Volume, _ *Act) { v.SetReadOnly(true) }),
		Undo: undoDisk(func(v *vdisk.Volume, _ *Act) { v.SetReadOnly(false) })})
	w.fault("restore", ActionHandler{Do: actRestore})
	w.handlers["clone"] = ActionHandler{Do: actClone, Undo: undoClone}
}

func actStray(v *vdisk.Volume, a *Act, kind vdisk.StrayKind) {
	if n := a.Number("sectors", 1); a.Error == nil {
		v.SetStray(int64(a.Index), vdisk.Stray{Path: a.Word("path", ""), Suffix: a.Word("suffix", ""), Onto: a.Word("onto", ""), Kind: kind, Count: n})
	}
}

// strayed is asked before a sector goes astray, and keeps the account when it does. The budget decides: what the fsync vouches for is
// gone, and the replica does not know.
func (w *World) strayed(h *Host, a vdisk.Astray) bool {
	key := w.ReplicaKey(h)
	if w.calm || w.budget.Allow(key) != "" {
		return false
	}
	if a.Kind == vdisk.LostSector {
		w.damagedAt(h, key, a.Kind, a.At, "a sector of "+a.At.Path+" is lost")
		return true
	}
	w.damagedAt(h, key, a.Kind, a.At, "a sector of "+a.At.Path+" is misdirected")
	w.damagedAt(h, key, a.Kind, a.Landing, "it lands on "+a.Landing.Path)
	return true
}

// damagedAt keeps the account of bytes that are not what was made durable, and tells of them.
func (w *World) damagedAt(h *Host, key string, kind vdisk.StrayKind, at vdisk.Flipped, text string) {
	w.budget.Damage(key)
	w.fold(h.hash ^ decide.HashString(at.Path))
	w.fold(uint64(at.Offset))
	if w.opts.Trace != nil {
		w.traceWorld(h, "stray", text)
	}
	for _, c := range w.checkers {
		if x, ok := c.(StrayChecker); ok {
			x.OnStray(h, kind, at)
		}
	}
}

// copyAhead takes the copy that an action will restore.
func (w *World) copyAhead(i int) {
	if a := &w.actions[i].act; a.Kind != "restore" {
		return
	}
	w.At(w.actions[i].act.DurationNs("copied", 0), actionHash(w.actions[i].act.ID), 1, func() {
		a := &w.actions[i].act
		if h := a.Host("host"); h != nil && !h.swapped && h.own == nil {
			a.image = h.volume.Copy()
		}
	})
}

// actRestore brings an old copy of a disk back: an operator whose backup is older than he thinks, a virtual machine that goes back to a
// snapshot. What it acknowledged since is gone, its votes included, and it does not know.
func actRestore(w *World, a *Act) string {
	h, down := a.Host("host"), a.DurationNs("down", -1)
	switch {
	case h == nil || a.Error != nil:
		return ""
	case h.swapped || h.own != nil:
		return "its disk is not its own"
	case a.image == nil:
		return "no copy was taken before"
	}
	key := w.ReplicaKey(h)
	if why := w.budget.Allow(key); why != "" {
		return why
	}
	w.PowerOff(h)
	w.replace(h, a.image, "restore")
	w.budget.Damage(key)
	for _, c := range w.checkers {
		if x, ok := c.(StrayChecker); ok {
			x.OnRestore(h)
		}
	}
	if down >= 0 {
		w.schedule(w.now+down, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
	}
	return ""
}

// replace puts an image on the disk of a host without power.
func (w *World) replace(h *Host, i *vdisk.Image, what string) {
	h.volume.Restore(i)
	w.fold(h.hash ^ decide.HashString(what))
	if w.opts.Trace != nil {
		w.traceWorld(h, what, "")
	}
	for _, c := range w.onDiskOp {
		c.OnDiskCrash(h, h.volume)
	}
}

// actClone lets a host run on a copy of another's disk: a volume that was cloned to make a new node. Its own comes back in the end.
func actClone(w *World, a *Act) string {
	h, of, down := a.Host("host"), a.Host("of"), a.DurationNs("down", 0)
	switch {
	case h == nil || of == nil || a.Error != nil:
		return ""
	case h == of:
		return "a host has its own disk already"
	case h.swapped || of.swapped || h.own != nil || of.own != nil:
		return "one of the disks is not its host's own"
	case len(h.diskFaults) > 0:
		return "a fault of its disk is on"
	}
	key := w.ReplicaKey(h)
	if w.budget.Damaged(key) {
		return "it is damaged, and would count as mended when its disk is back"
	}
	if why := w.budget.Allow(key); why != "" {
		return why
	}
	w.budget.Damage(key)
	w.PowerOff(h)
	h.own, h.volume = h.volume, vdisk.NewVolume(h.spec.ID+"/clone", w.diskModel)
	w.watch(h)
	w.replace(h, of.volume.Copy(), "clone")
	w.schedule(w.now+down, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
	return ""
}

// undoClone gives a host its own disk back.
func undoClone(w *World, a *Act) {
	h := a.Host("host")
	w.PowerOff(h)
	h.volume, h.own = h.own, nil
	w.watch(h)
	w.fold(h.hash ^ 0xc10e)
	if w.opts.Trace != nil {
		w.traceWorld(h, "clone", "over")
	}
	for _, c := range w.onDiskOp {
		c.OnDiskCrash(h, h.volume)
	}
	w.budget.Repaired(w.ReplicaKey(h))
	w.schedule(w.now, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
}

// actPower takes the power of hosts, or of all that stand in a rack.
func actPower(w *World, a *Act) string {
	rack := a.Word("rack", "")
	if (rack == "") == (a.Word("hosts", "") == "") {
		return "name hosts or a rack, one of the two"
	}
	if rack == "" {
		return w.actCrash(a.Hosts("hosts"), a, true)
	}
	var hosts []*Host
	for _, h := range w.hosts {
		if h.spec.Rack == rack {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) == 0 {
		return "no host stands in rack " + rack
	}
	why := w.actCrash(hosts, a, true)
	if why == "" {
		*w.Stat("racks-without-power")++
	}
	return why
}

// actThrottle narrows links.
func actThrottle(w *World, a *Act) string {
	rate, queue := a.Number("bytes_per_second", 0), a.Number("queue", 0)
	return linkAction(func(w *World, a *Act, from, to *Host) {
		w.net.Throttle(int64(a.Index), from.index, to.index, rate, queue)
	})(w, a)
}

// furnishLinks tells the network where hosts stand, and how large messages are where that matters.
func (w *World) furnishLinks() {
	racks := make([]uint64, len(w.hosts))
	for i, h := range w.hosts {
		if h.spec.Rack != "" {
			racks[i] = decide.HashString(h.spec.Rack)
		}
	}
	w.net.SetRacks(racks)
	narrow := w.plan.Network.BytesPerSecond > 0 || slices.ContainsFunc(w.plan.Actions, func(a plan.Action) bool { return a.Kind == "throttle" })
	if !narrow {
		return
	}
	w.net.SetSize(func(p vnet.Payload) int64 {
		m, ok := p.(Message)
		if !ok {
			return 0
		}
		w.sizes = unsealed(m).AppendTo(w.sizes[:0])
		return int64(len(w.sizes)) + packetOverhead
	})
}

// packetOverhead is what Ethernet, IP and TCP add to a message, in bytes.
const packetOverhead = 66
