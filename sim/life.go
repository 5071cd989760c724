package sim

import (
	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// bootHost starts a process on a host that is down. Boot runs like a handler on lane 0: its disk operations take time, and
// a crash may cut it anywhere.
func (w *World) bootHost(h *Host, cause int64) {
	if h.up || h.factory == nil {
		return
	}
	w.eventID++
	h.boot++
	h.up, h.powered, h.leaving, h.leaveDown = true, true, false, -1
	h.bootStarted, h.bootedAt, h.fatal = w.now, w.now, nil
	h.lanes = h.lanes[:0]
	h.process = h.factory()
	h.classed, _ = h.process.(Classed)
	h.files = h.volume.Handle(disk{&h.env})
	if len(w.armings) > 0 {
		w.armBooted(h)
	}
	e := &h.env
	e.lane, e.cursor, e.event = 0, w.now, w.eventID
	e.Lanes("main")
	w.net.Boot(h.index, h.boot)
	w.fold(h.hash ^ uint64(h.boot))
	w.fold(uint64(w.now))
	w.stats.boots++
	if w.opts.Trace != nil {
		w.traceBoot(h, cause)
	}
	for _, c := range w.onLife {
		c.OnBoot(h)
	}
	w.running = h
	err := h.process.Boot(e)
	if err != nil {
		h.fatal = err
		e.add(effectFatal)
	} else {
		e.add(effectBooted)
	}
	for i := range h.lanes {
		h.lanes[i].busyUntil = max(e.cursor+1, w.now+inputCostNs) // the end of Boot, or its error, comes first
	}
	w.scheduleCommit(h, 0)
	w.afterEvent(h)
}

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
	if len(w.onCrash) > 0 && (kind == Killed || kind == PowerLost) {
		w.tellWhere(h)
	}
	for i := range h.lanes {
		l := &h.lanes[i]
		if first, ok := l.first(); ok {
			inside = true
			if first.kind == effectDisk && first.from <= w.now {
				inProgress = append(inProgress, vdisk.OpID(first.num))
			}
		}
		for l.queued() {
			k := l.pop()
			w.waiting[k].Msg = nil
			w.spare = append(w.spare, k)
		}
		clear(l.journal)
		l.reset(l.name, h.hash)
	}
	h.up, h.process, h.classed, h.pausedUntil, h.armed, h.bootStarted = false, nil, nil, 0, false, -1
	h.powered = kind != PowerLost
	h.pauseStamp++
	if w.opts.Trace != nil {
		w.traceDown(h, kind, err, inside)
	}
	crash := vdisk.Kill
	if kind == PowerLost {
		crash = vdisk.PowerLoss
	}
	h.files.Drop()
	w.diskCause = w.eventID
	h.volume.Crash(crash, inProgress, disk{&h.env})
	w.net.Down(w.now, h.index, h.powered, w.eventID)
	w.fold(uint64(kind)<<8 ^ h.hash)
	w.countDown(kind, inside)
	w.comeBack(h, kind, err)
	for _, c := range w.onDiskOp {
		c.OnDiskCrash(h, h.volume)
	}
	for _, c := range w.onLife {
		c.OnDown(h, kind, err)
	}
	w.cover(h)
}

// comeBack schedules the next boot after an end that no action caused: a supervisor restarts what failed, a graceful stop
// says itself for how long, and what the storm still ends in the calm (a stop under way) starts again at once.
func (w *World) comeBack(h *Host, kind DownKind, err error) {
	delay := int64(-1)
	switch {
	case kind == FatalError || kind == RefusedToStart:
		w.report.stopped(h, w.now, kind, err)
		if w.restartNs > 0 {
			delay = w.restartNs
		}
	case h.leaving && h.leaveDown >= 0:
		delay = h.leaveDown
	case w.calm:
		delay = 0
	}
	if delay >= 0 {
		w.schedule(w.now+delay, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 1)
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
	if h.up {
		w.down(h, kind, nil)
	} else if power {
		w.powerOff(h)
	}
	if downNs >= 0 {
		w.schedule(w.now+downNs, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 2)
	}
}

// powerOff takes the power of a host whose process is down already: the page cache that survived the process goes now.
func (w *World) powerOff(h *Host) {
	h.powered, h.armed = false, false
	w.stats.powerLosses++
	w.fold(uint64(PowerLost)<<8 ^ h.hash)
	if w.opts.Trace != nil {
		t := w.line(h, "", "down", "power lost, after the process", w.eventID)
		t.Down = PowerLost
		w.opts.Trace(t)
	}
	w.diskCause = w.eventID
	h.volume.Crash(vdisk.PowerLoss, nil, disk{&h.env})
	w.net.Down(w.now, h.index, false, w.eventID)
	for _, c := range w.onDiskOp {
		c.OnDiskCrash(h, h.volume)
	}
}

// cutNow is the crash that an armed disk operation asked for: in the middle of that operation. The calm calls it off.
func (w *World) cutNow(h *Host) {
	if w.calm {
		return
	}
	w.stats.cutsAtOp++
	if h.tornOp != vdisk.NoOp {
		if site, kind, key, ok := h.volume.CutWrite(h.tornOp); ok {
			w.source.Force(site, h.hash, kind, key, h.tornLost)
		}
		h.tornOp = vdisk.NoOp
	}
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
			f := &l.journal[k]
			f.at += d
			if f.from > w.now { // an operation that has begun stays begun
				f.from += d
			}
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
			f := &l.journal[k]
			f.at -= early
			if f.from > w.now {
				f.from -= early
			}
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

// stop asks the process for a graceful end: Stop runs on lane 0 when that is free. A process that does not exit within the
// grace is killed. After the end it starts again after downNs (negative: not before the calm).
func (w *World) stop(h *Host, graceNs, downNs int64) {
	h.leaving, h.leaveDown = true, downNs
	boot := h.boot
	w.At(w.now+graceNs, h.hash, 7, func() {
		if h.up && h.boot == boot {
			w.down(h, Killed, nil)
		}
	})
	w.give(h, &Input{Kind: inStop, cause: w.eventID})
}

// onDisk is the volume's observer: a committed operation.
func (w *World) onDisk(h *Host, op *vdisk.Op) {
	if op.Kind == vdisk.OpSync {
		w.stats.syncs++
	}
	w.fold(uint64(op.Kind)<<56 ^ uint64(op.Inode)<<32 ^ uint64(op.Offset))
	w.hash = digest.Bytes(w.hash, op.Data)
	if w.opts.Trace != nil {
		w.traceDisk(h, op)
	}
	for _, c := range w.onDiskOp {
		c.OnDisk(h, h.volume, op)
	}
}

// SetSupervisor restarts processes that stopped with an error after a delay; 0 leaves them down until the calm.
func (w *World) SetSupervisor(restartNs int64) { w.restartNs = restartNs }

// Start boots a host that is down, as its operator would. It does nothing when the host is up, or frozen in the calm.
func (w *World) Start(h *Host) {
	if !h.up && !h.frozen {
		w.schedule(w.now+1, event{kind: eventBoot, host: h.index, cause: w.eventID}, h.hash, 5)
	}
}
