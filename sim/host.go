package sim

import (
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Host is a machine. It survives crashes: its volume, its clock, its release, its power. What runs on it between a boot
// and a crash is a Process.
type Host struct {
	w        *World
	spec     plan.Host
	index    int32
	hash     uint64
	kindHash uint64 // for coverage
	boot     int32  // incarnation of the process, from 1; counts boots
	up       bool
	leaving  bool // Stop was called
	powered  bool
	swapped  bool // has the disk of another host
	frozen   bool // outside the core: the calm does not heal it
	factory  func() Process
	process  Process
	classed  Classed // the process, when it is one
	clock    clock
	volume   *vdisk.Volume
	files    *vdisk.Handle
	env      Env
	lanes    []lane

	pausedUntil int64 // 0: not paused
	pauseStamp  uint32
	armed       bool // a crash at a disk operation is armed, with armedPower
	armedPower  bool
	armedDown   int64
	tornOp      vdisk.OpID // a write that a trap tears, with tornLost sectors missing
	tornLost    int64
	bootedAt    int64
	bootStarted int64         // -1 when Boot is over
	leaveDown   int64         // after a graceful stop: when to start again
	diskFaults  []string      // that are on
	own         *vdisk.Volume // its disk, while it has a clone of another's; nil: it has its own
	fatal       error         // what the process is about to stop with
}

// ID returns the host's id in the plan.
func (h *Host) ID() string { return h.spec.ID }

// Index returns the host's position in the plan, for tables. It is no identity: decisions and hashes use the id.
func (h *Host) Index() int { return int(h.index) }

// Kind returns what the plan says runs on the host.
func (h *Host) Kind() string { return h.spec.Kind }

// Spec returns the host as the plan has it.
func (h *Host) Spec() *plan.Host { return &h.spec }

// Boot returns the incarnation of the process, from 1; 0 before the first boot.
func (h *Host) Boot() int32 { return h.boot }

// Up reports whether a process runs (also while it is paused).
func (h *Host) Up() bool { return h.up }

// Paused reports whether the host's process is paused.
func (h *Host) Paused() bool { return h.pausedUntil != 0 }

// Frozen reports whether the calm leaves the host as it is.
func (h *Host) Frozen() bool { return h.frozen }

// Process returns what runs on the host, nil when it is down.
func (h *Host) Process() Process { return h.process }

// Volume returns the host's disk.
func (h *Host) Volume() *vdisk.Volume { return h.volume }

// WallMs returns what the host's wall clock shows now, in milliseconds since 1970.
func (h *Host) WallMs() int64 { return h.clock.wall(h.w.now) / million }

// MonotonicNs returns the host's monotonic clock.
func (h *Host) MonotonicNs() int64 { return h.clock.monotonicNs(h.w.now) }

// reset makes the host of the run before into a new one, keeping memory.
func (h *Host) reset(w *World, index int32, spec plan.Host) {
	lanes, volume := h.lanes, h.volume
	if h.own != nil {
		volume = h.own
	}
	*h = Host{w: w, spec: spec, index: index, hash: decide.HashString(spec.ID), kindHash: decide.HashString(spec.Kind), powered: true}
	h.lanes = lanes[:0]
	h.bootStarted, h.leaveDown = -1, -1
	h.clock = clock{driftPpm: int64(spec.DriftPpm), wallNs: wallEpochNs + int64(spec.OffsetMs)*million}
	if volume == nil || volume.ID() != spec.ID {
		volume = vdisk.NewVolume(spec.ID, w.diskModel)
	} else {
		volume.Reset(w.diskModel)
	}
	h.volume = volume
	w.watch(h)
	h.env = Env{w: w, h: h}
}

// lane mirrors one thread of the process.
type lane struct {
	name      string
	hash      uint64
	id        uint64  // of the lane and its host
	queue     []int32 // inputs that wait while the lane is busy: slots in World.waiting
	head      int
	busyUntil int64
	resuming  bool // an eventResume is pending
	journal   []effect
	next      int // first effect that is not committed

	deadline   int64  // true time, -1: none
	wakeAt     int64  // when the pending eventWake comes, -1: none
	stamp      uint32 // of the pending eventWake
	wakeQueued bool   // a wake-up waits in the queue

	postAt   int64 // when the last post arrives: FIFO
	spinRun  int32
	spinLast int64
	spurious bool // the handler that runs was woken for nothing
}

func (l *lane) reset(name string, host uint64) {
	queue, journal := l.queue[:0], l.journal[:0]
	*l = lane{queue: queue, journal: journal, deadline: -1, wakeAt: -1}
	l.rename(name, host)
}

func (l *lane) rename(name string, host uint64) {
	l.name, l.hash = name, decide.HashString(name)
	l.id = decide.Combine(host, l.hash)
}

// first returns the effect at which a crash cuts the journal: the first that is not committed. Only a disk operation can be
// in progress there; what comes behind another effect has not begun.
func (l *lane) first() (f *effect, ok bool) {
	for i := l.next; i < len(l.journal); i++ {
		if l.journal[i].kind != effectCut {
			return &l.journal[i], true
		}
	}
	return nil, false
}

func (l *lane) queued() bool { return l.head < len(l.queue) }

func (l *lane) pop() int32 {
	i := l.queue[l.head]
	l.head++
	if l.head == len(l.queue) {
		l.queue, l.head = l.queue[:0], 0
	}
	return i
}
