package sim

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/check"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// World is one run: hosts, network, virtual time, pending events, checkers. One goroutine owns it. An Engine resets it
// between runs, so that memory is reused; a reset world runs a plan exactly as a new one would.
type World struct {
	plan      *plan.Plan
	catalogue *Catalogue
	registry  *plan.Registry
	opts      Options
	source    decide.Source
	net       vnet.Net
	timed     nearest
	policy    Scheduler // nil: timed
	pct       PCT
	uniform   Uniform

	chooseFrom int64 // when choices begin
	faultsLeft int64 // that choices may insert
	takesAll   bool  // a loss of power that a choice brings takes all that it may
	choosable  []choiceFault
	order      []Item // scratch

	now      int64
	eventID  int64
	sequence uint32
	events   []event
	free     []int32
	waiting  []Input // inputs queued at lanes
	spare    []int32
	calls    []call
	idle     []int32 // slots of calls that are over

	hosts     []*Host
	pool      []*Host // hosts of earlier runs
	byName    map[string]int32
	diskModel vdisk.Model

	postJitterNs, wakeJitterNs, spuriousPpm int64
	overridden                              bool  // the plan fixes decisions
	restartNs                               int64 // of the supervisor

	calm       bool
	mostEvents int64 // after which the run is over
	lookAt     int64 // event from which on afterEvent has something to do
	givenUp    bool  // and it was, by the caller's limit
	done       bool
	boundAt    int64
	liveness   Liveness
	outcome    plan.Outcome
	waitsFor   []string
	hash       uint64
	behaviour  behaviour
	scratch    []byte
	sizes      []byte // scratch
	running    *Host  // whose process was called last; nil in events of the world's own
	ahead      *Host  // host and lane whose handler or commit has just left effects that are not queued, nil: none
	aheadLane  int32
	input      Input
	messages   int32 // numbered so far, when traced
	diskCause  int64 // id of the event whose handler issued the operation being committed; 0: an operator's

	stats      statistics
	coverage   coverage
	report     report
	checkers   []Checker
	onProtocol []ProtocolChecker
	onSend     []SendChecker
	onTake     []TakeChecker
	onDiskOp   []DiskChecker
	onLife     []LifeChecker
	onStep     []StepChecker
	onCrash    []CrashChecker
	atEnd      []EndChecker
	duties     []Obligation

	actions    []action
	nameFaults []nameFault
	handlers   map[string]ActionHandler
	drawn      []plan.DrawnDecision
	memory     arena
	poison     poison
	budget     check.Budget
	targets    func(word string) (hosts []*Host, why string)
	timeouts   []timeout
	flaps      []*flap
	armings    []arming
	trap       Trap
	replicaKey func(h *Host) string // nil: the id
}

const (
	inputCostNs   = 1_000 // every input costs its lane at least a microsecond
	postBaseNs    = 1_000
	spinLimit     = 1_000
	spinGapNs     = 1_000_000
	stateInterval = 2_048 // events between two state digests, a power of two
	maxEvents     = 20_000_000
)

var (
	sitePost     = decide.NewSpread("sim/post-delay", "microseconds that a post takes longer")
	siteWake     = decide.NewSpread("sim/wake-delay", "microseconds that a wake-up is late")
	siteSpurious = decide.NewSite("sim/spurious-wake", "a lane is woken for nothing", 0)
)

// reset prepares the world for a plan, forgetting everything of the run before but its memory.
func (w *World) reset(p *plan.Plan, o Options) error {
	w.plan, w.opts = p, o
	w.mostEvents, w.givenUp, w.lookAt = maxEvents, false, 0
	if o.MostEvents > 0 {
		w.mostEvents = min(maxEvents, o.MostEvents)
	}
	overrides := make([]decide.Override, 0, len(p.Decisions))
	for _, d := range p.Decisions {
		overrides = append(overrides, decide.Override{NameHash: uint64(d.NameHash), Value: int64(d.Value)})
	}
	w.source.Reset(uint64(p.Seed), overrides, nil)
	if p.Explicit {
		w.source.Explicit()
	}
	w.timed.Reset()
	w.policy = nil
	w.now, w.eventID, w.sequence, w.messages = 0, 0, 0, 0
	clear(w.events)
	clear(w.waiting)
	clear(w.calls)
	w.events, w.free, w.waiting, w.spare = w.events[:0], w.free[:0], w.waiting[:0], w.spare[:0]
	w.calls, w.idle = w.calls[:0], w.idle[:0]
	w.calm, w.done, w.boundAt, w.outcome, w.waitsFor = false, false, 0, plan.OK, nil
	w.liveness = Liveness{}
	w.hash, w.running, w.ahead = digest.Word(0, uint64(p.Seed)), nil, nil
	w.behaviour = behaviour{}
	w.stats, w.input, w.diskCause = statistics{}, Input{}, 0
	w.report.reset()
	w.checkers, w.onProtocol, w.onSend, w.onDiskOp = w.checkers[:0], w.onProtocol[:0], w.onSend[:0], w.onDiskOp[:0]
	w.onCrash, w.onTake = w.onCrash[:0], w.onTake[:0]
	w.onLife, w.onStep, w.atEnd, w.duties = w.onLife[:0], w.onStep[:0], w.atEnd[:0], w.duties[:0]
	w.actions, w.nameFaults = w.actions[:0], w.nameFaults[:0]
	w.handlers = map[string]ActionHandler{}
	w.drawn = nil
	w.memory.reset()
	w.poison.reset(o.Poison)
	w.budget.Reset(p.Unrestricted)
	w.replicaKey = nil
	w.targets, w.trap = nil, nil
	w.timeouts, w.flaps, w.armings = w.timeouts[:0], w.flaps[:0], w.armings[:0]
	w.coverage.reset(p)
	w.models(p)
	w.faultsLeft = 0
	if err := w.makeHosts(p); err != nil {
		return err
	}
	return nil
}

// models converts the plan's models into those of the network, the disks and the lanes.
func (w *World) models(p *plan.Plan) {
	w.postJitterNs = p.Lanes.PostJitterUs * 1000
	w.wakeJitterNs = p.Lanes.WakeJitterUs * 1000
	w.spuriousPpm, w.restartNs = p.Lanes.SpuriousPpm, 0
	w.overridden = len(p.Decisions) > 0
	d := &p.Disk
	jitter := func(base int64) int64 { return base * d.JitterPercent / 100 }
	w.diskModel = vdisk.Model{
		Write:     vdisk.Cost{BaseNs: max(d.WriteNs, minDiskNs), JitterNs: jitter(d.WriteNs)},
		Sync:      vdisk.Cost{BaseNs: max(d.SyncNs, minDiskNs), JitterNs: jitter(d.SyncNs)},
		Names:     vdisk.Cost{BaseNs: max(d.MetadataNs, minDiskNs), JitterNs: jitter(d.MetadataNs)},
		KeepDirty: d.FailedSync == "keep", ReadErrorPpm: d.ReadErrorPpm, WriteErrorPpm: d.WriteErrorPpm, SyncErrorPpm: d.SyncErrorPpm,
		SlowSyncPpm: d.SlowSyncPpm, SlowSyncNs: d.SlowSyncNs,
	}
	if d.Profile == "posix" {
		w.diskModel.Profile = vdisk.Posix
	}
}

const minDiskNs = 100

func (w *World) makeHosts(p *plan.Plan) error {
	w.hosts = w.hosts[:0]
	w.byName = map[string]int32{}
	hashes := make([]uint64, 0, len(p.Hosts))
	for i := range p.Hosts {
		if _, twice := w.byName[p.Hosts[i].ID]; twice || p.Hosts[i].ID == "" {
			return fmt.Errorf("plan: hosts[%d].id %q is empty or taken: give every host an id of its own", i, p.Hosts[i].ID)
		}
		if len(w.pool) <= i {
			w.pool = append(w.pool, &Host{})
		}
		h := w.pool[i]
		h.reset(w, int32(i), p.Hosts[i])
		w.hosts = append(w.hosts, h)
		w.byName[h.spec.ID] = int32(i)
		hashes = append(hashes, h.hash)
	}
	n := &p.Network
	w.net.Reset(vnet.Model{
		Datagram: n.Transport == "datagram", LatencyNs: n.LatencyUs * 1000, JitterNs: n.JitterUs * 1000,
		Weights: n.Weights,
		TailPpm: n.TailPpm, TailNs: n.TailUs * 1000, ResetPpm: n.ResetPpm, LossPpm: n.LossPpm,
		DuplicatePpm: n.DuplicatePpm, ReorderPpm: n.ReorderPpm, ReorderNs: n.ReorderUs * 1000,
		CorruptPpm: n.CorruptPpm, BytesPerSecond: n.BytesPerSecond, QueueBytes: n.QueueBytes, CrossRackNs: n.CrossRackUs * 1000,
	}, &w.source, packets{w}, hashes)
	w.furnishLinks()
	for _, h := range w.hosts {
		w.net.PowerOn(h.index)
	}
	return nil
}

// packets lets the network schedule arrivals.
type packets struct{ w *World }

// Schedule is vnet.Scheduler.
func (p packets) Schedule(at int64, packet int32, entity, key uint64) {
	w := p.w
	i := w.slot()
	e := &w.events[i]
	e.kind, e.ref, e.cause = eventPacket, packet, 0 // the packet knows the rest
	e.lane, e.host, e.boot, e.stamp = 0, 0, 0, 0
	w.enter(at, i, entity, key)
}

// Add attaches checkers to the run.
func (w *World) Add(checkers ...Checker) {
	for _, c := range checkers {
		w.checkers = append(w.checkers, c)
		c.Attach(w)
		if x, ok := c.(ProtocolChecker); ok {
			w.onProtocol = append(w.onProtocol, x)
		}
		if x, ok := c.(SendChecker); ok {
			w.onSend = append(w.onSend, x)
		}
		if x, ok := c.(TakeChecker); ok {
			w.onTake = append(w.onTake, x)
		}
		if x, ok := c.(DiskChecker); ok {
			w.onDiskOp = append(w.onDiskOp, x)
		}
		if x, ok := c.(LifeChecker); ok {
			w.onLife = append(w.onLife, x)
		}
		if x, ok := c.(CrashChecker); ok {
			w.onCrash = append(w.onCrash, x)
		}
		if x, ok := c.(StepChecker); ok {
			w.onStep, w.lookAt = append(w.onStep, x), 0
		}
		if x, ok := c.(EndChecker); ok {
			w.atEnd = append(w.atEnd, x)
		}
	}
}

// AddObligation adds something that must come about in the calm.
func (w *World) AddObligation(o Obligation) { w.duties = append(w.duties, o) }

// Plan returns the plan that runs.
func (w *World) Plan() *plan.Plan { return w.plan }

// Hosts returns the hosts in plan order.
func (w *World) Hosts() []*Host { return w.hosts }

// Host returns the host with that id, or nil.
func (w *World) Host(id string) *Host {
	if i, ok := w.byName[id]; ok {
		return w.hosts[i]
	}
	return nil
}

// Name makes a host name resolve to a host. Host ids resolve to themselves.
func (w *World) Name(name string, h *Host) { w.byName[name] = h.index }

// Install sets what runs on a host: at each boot the factory makes a new process.
func (w *World) Install(h *Host, factory func() Process) { h.factory = factory }

// NowNs returns virtual true time in nanoseconds since the start of the run.
func (w *World) NowNs() int64 { return w.now }

// EventID returns the id of the event being handled, from 1.
func (w *World) EventID() int64 { return w.eventID }

// Budget returns the fault budget of the run. Actions that would damage a replica ask it first.
func (w *World) Budget() *check.Budget { return &w.budget }

// Calm reports whether the storm is over.
func (w *World) Calm() bool { return w.calm }

// Alloc returns n zeroed bytes that live as long as the run. Deterministic; amortised free of allocation.
func (w *World) Alloc(n int) []byte { return w.memory.alloc(n) }

// fold adds a word to the trace hash.
func (w *World) fold(v uint64) { w.hash = digest.Word(w.hash, v) }

// behaviour is the digest of protocol events only, for comparing code versions and variants.
type behaviour struct {
	hash  uint64
	count int64
}
