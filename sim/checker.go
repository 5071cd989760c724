package sim

import "github.com/kraftsim/kraftsim/sim/vdisk"

// Checker watches a run. It implements whichever of the On... interfaces below it needs; the world calls them when the
// effect is committed, in order, and only ever with what has left the process: bytes that reached the volume, messages
// that were sent, observations that were made. A checker reports through World.Violate and counts through Counter.
//
// Checkers are part of the deterministic room and may keep state per run; Attach is called once per run before the first
// event and must forget everything.
type Checker interface {
	Attach(w *World)
}

// ProtocolChecker sees each observation as it is committed.
type ProtocolChecker interface {
	OnProtocol(h *Host, o Observation)
}

// SendChecker sees each message as it leaves its sender. to is nil for a peer that is not known.
type SendChecker interface {
	OnSend(from, to *Host, m Message)
}

// TakeChecker sees each message as a handler takes it in. from is whoever sent it.
type TakeChecker interface {
	OnTake(h, from *Host, m Message)
}

// DiskChecker sees each committed disk operation. After a crash it sees a call of OnDiskCrash for the volume instead.
type DiskChecker interface {
	OnDisk(h *Host, v *vdisk.Volume, op *vdisk.Op)
	OnDiskCrash(h *Host, v *vdisk.Volume)
}

// LifeChecker sees processes start and end. err is set for FatalError and RefusedToStart.
type LifeChecker interface {
	OnBoot(h *Host)
	OnDown(h *Host, kind DownKind, err error)
}

// WipeChecker hears that a disk was erased, before OnDiskCrash tells to read it again: whoever lived on it is somebody new.
type WipeChecker interface {
	OnWipe(h *Host)
}

// FlipChecker hears that a bit of what a host had made durable flipped. Nothing else tells of it: who mirrors the disk of a host
// that is down reads it again.
type FlipChecker interface {
	OnFlip(h *Host, at vdisk.Flipped)
}

// StrayChecker hears that bytes which a host believes durable will not be what it wrote, before an fsync of them ends, or that its disk
// has become an old copy of itself, after OnDiskCrash. A misdirected sector is told twice: where it belongs, and where it lands.
type StrayChecker interface {
	OnStray(h *Host, kind vdisk.StrayKind, at vdisk.Flipped)
	OnRestore(h *Host)
}

// CrashChecker hears, when a process is killed or loses its power, where that strikes: of each lane the disk operation that is in progress
// (begun), and the next one that it would have made (not begun).
type CrashChecker interface {
	OnCrashAt(h *Host, op *vdisk.Op, begun bool)
}

// StepChecker is called after every event; it must be O(1).
type StepChecker interface {
	OnStep()
}

// EndChecker is called once when the run is over, for deep checks.
type EndChecker interface {
	AtEnd()
}

// Obligation is something that must come about in the calm.
type Obligation interface {
	// Met reports whether it has come about. It is asked often and must be cheap.
	Met() bool
	// Waiting says who waits for whom, one line, when it has not.
	Waiting() string
}

// Declaration excuses a violation as a declared hazard or documented loss, by a predicate over its evidence. Other
// evidence in the same run stays a finding.
type Declaration struct {
	ID        string
	Invariant string
	// Covers reports whether the evidence (its kind and its sentence) is the declared one in this run.
	Covers func(evidence, detail string) bool
}
