package sim

import "github.com/kraftsim/kraftsim/sim/vdisk"

// bootHost starts a process on a host that is down. Boot runs like a handler on lane 0: its disk operations take time, and
// a crash may cut it anywhere.
func (w *World) bootHost(h *Host) {
	if h.up || h.factory == nil {
		return
	}
	w.eventID++
	h.boot++
	h.up, h.powered, h.leaving = true, true, false
	h.bootStarted = w.now
	h.lanes = h.lanes[:0]
	h.process = h.factory()
	h.files = h.volume.Handle(disk{&h.env})
	e := &h.env
	e.lane, e.cursor = 0, w.now
	e.Lanes("main")
	w.net.Boot(h.index, h.boot)
	w.fold(h.hash ^ uint64(h.boot))
	w.fold(uint64(w.now))
	w.stats.boots++
	if w.opts.Trace != nil {
		w.traceWorld(h, "boot", "")
	}
	for _, c := range w.onLife {
		c.OnBoot(h)
	}
	err := h.process.Boot(e)
	l := &h.lanes[0]
	if err != nil {
		l.journal = append(l.journal, effect{kind: effectFatal, at: e.cursor, err: err})
	} else {
		l.journal = append(l.journal, effect{kind: effectBooted, at: e.cursor})
	}
	for i := range h.lanes {
		h.lanes[i].busyUntil = max(e.cursor, w.now+inputCostNs)
	}
	w.scheduleCommit(h, 0)
	w.afterEvent(h)
}

// booted marks the end of Boot.
func (w *World) booted(h *Host) { h.bootStarted = -1 }

// Booting reports whether the host's Boot has not completed yet.
func (h *Host) Booting() bool { return h.up && h.bootStarted >= 0 }

// down ends the process of a host. What its lanes had not committed never happened; the operation that each lane was in is
// in progress for the crash model.
func (w *World) down(h *Host, kind DownKind, err error) {
	if !h.up {
		return
	}
	var inProgress []vdisk.OpID
	inside := false
	for i := range h.lanes {
		l := &h.lanes[i]
		for _, f := range l.journal[l.next:] {
			inside = true
			if f.kind == effectDisk {
				if f.from <= w.now {
					inProgress = append(inProgress, vdisk.OpID(f.num))
				}
				break
			}
		}
		for l.queued() {
			k := l.pop()
			w.waiting[k].Msg = nil
			w.spare = append(w.spare, k)
		}
		clear(l.journal)
		l.reset(l.name)
	}
	h.up, h.process, h.pausedUntil, h.armed, h.bootStarted = false, nil, 0, false, -1
	h.powered = kind != PowerLost
	h.pauseStamp++
	crash := vdisk.Kill
	if kind == PowerLost {
		crash = vdisk.PowerLoss
	}
	h.files.Drop()
	h.volume.Crash(crash, inProgress, disk{&h.env})
	w.net.Down(w.now, h.index, h.powered, w.eventID)
	w.fold(uint64(kind)<<8 ^ h.hash)
	w.countDown(kind, inside)
	if kind == FatalError || kind == RefusedToStart {
		w.report.stopped(h, w.now, kind, err)
		if w.restartNs > 0 {
			w.schedule(w.now+w.restartNs, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 1)
		}
	}
	if w.opts.Trace != nil {
		w.traceDown(h, kind, err, inside)
	}
	for _, c := range w.onDiskOp {
		c.OnDiskCrash(h, h.volume)
	}
	for _, c := range w.onLife {
		c.OnDown(h, kind, err)
	}
}

func (w *World) countDown(kind DownKind, inside bool) {
	switch kind {
	case Killed:
		w.stats.kills++
	case PowerLost:
		w.stats.powerLosses++
	case FatalError:
		w.stats.fatals++
		return
	case RefusedToStart:
		w.stats.refusals++
		return
	case Exited:
		w.stats.exits++
		return
	}
	if inside {
		w.stats.insideHandler++
	}
}

// crashHost kills or powers off a host now, and starts it again after downNs (negative: not before the calm).
func (w *World) crashHost(h *Host, power bool, downNs int64) {
	kind := Killed
	if power {
		kind = PowerLost
	}
	if !h.up {
		if power {
			h.powered = false
			w.net.Down(w.now, h.index, false, w.eventID)
		}
	} else {
		w.down(h, kind, nil)
	}
	if downNs >= 0 {
		w.schedule(w.now+downNs, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
	}
}

// cutNow is the crash that an armed disk operation asked for: in the middle of that operation.
func (w *World) cutNow(h *Host) {
	w.stats.cutsAtOp++
	w.crashHost(h, h.armedPower, h.armedDown)
}

// pause stops all lanes of a host until a time: effects that are under way shift by the length of the pause.
func (w *World) pause(h *Host, untilNs int64) {
	if !h.up || h.pausedUntil != 0 || untilNs <= w.now {
		return
	}
	d := untilNs - w.now
	h.pausedUntil = untilNs
	h.pauseStamp++
	for i := range h.lanes {
		l := &h.lanes[i]
		for k := l.next; k < len(l.journal); k++ {
			l.journal[k].at += d
			l.journal[k].from += d
		}
		if l.busyUntil > w.now {
			l.busyUntil += d
		}
	}
	w.schedule(untilNs, event{kind: eventUnpause, host: h.index, boot: h.boot, stamp: h.pauseStamp, cause: w.eventID}, h.hash, 3)
}

func (w *World) unpause(h *Host) {
	if h.pausedUntil == 0 {
		return
	}
	early := h.pausedUntil - w.now // the calm may end a pause before its time
	h.pausedUntil = 0
	for i := range h.lanes {
		l := &h.lanes[i]
		for k := l.next; k < len(l.journal); k++ {
			l.journal[k].at -= early
			l.journal[k].from -= early
		}
		if l.busyUntil > w.now {
			l.busyUntil -= early
		}
		if l.next < len(l.journal) {
			w.scheduleCommit(h, int32(i))
		}
		if l.queued() {
			w.scheduleResume(h, int32(i))
		}
	}
}

// stop asks the process for a graceful end; when it does not exit in time it is killed.
func (w *World) stop(h *Host) {
	if !h.up || h.leaving || h.Booting() || h.pausedUntil != 0 {
		return
	}
	h.leaving = true
	l := &h.lanes[0]
	e := &h.env
	e.lane, e.cursor = 0, max(w.now, l.busyUntil)
	w.eventID++
	w.fold(h.hash ^ 0x5709)
	h.process.Stop(e)
	w.finish(h, 0, nil)
	w.afterEvent(h)
}

// onDisk is the volume's observer: a committed operation.
func (w *World) onDisk(h *Host, op *vdisk.Op) {
	if op.Kind == vdisk.OpSync {
		w.stats.syncs++
	}
	w.hash = foldBytes(w.hash^uint64(op.Kind)<<32^uint64(op.Offset), op.Data)
	if w.opts.Trace != nil {
		w.traceDisk(h, op)
	}
	for _, c := range w.onDiskOp {
		c.OnDisk(h, h.volume, op)
	}
}

// SetSupervisor restarts processes that stopped with an error after a delay; 0 leaves them down until the calm.
func (w *World) SetSupervisor(restartNs int64) { w.restartNs = restartNs }
